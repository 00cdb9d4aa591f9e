package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// call is what reached the Invoker.
type call struct {
	name string
	req  tool.Request
}

// fakeInvoker notes calls and answers them as the test says; like a tool it checks the scope.
type fakeInvoker struct {
	mu     sync.Mutex
	calls  []call
	answer func(context.Context, call) (tool.Reply, error) // nil: {"ok":true}
}

func (i *fakeInvoker) Invoke(ctx context.Context, name string, req tool.Request) (tool.Reply, error) {
	i.mu.Lock()
	c := call{name, req}
	c.req.Arguments = bytes.Clone(req.Arguments)
	i.calls = append(i.calls, c)
	i.mu.Unlock()
	if i.answer != nil {
		return i.answer(ctx, c)
	}
	d, ok := definition(name)
	if !ok {
		return tool.Reply{}, errors.New("no such tool")
	}
	if err := identity.Require(req.Principal, d.Scopes()...); err != nil {
		return tool.Reply{Fault: fault.Of(err)}, nil
	}
	return tool.Reply{Value: json.RawMessage(`{"ok":true}`)}, nil
}

// took returns the calls since the last time.
func (i *fakeInvoker) took() []call {
	i.mu.Lock()
	defer i.mu.Unlock()
	taken := i.calls
	i.calls = nil
	return taken
}

// fakeLog keeps events.
type fakeLog struct {
	mu     sync.Mutex
	events []audit.Event
	err    error
}

func (l *fakeLog) Append(_ context.Context, item table.Item) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var e audit.Event
	if err := json.Unmarshal(item.Doc, &e); err != nil {
		return err
	}
	l.events = append(l.events, e)
	return l.err
}

// took returns the events since the last time.
func (l *fakeLog) took() []audit.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.events
	l.events = nil
	return taken
}

type probeIn struct{}

type probeOut struct {
	OK bool `json:"ok"`
}

// outside proves that the open-world hint is carried, which no tool of the catalogue sets.
var outside = tool.Read(tool.Spec{Name: "probe_outside", Title: "Probe the outside", Doc: "Reaches outside.", Scope: identity.IssuesRead, OpenWorld: true},
	func(context.Context, tracker.Reader, probeIn) (probeOut, error) { return probeOut{}, nil })

func definitions() []*tool.Definition { return append(catalog.All(), &outside.Definition) }

func definition(name string) (*tool.Definition, bool) {
	for _, d := range definitions() {
		if d.Name == name {
			return d, true
		}
	}
	return nil, false
}

// stage is a front with fakes around it.
type stage struct {
	inner     http.Handler // the front, under the caller that the stage sets
	invoker   *fakeInvoker
	log       *fakeLog
	logged    *bytes.Buffer
	principal *identity.Principal
	origin    audit.Origin
}

const metadataURL = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"

var allScopes = identity.Scopes()

func newStage(tb testing.TB, scopes ...identity.Scope) *stage {
	tb.Helper()
	s := &stage{invoker: &fakeInvoker{}, log: &fakeLog{}, logged: new(bytes.Buffer)}
	s.principal = &identity.Principal{WorkspaceID: "w1", UserID: "u1", TokenID: "t1", Scopes: scopes}
	s.origin = audit.Origin{CallID: "call-1", SourceIP: "192.0.2.7", TraceID: "Root-1", Client: audit.Client{Name: "curl", Version: "8"}}
	s.restart(func(*Config) {})
	return s
}

// restart makes the front anew, with another config.
func (s *stage) restart(change func(*Config)) {
	c := s.config()
	change(&c)
	s.inner = New(c)
}

func (s *stage) config() Config {
	ids := 0
	return Config{
		Tools: definitions(), Invoker: s.invoker, Log: s.log, Version: "1.2.3",
		Audit: audit.Settings{
			Now:       fixedNow,
			NewID:     func() string { ids++; return fmt.Sprintf("event-%d", ids) },
			Retention: audit.DefaultRetention,
		},
		Logger:  logger(s),
		Hosts:   []string{"mcp.example.com", "127.0.0.1:*"},
		Origins: []string{"https://App.example.com", "http://localhost:*"},
		SignIn:  signin.Config{BaseURL: "https://mcp.example.com"},
	}
}

