package signin_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
)

func plain() signin.Config {
	return signin.Config{BaseURL: "https://mcp.example.com", Issuer: signin.Issuer{URL: "https://login.example.com"}}
}

func cognito() signin.Config {
	return signin.Config{
		BaseURL: "https://mcp.example.com", Documentation: "https://docs.example.com",
		Issuer: signin.Issuer{
			URL: "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc", ScopePrefix: "https://mcp.example.com/mcp/", Clients: []string{"c1"},
		},
		Facade: signin.Facade{
			LoginURL: "https://aac.auth.eu-west-1.amazoncognito.com", ClientID: "c1",
			Callbacks: []string{"https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"},
		},
	}
}

func TestChallenges(t *testing.T) {
	const metadata = `resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`
	all, staged := plain(), plain()
	all.AllScopes, staged.BaseURL = true, "https://x.example.com/v1"
	for name, tt := range map[string]struct {
		config                signin.Config
		first, missing, write string
	}{
		"plain": {plain(),
			`Bearer ` + metadata + `, scope="issues:read"`,
			`Bearer error="insufficient_scope", scope="issues:write", ` + metadata + `, error_description="this call needs a scope that the token lacks"`, "issues:write"},
		"all at once": {all,
			`Bearer ` + metadata + `, scope="issues:read comments:read dashboard:read issues:write comments:write agents:write autopilot:run"`,
			`Bearer error="insufficient_scope", scope="issues:write", ` + metadata + `, error_description="this call needs a scope that the token lacks"`, "issues:write"},
		"prefix": {cognito(),
			`Bearer ` + metadata + `, scope="https://mcp.example.com/mcp/issues:read"`,
			`Bearer error="insufficient_scope", scope="https://mcp.example.com/mcp/issues:write", ` + metadata + `, error_description="this call needs a scope that the token lacks"`,
			"https://mcp.example.com/mcp/issues:write"},
		"stage": {staged,
			`Bearer resource_metadata="https://x.example.com/v1/.well-known/oauth-protected-resource/mcp", scope="issues:read"`,
			`Bearer error="insufficient_scope", scope="issues:write", resource_metadata="https://x.example.com/v1/.well-known/oauth-protected-resource/mcp", error_description="this call needs a scope that the token lacks"`, "issues:write"},
		"no address": {signin.Config{},
			`Bearer scope="issues:read"`,
			`Bearer error="insufficient_scope", scope="issues:write", error_description="this call needs a scope that the token lacks"`, "issues:write"},
	} {
		if got := tt.config.Challenge(); got != tt.first {
			t.Errorf("%s: first challenge\n got %s\nwant %s", name, got, tt.first)
		}
		if got := tt.config.ScopeChallenge([]identity.Scope{identity.IssuesWrite}); got != tt.missing {
			t.Errorf("%s: missing scope\n got %s\nwant %s", name, got, tt.missing)
		}
		if got := strings.Join(tt.config.Scopes([]identity.Scope{identity.IssuesWrite}), " "); got != tt.write {
			t.Errorf("%s: scope %q", name, got)
		}
	}
	two := plain().ScopeChallenge([]identity.Scope{identity.IssuesWrite, identity.AgentsWrite})
	if !strings.Contains(two, `scope="issues:write agents:write"`) {
		t.Errorf("an operation of two scopes: %s", two)
	}
}

