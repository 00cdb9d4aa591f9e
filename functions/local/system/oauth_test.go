package system

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/identity/subject"
)

// oauthWorld is a system that trusts an issuer, in which the holder of the token "editor" has the
// subject "s1".
type oauthWorld struct {
	*world
	issuer string
	key    jwk.Key
}

func newOAuthWorld(t *testing.T, change func(*Config)) *oauthWorld {
	t.Helper()
	raw, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := jwk.Import(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := key.Set(jwk.KeyIDKey, "k1"); err != nil {
		t.Fatal(err)
	}
	public, err := jwk.PublicKeyOf(key)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := json.Marshal(map[string]any{"keys": []jwk.Key{public}})
	if err != nil {
		t.Fatal(err)
	}
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(keys) }))
	t.Cleanup(issuer.Close)
	w := &oauthWorld{&world{t: t, log: &lockedBuffer{}}, issuer.URL, key}
	cfg := Config{
		Addr: "127.0.0.1:0", Data: filepath.Join(t.TempDir(), "data"), Issuer: signin.Issuer{URL: issuer.URL},
		Log: slog.New(slog.NewJSONHandler(w.log, nil)), openTables: embedded.OpenUnsynced,
	}
	if change != nil {
		change(&cfg)
	}
	if w.System, err = Start(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	g := grantOf(t, "editor")
	err = subject.Make(t.Context(), w.Tables, subject.Link{
		Issuer: issuer.URL, Subject: "s1", WorkspaceID: string(g.WorkspaceID), UserID: string(g.UserID), LinkedAt: time.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// token signs an access token as of now. Claims come in pairs and replace the usual ones.
func (w *oauthWorld) token(scope string, claims ...any) string {
	w.t.Helper()
	b := jwt.NewBuilder().Issuer(w.issuer).Subject("s1").Audience([]string{w.MCPURL()}).IssuedAt(time.Now()).
		Expiration(time.Now().Add(time.Hour)).JwtID("jti-1").Claim("client_id", "c1").Claim("scope", scope)
	for i := 0; i < len(claims); i += 2 {
		b = b.Claim(claims[i].(string), claims[i+1])
	}
	t, err := b.Build()
	if err != nil {
		w.t.Fatal(err)
	}
	signed, err := jwt.Sign(t, jwt.WithKey(jwa.ES256(), w.key))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(signed)
}

const renamedChallenge = "X-Amzn-Remapped-Www-Authenticate"

// A client that knows nothing but the address finds out where to sign in.
func TestDiscoveryFromTheAddressAlone(t *testing.T) {
	w := newOAuthWorld(t, nil)
	metadata := w.URL + "/.well-known/oauth-protected-resource/mcp"
	want := `Bearer resource_metadata="` + metadata + `", scope="issues:read"`
	for name, headers := range map[string][]string{
		"no token": nil, "not a token": {"Authorization", "Bearer x"}, "basic": {"Authorization", "Basic eA=="},
		"another host": {"X-Forwarded-Host", "evil.example", "Forwarded", "host=evil.example"},
	} {
		a := w.send(http.MethodPost, "/mcp", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, headers...)
		if got := a.header.Values("WWW-Authenticate"); a.status != http.StatusUnauthorized || cmp.Diff([]string{want}, got) != "" {
			t.Errorf("%s: %d %q", name, a.status, got)
		}
	}
	for _, path := range []string{strings.TrimPrefix(metadata, w.URL), "/.well-known/oauth-protected-resource"} {
		a := w.send(http.MethodGet, path, "", "", "X-Forwarded-Host", "evil.example")
		var document struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
			Scopes   []string `json:"scopes_supported"`
			Methods  []string `json:"bearer_methods_supported"`
		}
		a.into(t, &document)
		if a.status != 200 || document.Resource != w.MCPURL() || len(document.Servers) != 1 || document.Servers[0] != w.issuer ||
			len(document.Scopes) != 7 || strings.Contains(string(a.body), "audit:read") || cmp.Diff([]string{"header"}, document.Methods) != "" {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		if a.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %v", path, a.header)
		}
	}
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/.well-known/oauth-protected-resource/tools"} {
		if a := w.send(http.MethodGet, path, "", ""); a.status != 404 || !json.Valid(a.body) || a.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

func TestAllScopesAtOnce(t *testing.T) {
	w := newOAuthWorld(t, func(c *Config) { c.AllScopes = true })
	a := w.send(http.MethodPost, "/mcp", "", `{}`)
	want := `Bearer resource_metadata="` + w.URL + `/.well-known/oauth-protected-resource/mcp", ` +
		`scope="issues:read comments:read dashboard:read issues:write comments:write agents:write autopilot:run"`
	if got := a.header.Get("WWW-Authenticate"); got != want {
		t.Errorf("challenge %s", got)
	}
}

// With a scope the tool runs; without, the challenge is the same wherever it is made.
func TestStepUp(t *testing.T) {
	w := newOAuthWorld(t, nil)
	reader := w.token("issues:read")
	if a := w.mcpCall(modern, "list_issues", reader, `{}`); a.status != 200 || strings.Contains(string(a.body), `"isError":true`) {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, d := range catalog.All() {
		if d.Scope == identity.IssuesRead {
			continue
		}
		want := `Bearer error="insufficient_scope", scope="` + string(d.Scope) + `", resource_metadata="` + w.URL +
			`/.well-known/oauth-protected-resource/mcp", error_description="this call needs a scope that the token lacks"`
		early, rest, late := w.mcpCall(modern, d.Name, reader, `{}`), w.rest(d.Name, reader, `{}`), w.mcpCall(legacy, d.Name, reader, `{}`)
		for name, got := range map[string]string{
			"early": early.header.Get("WWW-Authenticate"), "over REST": rest.header.Get("WWW-Authenticate"), "late": late.header.Get(renamedChallenge),
		} {
			if got != want {
				t.Errorf("%s, %s: challenge %s\nwant %s", d.Name, name, got, want)
			}
		}
		if early.status != 403 || rest.status != 403 || late.status != 403 || late.header.Get("WWW-Authenticate") != "" {
			t.Errorf("%s: %d, %d, %d", d.Name, early.status, rest.status, late.status)
		}
		var body struct {
			Error struct {
				Data struct{ Error, Scope string }
			}
		}
		late.into(t, &body)
		if body.Error.Data.Error != "insufficient_scope" || body.Error.Data.Scope != string(d.Scope) {
			t.Errorf("%s: %s", d.Name, late.body)
		}
		if diff := cmp.Diff(refusalOf(t, late, true), refusalOf(t, early, false)); diff != "" {
			t.Errorf("%s: early and late differ (-late +early):\n%s", d.Name, diff)
		}
	}
	writer := w.token("issues:read issues:write")
	if a := w.mcpCall(modern, "create_issue", writer, `{"title":"From a client"}`); a.status != 200 || strings.Contains(string(a.body), `"isError":true`) {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// refusalOf is a JSON-RPC error but for what no two answers share. Only who has read the body
// knows the id of the request.
func refusalOf(t *testing.T, a answer, hasID bool) map[string]any {
	t.Helper()
	var body map[string]any
	a.into(t, &body)
	if _, has := body["id"]; has != hasID || body["jsonrpc"] != "2.0" {
		t.Errorf("no JSON-RPC error: %s", a.body)
	}
	delete(body, "id")
	if data, ok := body["error"].(map[string]any)["data"].(map[string]any); !ok || data["call_id"] == "" {
		t.Errorf("no call_id: %s", a.body)
	} else {
		delete(data, "call_id")
	}
	return body
}

// Who can get more scopes sees every tool, and which of them are granted.
func TestListOfAnAccessToken(t *testing.T) {
	w := newOAuthWorld(t, nil)
	a := w.mcp(modern, "tools/list", w.token("issues:read"), "")
	var list struct {
		Result struct {
			Tools []struct {
				Name string
				Meta struct {
					Granted bool `json:"aacworkflow/granted"`
					Schemes []struct {
						Type   string
						Scopes []identity.Scope
					} `json:"securitySchemes"`
				} `json:"_meta"`
			}
		}
	}
	a.into(t, &list)
	if len(list.Result.Tools) != len(catalog.All()) {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for i, d := range catalog.All() {
		got := list.Result.Tools[i]
		if got.Name != d.Name || got.Meta.Granted != (d.Scope == identity.IssuesRead) || len(got.Meta.Schemes) != 1 ||
			got.Meta.Schemes[0].Type != "oauth2" || cmp.Diff(d.Scopes(), got.Meta.Schemes[0].Scopes) != "" {
			t.Errorf("%+v", got)
		}
	}
}

// Tokens that are refused, and whom the audit log names.
func TestRefusedAccessTokens(t *testing.T) {
	w := newOAuthWorld(t, nil)
	for name, tt := range map[string]struct {
		token  string
		reason fault.Reason // of an event; empty: there is none
		logged string
	}{
		"expired":          {w.token("issues:read", "exp", time.Now().Add(-time.Hour).Unix()), fault.TokenExpired, ""},
		"foreign audience": {w.token("issues:read", "aud", "https://other.example.com/mcp"), "", "its audience is another one"},
		"with a slash":     {w.token("issues:read", "aud", w.MCPURL()+"/"), "", "its audience is another one"},
		"stripped":         {strings.Join(strings.Split(w.token("issues:read"), ".")[:2], ".") + ".", "", "token_malformed"},
		"forged":           {forged(w), "", "its signature is not that of the issuer's key"},
		"not linked":       {w.token("issues:read", "sub", "s2"), "", "account_not_linked"},
	} {
		before, logged := len(w.events("editor")), len(w.log.String())
		for _, a := range []answer{w.mcpCall(modern, "list_issues", tt.token, `{}`), w.mcpCall(legacy, "list_issues", tt.token, `{}`),
			w.rest("list_issues", tt.token, `{}`), w.send(http.MethodGet, "/tools", tt.token, "")} {
			if a.status != 401 || !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer resource_metadata=") {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
		}
		events := w.events("editor")[before:]
		if tt.reason == "" && len(events) != 0 || tt.reason != "" && (len(events) != 4 || events[0].Reason != tt.reason || events[0].TokenID != "jti-1") {
			t.Errorf("%s: events %+v", name, events)
		}
		if log := w.log.String()[logged:]; !strings.Contains(log, tt.logged) || strings.Contains(log, tt.token) {
			t.Errorf("%s: log %s", name, log)
		}
	}
}

// forged is a token that another key signed, under the issuer's name and key id.
func forged(w *oauthWorld) string {
	w.t.Helper()
	raw, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	key, err := jwk.Import(raw)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := key.Set(jwk.KeyIDKey, "k1"); err != nil {
		w.t.Fatal(err)
	}
	stranger := *w
	stranger.key = key
	return stranger.token("issues:read")
}

// A page on this machine may ask, call and read the challenge; a page elsewhere may not.
func TestPages(t *testing.T) {
	w := newOAuthWorld(t, nil)
	const page = "http://localhost:6274"
	for path, want := range map[string]string{"/mcp": page, "/.well-known/oauth-protected-resource/mcp": "*"} {
		a := w.send(http.MethodOptions, path, "", "", "Origin", page, "Access-Control-Request-Method", "POST")
		if h := a.header; a.status/100 != 2 || h.Get("Access-Control-Allow-Origin") != want ||
			h.Get("Access-Control-Allow-Headers") != "Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name" {
			t.Errorf("preflight of %s: %d %v", path, a.status, h)
		}
	}
	nobody := w.send(http.MethodPost, "/mcp", "", `{}`, "Origin", page)
	early := w.send(http.MethodPost, "/mcp", w.token(""), `{}`, "Origin", page, "MCP-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", "list_issues")
	list := w.send(http.MethodPost, "/mcp", w.token(""), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Origin", page)
	for want, a := range map[int]answer{401: nobody, 403: early, 200: list} {
		if a.status != want || a.header.Get("Access-Control-Allow-Origin") != page || a.header.Get("Access-Control-Expose-Headers") != "WWW-Authenticate" {
			t.Errorf("want %d: %d %v", want, a.status, a.header)
		}
	}
	elsewhere := w.send(http.MethodOptions, "/mcp", "", "", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST")
	if elsewhere.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v", elsewhere.header)
	}
}
