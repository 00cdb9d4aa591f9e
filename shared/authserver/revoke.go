package authserver

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// revoke answers POST /revoke (RFC 7009): a client gives a token back. The whole grant ends with
// either of its tokens. What is not known is answered as if it were gone, for it is.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	if err := s.revoked(w, r); err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}

func (s *Server) revoked(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	source := sourceOfRequest(r)
	if wait := s.failures.spent(source); wait > 0 {
		return tooMany(wait)
	}
	if err := requireClient(form); err != nil {
		return err
	}
	if form.get("token") == "" {
		return refuse(invalidRequest, "token is missing: send it in the body")
	}
	id, found, err := s.grantOfAny(r.Context(), form.get("token"))
	if err != nil {
		return err
	}
	if !found {
		s.failures.take(source)
		return nil
	}
	grant, err := read[grantRow](r.Context(), s.Tables, grantKey(id))
	if err != nil || !grant.found() {
		return err
	}
	if grant.Doc.ClientID != form.get("client_id") {
		s.failures.take(source)
		return refuse(invalidGrant, "this token belongs to another client: only the one it was issued to may revoke it")
	}
	return s.endGrant(r, id, byClient)
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
func (s *Server) endGrant(r *http.Request, id, why string) error {
	for range commitTries {
		grant, err := read[grantRow](r.Context(), s.Tables, grantKey(id))
		if err != nil || !grant.found() || grant.Doc.Ended != 0 {
			return err
		}
		if err := s.listRevoked(r.Context(), grant.Doc); err != nil {
			return err
		}
		g := grant.Doc
		g.Ended, g.Why = micros(s.now()), why
		op, err := grant.put(g, timeOf(g.Until))
		if err != nil {
			return err
		}
		call := s.begin(r, revokeAct, g)
		call.Event.Detail = fault.Detail(why)
		event, err := call.CommitOp(nil)
		if err != nil {
			return err
		}
		if err = s.Tables.Commit(r.Context(), []table.Op{op, event}); !table.IsConflict(err) {
			return err
		}
	}
	return tooMany(time.Second)
}

// listRevoked tells of the access tokens that are alive. A token that is issued meanwhile makes
// the commit that follows fail, and is told of in the next attempt.
func (s *Server) listRevoked(ctx context.Context, g grantRow) error {
	if s.Revoked == nil {
		return nil
	}
	for i, at := range g.Recent {
		until := timeOf(at).Add(accessLife)
		if !s.now().Before(until) {
			continue
		}
		if err := s.Revoked(ctx, tokenID(g.ID, g.Issued-len(g.Recent)+1+i), until); err != nil {
			return fmt.Errorf("revoke an access token: %w", err)
		}
	}
	return nil
}
