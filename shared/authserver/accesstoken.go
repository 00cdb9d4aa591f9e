package authserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/crypto"
	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// accessToken signs an access token (RFC 9068) of a grant. Its jti is the grant's id and a number,
// so that the audit log leads from a call to the grant it was made under.
func (s *Server) accessToken(ctx context.Context, g grantRow, scopes []identity.Scope, at time.Time) (string, error) {
	key, err := s.signer(ctx)
	if err != nil {
		return "", err
	}
	// The library's own signer says JWT, which an ID token could be.
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, (&jose.SignerOptions{}).WithType("at+jwt"))
	if err != nil {
		return "", fmt.Errorf("take a signing key: %w", err)
	}
	signed, err := crypto.Sign(&oidc.AccessTokenClaims{
		TokenClaims: oidc.TokenClaims{
			Issuer: s.Issuer, Subject: g.Person.Subject, Audience: oidc.Audience{g.Resource},
			IssuedAt: oidc.FromTime(at), NotBefore: oidc.FromTime(at), Expiration: oidc.FromTime(at.Add(accessLife)),
			JWTID: tokenID(g.ID, g.Issued), ClientID: g.ClientID,
		},
		Scopes: identity.Names(scopes),
	}, signer)
	if err != nil {
		return "", fmt.Errorf("sign an access token: %w", err)
	}
	return signed, nil
}

func tokenID(grant string, number int) string { return grant + "." + strconv.Itoa(number) }

// grantOf returns the grant of an access token of ours, expired or not, and false for all else.
func (s *Server) grantOf(ctx context.Context, accessToken string) (string, bool, error) {
	signed, err := jose.ParseSignedCompact(accessToken, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return "", false, nil
	}
	keys, err := s.publicKeys(ctx)
	if err != nil {
		return "", false, err
	}
	payload, err := signed.Verify(keys)
	var claims oidc.TokenClaims
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		return "", false, nil
	}
	grant, _, ok := strings.Cut(claims.JWTID, ".")
	return grant, ok && claims.Issuer == s.Issuer, nil
}
