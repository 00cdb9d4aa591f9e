package lambdarun_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// cases are calls of every outcome. What they have in common, in process and over bytes, is
// asked by the parity test.
var cases = []struct {
	name, arguments string
	scopes          []identity.Scope
	status          int
	reason          fault.Reason
}{
	{"success", `{"text":"a < b & \"c\" é 😀","confirm":true}`, []identity.Scope{identity.IssuesWrite}, 200, ""},
	{"white space and order", "{ \"confirm\" :\ttrue,\n\"text\": \"a\" }", []identity.Scope{identity.IssuesWrite}, 200, ""},
	{"dry run", `{"text":"a","dry_run":true}`, []identity.Scope{identity.IssuesWrite}, 200, ""},
	{"no scope", `{"text":"a","confirm":true}`, []identity.Scope{identity.IssuesRead}, 403, fault.InsufficientScope},
	{"no scopes at all", `{`, nil, 403, fault.InsufficientScope},
	{"no confirm", `{"text":"a"}`, []identity.Scope{identity.IssuesWrite}, 400, fault.ConfirmMissing},
	{"no body", ``, []identity.Scope{identity.IssuesWrite}, 400, fault.InvalidArguments},
	{"no JSON", `{"text":`, []identity.Scope{identity.IssuesWrite}, 400, fault.InvalidArguments},
	{"JSON and more", `{"text":"a","confirm":true} {}`, []identity.Scope{identity.IssuesWrite}, 400, fault.InvalidArguments},
	{"null", `null`, []identity.Scope{identity.IssuesWrite}, 400, fault.InvalidArguments},
	{"array", `[]`, []identity.Scope{identity.IssuesWrite}, 400, fault.InvalidArguments},
	{"duplicate member", `{"text":"a","confirm":false,"confirm":true}`, []identity.Scope{identity.IssuesWrite}, 400, fault.InvalidArguments},
	{"member in other case", `{"text":"a","Confirm":true}`, []identity.Scope{identity.IssuesWrite}, 400, fault.InvalidArguments},
	{"half a surrogate", `{"text":"\ud800","confirm":true}`, []identity.Scope{identity.IssuesWrite}, 400, fault.InvalidArguments},
	{"as deep as encoding/json reads", strings.Repeat("[", 10000) + strings.Repeat("]", 10000), []identity.Scope{identity.IssuesWrite}, 400, fault.InvalidArguments},
	{"too large", `{"text":"` + strings.Repeat("x", tool.MaxArguments) + `"}`, []identity.Scope{identity.IssuesWrite}, 400, ""},
	{"conflict", `{"text":"a","how":"conflict","confirm":true}`, []identity.Scope{identity.IssuesWrite}, 409, fault.LimitReached},
	{"rate limited", `{"text":"a","how":"slow","confirm":true}`, []identity.Scope{identity.IssuesWrite}, 429, fault.Contention},
	{"broken", `{"text":"a","how":"broken","confirm":true}`, []identity.Scope{identity.IssuesWrite}, 500, fault.ReasonInternal},
	{"panic", `{"text":"a","how":"panic","confirm":true}`, []identity.Scope{identity.IssuesWrite}, 500, fault.ReasonInternal},
}

