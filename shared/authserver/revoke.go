package authserver

import (
	"context"
	"fmt"

	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// revoke gives a token back (RFC 7009), and tells whether there is one. The whole grant ends with
// either of its tokens. What is not known is answered as if it were gone, for it is.
func (s *Server) revoke(ctx context.Context, token, client string) (known bool, err error) {
	id, known, err := s.grantOfAny(ctx, token)
	if err != nil || !known {
		return false, err
	}
	grant, err := read[grantRow](ctx, s.Tables, grantKey(id))
	if err != nil || !grant.found() {
		return true, err
	}
	if grant.Doc.ClientID != client {
		return true, refuse(oidc.ErrInvalidGrant(), "this token belongs to another client: only the one it was issued to may revoke it")
	}
	return true, s.endGrant(ctx, id, byClient)
}

// grantOfAny returns the grant of a refresh token, used or not, or of an access token.
func (s *Server) grantOfAny(ctx context.Context, token string) (string, bool, error) {
	row, err := read[refreshRow](ctx, s.Tables, refreshKey(token))
	if err != nil || row.found() {
		return row.Doc.GrantID, row.found(), err
	}
	return s.grantOf(ctx, token)
}

// endGrant ends a grant before its time, with its event in the same commit. One that has ended,
// or never began, stays as it is.
func (s *Server) endGrant(ctx context.Context, id, why string) error {
	return again(func() error {
		grant, err := read[grantRow](ctx, s.Tables, grantKey(id))
		if err != nil || !grant.found() || grant.Doc.Ended != 0 {
			return err
		}
		if err := s.listRevoked(ctx, grant.Doc); err != nil {
			return err
		}
		g := grant.Doc
		g.Ended, g.Why = micros(s.now()), why
		op, err := grant.put(g, timeOf(g.Until))
		if err != nil {
			return err
		}
		call := s.begin(ctx, revokeAct, g)
		call.Event.Detail = fault.Detail(why)
		event, err := call.CommitOp(nil)
		if err != nil {
			return err
		}
		return s.Tables.Commit(ctx, []table.Op{op, event})
	})
}

// listRevoked tells of the access tokens that may still be taken. A token that is issued meanwhile makes
// the commit that follows fail, and is told of in the next attempt.
func (s *Server) listRevoked(ctx context.Context, g grantRow) error {
	if s.Revoked == nil {
		return nil
	}
	for i, at := range g.Recent {
		until := timeOf(at).Add(accessUse)
		if !s.now().Before(until) {
			continue
		}
		if err := s.Revoked(ctx, tokenID(g.ID, g.Issued-len(g.Recent)+1+i), until); err != nil {
			return fmt.Errorf("revoke an access token: %w", err)
		}
	}
	return nil
}
