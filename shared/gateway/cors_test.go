package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/gateway"
)

const ours = "https://app.example.com"

func TestPreflight(t *testing.T) {
	allowed := func(origin, methods string, vary ...string) http.Header {
		h := http.Header{
			"Cache-Control": {"no-store"}, "X-Amzn-Requestid": {"id-1"},
			"Access-Control-Allow-Origin": {origin}, "Access-Control-Allow-Methods": {methods},
			"Access-Control-Allow-Headers":  {"Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name"},
			"Access-Control-Expose-Headers": {"WWW-Authenticate"},
		}
		if len(vary) > 0 {
			h["Vary"] = vary
		}
		return h
	}
	bare := http.Header{"Cache-Control": {"no-store"}, "X-Amzn-Requestid": {"id-1"}}
	refused := http.Header{"Cache-Control": {"no-store"}, "X-Amzn-Requestid": {"id-1"}, "Vary": {"Origin"}}
	local := func(a *gateway.API) { a.CORSOrigins = []string{"http://localhost:*"} }
	none := func(a *gateway.API) { a.CORSOrigins = nil }
	for name, tt := range map[string]struct {
		change       func(*gateway.API)
		path, origin string
		want         http.Header
	}{
		"ours":                         {nil, "/tools/x", ours, allowed(ours, "OPTIONS, POST", "Origin")},
		"another path":                 {nil, "/tools", ours, allowed(ours, "GET, OPTIONS", "Origin")},
		"another origin":               {nil, "/tools/x", "https://evil.example", refused},
		"ours as a prefix":             {nil, "/tools/x", ours + ".evil.example", refused},
		"ours in plain":                {nil, "/tools/x", "http://app.example.com", refused},
		"null":                         {nil, "/tools/x", "null", refused},
		"none":                         {nil, "/tools/x", "", refused},
		"any port":                     {local, "/tools/x", "http://localhost:6274", allowed("http://localhost:6274", "OPTIONS, POST", "Origin")},
		"its own port":                 {local, "/tools/x", "http://localhost", allowed("http://localhost", "OPTIONS, POST", "Origin")},
		"no port":                      {local, "/tools/x", "http://localhost:", refused},
		"a port that is none":          {local, "/tools/x", "http://localhost:1.evil.example", refused},
		"a longer name":                {local, "/tools/x", "http://localhost.evil.example:1", refused},
		"no origin is allowed":         {none, "/tools/x", ours, bare},
		"open path":                    {nil, "/health", "https://evil.example", allowed("*", "GET, OPTIONS")},
		"open path, none else allowed": {none, "/health", "null", allowed("*", "GET, OPTIONS")},
	} {
		auth, fn := &seen{answer: allow}, &seen{answer: answers(fine)}
		a := api(auth, fn)
		if tt.change != nil {
			tt.change(&a)
		}
		r := httptest.NewRequest("OPTIONS", tt.path, nil)
		r.Header.Set("Access-Control-Request-Method", "POST")
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		res := do(serve(t, a), r)
		if diff := cmp.Diff(tt.want, res.Header); diff != "" || res.StatusCode != http.StatusNoContent {
			t.Errorf("%s: %d (-want +got):\n%s", name, res.StatusCode, diff)
		}
		if len(auth.events)+len(fn.events) != 0 {
			t.Errorf("%s: something was invoked", name)
		}
	}
	r := httptest.NewRequest("OPTIONS", "/nowhere", nil)
	r.Header.Set("Origin", ours)
	wantProblem(t, "no such path", do(serve(t, api(allow, answers(fine))), r), http.StatusNotFound, "not_found")
}

func TestADeclaredOptionsRouteIsARoute(t *testing.T) {
	a := api(allow, answers(fine))
	a.Routes = append(a.Routes, gateway.Route{Method: "OPTIONS", Path: "/tools", Function: answers(`{"statusCode":299}`), Public: true})
	if res := do(serve(t, a), httptest.NewRequest("OPTIONS", "/tools", nil)); res.StatusCode != 299 {
		t.Errorf("status %d", res.StatusCode)
	}
}

func TestPagesReadTheChallenge(t *testing.T) {
	for origin, want := range map[string]string{ours: ours, "https://evil.example": "", "": ""} {
		r := httptest.NewRequest("POST", "/tools/x", nil)
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		res := do(serve(t, api(allow, answers(fine))), r)
		wantProblem(t, origin, res, http.StatusUnauthorized, "unauthenticated")
		if got := res.Header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%q: allowed %q", origin, got)
		}
		if got := res.Header.Get("Access-Control-Expose-Headers"); (got == "WWW-Authenticate") != (want != "") {
			t.Errorf("%q: exposed %q", origin, got)
		}
	}
}

func TestAnswersOfFunctionsKeepTheirOwnHeaders(t *testing.T) {
	r := request("POST", "/tools/x", "")
	r.Header.Set("Origin", ours)
	res := do(serve(t, api(allow, answers(fine))), r)
	if _, there := res.Header["Access-Control-Allow-Origin"]; there || res.StatusCode != 200 {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
}
