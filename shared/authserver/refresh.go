package authserver

import (
	"context"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// A refresh token is good for one use, and gives the next one (OAuth 2.1, section 4.3). One that
// comes a second time was stolen, or the thief has the next one: which of the two asks cannot be
// told, so the grant ends, and the person is asked anew.

var errRefresh = refuse(oidc.ErrInvalidGrant(), "this refresh token is not known, has been used, has expired or was revoked: sign in again")

// maxRecent bounds how many access tokens of one grant may be taken at once.
const maxRecent = 20

// count notes that an access token is issued, and tells whether there may be one more.
func (g *grantRow) count(at time.Time) bool {
	alive := g.Recent[:0:0]
	for _, t := range g.Recent {
		if at.Before(timeOf(t).Add(accessUse)) {
			alive = append(alive, t)
		}
	}
	g.Issued++
	g.Recent = append(alive, micros(at))
	return len(alive) < maxRecent
}

// refresh makes new tokens of a refresh token. It conflicts if another use of the token, or the
// end of the grant, came first.
func (s *Server) refresh(ctx context.Context, r *op.ClientRequest[oidc.RefreshTokenRequest]) (*oidc.AccessTokenResponse, error) {
	old, err := read[refreshRow](ctx, s.Tables, refreshKey(r.Data.RefreshToken))
	if err != nil || !old.found() {
		return nil, orElse(err, errRefresh)
	}
	grant, err := read[grantRow](ctx, s.Tables, grantKey(old.Doc.GrantID))
	if err != nil || !grant.found() {
		return nil, orElse(err, errRefresh)
	}
	at := s.now()
	switch {
	case grant.Doc.Ended != 0 || !at.Before(timeOf(grant.Doc.Until)):
		return nil, errRefresh
	case old.Doc.Spent != 0:
		return nil, s.stolen(ctx, grant.Doc, refreshReused)
	case grant.Doc.ClientID != r.Client.GetID():
		return nil, s.stolen(ctx, grant.Doc, wrongHands)
	case !at.Before(timeOf(old.Doc.Until)):
		return nil, errRefresh
	}
	if misfit := s.checkResource(r.Form["resource"]); misfit != nil {
		return nil, misfit
	}
	scopes, err := s.scopesNow(ctx, grant.Doc, r.Form.Get("scope"))
	if err != nil {
		return nil, err
	}
	return s.rotate(ctx, old, grant, scopes, at)
}

func orElse(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// stolen ends a grant whose refresh token came from where it should not.
func (s *Server) stolen(ctx context.Context, g grantRow, why string) error {
	if err := s.endGrant(ctx, g.ID, why); err != nil {
		return err
	}
	s.recordDenial(ctx, refreshAct, g, why)
	return errRefresh
}

// scopesNow are the scopes of the next access token: those of the grant, fewer if the client asks
// for fewer, and none that the person may not have any more. Whatever else it asks for is refused
// (RFC 6749, section 6).
func (s *Server) scopesNow(ctx context.Context, g grantRow, asks string) ([]identity.Scope, error) {
	role, active, err := s.roleOf(ctx, g.Person)
	if err != nil {
		return nil, err
	}
	if !active {
		return nil, orElse(s.endGrant(ctx, g.ID, memberLeft), errRefresh)
	}
	scopes := withoutAudit(g.Scopes, role)
	if words := wordsOf(asks); len(words) > 0 {
		asked := identity.ParseScopes(asks)
		if !subset(words, identity.Names(scopes)) { // an unknown one was not granted either
			return nil, refuse(oidc.ErrInvalidScope(), "a refresh cannot give more than was granted: ask the person for it with a new sign-in")
		}
		scopes = asked
	}
	if len(scopes) == 0 {
		return nil, errRefresh
	}
	return scopes, nil
}

// rotate uses the old token up and issues the next ones, if the grant is still as it was read.
func (s *Server) rotate(ctx context.Context, old kept[refreshRow], grant kept[grantRow], scopes []identity.Scope, at time.Time) (*oidc.AccessTokenResponse, error) {
	g := grant.Doc
	if !g.count(at) {
		return nil, tooMany(accessUse)
	}
	access, err := s.accessToken(ctx, g, scopes, at)
	if err != nil {
		return nil, err
	}
	spent := old.Doc
	spent.Spent = micros(at)
	remembered := at.Add(spentMemory)
	if end := timeOf(g.Until); end.Before(remembered) {
		remembered = end
	}
	use, err := old.put(spent, remembered)
	if err != nil {
		return nil, err
	}
	next, secret, err := s.newRefresh(g, at)
	if err != nil {
		return nil, err
	}
	keep, err := grant.put(g, timeOf(g.Until))
	if err != nil {
		return nil, err
	}
	if err := s.Tables.Commit(ctx, []table.Op{use, next, keep}); err != nil {
		return nil, err
	}
	return bearer(access, secret, scopes), nil
}
