package token

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Revoke ends a token at once, in one commit with the further operations. A token that is
// revoked already keeps its first time of revocation; the further operations are committed all
// the same, for the act has happened. No such token in the workspace is a not-found fault.
//
// If a guard fails the error wraps a *table.Conflict, in which the further operations count
// from 0; trying again is safe.
func Revoke(ctx context.Context, w table.Writer, workspaceID, tokenID string, at time.Time, with ...table.Op) (Record, error) {
	item, record, err := find(ctx, w, workspaceID, tokenID)
	if err != nil {
		return Record{}, err
	}
	ops := slices.Clone(with)
	if record.RevokedAt.IsZero() {
		record.RevokedAt = at.UTC().Truncate(time.Microsecond)
		revoked, err := record.item(hashOf(item), item.Version+1)
		if err != nil {
			return Record{}, err
		}
		ops = append(ops, table.Put(revoked, table.IfVersion(item.Version)))
	}
	if len(ops) == 0 {
		return record, nil
	}
	if err := w.Commit(ctx, ops); err != nil {
		return Record{}, fmt.Errorf("revoke a token: %w", err)
	}
	return record, nil
}

// find returns the token's row and what it says.
func find(ctx context.Context, r table.Reader, workspaceID, tokenID string) (table.Item, Record, error) {
	missing := fault.New(fault.NotFound, fault.TargetNotFound, "the workspace has no token with this id: list its tokens")
	if workspaceID == "" || tokenID == "" {
		return table.Item{}, Record{}, missing
	}
	item, found, err := r.Get(ctx, pointerKey(workspaceID, tokenID))
	if err != nil {
		return table.Item{}, Record{}, fmt.Errorf("read the pointer to a token: %w", err)
	}
	if !found {
		return table.Item{}, Record{}, missing
	}
	hash, err := decodePointer(item)
	if err != nil {
		return table.Item{}, Record{}, err
	}
	item, found, err = r.Get(ctx, tokenKey(hash))
	if err != nil {
		return table.Item{}, Record{}, fmt.Errorf("read a token: %w", err)
	}
	if !found {
		return table.Item{}, Record{}, fmt.Errorf("a pointer names a token that is not stored: restore the table")
	}
	record, err := decodeRecord(item)
	if err == nil && (record.WorkspaceID != workspaceID || record.ID != tokenID) {
		err = fmt.Errorf("a pointer names a token of another id or workspace: restore the table")
	}
	return item, record, err
}

func hashOf(item table.Item) string { return item.PK[len("TOK#"):] }

// List returns the tokens of a workspace, used up or not, oldest first.
func List(ctx context.Context, r table.Reader, workspaceID string) ([]Record, error) {
	var records []Record
	err := each(ctx, r, workspaceID, func(_ table.Item, record Record) error {
		records = append(records, record)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return records, nil
}

// each hands over the tokens of a workspace, in no order, with their rows.
func each(ctx context.Context, r table.Reader, workspaceID string, f func(table.Item, Record) error) error {
	q := table.Query{
		Table: table.Data, PK: workspacePK(workspaceID),
		From: pointerPrefix, To: pointerPrefix + "\U0010ffff", Limit: table.MaxBatchGetKeys,
	}
	for {
		page, err := r.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("list tokens: %w", err)
		}
		if err := eachOf(ctx, r, page.Items, f); err != nil {
			return err
		}
		if !page.More {
			return nil
		}
		q.After = page.Items[len(page.Items)-1].SK
	}
}

// eachOf hands over what the pointers of one page name.
func eachOf(ctx context.Context, r table.Reader, pointers []table.Item, f func(table.Item, Record) error) error {
	keys := make([]table.Key, 0, len(pointers))
	for _, p := range pointers {
		hash, err := decodePointer(p)
		if err != nil {
			return err
		}
		keys = append(keys, tokenKey(hash))
	}
	if len(keys) == 0 {
		return nil
	}
	items, err := r.BatchGet(ctx, keys)
	if err != nil {
		return fmt.Errorf("read tokens: %w", err)
	}
	for _, item := range items {
		record, err := decodeRecord(item)
		if err != nil {
			return err
		}
		if err := f(item, record); err != nil {
			return err
		}
	}
	return nil
}
