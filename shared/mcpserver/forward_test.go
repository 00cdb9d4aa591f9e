package mcpserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// newFront is a front of which a test can put the SDK, or a part, out of order.
func newFront(s *stage) *front {
	return &front{
		Config:  Config{Tools: definitions(), Invoker: s.invoker, Log: s.log, Logger: logger(s), Audit: audit.Settings{Now: fixedNow, NewID: fixedID}},
		tools:   map[string]*tool.Definition{"list_issues": definitions()[0]},
		listing: func() []listed { panic("no list: secret") },
		slow:    true,
	}
}

// However the SDK fails, the answer is JSON-RPC in words of our own, and a call that it did not
// run is on record.
func TestSDKAnswersAreReworded(t *testing.T) {
	tests := map[string]struct {
		status     int
		body       string
		method     string
		want, code int // in the modern protocol
		reason     string
		event      string
	}{
		"text":              {400, "secret text", "tools/call", 400, codeInvalidRequest, "invalid_request", "list_issues denied invalid_request"},
		"text 500":          {500, "secret text", "tools/call", 500, codeInternal, "internal", "list_issues error internal"},
		"bad params":        {400, `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"secret"}}`, "tools/call", 400, codeInvalidParams, "invalid_request", "list_issues denied invalid_request"},
		"no method":         {404, `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"secret"}}`, "tools/list", 404, codeMethodNotFound, "invalid_request", ""},
		"header":            {400, `{"jsonrpc":"2.0","id":7,"error":{"code":-32020,"message":"secret"}}`, "tools/list", 400, codeHeaderMismatch, "invalid_request", ""},
		"code 0":            {200, `{"jsonrpc":"2.0","id":7,"error":{"code":0,"message":"secret"}}`, "tools/list", 500, codeInternal, "internal", ""},
		"a result too soon": {200, `{"jsonrpc":"2.0","id":7,"result":{"content":"secret"}}`, "tools/call", 500, codeInternal, "internal", "list_issues error internal"},
		"nothing":           {200, ``, "tools/call", 500, codeInternal, "internal", "list_issues error internal"},
		"panic":             {0, ``, "tools/call", 500, codeInternal, "internal", "list_issues error internal"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, allScopes...)
			f := newFront(s)
			f.sdk = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if tt.status == 0 {
					panic("secret")
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			s.inner = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, nil) })
			toolName := ""
			if tt.method == "tools/call" {
				toolName = "list_issues"
			}
			r := s.ask(modern, tt.method, toolName, `"name":"list_issues"`)
			r.wantError(t, tt.want, tt.code, tt.reason)
			if strings.Contains(r.body, "secret") {
				t.Errorf("leaks: %s", r.body)
			}
			if tt.event == "" {
				s.wantEvents(t)
			} else {
				s.wantEvents(t, tt.event)
			}
		})
	}
}

// A panic below the SDK would end the program, for it runs in a goroutine of the SDK's.
func TestPanicBelowTheSDK(t *testing.T) {
	for _, e := range []era{modern, legacy} {
		s := newStage(t, allScopes...)
		f := newFront(s)
		f.sdk = f.newSDK()
		s.inner = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, nil) })
		r := s.ask(e, "tools/list", "", "")
		r.wantError(t, http.StatusInternalServerError, codeInternal, "internal")
		if strings.Contains(r.body, "secret") || !strings.Contains(s.logged.String(), "no list: secret") {
			t.Errorf("body %s, log %s", r.body, s.logged)
		}
	}
}

func TestPanicAboveTheSDK(t *testing.T) {
	s := newStage(t, allScopes...)
	f := newFront(s)
	s.inner = f.recovering(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret") }))
	s.ask(legacy, "ping", "", "").wantError(t, http.StatusInternalServerError, codeInternal, "internal")
	if r := s.do(request(http.MethodGet, "/tools/x", "")); r.status != http.StatusInternalServerError || strings.Contains(r.body, "secret") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// Should the SDK ever read another call out of a message, it is not run.
func TestCallOfAnotherReading(t *testing.T) {
	d := definitions()[0]
	for name, arguments := range map[string]string{"other_name": `{}`, d.Name: `{"x":1}`} {
		s := newStage(t, allScopes...)
		f := newFront(s)
		m, refused := scan([]byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + name + `","arguments":{}}}`))
		if refused != nil {
			t.Fatal(refused)
		}
		x := &exchange{principal: s.principal, origin: s.origin, msg: m}
		req := &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Name: d.Name, Arguments: []byte(arguments)}}
		if _, err := f.handler(d)(x.in(context.Background()), req); err != nil || x.refused == nil || x.settled {
			t.Errorf("%s(%s): %v, %+v", name, arguments, err, x)
		}
		s.wantCalls(t)
	}
}

func TestBodyThatBreaksOff(t *testing.T) {
	s := newStage(t, allScopes...)
	r := request(http.MethodPost, "/mcp", "")
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0"`), failing{}))
	s.do(r).wantError(t, http.StatusBadRequest, codeInvalidRequest, "invalid_request")
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestConfigIsChecked(t *testing.T) {
	whole := func() Config {
		s := newStage(t)
		return Config{Tools: definitions(), Invoker: s.invoker, Log: s.log, Logger: logger(s), Version: "1", Hosts: []string{"*"},
			Audit: audit.Settings{Now: fixedNow, NewID: fixedID}}
	}
	New(whole())
	for name, spoil := range map[string]func(*Config){
		"tools":   func(c *Config) { c.Tools = nil },
		"invoker": func(c *Config) { c.Invoker = nil },
		"log":     func(c *Config) { c.Log = nil },
		"logger":  func(c *Config) { c.Logger = nil },
		"ids":     func(c *Config) { c.Audit.NewID = nil },
		"version": func(c *Config) { c.Version = "" },
		"hosts":   func(c *Config) { c.Hosts = nil },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("a config without it was accepted")
				}
			}()
			c := whole()
			spoil(&c)
			New(c)
		})
	}
}
