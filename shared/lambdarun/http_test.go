package lambdarun_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
)

func TestHTTPIntroducesTheCaller(t *testing.T) {
	w := newWorld(t)
	want := principal(identity.IssuesRead)
	want.CanStepUp = true
	e := event(want, "the body")
	e.Path, e.MultiValueQueryStringParameters = "/mcp", map[string][]string{"q": {"1", "2"}}
	e.MultiValueHeaders["Authorization"] = []string{"Bearer secret"}
	e.MultiValueHeaders["x-golambdaproxy-apigw-context"] = []string{"{}"}
	e.MultiValueHeaders["X-GoLambdaProxy-ApiGw-StageVars"] = []string{"{}"}
	reply := send(t, lambdarun.HTTP(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if diff := cmp.Diff(want, identity.FromContext(r.Context())); diff != "" {
			t.Errorf("principal: %s", diff)
		}
		origin := audit.Origin{CallID: "call-1", Client: audit.Client{Name: "curl", Version: "8.5.0"}, SourceIP: "192.0.2.7", TraceID: "1-2-3"}
		if diff := cmp.Diff(origin, audit.OriginFrom(r.Context())); diff != "" {
			t.Errorf("origin: %s", diff)
		}
		for name := range r.Header {
			if name == "Authorization" || strings.HasPrefix(name, "X-Golambdaproxy-") {
				t.Errorf("the handler sees %s", name)
			}
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != "the body" || r.URL.Path != "/mcp" || r.Host != "mcp.example.com" || len(r.URL.Query()["q"]) != 2 {
			t.Errorf("request %s %s, body %q, %v", r.Host, r.URL, body, err)
		}
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusAccepted)
		rw.WriteHeader(http.StatusTeapot) // too late
		_, _ = io.WriteString(rw, `{"a":1}`)
	}), w.logger()), e)
	if reply.StatusCode != 202 || reply.Body != `{"a":1}` || reply.MultiValueHeaders["Content-Type"][0] != "application/json" {
		t.Errorf("%+v", reply)
	}
}

func TestHTTPWithoutPrincipalIsNobody(t *testing.T) {
	w := newWorld(t)
	claims, err := json.Marshal(event(principal(identity.Scopes()...), "").RequestContext)
	if err != nil {
		t.Fatal(err)
	}
	for _, single := range []bool{false, true} {
		e := event(nil, "")
		e.MultiValueHeaders["X-GoLambdaProxy-ApiGw-Context"] = []string{string(claims)}
		if single {
			e.MultiValueHeaders, e.Headers = nil, map[string]string{"X-GoLambdaProxy-ApiGw-Context": string(claims)}
		}
		called := false
		reply := send(t, lambdarun.HTTP(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			called = true
			if p := identity.FromContext(r.Context()); p != nil {
				t.Errorf("a header made %+v", p)
			}
			if r.Header.Get("X-GoLambdaProxy-ApiGw-Context") != "" {
				t.Error("the forged header is still there")
			}
		}), w.logger()), e)
		if !called || reply.StatusCode != 200 {
			t.Errorf("called %t, status %d: a handler that writes nothing answers 200", called, reply.StatusCode)
		}
	}
}

func TestHTTPFailures(t *testing.T) {
	change := func(f func(*events.APIGatewayProxyRequest)) events.APIGatewayProxyRequest {
		e := event(principal(identity.IssuesRead), "")
		f(&e)
		return e
	}
	tests := []struct {
		name    string
		event   events.APIGatewayProxyRequest
		handler http.HandlerFunc
		status  int
		reason  string
	}{
		{"panic behind a status", event(nil, ""), func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(200)
			_, _ = io.WriteString(w, "half an answer")
			panic("secret")
		}, 500, "internal"},
		{"abort", event(nil, ""), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 500, "internal"},
		{"too large", event(nil, ""), func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("x", 7<<20))
		}, 500, "internal"},
		{"bad escape", change(func(e *events.APIGatewayProxyRequest) { e.Path = "/mcp%zz" }), nil, 400, "invalid_request"},
		{"control character", change(func(e *events.APIGatewayProxyRequest) { e.Path = "/mcp\n" }), nil, 400, "invalid_request"},
		{"query in the path", change(func(e *events.APIGatewayProxyRequest) { e.Path = "/audit?limit=1" }), nil, 400, "invalid_request"},
		{"fragment in the path", change(func(e *events.APIGatewayProxyRequest) { e.Path = "/audit#x" }), nil, 400, "invalid_request"},
		{"host that is none", change(func(e *events.APIGatewayProxyRequest) { e.RequestContext.DomainName = "a@b" }), nil, 400, "invalid_request"},
		{"bad base64", change(func(e *events.APIGatewayProxyRequest) { e.Body, e.IsBase64Encoded = "%", true }), nil, 400, "invalid_request"},
		{"bad method", change(func(e *events.APIGatewayProxyRequest) { e.HTTPMethod = "GET /x" }), nil, 400, "invalid_request"},
		{"no method", change(func(e *events.APIGatewayProxyRequest) { e.HTTPMethod = "" }), nil, 400, "invalid_request"},
	}
	for _, tt := range tests {
		w := newWorld(t)
		handler := tt.handler
		if handler == nil {
			handler = func(http.ResponseWriter, *http.Request) { t.Errorf("%s: the handler was called", tt.name) }
		}
		reply := send(t, lambdarun.HTTP(handler, w.logger()), tt.event)
		if reply.StatusCode != tt.status || member(t, reply.Body, "reason") != tt.reason || member(t, reply.Body, "call_id") != "call-1" {
			t.Errorf("%s: %d %.200s", tt.name, reply.StatusCode, reply.Body)
		}
		if strings.Contains(reply.Body, "secret") {
			t.Errorf("%s: %s", tt.name, reply.Body)
		}
	}
}

func TestHTTPKeepsTheDeadline(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(context.Background(), key{}, "mine")
	payload, err := json.Marshal(event(nil, ""))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	answer, err := lambdarun.HTTP(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(rw, r.Context().Value(key{}))
	}), w.logger()).Invoke(ctx, payload)
	if err != nil || !strings.Contains(string(answer), "mine") {
		t.Errorf("the handler does not run under the invocation's context: %s, %v", answer, err)
	}
}
