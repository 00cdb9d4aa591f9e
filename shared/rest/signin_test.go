package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/rest"
)

func plainSignIn() signin.Config {
	return signin.Config{BaseURL: "https://mcp.example.com", Issuer: signin.Issuer{URL: "https://login.example.com"}}
}

func facadeSignIn() signin.Config {
	c := plainSignIn()
	c.Facade = signin.Facade{LoginURL: "https://pool.example.com", ClientID: "c1", Callbacks: []string{"https://claude.ai/api/mcp/auth_callback"}}
	return c
}

func signIn(c signin.Config) http.Handler {
	return rest.SignIn(c, rest.Discovery(catalog.Entries, "1.2.3"))
}

func TestSignInDocuments(t *testing.T) {
	const metadata, server = "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"
	plain, facade := plainSignIn(), facadeSignIn()
	for _, tt := range []struct {
		config signin.Config
		path   string
		want   []byte // nil: there is none
	}{
		{plain, metadata, plain.ResourceDocument()},
		{plain, metadata + "/mcp", plain.ResourceDocument()},
		{plain, metadata + "/", nil},
		{plain, metadata + "/mcp/", nil},
		{plain, metadata + "/tools", nil},
		{plain, server, nil},
		{plain, server + "/mcp", nil},
		{plain, "/.well-known/openid-configuration", nil},
		{plain, "/.well-known/", nil},
		{plain, "/.well-known/security.txt", nil},
		{facade, metadata, facade.ResourceDocument()},
		{facade, server, facade.ServerDocument()},
		{facade, "/.well-known/openid-configuration", facade.ServerDocument()},
		{facade, server + "/mcp", nil},
		{signin.Config{}, metadata, nil},
	} {
		w := get(signIn(tt.config), nil, "GET", tt.path)
		h := w.Header()
		if h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Content-Type") != "application/json" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", tt.path, h)
		}
		if tt.want == nil {
			if got := decode[refusal](t, w); w.Code != 404 || got.Reason != "not_found" {
				t.Errorf("%s: %d %+v", tt.path, w.Code, got)
			}
			continue
		}
		if diff := cmp.Diff(string(tt.want), w.Body.String()); w.Code != 200 || diff != "" || h.Get("Cache-Control") != "public, max-age=300" {
			t.Errorf("%s: %d %v (-want +got):\n%s", tt.path, w.Code, h, diff)
		}
		if w := get(signIn(tt.config), nil, "POST", tt.path); w.Code != 405 || w.Header().Get("Allow") != "GET" {
			t.Errorf("POST %s: %d", tt.path, w.Code)
		}
	}
}

// What a client is told of where to sign in is the same whatever the request says of the host.
func TestSignInIgnoresTheRequest(t *testing.T) {
	h := signIn(facadeSignIn())
	for _, path := range []string{"/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"} {
		want := get(h, nil, "GET", path).Body.String()
		r := httptest.NewRequest("GET", "https://evil.example"+path+"?resource=https://evil.example", nil)
		for _, name := range []string{"Host", "X-Forwarded-Host", "Forwarded", "X-Forwarded-Proto", "Origin", "X-Original-URL"} {
			r.Header.Set(name, "evil.example")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Body.String() != want || strings.Contains(w.Body.String(), "evil") || strings.Contains(want, "127.0.0.1") {
			t.Errorf("%s: %s", path, w.Body)
		}
	}
}

func TestTheRestIsHandedOn(t *testing.T) {
	h := signIn(plainSignIn())
	if w := get(h, nil, "GET", "/health"); w.Code != 200 {
		t.Errorf("health: %d", w.Code)
	}
	if w := get(h, owner(), "GET", "/tools"); w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("tools: %d %v", w.Code, w.Header())
	}
}

func TestRegister(t *testing.T) {
	const callback = `{"redirect_uris":["https://claude.ai/api/mcp/auth_callback"]}`
	for name, tt := range map[string]struct {
		config       signin.Config
		method, body string
		status       int
		want         string // in the body
	}{
		"fine":             {facadeSignIn(), "POST", callback, 201, `"client_id":"c1"`},
		"another callback": {facadeSignIn(), "POST", `{"redirect_uris":["https://evil.example"]}`, 400, `{"error":"invalid_redirect_uri",`},
		"no JSON":          {facadeSignIn(), "POST", `x`, 400, `{"error":"invalid_client_metadata",`},
		"too much":         {facadeSignIn(), "POST", callback + strings.Repeat(" ", 16<<10), 413, `{"error":"invalid_client_metadata",`},
		"GET":              {facadeSignIn(), "GET", "", 405, `{"error":"invalid_client_metadata",`},
		"no facade":        {plainSignIn(), "POST", callback, 404, `"reason":"not_found"`},
	} {
		w := httptest.NewRecorder()
		signIn(tt.config).ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), tt.method, "/register", strings.NewReader(tt.body)))
		h := w.Header()
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) || strings.Contains(w.Body.String(), "evil") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Cache-Control") != "no-store" || h.Get("Content-Type") != "application/json" {
			t.Errorf("%s: headers %v", name, h)
		}
	}
}