// One call gives the same answer and the same event, byte for byte, however it reaches the
// pipeline: in process, in the envelope of functions/mcp, or in an event of API Gateway.
func TestParity(t *testing.T) {
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			p := principal(tt.scopes...)
			req := tool.Request{
				Principal: p, Arguments: json.RawMessage(tt.arguments), CallID: "call-1", Transport: audit.REST,
				Client: audit.Client{Name: "curl", Version: "8.5.0"}, SourceIP: "192.0.2.7", TraceID: "1-2-3",
			}
			here, there, http := newWorld(t), newWorld(t), newWorld(t)
			want := here.bound().Invoke(context.Background(), req)

			function := lambdarun.Tool(there.bound(), there.logger())
			got, err := lambdarun.InvokerOver(func(ctx context.Context, name string, payload []byte) ([]byte, error) {
				if name != "echo" {
					t.Errorf("asked for %s", name)
				}
				return function.Invoke(ctx, payload)
			}).Invoke(context.Background(), "echo", req)
			if err != nil {
				t.Fatal(err)
			}
			reply := send(t, lambdarun.Tool(http.bound(), http.logger()), event(p, tt.arguments))

			wantBody := string(want.Value)
			if want.Fault != nil {
				wantBody = string(want.Fault.PublicJSON("call-1"))
				if got.Fault == nil || string(got.Fault.PublicJSON("call-1")) != wantBody {
					t.Errorf("by envelope: %+v, want %s", got, wantBody)
				}
			} else if got.Fault != nil || string(got.Value) != wantBody {
				t.Errorf("by envelope: %+v, want %s", got, wantBody)
			}
			if reply.Body != wantBody || reply.StatusCode != tt.status {
				t.Errorf("by event: %d %s, want %d %s", reply.StatusCode, reply.Body, tt.status, wantBody)
			}
			if diff := cmp.Diff(here.oneEvent(), there.oneEvent()); diff != "" {
				t.Errorf("event by envelope: %s", diff)
			}
			if diff := cmp.Diff(here.oneEvent(), http.oneEvent()); diff != "" {
				t.Errorf("event by event: %s", diff)
			}
			if tt.reason != "" && here.oneEvent().Reason != tt.reason {
				t.Errorf("reason %s, want %s", here.oneEvent().Reason, tt.reason)
			}
			if strings.Contains(reply.Body+wantBody, "secret") {
				t.Errorf("the answer tells what is for the log: %s", reply.Body)
			}
		})
	}
}

func TestHTTPReplyHeaders(t *testing.T) {
	w := newWorld(t)
	p := principal(identity.IssuesWrite)
	ok := send(t, lambdarun.Tool(w.bound(), w.logger()), event(p, `{"text":"a","confirm":true}`))
	slow := send(t, lambdarun.Tool(w.bound(), w.logger()), event(p, `{"text":"a","how":"slow","confirm":true}`))
	for _, r := range []events.APIGatewayProxyResponse{ok, slow} {
		if got := r.MultiValueHeaders; got["Content-Type"][0] != "application/json" || got["Cache-Control"][0] != "no-store" {
			t.Errorf("headers %v", got)
		}
	}
	if got := slow.MultiValueHeaders["Retry-After"]; len(got) != 1 || got[0] != "2" || ok.MultiValueHeaders["Retry-After"] != nil {
		t.Errorf("Retry-After %v, want 2, and none on success", got)
	}
}

// Whoever comes without a context of the authorizer is nobody, whatever else they send.
func TestOnlyTheAuthorizerSaysWhoCalls(t *testing.T) {
	forged, err := json.Marshal(tool.Request{Principal: principal(identity.Scopes()...), Arguments: json.RawMessage(`{"text":"a","confirm":true}`)})
	if err != nil {
		t.Fatal(err)
	}
	without := func(key string, value any) func(map[string]any) {
		return func(a map[string]any) {
			if value == nil {
				delete(a, key)
			} else {
				a[key] = value
			}
		}
	}
	tests := []struct {
		name   string
		change func(map[string]any)
		body   string
	}{
		{"no context", func(a map[string]any) { clear(a) }, string(forged)},
		{"no workspace", without("workspace_id", nil), ``},
		{"empty workspace", without("workspace_id", ""), ``},
		{"no user", without("user_id", nil), ``},
		{"no token", without("token_id", ""), ``},
		{"no role", without("role", nil), ``},
		{"unknown role", without("role", "root"), ``},
		{"no scopes", without("scopes", nil), ``},
		{"scopes as a list", without("scopes", []string{"issues:write"}), ``},
		{"user as a number", without("user_id", 7), ``},
	}
	for _, tt := range tests {
		w := newWorld(t)
		e := event(principal(identity.Scopes()...), tt.body)
		tt.change(e.RequestContext.Authorizer)
		claims, err := json.Marshal(events.APIGatewayProxyRequestContext{Authorizer: event(principal(identity.Scopes()...), "").RequestContext.Authorizer})
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"X-GoLambdaProxy-ApiGw-Context": string(claims), "workspace_id": "w1", "Authorization": "Bearer x",
		} {
			e.MultiValueHeaders[name] = []string{value}
		}
		reply := send(t, lambdarun.Tool(w.bound(), w.logger()), e)
		if reply.StatusCode != 401 || member(t, reply.Body, "reason") != "unauthenticated" || member(t, reply.Body, "call_id") != "call-1" {
			t.Errorf("%s: %d %s", tt.name, reply.StatusCode, reply.Body)
		}
		if w.calls != 0 || len(w.events) != 0 {
			t.Errorf("%s: %d calls and %d events of nobody", tt.name, w.calls, len(w.events))
		}
	}
}

