package authserver

import (
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// asker is a client in one request, as the library sees it: a public one.
type asker struct {
	client
	redirects []string // those of its own that fit the request: see redirectsFor
}

var _ op.Client = asker{}

func (a asker) GetID() string               { return a.ID }
func (a asker) RedirectURIs() []string      { return a.redirects }
func (a asker) AuthMethod() oidc.AuthMethod { return oidc.AuthMethodNone }

// ApplicationType lets addresses be on this machine, or in an app.
func (a asker) ApplicationType() op.ApplicationType { return op.ApplicationTypeNative }

func (a asker) ResponseTypes() []oidc.ResponseType {
	return []oidc.ResponseType{oidc.ResponseTypeCode}
}

func (a asker) GrantTypes() []oidc.GrantType {
	return []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken}
}

func (a asker) IsScopeAllowed(scope string) bool { return identity.Scope(scope).Known() }

// What follows is of OpenID Connect and of tokens that the library makes itself: neither is served.

func (a asker) PostLogoutRedirectURIs() []string                             { return nil }
func (a asker) LoginURL(string) string                                       { return "" }
func (a asker) AccessTokenType() op.AccessTokenType                          { return op.AccessTokenTypeJWT }
func (a asker) IDTokenLifetime() time.Duration                               { return 0 }
func (a asker) DevMode() bool                                                { return false }
func (a asker) RestrictAdditionalIdTokenScopes() func([]string) []string     { return none }
func (a asker) RestrictAdditionalAccessTokenScopes() func([]string) []string { return none }
func (a asker) IDTokenUserinfoClaimsAssertion() bool                         { return false }
func (a asker) ClockSkew() time.Duration                                     { return 0 }

func none([]string) []string { return nil }