// ServeHTTP introduces the caller, as lambdarun does.
func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := audit.WithOrigin(r.Context(), s.origin)
	if s.principal != nil {
		ctx = identity.NewContext(ctx, s.principal)
	}
	s.inner.ServeHTTP(w, r.WithContext(ctx))
}

func fixedNow() time.Time { return time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC) }

func fixedID() string { return "event" }

func logger(s *stage) *slog.Logger { return slog.New(slog.NewTextHandler(s.logged, nil)) }

// headers are pairs of name and value; a value of "-" removes the header.
func request(method, path, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "http://mcp.example.com"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "-" {
			r.Header.Del(headers[i])
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   string
}

func (s *stage) do(r *http.Request) reply {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	body, _ := io.ReadAll(w.Result().Body)
	return reply{w.Code, w.Result().Header, string(body)}
}

func (s *stage) post(body string, headers ...string) reply {
	return s.do(request(http.MethodPost, "/mcp", body, headers...))
}

// rpc is a JSON-RPC answer.
type rpc struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    map[string]any `json:"data"`
	} `json:"error"`
}

// rpc reads the answer, which must be JSON-RPC whatever it says.
func (r reply) rpc(t testing.TB) rpc {
	t.Helper()
	var out rpc
	if err := json.Unmarshal([]byte(r.body), &out); err != nil || out.JSONRPC != "2.0" || (out.Error == nil) == (out.Result == nil) {
		t.Fatalf("not JSON-RPC: %d %s", r.status, r.body)
	}
	if got := r.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	if got := r.header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control %q", got)
	}
	return out
}

// The two ways to say the same: an era fills in what its clients send.
type era struct {
	name    string
	modern  bool
	headers []string
}

var (
	modern  = era{"modern", true, []string{"MCP-Protocol-Version", modernVersion}}
	legacy  = era{"2025-11-25", false, []string{"MCP-Protocol-Version", "2025-11-25"}}
	older   = era{"2025-03-26", false, []string{"MCP-Protocol-Version", "2025-03-26"}}
	unnamed = era{"no version", false, nil}
	allEras = []era{modern, legacy, {"2025-06-18", false, []string{"MCP-Protocol-Version", "2025-06-18"}}, older, unnamed}
)

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"probe","version":"9"}}`

// message writes a request; params are the members of params, without braces.
func (e era) message(method, params string) string {
	if e.modern {
		params = strings.TrimSuffix(modernMeta+","+params, ",")
	}
	if params == "" {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q}`, method)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{%s}}`, method, params)
}

// ask sends a request with the headers of its era.
func (s *stage) ask(e era, method, name, params string, headers ...string) reply {
	headers = append(append([]string{}, e.headers...), headers...)
	if e.modern {
		headers = append(headers, "Mcp-Method", method)
		if name != "" {
			headers = append(headers, "Mcp-Name", name)
		}
	}
	return s.post(e.message(method, params), headers...)
}

func (s *stage) callTool(e era, name, arguments string) reply {
	return s.ask(e, "tools/call", name, fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments))
}

// want checks status, code and reason of a refusal.
func (r reply) wantError(t *testing.T, status, code int, reason string) rpc {
	t.Helper()
	out := r.rpc(t)
	if out.Error == nil {
		t.Fatalf("no error: %d %s", r.status, r.body)
	}
	if r.status != status || out.Error.Code != code || out.Error.Data["reason"] != reason {
		t.Errorf("got %d %s, want status %d, code %d, reason %s", r.status, r.body, status, code, reason)
	}
	if out.Error.Data["call_id"] != "call-1" {
		t.Errorf("no call id: %s", r.body)
	}
	return out
}

// wantEvents checks the events by tool, outcome and reason.
func (s *stage) wantEvents(t *testing.T, want ...string) []audit.Event {
	t.Helper()
	events := s.log.took()
	var got []string
	for _, e := range events {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Tool, e.Outcome, e.Reason)))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("events %q, want %q", got, want)
	}
	return events
}

func (s *stage) wantCalls(t *testing.T, want ...string) []call {
	t.Helper()
	calls := s.invoker.took()
	var got []string
	for _, c := range calls {
		got = append(got, c.name)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("calls %q, want %q", got, want)
	}
	return calls
}