// An envelope in the body of an HTTP request is a body.
func TestForgedEnvelopeIsABody(t *testing.T) {
	envelope, err := json.Marshal(tool.Request{
		Principal: &identity.Principal{WorkspaceID: "victim", UserID: "victim", TokenID: "victim", Role: identity.Owner, Scopes: identity.Scopes()},
		Arguments: json.RawMessage(`{"text":"a","confirm":true}`), Transport: audit.MCP,
	})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	reply := send(t, lambdarun.Tool(w.bound(), w.logger()), event(principal(identity.IssuesWrite), string(envelope)))
	e := w.oneEvent()
	if reply.StatusCode != 400 || w.calls != 0 || e.WorkspaceID != "w1" || e.Actor != "u1" || e.Transport != audit.REST || e.Reason != fault.InvalidArguments {
		t.Errorf("%d %s; event %+v", reply.StatusCode, reply.Body, e)
	}
}

func TestBodies(t *testing.T) {
	const good = `{"text":"a","confirm":true}`
	tests := []struct {
		name   string
		change func(*events.APIGatewayProxyRequest)
		status int
	}{
		{"charset", func(e *events.APIGatewayProxyRequest) {
			e.MultiValueHeaders["content-type"] = []string{`application/json; charset="UTF-8"`}
		}, 200},
		{"no content type", func(e *events.APIGatewayProxyRequest) { delete(e.MultiValueHeaders, "content-type") }, 200},
		{"single headers", func(e *events.APIGatewayProxyRequest) {
			e.MultiValueHeaders, e.Headers = nil, map[string]string{"CONTENT-TYPE": "application/json"}
		}, 200},
		{"base64", func(e *events.APIGatewayProxyRequest) {
			e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(good)), true
		}, 200},
		{"bad base64", func(e *events.APIGatewayProxyRequest) { e.Body, e.IsBase64Encoded = "%%%", true }, 400},
		{"base64 that is not UTF-8", func(e *events.APIGatewayProxyRequest) {
			e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte("{\"text\":\"\xff\",\"confirm\":true}")), true
		}, 400},
		{"form", func(e *events.APIGatewayProxyRequest) {
			e.MultiValueHeaders["content-type"] = []string{"application/x-www-form-urlencoded"}
		}, 400},
		{"other charset", func(e *events.APIGatewayProxyRequest) {
			e.MultiValueHeaders["content-type"] = []string{"application/json; charset=utf-16"}
		}, 400},
		{"two content types", func(e *events.APIGatewayProxyRequest) {
			e.MultiValueHeaders["content-type"] = []string{"application/json", "text/plain"}
		}, 400},
		{"other method", func(e *events.APIGatewayProxyRequest) { e.HTTPMethod = "DELETE" }, 400},
		{"query is no argument", func(e *events.APIGatewayProxyRequest) {
			e.Body, e.QueryStringParameters = `{"text":"a"}`, map[string]string{"confirm": "true"}
		}, 400},
	}
	for _, tt := range tests {
		w := newWorld(t)
		e := event(principal(identity.IssuesWrite), good)
		tt.change(&e)
		reply := send(t, lambdarun.Tool(w.bound(), w.logger()), e)
		if reply.StatusCode != tt.status {
			t.Errorf("%s: %d %s, want %d", tt.name, reply.StatusCode, reply.Body, tt.status)
		}
		if got := w.oneEvent(); (got.Outcome == fault.Success) != (tt.status == 200) {
			t.Errorf("%s: event %+v", tt.name, got)
		}
	}
}

