package authserver

import (
	"context"
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// A code is good for one try. Whoever sends it with anything that does not fit has it from
// somewhere else, or may have: it is used up all the same. If it comes again after that, all that
// was issued for it ends (RFC 6749, section 4.1.2).

var errCode = refuse(oidc.ErrInvalidGrant(), "this code is not known, has been used, has expired, or does not belong to this request: sign in again")

// redeem makes tokens of a code. It conflicts if another use of the code came first.
func (s *Server) redeem(ctx context.Context, r *op.ClientRequest[oidc.AccessTokenRequest]) (*oidc.AccessTokenResponse, error) {
	code, err := read[codeRow](ctx, s.Tables, codeKey(r.Data.Code))
	switch {
	case err != nil:
		return nil, err
	case !code.found():
		return nil, errCode
	case code.Doc.Used:
		return nil, orElse(s.endGrant(ctx, code.Doc.GrantID, codeReused), errCode)
	}
	role, misfit, err := s.fits(ctx, code.Doc, r)
	if err != nil {
		return nil, err
	}
	if misfit != nil {
		return nil, s.burn(ctx, code, misfit)
	}
	return s.issue(ctx, code, role)
}

// fits tells what does not fit, nil if all does, and the role of the person.
func (s *Server) fits(ctx context.Context, code codeRow, r *op.ClientRequest[oidc.AccessTokenRequest]) (role identity.Role, misfit, err error) {
	switch {
	case !s.now().Before(timeOf(code.Until)),
		r.Client.GetID() != code.Request.Client.ID,
		r.Data.RedirectURI != noRedirect && r.Data.RedirectURI != code.Request.Redirect,
		!verifies(r.Data.CodeVerifier, code.Request.Challenge):
		return "", errCode, nil
	}
	if misfit := s.checkResource(r.Form["resource"]); misfit != nil {
		return "", misfit, nil
	}
	role, active, err := s.roleOf(ctx, code.Person)
	if err == nil && !active {
		misfit = errCode
	}
	return role, misfit, err
}

// verifies checks PKCE (RFC 7636, section 4.6), method S256, and the length of the verifier, which
// the library does not.
func verifies(verifier, challenge string) bool {
	return len(verifier) >= 43 && len(verifier) <= 128 &&
		op.AuthorizeCodeChallenge(verifier, &oidc.CodeChallenge{Challenge: challenge, Method: oidc.CodeChallengeMethodS256}) == nil
}

// used returns the operation that uses the code up, and requires that nobody has before.
func (s *Server) used(code kept[codeRow]) (table.Op, error) {
	doc := code.Doc
	doc.Used = true
	return code.put(doc, timeOf(doc.Until).Add(codeMemory))
}

// burn uses the code up for nothing.
func (s *Server) burn(ctx context.Context, code kept[codeRow], misfit error) error {
	op, err := s.used(code)
	if err != nil {
		return err
	}
	if err := s.Tables.Commit(ctx, []table.Op{op}); err != nil {
		return err
	}
	return misfit
}

// withoutAudit leaves the scope of the audit log to those who may read it.
func withoutAudit(scopes []identity.Scope, role identity.Role) []identity.Scope {
	return slices.DeleteFunc(slices.Clone(scopes), func(s identity.Scope) bool { return s == identity.AuditRead && !role.Manages() })
}

// issue makes the grant and its first tokens. The code, the grant and the event are one commit.
func (s *Server) issue(ctx context.Context, code kept[codeRow], role identity.Role) (*oidc.AccessTokenResponse, error) {
	at := s.now()
	req := code.Doc.Request
	g := grantRow{
		ID: code.Doc.GrantID, ClientID: req.Client.ID, ClientName: req.Client.Name, Person: code.Doc.Person,
		Scopes: withoutAudit(code.Doc.Scopes, role), Resource: req.Resource, Made: micros(at), Until: micros(at.Add(grantLife)),
	}
	if len(g.Scopes) == 0 {
		return nil, s.burn(ctx, code, errCode)
	}
	g.count(at)
	access, err := s.accessToken(ctx, g, g.Scopes, at)
	if err != nil {
		return nil, err
	}
	call := s.begin(ctx, grantAct, g)
	ops, refresh, err := s.firstOps(code, g, at)
	if err != nil {
		return nil, err
	}
	event, err := call.CommitOp(nil)
	if err != nil {
		return nil, err
	}
	if err := s.Tables.Commit(ctx, append(ops, event)); err != nil {
		return nil, err
	}
	return bearer(access, refresh, g.Scopes), nil
}

// bearer is the answer to a client that gets tokens (RFC 6749, section 5.1).
func bearer(access, refresh string, scopes []identity.Scope) *oidc.AccessTokenResponse {
	return &oidc.AccessTokenResponse{
		AccessToken: access, TokenType: oidc.BearerToken, ExpiresIn: uint64(accessLife.Seconds()), RefreshToken: refresh, Scope: identity.Names(scopes),
	}
}

// firstOps are the rows that a redeemed code leaves, and the refresh token, if there is one.
func (s *Server) firstOps(code kept[codeRow], g grantRow, at time.Time) (ops []table.Op, refresh string, err error) {
	used, err := s.used(code)
	if err != nil {
		return nil, "", err
	}
	grant, err := put(grantKey(g.ID), g, 1, timeOf(g.Until), table.IfAbsent())
	if err != nil {
		return nil, "", err
	}
	ops = []table.Op{used, grant}
	if !code.Doc.Request.Client.Refresh {
		return ops, "", nil
	}
	op, refresh, err := s.newRefresh(g, at)
	return append(ops, op), refresh, err
}

// newRefresh makes a refresh token.
func (s *Server) newRefresh(g grantRow, at time.Time) (table.Op, string, error) {
	secret, err := s.secret(refreshPrefix)
	if err != nil {
		return table.Op{}, "", err
	}
	until := at.Add(idleLife)
	if end := timeOf(g.Until); end.Before(until) {
		until = end
	}
	op, err := put(refreshKey(secret), refreshRow{GrantID: g.ID, Until: micros(until)}, 1, until, table.IfAbsent())
	return op, secret, err
}
