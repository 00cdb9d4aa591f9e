package token

import (
	"context"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Revocations returns the operations that revoke all tokens of a member that are in force: for
// the commit that makes them leave. There are none if the member has no such token. If one of
// the tokens changes meanwhile, that commit fails with a *table.Conflict; trying again is safe.
func Revocations(ctx context.Context, r table.Reader, workspaceID, userID string, at time.Time) ([]table.Op, error) {
	var ops []table.Op
	err := each(ctx, r, workspaceID, func(item table.Item, record Record) error {
		if record.UserID != userID || !record.Usable(at) {
			return nil
		}
		record.RevokedAt = at.UTC().Truncate(time.Microsecond)
		revoked, err := record.item(hashOf(item), item.Version+1)
		ops = append(ops, table.Put(revoked, table.IfVersion(item.Version)))
		return err
	})
	return ops, err
}
