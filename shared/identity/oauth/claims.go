package oauth

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
)

// skew is by how much clocks may differ.
const skew = 60 * time.Second

// claims is what a verified token says.
type claims struct {
	token    jwt.Token
	issuer   string
	subject  string
	client   string   // empty if it does not say
	audience []string // empty if it does not say
	use      string   // Cognito: access or id
	scopes   []string // as written
	tokenID  string
}

// readClaims reads what was signed. What is there must be of the right kind.
func readClaims(payload []byte, t form) (claims, error) {
	token := jwt.New()
	if err := json.Unmarshal(payload, token); err != nil {
		return claims{}, errors.New("its claims cannot be read")
	}
	c := claims{token: token}
	c.issuer, _ = token.Issuer()
	c.subject, _ = token.Subject()
	c.audience, _ = token.Audience()
	id, _ := token.JwtID()
	c.tokenID = tokenID(id, t.text)
	use, okUse := text(token, "token_use")
	client, okClient := text(token, "client_id")
	party, okParty := text(token, "azp")
	scopes, okScopes := words(token, "scope")
	if !token.Has("scope") {
		scopes, okScopes = words(token, "scp")
	}
	if !okUse || !okClient || !okParty || !okScopes {
		return claims{}, errors.New("a claim of it is of the wrong kind")
	}
	c.use, c.client, c.scopes = use, client, scopes
	if client == "" {
		c.client = party
	}
	return c, nil
}

// text reads a claim that is a string, if it is there.
func text(token jwt.Token, name string) (string, bool) {
	if !token.Has(name) {
		return "", true
	}
	var s string
	return s, token.Get(name, &s) == nil
}

// words reads a claim that is a string of words, or a list of them: issuers do both.
func words(token jwt.Token, name string) ([]string, bool) {
	if !token.Has(name) {
		return nil, true
	}
	var value any
	if token.Get(name, &value) != nil {
		return nil, false
	}
	switch value := value.(type) {
	case string:
		return strings.Fields(value), true
	case []any:
		list := make([]string, len(value))
		for i, element := range value {
			word, ok := element.(string)
			if !ok {
				return nil, false
			}
			list[i] = word
		}
		return list, true
	}
	return nil, false
}

var plainID = regexp.MustCompile(`^[A-Za-z0-9._~-]{1,64}$`)

// tokenID is the name of a token in the audit log: its jti. Where that is missing, or would not
// be safe to print, a hash of what was signed stands for it; the signature is not in it, for
// there can be more than one.
func tokenID(jti, token string) string {
	if plainID.MatchString(jti) {
		return jti
	}
	signed, _ := cutLast(token, '.')
	sum := sha256.Sum256([]byte(signed))
	return "sha256-" + hex.EncodeToString(sum[:16])
}

func cutLast(s string, sep byte) (before, after string) {
	i := strings.LastIndexByte(s, sep)
	return s[:i], s[i+1:]
}

// check tells why a token is not for us. Its times are not looked at: one that has expired is
// still somebody's.
func (c claims) check(from signin.Issuer) error {
	switch {
	case c.issuer != from.URL:
		return errors.New("its issuer is not the one that is trusted here")
	case c.use != "" && c.use != "access":
		return errors.New("it is no access token")
	case c.subject == "":
		return errors.New("it names no person")
	case !c.token.Has(jwt.ExpirationKey):
		return errors.New("it never expires")
	case len(from.Clients) > 0 && !slices.Contains(from.Clients, c.client):
		return errors.New("its client is not one of those allowed")
	}
	return c.checkAudience(from)
}

// checkAudience demands our address. Amazon Cognito leaves the audience out unless the client
// names a resource; then the client must be one of ours, and the scopes those of our resource
// server.
func (c claims) checkAudience(from signin.Issuer) error {
	if c.token.Has(jwt.AudienceKey) {
		if !slices.Contains(c.audience, from.Audience) {
			return errors.New("its audience is another one")
		}
		return nil
	}
	ours := func(scope string) bool { return from.ScopePrefix != "" && strings.HasPrefix(scope, from.ScopePrefix) }
	if len(from.Clients) == 0 || !slices.ContainsFunc(c.scopes, ours) {
		return errors.New("it has no audience, and is not of a client and with scopes that make up for it")
	}
	return nil
}

// checkTimes tells whether the token may be used now.
func (c claims) checkTimes(now time.Time) error {
	err := jwt.Validate(c.token, jwt.WithClock(jwt.ClockFunc(func() time.Time { return now })), jwt.WithAcceptableSkew(skew))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jwt.TokenExpiredError()):
		return denied(fault.TokenExpired, "this token has expired: sign in again")
	}
	return unknown("it is not valid yet: compare the clocks")
}

// scopesOf returns our scopes, in a fixed order. With a prefix, what lacks it is no scope of
// ours.
func (c claims) scopesOf(prefix string) []identity.Scope {
	return slices.DeleteFunc(identity.Scopes(), func(s identity.Scope) bool { return !slices.Contains(c.scopes, prefix+string(s)) })
}
