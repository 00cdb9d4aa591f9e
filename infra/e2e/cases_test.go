package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tools/toolstest"
)

// TestSameAnswers makes the calls of every case of the tools in local mode and in the system as
// it is deployed, over REST and over both eras of MCP, and compares answers and audit logs. Each
// case that changes something has a workspace of its own.
func TestSameAnswers(t *testing.T) {
	sides := startBoth(t)
	now := time.Now().UTC()
	seen := map[string]int{} // calls by tool and door
	shared := loadBoth(t, sides, workspace(0, now), now)
	for i, c := range allCases(t) {
		w, doors := shared, []door{rest, modern, legacy}
		if changes(c) {
			// What changes something can go through one door only: the cases of a tool take turns.
			snapshots := workspace(i+1, now)
			snapshots[0].Usage = nil // most of the rows, and nothing that changes looks at them
			w, doors = loadBoth(t, sides, snapshots, now), doors[i%3:i%3+1]
		}
		run := w.begin(c)
		for _, d := range doors {
			run.calls(d, seen)
		}
		run.compareLogs()
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

// changes tells whether a case calls a tool that does more than read.
func changes(c toolstest.Case) bool {
	return slices.ContainsFunc(c.Calls, func(call toolstest.Call) bool {
		d, ok := catalog.Find(call.Tool)
		return !ok || d.Effect != tool.Reads
	})
}

// loaded is one workspace on both sides.
type loaded struct {
	t         *testing.T
	sides     [2]*side
	snapshots []records.Snapshot
	people    map[string]person
	tokens    [2]map[string]string // by holder and scopes
	now       time.Time
}

// loadBoth loads the first of the snapshots; the foreign workspace is there, and the same for all.
func loadBoth(t *testing.T, sides [2]*side, snapshots []records.Snapshot, now time.Time) *loaded {
	t.Helper()
	l := &loaded{t: t, sides: sides, snapshots: snapshots, people: people(snapshots), now: now}
	for i, s := range sides {
		s.load(t.Context(), snapshots[0])
		l.tokens[i] = map[string]string{}
	}
	return l
}

func (l *loaded) token(i int, who string, scopes []identity.Scope) string {
	if who == "" {
		return ""
	}
	p, ok := l.people[who]
	if !ok {
		l.t.Fatalf("nobody is called %s", who)
	}
	key := who + " " + identity.Join(scopes)
	if l.tokens[i][key] == "" {
		l.tokens[i][key], _ = l.sides[i].issue(p, l.now, scopes...)
	}
	return l.tokens[i][key]
}

// caseRun is one case in a workspace.
type caseRun struct {
	*loaded
	of     toolstest.Case
	normal [2]normal
}

func (l *loaded) begin(c toolstest.Case) *caseRun {
	run := &caseRun{loaded: l, of: c}
	ownIDs := slices.ContainsFunc(c.Calls, func(call toolstest.Call) bool {
		return strings.Contains(call.Arguments, "<new ") || strings.Contains(call.Arguments, "<cursor ")
	})
	for i, s := range l.sides {
		// In a workspace that is shared the log holds arguments of other cases too.
		run.normal[i] = normal{
			side: s, names: toolstest.NewNames(l.snapshots), began: l.now.Truncate(24 * time.Hour), ownIDs: ownIDs || !changes(c),
		}
	}
	return run
}

// calls makes the calls through one door.
func (w *caseRun) calls(d door, seen map[string]int) {
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

// compareLogs compares the latest events of the workspace. Those of this day are all there are.
func (w *caseRun) compareLogs() {
	var texts [2]string
	for i, s := range w.sides {
		query := "/audit?limit=100&since=" + url.QueryEscape(w.now.Truncate(24*time.Hour).Format(time.RFC3339))
		texts[i] = w.normal[i].write(s.send(call{method: http.MethodGet, path: query, who: w.token(i, "Mira", []identity.Scope{identity.AuditRead})}))
	}
	same(w.t, w.of.Name+", the audit log", texts[0], texts[1])
}
