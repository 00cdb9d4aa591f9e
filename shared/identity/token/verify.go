package token

import (
	"context"
	"crypto/subtle"
	"fmt"
	"slices"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Members tells what a user is in a workspace at this moment. A user who is not a member, or
// has left, is not active; that is no error.
type Members interface {
	Member(ctx context.Context, workspaceID, userID string) (name string, role identity.Role, active bool, err error)
}

// Verifier tells whose a token is. It keeps nothing between two calls: what is revoked stops
// with the next request. Safe for concurrent use if its parts are.
type Verifier struct {
	Tokens  table.Reader
	Members Members
	Now     func() time.Time
}

// Verify returns the member who calls with this secret. The outcomes:
//
//   - nil: the principal may be trusted.
//   - unauthenticated, token_malformed or token_unknown: nobody's, the principal is empty, and
//     there is nobody to record the attempt under.
//   - unauthenticated, token_expired or token_revoked (by someone, or because its owner has
//     left the workspace): the principal says whose it was, so that the denial can be recorded.
//     Its name and role are empty, and it may do nothing.
//   - a plain error: the token could not be checked; nobody may act on it. If the principal
//     names a token, it is whose the attempt was.
func (v *Verifier) Verify(ctx context.Context, secret string) (identity.Principal, error) {
	t, err := Parse(secret)
	if err != nil {
		return identity.Principal{}, err
	}
	record, err := v.lookUp(ctx, t.Hash())
	if err != nil {
		return identity.Principal{}, err
	}
	principal := identity.Principal{
		WorkspaceID: record.WorkspaceID, UserID: record.UserID, TokenID: record.ID,
		Scopes: slices.DeleteFunc(slices.Clone(record.Scopes), func(s identity.Scope) bool { return !s.Known() }),
	}
	if !record.RevokedAt.IsZero() {
		return principal, denied(fault.TokenRevoked, "this token has been revoked: ask for a new one")
	}
	if !v.Now().Before(record.ExpiresAt) {
		return principal, denied(fault.TokenExpired, "this token has expired: ask for a new one")
	}
	name, role, active, err := v.Members.Member(ctx, record.WorkspaceID, record.UserID)
	if err != nil {
		return principal, fmt.Errorf("read the owner of a token: %w", err)
	}
	if !active {
		return principal, denied(fault.TokenRevoked, "the owner of this token has left the workspace: use a token of a member")
	}
	principal.Name, principal.Role = name, role
	return principal, nil
}

// lookUp reads the token that has this hash.
func (v *Verifier) lookUp(ctx context.Context, hash Hash) (Record, error) {
	key := tokenKey(hash.String())
	item, found, err := v.Tokens.Get(ctx, key)
	if err != nil {
		return Record{}, fmt.Errorf("look up a token: %w", err)
	}
	// The engine found the row by its key; that the row is the right one is not left to it.
	if !found || subtle.ConstantTimeCompare([]byte(item.PK), []byte(key.PK)) != 1 {
		return Record{}, denied(fault.TokenUnknown, "this token is not known here: check that it belongs to this server, or ask for a new one")
	}
	record, err := decodeRecord(item)
	if err != nil {
		return Record{}, err
	}
	if record.ID == "" || record.WorkspaceID == "" || record.UserID == "" {
		return Record{}, fmt.Errorf("a token row names no owner: restore the table")
	}
	return record, nil
}

func denied(reason fault.Reason, text string) error {
	return fault.New(fault.Unauthenticated, reason, text)
}
