package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/infra/stack"
	"github.com/aacworkflow/mcp-connector/shared/gateway"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
)

// The ways of signing in that the parameters allow: in each of them the three programs that speak
// of it must start, be told the same, and say what API Gateway says.

// cognito are the values that AWS gives what the template makes.
var cognito = map[string]string{
	"AWS::Region": "eu-west-1", "UserPool": "eu-west-1_1", "UserPool.ProviderURL": "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_1",
	"UserPoolClient": "client1", "UserPoolDomain": "aacworkflow-1",
}

// waysToSignIn are parameters by a name, for what is to be said of them.
var waysToSignIn = map[string]map[string]string{
	"the defaults":             {},
	"an address":               {"PublicBaseUrl": "https://a.example/v1"},
	"another issuer":           {"DomainName": "mcp.example.com", "OAuthIssuer": "https://id.example.com", "OAuthScopePrefix": "api/", "OAuthDenyList": "true", "ChallengeAllScopes": "true"},
	"a user pool of ours":      {"DomainName": "mcp.example.com", "CreateCognito": "true"},
	"that and the deny list":   {"PublicBaseUrl": "https://a.example/v1", "CreateCognito": "true", "OAuthDenyList": "true", "ChallengeAllScopes": "true"},
	"a user pool, still to be": {"CreateCognito": "true", "OAuthDenyList": "true"}, // the address comes with the second deployment
	"a facade of another pool": {"DomainName": "mcp.example.com", "OAuthIssuer": "https://cognito-idp.eu-west-1.amazonaws.com/x", "OAuthFacadeLoginUrl": "https://x.auth.eu-west-1.amazoncognito.com", "OAuthFacadeClientId": "c", "OAuthFacadeCallbacks": "https://claude.ai/cb"},
}

// halfWays are parameters with which a program would not start, so that every request would fail
// from then on: the template's rules refuse them before anything is deployed.
var halfWays = map[string]map[string]string{
	"an issuer without an address": {"OAuthIssuer": "https://id.example.com"},
	"two issuers":                  {"DomainName": "mcp.example.com", "CreateCognito": "true", "OAuthIssuer": "https://id.example.com"},
	"keys of nobody":               {"OAuthJwksUri": "https://id.example.com/keys"},
	"an audience of nobody":        {"DomainName": "mcp.example.com", "OAuthAudience": "api"},
	"a prefix of nobody":           {"OAuthScopePrefix": "api/"},
	"clients of nobody":            {"OAuthAllowedClients": "c"},
	"a facade of nobody":           {"DomainName": "mcp.example.com", "OAuthFacadeLoginUrl": "https://x.auth.eu-west-1.amazoncognito.com"},
	"a client without callbacks":   {"DomainName": "mcp.example.com", "OAuthIssuer": "https://id.example.com", "OAuthFacadeLoginUrl": "https://x.example.com", "OAuthFacadeClientId": "c"},
	"callbacks without a client":   {"DomainName": "mcp.example.com", "OAuthIssuer": "https://id.example.com", "OAuthFacadeLoginUrl": "https://x.example.com", "OAuthFacadeCallbacks": "https://claude.ai/cb"},
	"a client without a facade":    {"DomainName": "mcp.example.com", "OAuthIssuer": "https://id.example.com", "OAuthFacadeClientId": "c", "OAuthFacadeCallbacks": "https://claude.ai/cb"},
}

// checkRules holds that the rules refuse what does not start, and nothing else.
func checkRules(s *stack.Stack) (findings []string) {
	certified := func(parameters map[string]string) map[string]string {
		with := map[string]string{"CertificateArn": "arn:aws:acm:eu-west-1:1:certificate/1"}
		maps.Copy(with, parameters)
		return with
	}
	for way, parameters := range waysToSignIn {
		if rule, err := s.Refuses(certified(parameters)); rule != "" || err != nil {
			findings = append(findings, fmt.Sprintf("signing in, with %s: the rule %s refuses it, error %v", way, rule, err))
		}
	}
	for way, parameters := range halfWays {
		if rule, err := s.Refuses(certified(parameters)); rule == "" || err != nil {
			findings = append(findings, fmt.Sprintf("signing in, with %s: no rule refuses it, error %v", way, err))
		}
	}
	return findings
}

func checkSignIn(s *stack.Stack) (findings []string) {
	findings = checkRules(s)
	functions, err := s.Functions()
	if err != nil {
		return []string{err.Error()}
	}
	for _, way := range slices.Sorted(maps.Keys(waysToSignIn)) {
		parameters := maps.Clone(cognito)
		maps.Copy(parameters, waysToSignIn[way])
		say := func(format string, a ...any) {
			findings = append(findings, "signing in, with "+way+": "+fmt.Sprintf(format, a...))
		}
		told := map[string]map[string]string{}
		for _, program := range []string{"authorizer", "discovery", "mcp"} {
			if told[program], err = environment(s, functions[program], strings.Fields(signInEnvironment), parameters); err != nil {
				say("%s: %v", program, err)
			}
			if !maps.Equal(told[program], told["authorizer"]) {
				say("%s is told something else than the authorizer: %v, %v", program, told[program], told["authorizer"])
			}
		}
		c := signInOf(told["authorizer"])
		if err := c.Check(); err != nil {
			say("the programs do not start: %v", err)
			continue
		}
		response, err := responseOf(s, gateway.Unauthorized, stack.At(s.Resources[apiID].Properties, "Body", "x-amazon-apigateway-gateway-responses", "UNAUTHORIZED"), parameters)
		if err != nil {
			say("%v", err)
		}
		if want := (gateway.Header{Name: "WWW-Authenticate", Value: "'" + c.Challenge() + "'"}); !slices.Contains(response.Headers, want) {
			say("API Gateway challenges %v, the programs %v", response.Headers, want)
		}
		if made, err := s.Holds(s.Resources["UserPool"].Condition, parameters); err != nil || made != c.HasFacade() && way != "a facade of another pool" {
			say("the user pool is made: %v, %v", made, err)
		} else if made {
			findings = append(findings, checkUserPool(s, c, parameters)...)
		}
	}
	return findings
}