// A refusal of the front comes after the scope, as all refusals do.
func TestScopeComesBeforeTheContentType(t *testing.T) {
	w := newWorld(t)
	e := event(principal(identity.IssuesRead), "a=b")
	e.MultiValueHeaders["content-type"] = []string{"text/plain"}
	if reply := send(t, lambdarun.Tool(w.bound(), w.logger()), e); reply.StatusCode != 403 || w.oneEvent().Reason != fault.InsufficientScope {
		t.Errorf("%d, event %+v", reply.StatusCode, w.oneEvent())
	}
}

func TestTooLargeForLambda(t *testing.T) {
	w := newWorld(t)
	function := lambdarun.Tool(w.bound(), w.logger())
	arguments := `{"text":"a","how":"large","confirm":true}`
	reply := send(t, function, event(principal(identity.IssuesWrite), arguments))
	if reply.StatusCode != 500 || member(t, reply.Body, "reason") != "internal" {
		t.Errorf("%d %.80s", reply.StatusCode, reply.Body)
	}
	got, err := lambdarun.InvokerOver(func(ctx context.Context, _ string, payload []byte) ([]byte, error) {
		return function.Invoke(ctx, payload)
	}).Invoke(context.Background(), "echo", tool.Request{Principal: principal(identity.IssuesWrite), Arguments: json.RawMessage(arguments)})
	if err != nil || got.Fault == nil || got.Fault.Kind != fault.Internal {
		t.Errorf("by envelope: %+v, %v", got.Fault, err)
	}
	if !strings.Contains(w.log.String(), "too large") {
		t.Errorf("the log does not say why: %s", w.log.String())
	}
}

func TestUnreadablePayloadIsAnInvocationError(t *testing.T) {
	w := newWorld(t)
	for _, payload := range []string{"", "nonsense", "[]", `"x"`, `{"requestContext":"x"}`} {
		if answer, err := lambdarun.Tool(w.bound(), w.logger()).Invoke(context.Background(), []byte(payload)); err == nil {
			t.Errorf("%q was answered with %s", payload, answer)
		}
	}
	// Nothing but a principal makes a call: an empty envelope is one of nobody.
	answer, err := lambdarun.Tool(w.bound(), w.logger()).Invoke(context.Background(), []byte(`{}`))
	if err != nil || !strings.Contains(string(answer), `"kind":"unauthenticated"`) || len(w.events) != 0 {
		t.Errorf("%s, %v, %d events", answer, err, len(w.events))
	}
}

func TestInvokerRefusesWhatIsNoReply(t *testing.T) {
	for _, answer := range []string{"", "{}", "null", `{"errorMessage":"boom","errorType":"x"}`, `{"value":{},"fault":{"kind":"invalid"}}`} {
		_, err := lambdarun.InvokerOver(func(context.Context, string, []byte) ([]byte, error) { return []byte(answer), nil }).
			Invoke(context.Background(), "echo", tool.Request{})
		if err == nil {
			t.Errorf("%q passed for a reply", answer)
		}
	}
}

func FuzzEnvelope(f *testing.F) {
	for _, tt := range cases {
		if len(tt.arguments) < 200 {
			f.Add([]byte(tt.arguments))
		}
	}
	f.Add([]byte("\xff"))
	f.Fuzz(func(t *testing.T, arguments []byte) {
		here, there := newWorld(t), newWorld(t)
		req := tool.Request{Principal: principal(identity.IssuesWrite), Arguments: arguments}
		want := here.bound().Invoke(context.Background(), req)
		function := lambdarun.Tool(there.bound(), there.logger())
		got, err := lambdarun.InvokerOver(func(ctx context.Context, _ string, payload []byte) ([]byte, error) {
			return function.Invoke(ctx, payload)
		}).Invoke(context.Background(), "echo", req)
		if err != nil {
			t.Fatal(err)
		}
		if string(want.Value) != string(got.Value) || (want.Fault == nil) != (got.Fault == nil) ||
			want.Fault != nil && string(want.Fault.PublicJSON("")) != string(got.Fault.PublicJSON("")) {
			t.Errorf("in process %+v, by envelope %+v", want, got)
		}
		if diff := cmp.Diff(here.events, there.events, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}
