package lambdarun

import (
	"errors"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
)

// The settings of signing in. Without an issuer only personal tokens are taken; see signin.Config
// for what each means and what is taken where one is left out.
const (
	envIssuer        = "AAC_OAUTH_ISSUER"          // the claim iss, exactly
	envKeysURL       = "AAC_OAUTH_JWKS_URI"        // default: the issuer's /.well-known/jwks.json
	envAudience      = "AAC_OAUTH_AUDIENCE"        // default: AAC_PUBLIC_BASE_URL and /mcp
	envScopePrefix   = "AAC_OAUTH_SCOPE_PREFIX"    // default: none
	envClients       = "AAC_OAUTH_ALLOWED_CLIENTS" // client ids, separated by commas; default: all
	envDenyList      = "AAC_OAUTH_DENY_LIST"       // true or false; default: false
	envAllScopes     = "AAC_CHALLENGE_ALL_SCOPES"  // true or false; default: false
	envFacadeLogin   = "AAC_OAUTH_FACADE_LOGIN_URL"
	envFacadeClient  = "AAC_OAUTH_FACADE_CLIENT_ID"
	envFacadeCalls   = "AAC_OAUTH_FACADE_CALLBACKS" // separated by commas
	envDocumentation = "AAC_DOCUMENTATION_URL"
)

// settingsOf turns the names of the members of a signin.Config into those of the settings.
var settingsOf = strings.NewReplacer(
	"Issuer.URL", envIssuer, "Issuer.KeysURL", envKeysURL, "Issuer.Audience", envAudience, "Issuer.ScopePrefix", envScopePrefix,
	"Facade.LoginURL", envFacadeLogin, "Facade.ClientID", envFacadeClient, "Facade.Callbacks", envFacadeCalls,
	"BaseURL", envPublicBaseURL,
)

// readSignIn reads how callers sign in, and says by the names of the settings what is wrong.
func readSignIn(getenv func(string) string) (signin.Config, error) {
	denyList, okDeny := readBool(getenv(envDenyList))
	allScopes, okAll := readBool(getenv(envAllScopes))
	c := signin.Config{
		BaseURL: getenv(envPublicBaseURL), AllScopes: allScopes, Documentation: getenv(envDocumentation),
		Issuer: signin.Issuer{
			URL: getenv(envIssuer), KeysURL: getenv(envKeysURL), Audience: getenv(envAudience),
			ScopePrefix: getenv(envScopePrefix), Clients: words(getenv(envClients)), DenyList: denyList,
		},
		Facade: signin.Facade{
			LoginURL: getenv(envFacadeLogin), ClientID: getenv(envFacadeClient), Callbacks: words(getenv(envFacadeCalls)),
		},
	}
	var problems []error
	if err := c.Check(); err != nil {
		problems = append(problems, errors.New(settingsOf.Replace(err.Error())))
	}
	if !okDeny || !okAll {
		problems = append(problems, errors.New(envDenyList+" and "+envAllScopes+" must be true or false"))
	}
	return c, errors.Join(problems...)
}

func readBool(text string) (value, ok bool) {
	switch text {
	case "true":
		return true, true
	case "", "false":
		return false, true
	}
	return false, false
}
