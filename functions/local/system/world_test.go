package system

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
)

// world is a running system with what it logged.
type world struct {
	*System
	t   *testing.T
	log *lockedBuffer
}

// lockedBuffer collects what several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return startIn(t, filepath.Join(t.TempDir(), "data"))
}

// anchor is the day on which the demo data of a test are loaded, if it matters.
var anchor = time.Date(2025, 6, 22, 0, 0, 0, 0, time.UTC)

func startIn(t *testing.T, dir string) *world {
	t.Helper()
	w := &world{t: t, log: &lockedBuffer{}}
	s, err := Start(t.Context(), Config{
		Addr: "127.0.0.1:0", Data: dir,
		Log:        slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		openTables: embedded.OpenUnsynced, // thousands of events; no machine fails here
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w.System = s
	return w
}

// answer is what came back.
type answer struct {
	status int
	body   []byte
	header http.Header
}

// into decodes the body.
func (a answer) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("status %d, body %q: %v", a.status, a.body, err)
	}
}

// send makes one request; secret is empty for nobody. Headers come in pairs.
func (w *world) send(method, path, secret, body string, headers ...string) answer {
	w.t.Helper()
	r, err := http.NewRequest(method, w.URL+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("User-Agent", "tests/1.0")
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer{response.StatusCode, b, response.Header}
}

// rest calls a tool by its own route.
func (w *world) rest(tool, secret, arguments string) answer {
	w.t.Helper()
	return w.send(http.MethodPost, "/tools/"+tool, secret, arguments)
}

// modern and legacy are the protocol versions that the tests speak.
const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

// mcp sends one MCP request in a protocol version. params are JSON members, without braces.
func (w *world) mcp(version, method, secret, params string) answer {
	w.t.Helper()
	headers := []string{"MCP-Protocol-Version", version}
	if version == modern {
		params = joined(params, fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,`+
			`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"tests","version":"1.0"}}`, version))
		headers = append(headers, "Mcp-Method", method)
	}
	return w.send(http.MethodPost, "/mcp", secret, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params), headers...)
}

// mcpCall calls a tool over MCP.
func (w *world) mcpCall(version, tool, secret, arguments string) answer {
	w.t.Helper()
	params := fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments)
	if version != modern {
		return w.mcp(version, "tools/call", secret, params)
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s}}`, joined(params, fmt.Sprintf(
		`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}`, version)))
	return w.send(http.MethodPost, "/mcp", secret, body, "MCP-Protocol-Version", version, "Mcp-Method", "tools/call", "Mcp-Name", tool)
}

func joined(members ...string) string {
	var all []string
	for _, m := range members {
		if m != "" {
			all = append(all, m)
		}
	}
	return strings.Join(all, ",")
}

// grantOf returns the demo's grant of a token in local.json.
func grantOf(t *testing.T, key string) demo.Grant {
	t.Helper()
	for _, g := range demo.Grants() {
		if g.Key == key {
			return g
		}
	}
	t.Fatalf("no token is called %s", key)
	return demo.Grant{}
}

// issue makes a token for the holder of another one, as of a time; it lives 30 days.
func (w *world) issue(holder string, at time.Time, scopes ...identity.Scope) (string, token.Record) {
	w.t.Helper()
	g := grantOf(w.t, holder)
	t, record, err := token.Issue(context.Background(), w.Tables, token.Grant{
		ID: uuid.NewString(), WorkspaceID: string(g.WorkspaceID), UserID: string(g.UserID), Name: "a test",
		Scopes: scopes, Lifetime: 30 * 24 * time.Hour, At: at,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return t.Secret(), record
}

// events reads the audit log of the workspace of a token in local.json, oldest first, behind
// the front door.
func (w *world) events(key string) []audit.Event {
	w.t.Helper()
	var all []audit.Event
	for cursor := ""; ; {
		page, err := audit.Query{Workspace: string(grantOf(w.t, key).WorkspaceID), Cursor: cursor, Limit: audit.MaxQueryLimit,
			Now: time.Now(), Retention: audit.DefaultRetention}.Run(context.Background(), w.Tables)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, page.Events...)
		if cursor = page.Next; cursor == "" {
			slices.Reverse(all)
			return all
		}
	}
}
