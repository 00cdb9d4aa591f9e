package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tools/toolstest"
)

// TestSameAnswers makes the calls of every case of the tools in local mode and in the system as
// it is deployed, over REST and over both eras of MCP, and compares answers and audit logs. Each
// case has a workspace of its own.
func TestSameAnswers(t *testing.T) {
	sides := startBoth(t)
	now := time.Now().UTC()
	seen := map[string]int{} // calls by tool and door
	for i, c := range allCases(t) {
		w := newCaseWorld(t, sides, i, now, c)
		for _, d := range doorsFor(i, c) {
			w.run(d, seen)
		}
		w.compareLogs()
	}
	for _, d := range catalog.All() {
		for _, through := range []door{rest, modern, legacy} {
			if seen[d.Name+" "+string(through)] == 0 {
				t.Errorf("%s was not called over %s: this test sees too little", d.Name, through)
			}
		}
	}
}

func allCases(t *testing.T) []toolstest.Case {
	t.Helper()
	var all []toolstest.Case
	for _, effect := range []string{"read", "write"} {
		cases, err := toolstest.Cases(filepath.Join("..", "..", "shared", "tools", effect, "testdata"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, cases...)
	}
	return all
}

// doorsFor takes all doors for what only reads. What changes something can go through one: the
// cases of a tool take turns.
func doorsFor(i int, c toolstest.Case) []door {
	doors := []door{rest, modern, legacy}
	for _, call := range c.Calls {
		if d, ok := catalog.Find(call.Tool); !ok || d.Effect != tool.Reads {
			return doors[i%3 : i%3+1]
		}
	}
	return doors
}

// caseWorld is one case on both sides.
type caseWorld struct {
	t      *testing.T
	of     toolstest.Case
	sides  [2]*side
	normal [2]normal
	people map[string]person
	tokens [2]map[string]string // by holder and scopes
	now    time.Time
}

func newCaseWorld(t *testing.T, sides [2]*side, n int, now time.Time, c toolstest.Case) *caseWorld {
	t.Helper()
	snapshots := workspace(n, now)
	w := &caseWorld{t: t, of: c, sides: sides, people: people(snapshots), now: now}
	for i, s := range sides {
		s.load(t.Context(), snapshots[0]) // the foreign workspace is there, and the same for all
		w.tokens[i] = map[string]string{}
		w.normal[i] = normal{side: s, names: toolstest.NewNames(snapshots), began: now.Truncate(24 * time.Hour)}
		for _, call := range c.Calls {
			if strings.Contains(call.Arguments, "<new ") || strings.Contains(call.Arguments, "<cursor ") {
				w.normal[i].ownIDs = true
			}
		}
	}
	return w
}

func (w *caseWorld) token(i int, who string, scopes []identity.Scope) string {
	p, ok := w.people[who]
	if !ok {
		if who != "" {
			w.t.Fatalf("%s: nobody is called %s", w.of.Name, who)
		}
		return ""
	}
	key := who + " " + identity.Join(scopes)
	if w.tokens[i][key] == "" {
		w.tokens[i][key], _ = w.sides[i].issue(p, w.now, scopes...)
	}
	return w.tokens[i][key]
}

// run makes the calls through one door.
func (w *caseWorld) run(d door, seen map[string]int) {
	for k, c := range w.of.Calls {
		if len(c.Scopes) == 0 && c.Who != "" {
			continue // no token can be without any scope
		}
		through := d
		if !json.Valid([]byte(c.Arguments)) && c.Arguments != "" {
			through = rest // no MCP message could hold it
		}
		seen[c.Tool+" "+string(through)]++
		for range c.Times {
			var texts [2]string
			for i, s := range w.sides {
				arguments := w.normal[i].names.Read(c.Arguments)
				texts[i] = w.normal[i].write(s.send(callOf(through, w.token(i, c.Who, c.Scopes), c.Tool, arguments)))
			}
			same(w.t, fmt.Sprintf("%s, call %d over %s", w.of.Name, k+1, through), texts[0], texts[1])
		}
	}
}

// compareLogs compares the events of the case's workspace. Those of this day are all there are.
func (w *caseWorld) compareLogs() {
	var texts [2]string
	for i, s := range w.sides {
		query := "/audit?limit=100&since=" + url.QueryEscape(w.now.Truncate(24*time.Hour).Format(time.RFC3339))
		texts[i] = w.normal[i].write(s.send(call{method: http.MethodGet, path: query, who: w.token(i, "Mira", []identity.Scope{identity.AuditRead})}))
	}
	same(w.t, w.of.Name+", the audit log", texts[0], texts[1])
}
