package authserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// accessToken signs an access token (RFC 9068) of a grant. Its jti is the grant's id and a number,
// so that the audit log leads from a call to the grant it was made under.
func (s *Server) accessToken(ctx context.Context, g grantRow, scopes []identity.Scope, at time.Time) (string, error) {
	t, err := jwt.NewBuilder().
		Issuer(s.Issuer).Subject(g.Person.Subject).Audience([]string{g.Resource}).
		IssuedAt(at).NotBefore(at).Expiration(at.Add(accessLife)).
		JwtID(tokenID(g.ID, g.Issued)).
		Claim("client_id", g.ClientID).Claim("scope", identity.Join(scopes)).
		Build()
	if err != nil {
		return "", fmt.Errorf("make an access token: %w", err)
	}
	key, err := s.signer(ctx)
	if err != nil {
		return "", err
	}
	header := jws.NewHeaders()
	if err := header.Set(jws.TypeKey, "at+jwt"); err != nil {
		return "", fmt.Errorf("make an access token: %w", err)
	}
	signed, err := jwt.Sign(t, jwt.WithKey(jwa.ES256(), key, jws.WithProtectedHeaders(header)))
	if err != nil {
		return "", fmt.Errorf("sign an access token: %w", err)
	}
	return string(signed), nil
}

func tokenID(grant string, number int) string { return grant + "." + strconv.Itoa(number) }

// grantOf returns the grant of an access token of ours, expired or not, and false for all else.
func (s *Server) grantOf(ctx context.Context, accessToken string) (string, bool, error) {
	if strings.Count(accessToken, ".") != 2 {
		return "", false, nil
	}
	set, err := s.publicKeys(ctx)
	if err != nil {
		return "", false, err
	}
	t, err := jwt.Parse([]byte(accessToken), jwt.WithKeySet(set), jwt.WithValidate(false))
	if err != nil {
		return "", false, nil
	}
	id, _ := t.JwtID()
	grant, _, ok := strings.Cut(id, ".")
	issuer, _ := t.Issuer()
	return grant, ok && issuer == s.Issuer, nil
}
