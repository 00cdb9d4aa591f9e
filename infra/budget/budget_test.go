package budget

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

var update = flag.Bool("update", false, "rewrite docs/requests.md")

var pagePath = filepath.Join("..", "..", "docs", "requests.md")

// worlds are what the rows run in. Calls that change nothing share one.
type worlds struct {
	t      *testing.T
	server *dynamotest.Server
	engine *engine
	shared *world
}

func newWorlds(t *testing.T) *worlds {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return &worlds{t: t, server: dynamotest.Start(t), engine: newEngine(ctx)}
}

func (ws *worlds) fresh() *world { return newWorld(ws.t, ws.server, ws.engine) }

func (ws *worlds) quiet() *world {
	if ws.shared == nil {
		ws.shared = ws.fresh()
	}
	return ws.shared
}

// changes tells whether a row needs a world of its own.
func (r row) changes(d *tool.Definition) bool {
	return len(r.before) > 0 || r.of == success && d.Effect != tool.Reads
}

// TestRequests measures every row and compares the page.
func TestRequests(t *testing.T) {
	ws := newWorlds(t)
	got := page(measureFronts(t, ws), measureTools(t, ws), measureWhole(t, ws))
	if *update && !t.Failed() {
		if err := os.WriteFile(pagePath, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatalf("%v: run make golden", err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("docs/requests.md is not what is measured; if that is meant, run make golden and read the diff (-page +measured):\n%s",
			gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")))
	}
}

func measureTools(t *testing.T, ws *worlds) (lines []line) {
	for _, d := range catalog.All() {
		for _, r := range rows[d.Name] {
			w := ws.quiet()
			if r.changes(d) {
				w = ws.fresh()
			}
			m := w.call(d, r)
			if m.reply.reason != string(r.reason) {
				t.Errorf("%s, %s: reason %q, want %q", d.Name, r.outcome, m.reply.reason, r.reason)
			}
			lines = append(lines, checked(t, line{d.Name, r.outcome, m.requests[d.Name], r.over}))
		}
	}
	return lines
}

func measureFronts(t *testing.T, ws *worlds) (lines []line) {
	for _, r := range fronts {
		w := ws.fresh()
		m := w.measure(r.request(w))
		if m.reply.status != r.status {
			t.Errorf("%s, %s: status %d, want %d", r.function, r.outcome, m.reply.status, r.status)
		}
		lines = append(lines, checked(t, line{r.function, r.outcome, m.requests[r.function], r.over}))
	}
	return lines
}

// checked requires that what is over the target says why, and nothing else does.
func checked(t *testing.T, l line) line {
	t.Helper()
	switch over := l.overTarget(); {
	case over && l.over == "":
		t.Errorf("%s, %s: %s: takes more than the goal; make it take less, or say in its row why", l.function, l.outcome, l.path())
	case !over && l.over != "":
		t.Errorf("%s, %s: %s: meets the goal; its row still says why not", l.function, l.outcome, l.path())
	}
	return l
}

// measureWhole counts the trips of whole calls, all functions together.
func measureWhole(t *testing.T, ws *worlds) (texts []string) {
	for _, c := range []struct{ text, path, body string }{
		{"a read over REST", "/tools/get_issue", `{"issue_id":"AAC-42"}`},
		{"the same over MCP", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_issue","arguments":{"issue_id":"AAC-42"}}}`},
		{"a change over REST", "/tools/update_issue", `{"issue_id":"AAC-42","status":"done"}`},
		{"a new issue over REST", "/tools/create_issue", `{"title":"One"}`},
	} {
		w := ws.fresh()
		m := w.measure(newRequest("POST", c.path, owner(w), c.body))
		if m.reply.status != 200 {
			t.Errorf("%s: %d %s", c.text, m.reply.status, m.reply.reason)
		}
		sum := 0
		for _, taken := range m.requests {
			sum += trips(taken)
		}
		if sum != m.trips {
			t.Errorf("%s: the functions made %d trips, but the call took %d", c.text, sum, m.trips)
		}
		texts = append(texts, fmt.Sprintf("%s %d", c.text, m.trips))
	}
	return texts
}
