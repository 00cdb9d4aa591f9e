package authserver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// A code is good for one try. Whoever sends it with anything that does not fit has it from
// somewhere else, or may have: it is used up all the same. If it comes again after that, all that
// was issued for it ends (RFC 6749, section 4.1.2).

var errCode = refuse(invalidGrant, "this code is not known, has been used, has expired, or does not belong to this request: sign in again")

// redeem makes tokens of a code.
func (s *Server) redeem(r *http.Request, form fields) (tokens, error) {
	if form.get("code") == "" {
		return tokens{}, refuse(invalidRequest, "code is missing: send it in the body")
	}
	for range commitTries {
		answer, err := s.redeemOnce(r, form)
		if !table.IsConflict(err) {
			return answer, err
		}
		// Another use of the code came first, or was under way: look again.
	}
	return tokens{}, tooMany(time.Second)
}

func (s *Server) redeemOnce(r *http.Request, form fields) (tokens, error) {
	code, err := read[codeRow](r.Context(), s.Tables, codeKey(form.get("code")))
	switch {
	case err != nil:
		return tokens{}, err
	case !code.found():
		return tokens{}, errCode
	case code.Doc.Used:
		return tokens{}, s.codeAgain(r, code.Doc.GrantID)
	}
	role, misfit, err := s.fits(r.Context(), code.Doc, form)
	if err != nil {
		return tokens{}, err
	}
	if misfit != nil {
		return tokens{}, s.burn(r, code, misfit)
	}
	return s.issue(r, code, role)
}

// fits tells what does not fit, nil if all does, and the role of the person.
func (s *Server) fits(ctx context.Context, code codeRow, form fields) (role identity.Role, misfit *refusal, err error) {
	redirect, named := form.get("redirect_uri"), form.values.Has("redirect_uri")
	switch {
	case !s.now().Before(timeOf(code.Until)),
		form.get("client_id") != code.Request.Client.ID,
		named && redirect != code.Request.Redirect,
		!verifies(form.get("code_verifier"), code.Request.Challenge):
		return "", errCode, nil
	}
	if misfit := s.checkResource(form); misfit != nil {
		return "", misfit, nil
	}
	_, role, active, err := s.Members.Member(ctx, code.Person.WorkspaceID, code.Person.UserID)
	if err != nil {
		return "", nil, fmt.Errorf("read the member: %w", err)
	}
	if !active {
		return "", errCode, nil
	}
	return role, nil, nil
}

// verifies checks PKCE (RFC 7636, section 4.6), method S256.
func verifies(verifier, challenge string) bool {
	if len(verifier) < 43 || len(verifier) > 128 {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}

// used returns the operation that uses the code up, and requires that nobody has before.
func (s *Server) used(code kept[codeRow]) (table.Op, error) {
	doc := code.Doc
	doc.Used = true
	return code.put(doc, timeOf(doc.Until).Add(codeMemory))
}

// burn uses the code up for nothing.
func (s *Server) burn(r *http.Request, code kept[codeRow], misfit *refusal) error {
	op, err := s.used(code)
	if err != nil {
		return err
	}
	if err := s.Tables.Commit(r.Context(), []table.Op{op}); err != nil {
		return err
	}
	return misfit
}

// codeAgain ends what was issued for a code that came a second time.
func (s *Server) codeAgain(r *http.Request, grant string) error {
	if err := s.endGrant(r, grant, codeReused); err != nil {
		return err
	}
	return errCode
}

// withoutAudit leaves the scope of the audit log to those who may read it.
func withoutAudit(scopes []identity.Scope, role identity.Role) []identity.Scope {
	return slices.DeleteFunc(slices.Clone(scopes), func(s identity.Scope) bool { return s == identity.AuditRead && !role.Manages() })
}

// issue makes the grant and its first tokens. The code, the grant and the event are one commit.
func (s *Server) issue(r *http.Request, code kept[codeRow], role identity.Role) (tokens, error) {
	at := s.now()
	req := code.Doc.Request
	g := grantRow{
		ID: code.Doc.GrantID, ClientID: req.Client.ID, ClientName: req.Client.Name, Person: code.Doc.Person,
		Scopes: withoutAudit(code.Doc.Scopes, role), Resource: req.Resource, Made: micros(at), Until: micros(at.Add(grantLife)),
	}
	if len(g.Scopes) == 0 {
		return tokens{}, s.burn(r, code, errCode)
	}
	g.count(at)
	access, err := s.accessToken(r.Context(), g, g.Scopes, at)
	if err != nil {
		return tokens{}, err
	}
	call := s.begin(r, grantAct, g)
	ops, refresh, err := s.firstOps(code, g, at)
	if err != nil {
		return tokens{}, err
	}
	event, err := call.CommitOp(nil)
	if err != nil {
		return tokens{}, err
	}
	if err := s.Tables.Commit(r.Context(), append(ops, event)); err != nil {
		return tokens{}, err
	}
	return bearer(access, refresh, g.Scopes), nil
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
