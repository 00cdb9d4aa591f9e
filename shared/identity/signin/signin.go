// Package signin says how callers get access tokens: which issuer is trusted, the challenges
// that send a client there, and the documents in which it reads the way.
//
// It is configuration and text. It checks no token (identity/oauth does), serves nothing (rest
// does) and never looks at a request: an address that came from one could be an attacker's.
// Start with Config; challenge.go and metadata.go are what clients read.
package signin

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// Config is how the connector is known and where its callers sign in. The zero Config knows no
// address and trusts no issuer: only personal tokens are taken.
type Config struct {
	// BaseURL is under which clients reach the API, without a slash at the end; empty if it is
	// not known.
	BaseURL string
	Issuer  Issuer
	// AllScopes makes the first challenge ask for every scope at once, for clients that cannot
	// get more scopes later. What a person grants is still up to them.
	AllScopes bool
	// Documentation is a page for developers; empty for none.
	Documentation string
	Facade        Facade
}

// Issuer is an authorization server whose access tokens are taken.
type Issuer struct {
	// URL is compared with the claim iss, byte by byte; empty for no issuer.
	URL string
	// KeysURL is where its public keys are (a JWK Set); empty: below URL, at
	// /.well-known/jwks.json.
	KeysURL string
	// Audience must be among the audiences of a token; empty: the address of /mcp.
	Audience string
	// ScopePrefix comes before each of our scopes, in tokens and in what clients ask for. What
	// lacks it is no scope of ours.
	ScopePrefix string
	// Clients are the client ids whose tokens are taken; empty: those of all clients.
	Clients []string
	// DenyList makes each token be looked up among those that were revoked before their time.
	DenyList bool
}

// Facade describes Amazon Cognito's endpoints in the words of RFC 8414. Cognito's own document
// does not say that it supports PKCE, and clients refuse it for that.
type Facade struct {
	// LoginURL is the address of the user pool's domain, without a slash at the end; empty: no
	// facade.
	LoginURL string
	// ClientID is given to every client that asks to be registered; empty: none is.
	ClientID string
	// Callbacks are the redirect addresses of that client, as they are registered at Cognito.
	Callbacks []string
}

// Paths of the documents. Source: RFC 9728, section 3.1; RFC 8414, section 3.1; OpenID Connect
// Discovery 1.0, section 4.
const (
	ResourcePath     = "/.well-known/oauth-protected-resource/mcp"
	ResourceRootPath = "/.well-known/oauth-protected-resource"
	ServerPath       = "/.well-known/oauth-authorization-server"
	OpenIDPath       = "/.well-known/openid-configuration"
	RegisterPath     = "/register"
	mcpPath          = "/mcp"
)

// Resource is the address that people type, exactly; empty if it is not known.
func (c Config) Resource() string { return c.at(mcpPath) }

// ResourceMetadata is where the metadata of Resource are; empty if that is not known.
func (c Config) ResourceMetadata() string { return c.at(ResourcePath) }

func (c Config) at(path string) string {
	if c.BaseURL == "" {
		return ""
	}
	return c.BaseURL + path
}

// Issuers are those whose tokens are taken, with what was left out of them filled in: one or
// none.
func (c Config) Issuers() []Issuer {
	if c.Issuer.URL == "" {
		return nil
	}
	i := c.Issuer
	if i.KeysURL == "" {
		i.KeysURL = strings.TrimSuffix(i.URL, "/") + "/.well-known/jwks.json"
	}
	if i.Audience == "" {
		i.Audience = c.Resource()
	}
	return []Issuer{i}
}

// HasFacade tells whether the connector describes its authorization server itself.
func (c Config) HasFacade() bool { return c.Facade.LoginURL != "" }

// Scopes writes scopes as the authorization server knows them.
func (c Config) Scopes(scopes []identity.Scope) []string {
	names := identity.Names(scopes)
	for i := range names {
		names[i] = c.Issuer.ScopePrefix + names[i]
	}
	return names
}

// offered are the scopes that every client may ask for. To read the audit log is for those who
// manage; a client of theirs asks for it by name.
func offered() []identity.Scope {
	return slices.DeleteFunc(identity.Scopes(), func(s identity.Scope) bool { return s == identity.AuditRead })
}

// Check tells all that is wrong with a Config, by the names of its members.
func (c Config) Check() error {
	return errors.Join(slices.Concat(c.checkURLs(), c.checkIssuer(), c.checkFacade())...)
}

func (c Config) checkURLs() (problems []error) {
	for _, member := range []struct{ name, value string }{
		{"BaseURL", c.BaseURL}, {"Issuer.URL", c.Issuer.URL}, {"Issuer.KeysURL", c.Issuer.KeysURL}, {"Facade.LoginURL", c.Facade.LoginURL},
	} {
		if member.value != "" && !secure(member.value) {
			problems = append(problems, fmt.Errorf("%s must begin with https:// and have no query and no fragment; http:// is for this machine alone", member.name))
		}
	}
	for _, member := range []struct{ name, value string }{{"BaseURL", c.BaseURL}, {"Facade.LoginURL", c.Facade.LoginURL}} {
		if strings.HasSuffix(member.value, "/") {
			problems = append(problems, fmt.Errorf("%s must have no slash at the end", member.name))
		}
	}
	return problems
}

func (c Config) checkIssuer() (problems []error) {
	i := c.Issuer
	given := i.KeysURL != "" || i.Audience != "" || i.ScopePrefix != "" || len(i.Clients) > 0 || i.DenyList || c.HasFacade()
	switch {
	case i.URL == "" && given:
		problems = append(problems, errors.New("Issuer.URL is missing: what else is said of the issuer has no use without it"))
	case i.URL != "" && i.Audience == "" && c.BaseURL == "":
		problems = append(problems, errors.New("Issuer.Audience is missing, and there is no BaseURL to make it of: give one of the two"))
	}
	if !quotable(i.ScopePrefix) || !quotable(i.Audience) {
		problems = append(problems, errors.New("Issuer.ScopePrefix and Issuer.Audience must be printable ASCII without spaces, quotes and backslashes"))
	}
	return problems
}

func (c Config) checkFacade() (problems []error) {
	f := c.Facade
	switch {
	case !c.HasFacade() && (f.ClientID != "" || len(f.Callbacks) > 0):
		problems = append(problems, errors.New("Facade.LoginURL is missing: without it there is no facade"))
	case c.HasFacade() && c.BaseURL == "":
		problems = append(problems, errors.New("BaseURL is missing: the facade is an authorization server of that name"))
	case (f.ClientID == "") != (len(f.Callbacks) == 0):
		problems = append(problems, errors.New("Facade.ClientID and Facade.Callbacks belong together: give both, or none"))
	}
	return problems
}

// quotable tells whether text may stand between quotes in a header (RFC 6750, section 3).
func quotable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}

// secure tells whether an address may be trusted to lead where it says.
func secure(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || !quotable(address) {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