func TestResourceDocument(t *testing.T) {
	const scopes = `["issues:read","comments:read","dashboard:read","issues:write","comments:write","agents:write","autopilot:run"]`
	none := plain()
	none.Issuer = signin.Issuer{}
	for name, tt := range map[string]struct {
		config signin.Config
		want   string
	}{
		"issuer": {plain(), `{"resource":"https://mcp.example.com/mcp","authorization_servers":["https://login.example.com"],"scopes_supported":` + scopes +
			`,"bearer_methods_supported":["header"],"resource_name":"AACWorkflow"}`},
		"no issuer":  {none, `{"resource":"https://mcp.example.com/mcp","scopes_supported":` + scopes + `,"bearer_methods_supported":["header"],"resource_name":"AACWorkflow"}`},
		"no address": {signin.Config{Issuer: plain().Issuer}, ``},
		"facade": {cognito(), `{"resource":"https://mcp.example.com/mcp","authorization_servers":["https://mcp.example.com"],"scopes_supported":` +
			strings.NewReplacer(`["`, `["https://mcp.example.com/mcp/`, `,"`, `,"https://mcp.example.com/mcp/`).Replace(scopes) +
			`,"bearer_methods_supported":["header"],"resource_name":"AACWorkflow","resource_documentation":"https://docs.example.com"}`},
	} {
		if diff := cmp.Diff(tt.want, string(tt.config.ResourceDocument())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestServerDocument(t *testing.T) {
	if plain().ServerDocument() != nil {
		t.Error("a foreign issuer describes itself")
	}
	var got map[string]any
	if err := json.Unmarshal(cognito().ServerDocument(), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"issuer":                           "https://mcp.example.com",
		"authorization_endpoint":           "https://aac.auth.eu-west-1.amazoncognito.com/oauth2/authorize",
		"token_endpoint":                   "https://aac.auth.eu-west-1.amazoncognito.com/oauth2/token",
		"revocation_endpoint":              "https://aac.auth.eu-west-1.amazoncognito.com/oauth2/revoke",
		"registration_endpoint":            "https://mcp.example.com/register",
		"jwks_uri":                         "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc/.well-known/jwks.json",
		"code_challenge_methods_supported": []any{"S256"},
		"response_types_supported":         []any{"code"},
		"grant_types_supported":            []any{"authorization_code", "refresh_token"},
	} {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	unregistered := cognito()
	unregistered.Facade.ClientID, unregistered.Facade.Callbacks = "", nil
	if strings.Contains(string(unregistered.ServerDocument()), "registration_endpoint") {
		t.Error("a registration endpoint that gives out no client")
	}
}

func TestRegister(t *testing.T) {
	const callback = `"https://claude.ai/api/mcp/auth_callback"`
	for _, tt := range []struct {
		request string
		want    error
	}{
		{`{"redirect_uris":[` + callback + `],"client_name":"Claude"}`, nil},
		{`{"redirect_uris":[` + callback + `,"https://claude.com/api/mcp/auth_callback"]}`, nil},
		{`{"redirect_uris":[` + callback + `,"https://evil.example/"]}`, signin.ErrRedirectURI},
		{`{"redirect_uris":["https://claude.ai/api/mcp/auth_callback/"]}`, signin.ErrRedirectURI},
		{`{"redirect_uris":["javascript:alert(1)"]}`, signin.ErrRedirectURI},
		{`{"redirect_uris":[]}`, signin.ErrRedirectURI},
		{`{}`, signin.ErrRedirectURI},
		{`{"redirect_uris":"x"}`, signin.ErrMetadata},
		{`[]`, signin.ErrMetadata},
		{``, signin.ErrMetadata},
		{`{"redirect_uris":[` + callback + `],"x":"` + strings.Repeat("x", signin.MaxRegistration) + `"}`, signin.ErrMetadata},
	} {
		got, err := cognito().Register([]byte(tt.request))
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%.60s: %v, want %v", tt.request, err, tt.want)
		}
		if err == nil && !strings.Contains(string(got), `"client_id":"c1","redirect_uris":[`+callback) {
			t.Errorf("%.60s: %s", tt.request, got)
		}
	}
}

func TestIssuers(t *testing.T) {
	if (signin.Config{}).Issuers() != nil {
		t.Error("an issuer out of nothing")
	}
	i := plain().Issuers()[0]
	if i.KeysURL != "https://login.example.com/.well-known/jwks.json" || i.Audience != "https://mcp.example.com/mcp" {
		t.Errorf("filled in %+v", i)
	}
	c := plain()
	c.Issuer.URL, c.Issuer.KeysURL, c.Issuer.Audience = "https://login.example.com/", "https://keys.example.com", "urn:aac"
	if i = c.Issuers()[0]; i.URL != "https://login.example.com/" || i.KeysURL != "https://keys.example.com" || i.Audience != "urn:aac" {
		t.Errorf("changed %+v", i)
	}
}

func TestCheck(t *testing.T) {
	with := func(change func(*signin.Config)) signin.Config { c := cognito(); change(&c); return c }
	for name, tt := range map[string]struct {
		config signin.Config
		want   string // part of the error; empty: fine
	}{
		"nothing":         {signin.Config{}, ""},
		"plain":           {plain(), ""},
		"Cognito":         {cognito(), ""},
		"this machine":    {signin.Config{BaseURL: "http://127.0.0.1:3000", Issuer: signin.Issuer{URL: "http://[::1]:9000"}}, ""},
		"localhost":       {signin.Config{BaseURL: "http://localhost:3000"}, ""},
		"plain http":      {with(func(c *signin.Config) { c.Issuer.URL = "http://login.example.com" }), "Issuer.URL must begin"},
		"keys over http":  {with(func(c *signin.Config) { c.Issuer.KeysURL = "http://login.example.com/keys" }), "Issuer.KeysURL must begin"},
		"a look-alike":    {with(func(c *signin.Config) { c.Issuer.URL = "http://127.0.0.1.example.com" }), "Issuer.URL must begin"},
		"another scheme":  {with(func(c *signin.Config) { c.Issuer.KeysURL = "file:///etc/passwd" }), "Issuer.KeysURL must begin"},
		"a query":         {with(func(c *signin.Config) { c.Issuer.URL += "?x=1" }), "Issuer.URL must begin"},
		"a fragment":      {with(func(c *signin.Config) { c.Issuer.URL += "#x" }), "Issuer.URL must begin"},
		"a user":          {with(func(c *signin.Config) { c.Facade.LoginURL = "https://u@login.example.com" }), "Facade.LoginURL must begin"},
		"a quote":         {with(func(c *signin.Config) { c.BaseURL += `/"` }), "BaseURL must begin"},
		"a slash":         {with(func(c *signin.Config) { c.BaseURL += "/" }), "BaseURL must have no slash"},
		"login slash":     {with(func(c *signin.Config) { c.Facade.LoginURL += "/" }), "Facade.LoginURL must have no slash"},
		"prefix":          {with(func(c *signin.Config) { c.Issuer.ScopePrefix = "a b" }), "ScopePrefix"},
		"audience":        {with(func(c *signin.Config) { c.Issuer.Audience = "a\"b" }), "Audience"},
		"no issuer":       {with(func(c *signin.Config) { c.Issuer.URL = "" }), "Issuer.URL is missing"},
		"only a deny":     {signin.Config{Issuer: signin.Issuer{DenyList: true}}, "Issuer.URL is missing"},
		"no audience":     {signin.Config{Issuer: plain().Issuer}, "Issuer.Audience is missing"},
		"facade nowhere":  {with(func(c *signin.Config) { c.BaseURL, c.Issuer.Audience = "", "x" }), "BaseURL is missing"},
		"client alone":    {with(func(c *signin.Config) { c.Facade.Callbacks = nil }), "belong together"},
		"callbacks alone": {with(func(c *signin.Config) { c.Facade.ClientID = "" }), "belong together"},
		"no facade":       {with(func(c *signin.Config) { c.Facade.LoginURL = "" }), "Facade.LoginURL is missing"},
	} {
		err := tt.config.Check()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
