package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/gateway"
)

// function is a Function written in a test.
type function func(ctx context.Context, payload []byte) ([]byte, error)

func (f function) Invoke(ctx context.Context, payload []byte) ([]byte, error) { return f(ctx, payload) }

// answers is a function that always answers the same.
func answers(text string) function {
	return func(context.Context, []byte) ([]byte, error) { return []byte(text), nil }
}

// fails is a function that always fails.
func fails(text string) function {
	return func(context.Context, []byte) ([]byte, error) { return nil, errors.New(text) }
}

// seen keeps the events it gets and answers like another function.
type seen struct {
	answer function
	events [][]byte
}

func (s *seen) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	s.events = append(s.events, payload)
	return s.answer(ctx, payload)
}

const fine = `{"statusCode":200,"body":"{}"}`

// policy is an authorizer's answer. Statements are Effect and Resource.
func policy(claims string, statements ...string) function {
	var list []string
	for i := 0; i < len(statements); i += 2 {
		list = append(list, fmt.Sprintf(`{"Effect":%q,"Action":"execute-api:Invoke","Resource":[%q]}`, statements[i], statements[i+1]))
	}
	return answers(fmt.Sprintf(`{"principalId":"u1","policyDocument":{"Version":"2012-10-17","Statement":[%s]},"context":%s}`,
		strings.Join(list, ","), claims))
}

var allow = policy(`{}`, "Allow", "*")

var now = time.Date(2025, 6, 22, 15, 30, 0, 0, time.UTC)

// api is an API with one protected and one public route, and a fixed id and time.
func api(authorizer, fn gateway.Function) gateway.API {
	return gateway.API{
		Routes: []gateway.Route{
			{Method: "POST", Path: "/tools/{name}", Function: fn},
			{Method: "GET", Path: "/tools", Function: fn},
			{Method: "GET", Path: "/health", Function: fn, Public: true, AnyOrigin: true},
		},
		Authorizer:    authorizer,
		PublicBaseURL: "https://mcp.example.com",
		CORSOrigins:   []string{"https://app.example.com"},
		RequestID:     func() string { return "id-1" },
		Now:           func() time.Time { return now },
	}
}

