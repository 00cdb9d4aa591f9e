package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// result is a tools/call result on the wire.
type result struct {
	ResultType        string           `json:"resultType"`
	Meta              map[string]any   `json:"_meta"`
	Content           []map[string]any `json:"content"`
	StructuredContent json.RawMessage  `json:"structuredContent"`
	IsError           bool             `json:"isError"`
}

func (r reply) result(t *testing.T) result {
	t.Helper()
	out := r.rpc(t)
	if r.status != http.StatusOK || out.Error != nil || string(out.ID) != "7" {
		t.Fatalf("no result: %d %s", r.status, r.body)
	}
	var res result
	if err := json.Unmarshal(out.Result, &res); err != nil {
		t.Fatal(err)
	}
	return res
}

func (r result) text(t *testing.T) string {
	t.Helper()
	if len(r.Content) != 1 || r.Content[0]["type"] != "text" {
		t.Fatalf("content %v", r.Content)
	}
	return r.Content[0]["text"].(string)
}

func TestCallSucceeds(t *testing.T) {
	for _, e := range allEras {
		t.Run(e.name, func(t *testing.T) {
			s := newStage(t, allScopes...)
			s.invoker.answer = func(context.Context, call) (tool.Reply, error) {
				return tool.Reply{Value: json.RawMessage(`{"title":"a < b","items":[]}`)}, nil
			}
			// The arguments reach the tool as they are: spaces, order, duplicates and all.
			const arguments = `{ "a":1, "a" : 2,"confirm":true, "Confirm":false }`
			res := s.callTool(e, "delete_issue", arguments).result(t)
			if res.IsError {
				t.Error("isError")
			}
			var structured, fromText any
			if json.Unmarshal(res.StructuredContent, &structured) != nil || json.Unmarshal([]byte(res.text(t)), &fromText) != nil {
				t.Fatalf("no JSON: %+v", res)
			}
			if diff := cmp.Diff(structured, fromText); diff != "" || !strings.Contains(res.text(t), "a < b") {
				t.Errorf("text and structuredContent differ: %s", diff)
			}
			wantType, wantServer := "", false
			if e.modern {
				wantType, wantServer = "complete", true
			}
			if _, has := res.Meta["io.modelcontextprotocol/serverInfo"]; res.ResultType != wantType || has != wantServer {
				t.Errorf("resultType %q, _meta %v", res.ResultType, res.Meta)
			}
			calls := s.wantCalls(t, "delete_issue")
			s.wantEvents(t) // the tool's own, not ours
			want := tool.Request{
				Principal: s.principal, Arguments: json.RawMessage(arguments), CallID: "call-1", Transport: audit.MCP,
				SourceIP: "192.0.2.7", TraceID: "Root-1", Client: audit.Client{Name: "curl", Version: "8"},
			}
			if e.modern {
				want.Client = audit.Client{Name: "probe", Version: "9"}
			}
			if diff := cmp.Diff(want, calls[0].req); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCallWithoutArguments(t *testing.T) {
	for _, e := range allEras {
		s := newStage(t, allScopes...)
		s.ask(e, "tools/call", "list_issues", `"name":"list_issues"`).result(t)
		if calls := s.wantCalls(t, "list_issues"); len(calls[0].req.Arguments) != 0 {
			t.Errorf("arguments %s", calls[0].req.Arguments)
		}
	}
}

// A refusal by the tool is a result that a model can read: the same JSON as over REST.
func TestToolRefusals(t *testing.T) {
	for _, kind := range fault.Kinds() {
		if kind == fault.Unauthenticated {
			continue // TestUnauthenticatedTool
		}
		for _, e := range []era{modern, legacy} {
			t.Run(e.name+"/"+kind.String(), func(t *testing.T) {
				s := newStage(t, allScopes...)
				refusal := &fault.Fault{Kind: kind, Reason: "some_reason", Text: "do otherwise", RetryAfter: 1500 * time.Millisecond,
					Members: []fault.Member{{Name: "field", Value: "limit"}}}
				s.invoker.answer = func(context.Context, call) (tool.Reply, error) { return tool.Reply{Fault: refusal}, nil }
				res := s.callTool(e, "list_issues", `{}`).result(t)
				if want := string(refusal.PublicJSON("call-1")); !res.IsError || res.text(t) != want || res.StructuredContent != nil {
					t.Errorf("got %+v, want the text %s and no structuredContent", res, want)
				}
				s.wantEvents(t)
			})
		}
	}
}

func TestMissingScope(t *testing.T) {
	looked := 0
	for _, e := range allEras {
		for _, d := range definitions() {
			looked++
			s := newStage(t, without(allScopes, d.Scope)...)
			r := s.callTool(e, d.Name, `{"confirm":true}`)
			out := r.wantError(t, http.StatusForbidden, codeForbidden, "insufficient_scope")
			if out.Error.Data["error"] != "insufficient_scope" || out.Error.Data["scope"] != string(d.Scope) {
				t.Errorf("data %v", out.Error.Data)
			}
			want := `Bearer error="insufficient_scope", scope="` + string(d.Scope) + `", ` +
				`resource_metadata="` + metadataURL + `", error_description="this call needs a scope that the token lacks"`
			if got := r.header.Get("WWW-Authenticate"); got != want {
				t.Errorf("challenge %s, want %s", got, want)
			}
			if string(out.ID) != "7" {
				t.Errorf("id %s", out.ID)
			}
			s.wantCalls(t, d.Name)
			s.wantEvents(t) // the tool's own
		}
	}
	if looked == 0 {
		t.Fatal("looked at nothing")
	}
}

func without(scopes []identity.Scope, scope identity.Scope) []identity.Scope {
	var rest []identity.Scope
	for _, s := range scopes {
		if s != scope {
			rest = append(rest, s)
		}
	}
	return rest
}

func TestUnauthenticatedTool(t *testing.T) {
	for _, e := range []era{modern, legacy} {
		s := newStage(t, allScopes...)
		s.invoker.answer = func(context.Context, call) (tool.Reply, error) {
			return tool.Reply{Fault: fault.New(fault.Unauthenticated, fault.TokenRevoked, "sign in again")}, nil
		}
		r := s.callTool(e, "list_issues", `{}`)
		r.wantError(t, http.StatusUnauthorized, codeUnauthenticated, "unauthenticated")
		if got, want := r.header.Get("WWW-Authenticate"), `Bearer resource_metadata="`+metadataURL+`", scope="issues:read"`; got != want {
			t.Errorf("challenge %s, want %s", got, want)
		}
	}
}

// Whatever goes wrong inside, the caller reads one text and the log the rest.
func TestInternalFailuresLeakNothing(t *testing.T) {
	const secret = "dial tcp 10.0.0.1: secret"
	failures := map[string]func(context.Context, call) (tool.Reply, error){
		"error": func(context.Context, call) (tool.Reply, error) { return tool.Reply{}, errors.New(secret) },
		"fault as error": func(context.Context, call) (tool.Reply, error) {
			return tool.Reply{}, fault.New(fault.Invalid, fault.InvalidRequest, secret)
		},
		"panic": func(context.Context, call) (tool.Reply, error) { panic(secret) },
		"no object": func(context.Context, call) (tool.Reply, error) {
			return tool.Reply{Value: json.RawMessage(`"secret"`)}, nil
		},
		"no JSON": func(context.Context, call) (tool.Reply, error) {
			return tool.Reply{Value: json.RawMessage(`{secret`)}, nil
		},
		"nothing": func(context.Context, call) (tool.Reply, error) { return tool.Reply{}, nil },
	}
	for name, answer := range failures {
		for _, e := range []era{modern, legacy} {
			t.Run(e.name+"/"+name, func(t *testing.T) {
				s := newStage(t, allScopes...)
				s.invoker.answer = answer
				r := s.callTool(e, "list_issues", `{"query":"private"}`)
				res := r.result(t)
				if want := string(fault.Of(nil).PublicJSON("call-1")); !res.IsError || res.text(t) != want {
					t.Errorf("got %s, want %s", r.body, want)
				}
				if strings.Contains(r.body, "secret") {
					t.Errorf("leaks: %s", r.body)
				}
				if log := s.logged.String(); !strings.Contains(log, "call_id=call-1") || strings.Contains(log, "private") {
					t.Errorf("log: %s", log)
				}
				s.wantEvents(t) // the tool may have written its own: a second one would be false
			})
		}
	}
}

// The SDK drops the deadline; a client that goes away ends nothing.
func TestCallKeepsDeadlineAndOutlivesClient(t *testing.T) {
	for _, e := range []era{modern, legacy} {
		s := newStage(t, allScopes...)
		ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(time.Hour))
		s.invoker.answer = func(ctx context.Context, _ call) (tool.Reply, error) {
			cancel()
			if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > time.Hour-answerFor {
				t.Errorf("deadline %v %v", deadline, ok)
			}
			if ctx.Err() != nil {
				t.Error("the call ended with its client")
			}
			return tool.Reply{Value: json.RawMessage(`{"ok":true}`)}, nil
		}
		headers := append(append([]string{}, e.headers...), "Mcp-Method", "tools/call", "Mcp-Name", "list_issues")
		s.do(request(http.MethodPost, "/mcp", e.message("tools/call", `"name":"list_issues"`), headers...).WithContext(ctx)).result(t)
		s.wantCalls(t, "list_issues")
	}
}

func TestUnknownTool(t *testing.T) {
	for _, e := range allEras {
		s := newStage(t, identity.IssuesRead)
		status := http.StatusOK
		if e.modern {
			status = http.StatusBadRequest
		}
		s.callTool(e, "drop_tables", `{"x":1}`).wantError(t, status, codeInvalidParams, "unknown_tool")
		s.wantCalls(t)
		events := s.wantEvents(t, "drop_tables denied unknown_tool")
		want := audit.Event{
			Tool: "drop_tables", Outcome: fault.Denied, Reason: fault.UnknownTool, ScopesProvided: []string{"issues:read"},
			Timestamp: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC), EventID: "event-1", CallID: "call-1", WorkspaceID: "w1", Actor: "u1", TokenID: "t1",
			Client: audit.Client{Name: "curl", Version: "8"}, Transport: audit.MCP, Recorder: audit.RecorderMCP, ScopesRequired: []string{},
			SourceIP: "192.0.2.7", TraceID: "Root-1",
		}
		if e.modern {
			want.Client = audit.Client{Name: "probe", Version: "9"}
		}
		if diff := cmp.Diff(want, events[0]); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	}
}

// A call that has certainly left no event is recorded here; one that may have come to its tool has
// its event from the tool, and no second one.
func TestUnrecordedCallIsRecordedOnce(t *testing.T) {
	for _, e := range []era{modern, legacy} {
		for name, tt := range map[string]struct {
			err    error
			events []string
		}{
			"refused":  {fmt.Errorf("invoke: %w", &tool.Unrecorded{Err: errors.New("throttled: secret")}), []string{"list_issues error internal"}},
			"in doubt": {errors.New("connection lost: secret"), nil},
		} {
			s := newStage(t, allScopes...)
			s.invoker.answer = func(context.Context, call) (tool.Reply, error) { return tool.Reply{}, tt.err }
			r := s.callTool(e, "list_issues", `{}`)
			if r.status != http.StatusOK || !strings.Contains(r.body, `"isError":true`) || strings.Contains(r.body, "secret") {
				t.Errorf("%s: %d %s", name, r.status, r.body)
			}
			s.wantEvents(t, tt.events...)
		}
	}
}

// What cannot be recorded is not answered.
func TestUnrecordableDenial(t *testing.T) {
	for _, e := range []era{modern, legacy} {
		s := newStage(t, allScopes...)
		s.log.err = errors.New("no disk: secret")
		r := s.callTool(e, "drop_tables", `{}`)
		r.wantError(t, http.StatusInternalServerError, codeInternal, "internal")
		if strings.Contains(r.body, "secret") || !strings.Contains(s.logged.String(), "no disk") {
			t.Errorf("body %s, log %s", r.body, s.logged)
		}
	}
}

func TestTraceparent(t *testing.T) {
	const id = "0af7651916cd43dd8448eb211c80319c"
	for name, tt := range map[string]struct{ meta, want string }{
		"given":     {`"traceparent":"00-` + id + `-b7ad6b7169203331-01"`, id},
		"malformed": {`"traceparent":"00-xyz"`, "Root-1"},
		"no string": {`"traceparent":5`, "Root-1"},
	} {
		s := newStage(t, allScopes...)
		s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_issues","_meta":{` + tt.meta + `}}}`)
		if calls := s.wantCalls(t, "list_issues"); calls[0].req.TraceID != tt.want {
			t.Errorf("%s: trace %q, want %q", name, calls[0].req.TraceID, tt.want)
		}
	}
}