// environment evaluates the settings of a function.
func environment(s *stack.Stack, f stack.Function, names []string, parameters map[string]string) (map[string]string, error) {
	values := map[string]string{}
	for _, name := range names {
		var err error
		if values[name], err = s.Evaluate(stack.At(f.Properties, "Environment", "Variables", name), parameters); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return values, nil
}

// signInOf reads the settings as shared/lambdarun does.
func signInOf(env map[string]string) signin.Config {
	words := func(list string) []string {
		return slices.DeleteFunc(strings.Split(list, ","), func(w string) bool { return w == "" })
	}
	return signin.Config{
		BaseURL: env["AAC_PUBLIC_BASE_URL"], AllScopes: env["AAC_CHALLENGE_ALL_SCOPES"] == "true", Documentation: env["AAC_DOCUMENTATION_URL"],
		Issuer: signin.Issuer{URL: env["AAC_OAUTH_ISSUER"], KeysURL: env["AAC_OAUTH_JWKS_URI"], Audience: env["AAC_OAUTH_AUDIENCE"],
			ScopePrefix: env["AAC_OAUTH_SCOPE_PREFIX"], Clients: words(env["AAC_OAUTH_ALLOWED_CLIENTS"]), DenyList: env["AAC_OAUTH_DENY_LIST"] == "true"},
		Facade: signin.Facade{LoginURL: env["AAC_OAUTH_FACADE_LOGIN_URL"], ClientID: env["AAC_OAUTH_FACADE_CLIENT_ID"], Callbacks: words(env["AAC_OAUTH_FACADE_CALLBACKS"])},
	}
}

// checkUserPool holds that the pool gives out what the programs take: our scopes, for the address
// of /mcp, to a client without a secret that must use PKCE-capable code flow, and that nobody
// makes an account by themselves.
func checkUserPool(s *stack.Stack, c signin.Config, parameters map[string]string) (findings []string) {
	client, pool := s.Resources["UserPoolClient"].Properties, s.Resources["UserPool"]
	var allowed, named []string
	for _, v := range stack.List(client["AllowedOAuthScopes"]) {
		scope, err := s.Evaluate(v, parameters)
		if err != nil {
			findings = append(findings, err.Error())
		}
		allowed = append(allowed, scope)
	}
	for _, v := range stack.List(s.Resources["UserPoolScopes"].Properties["Scopes"]) {
		named = append(named, stack.Short(stack.At(v, "ScopeName")))
	}
	identifier, err := s.Evaluate(s.Resources["UserPoolScopes"].Properties["Identifier"], parameters)
	if err != nil {
		findings = append(findings, err.Error())
	}
	same := func(a, b []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
	}
	for what, is := range map[string]bool{
		"its client may ask for each of our scopes, and no other":      same(allowed, c.Scopes(identity.Scopes())),
		"it knows each of our scopes, and no other":                    same(named, identity.Names(identity.Scopes())),
		"its scopes are those of the address of /mcp":                  identifier == c.Resource() && c.Issuer.ScopePrefix == c.Resource()+"/",
		"only its client's tokens are taken":                           slices.Equal(c.Issuer.Clients, []string{parameters["UserPoolClient"]}),
		"its client has no secret":                                     client["GenerateSecret"] == false,
		"its client knows passwords by SRP alone, never in the clear":  stack.Short(client["ExplicitAuthFlows"]) == `["ALLOW_USER_SRP_AUTH"]`,
		"its client uses codes alone":                                  stack.Short(client["AllowedOAuthFlows"]) == `["code"]`,
		"its client's callbacks are those that /register knows":        stack.Short(client["CallbackURLs"]) == `{"Fn::Split":[",",{"Ref":"CognitoCallbacks"}]}`,
		"its access tokens end within an hour":                         stack.Short(client["AccessTokenValidity"]) == "60" && stack.At(client, "TokenValidityUnits", "AccessToken") == "minutes",
		"its refresh tokens are used once":                             stack.At(client, "RefreshTokenRotation", "Feature") == "ENABLED" && client["EnableTokenRevocation"] == true,
		"nobody makes an account by themselves":                        stack.At(pool.Properties, "AdminCreateUserConfig", "AllowAdminCreateUserOnly") == true,
		"it outlives the stack":                                        pool.DeletionPolicy == "Retain" && pool.UpdateReplacePolicy == "Retain",
		"it is of a tier whose tokens name the audience that is asked": pool.Properties["UserPoolTier"] == "ESSENTIALS",
		"its pages are shown":                                          len(s.Names("AWS::Cognito::ManagedLoginBranding")) == 1,
	} {
		if !is {
			findings = append(findings, "the user pool: it must hold that "+what)
		}
	}
	return findings
}