func serve(t *testing.T, a gateway.API) http.Handler {
	t.Helper()
	h, err := gateway.New(a)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// request is one with a token.
func request(method, target, body string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer secret")
	return r
}

func do(h http.Handler, r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// problem is the body of every gateway response.
type problem struct {
	Error  string `json:"error"`
	Reason string `json:"reason"`
	CallID string `json:"call_id"`
}

// wantProblem checks an answer that the gateway gave by itself.
func wantProblem(t *testing.T, name string, res *http.Response, status int, reason string) {
	t.Helper()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var p problem
	if err := json.Unmarshal(body, &p); err != nil {
		t.Errorf("%s: body is not JSON: %v", name, err)
	}
	if res.StatusCode != status || p.Reason != reason || p.Error == "" || p.CallID != "id-1" {
		t.Errorf("%s: %d %s, want %d %s", name, res.StatusCode, body, status, reason)
	}
	for header, want := range map[string]string{
		"Content-Type": "application/json", "Cache-Control": "no-store", "X-Amzn-Requestid": "id-1",
	} {
		if got := res.Header.Get(header); got != want {
			t.Errorf("%s: %s is %q, want %q", name, header, got, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	fn := answers(fine)
	for name, change := range map[string]func(*gateway.API){
		"no ids":            func(a *gateway.API) { a.RequestID = nil },
		"no clock":          func(a *gateway.API) { a.Now = nil },
		"no base":           func(a *gateway.API) { a.PublicBaseURL = "" },
		"base with slash":   func(a *gateway.API) { a.PublicBaseURL += "/" },
		"base without host": func(a *gateway.API) { a.PublicBaseURL = "https:mcp" },
		"base of a file":    func(a *gateway.API) { a.PublicBaseURL = "file://mcp" },
		"no authorizer":     func(a *gateway.API) { a.Authorizer = nil },
		"no function":       func(a *gateway.API) { a.Routes[0].Function = nil },
		"no method":         func(a *gateway.API) { a.Routes[0].Method = "" },
		"twice":             func(a *gateway.API) { a.Routes = append(a.Routes, a.Routes[0]) },
		"same paths": func(a *gateway.API) {
			a.Routes = append(a.Routes, gateway.Route{Method: "GET", Path: "/tools/{id}", Function: fn})
		},
		"no slash":         func(a *gateway.API) { a.Routes[0].Path = "tools" },
		"empty segment":    func(a *gateway.API) { a.Routes[0].Path = "/tools//x" },
		"slash at the end": func(a *gateway.API) { a.Routes[0].Path = "/tools/" },
		"unnamed variable": func(a *gateway.API) { a.Routes[0].Path = "/tools/{}" },
		"half a variable":  func(a *gateway.API) { a.Routes[0].Path = "/tools/{name" },
		"greedy inside":    func(a *gateway.API) { a.Routes[0].Path = "/{all+}/x" },
	} {
		a := api(allow, fn)
		change(&a)
		if _, err := gateway.New(a); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestRoutes(t *testing.T) {
	// Each function answers with its route's name.
	named := func(name string) function { return answers(`{"statusCode":200,"body":"` + name + `"}`) }
	a := api(allow, nil)
	a.Routes = nil
	for _, r := range []string{
		"GET /", "GET /tools", "POST /tools/{name}", "GET /tools/special", "POST /tools/{name}/runs",
		"GET /.well-known/oauth-protected-resource", "GET /.well-known/oauth-protected-resource/mcp", "GET /files/{path+}", "GET /files/one",
	} {
		method, path, _ := strings.Cut(r, " ")
		a.Routes = append(a.Routes, gateway.Route{Method: method, Path: path, Function: named(r), Public: true})
	}
	h := serve(t, a)
	for call, want := range map[string]string{ // empty: no such route
		"GET /":                    "GET /",
		"GET /tools":               "GET /tools",
		"GET /tools?x=/tools/y":    "GET /tools",
		"POST /tools/list":         "POST /tools/{name}",
		"POST /tools/a%2Fb":        "POST /tools/{name}",
		"POST /tools/%00":          "POST /tools/{name}",
		"GET /tools/special":       "GET /tools/special",
		"POST /tools/special":      "", // the resource wins, then lacks the method
		"POST /tools/special/runs": "POST /tools/{name}/runs",
		"GET /files/a/b/c":         "GET /files/{path+}",
		"GET /files/one":           "GET /files/one",
		"GET /files/one/more":      "GET /files/{path+}",
		"GET /files":               "",
		"GET /files/":              "",
		"POST /tools":              "",
		"GET /tools/":              "",
		"POST /tools/":             "",
		"POST /tools/list/":        "",
		"POST /tools//":            "",
		"POST //tools/list":        "",
		"GET //":                   "",
		"GET /%74ools":             "",
		"GET /Tools":               "",
		"GET /tools/x/../../tools": "",
		"HEAD /tools":              "",
		"PATCH /tools":             "",
		"BREW /tools":              "",
		"get /tools":               "",
		"GET /ping":                "",
		"GET /.well-known/openid":  "",
		"GET /.well-known/oauth-protected-resource":      "GET /.well-known/oauth-protected-resource",
		"GET /.well-known/oauth-protected-resource/mcp":  "GET /.well-known/oauth-protected-resource/mcp",
		"GET /.well-known/oauth-protected-resource/mcp/": "",
	} {
		method, target, _ := strings.Cut(call, " ")
		res := do(h, request(method, target, ""))
		if want == "" {
			wantProblem(t, call, res, http.StatusNotFound, "not_found")
			continue
		}
		if body, _ := io.ReadAll(res.Body); res.StatusCode != 200 || string(body) != want {
			t.Errorf("%s: %d %s, want %s", call, res.StatusCode, body, want)
		}
	}
	star := request("GET", "/", "")
	star.URL.Path = "*"
	wantProblem(t, "no path", do(h, star), http.StatusNotFound, "not_found")
}

func TestOverARealServer(t *testing.T) {
	fn := &seen{answer: answers(fine)}
	srv := httptest.NewServer(serve(t, api(allow, fn)))
	defer srv.Close()
	r, err := http.NewRequest("POST", srv.URL+"/tools/a%2Fb", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer secret")
	r.Host = "other.example.com"
	res, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 200 || len(fn.events) != 1 {
		t.Fatalf("%d after %d events", res.StatusCode, len(fn.events))
	}
	var e struct {
		Path           string            `json:"path"`
		PathParameters map[string]string `json:"pathParameters"`
		Headers        map[string]string `json:"headers"`
		RequestContext struct {
			DomainName string `json:"domainName"`
			Identity   struct {
				SourceIP string `json:"sourceIp"`
			} `json:"identity"`
		} `json:"requestContext"`
	}
	if err := json.Unmarshal(fn.events[0], &e); err != nil {
		t.Fatal(err)
	}
	if e.Path != "/tools/a%2Fb" || e.PathParameters["name"] != "a%2Fb" || e.Headers["Host"] != "other.example.com" ||
		e.RequestContext.DomainName != "other.example.com" || e.RequestContext.Identity.SourceIP != "127.0.0.1" {
		t.Errorf("event: %s", fn.events[0])
	}
}

func TestTheLogHoldsNoToken(t *testing.T) {
	var log strings.Builder
	a := api(policy(`{"token":"t1"}`, "Allow", "*"), fails("disk full"))
	a.Log = slog.New(slog.NewJSONHandler(&log, nil))
	h := serve(t, a)
	do(h, request("POST", "/tools/private-name?q=private", "private"))
	do(h, httptest.NewRequest("POST", "/tools/private-name", nil))
	do(h, request("GET", "/nowhere/private", ""))
	out := log.String()
	for _, secret := range []string{"secret", "private"} {
		if strings.Contains(out, secret) {
			t.Errorf("%q is in the log:\n%s", secret, out)
		}
	}
	for _, want := range []string{
		`"level":"ERROR","msg":"request","request_id":"id-1","http_method":"POST","resource_path":"/tools/{name}","status":502`,
		`"principal_id":"u1","response_type":"INTEGRATION_FAILURE","cause":"disk full"`,
		`"status":401`, `"response_type":"UNAUTHORIZED"`, `"resource_path":"","status":404`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the log lacks %s:\n%s", want, out)
		}
	}
}
