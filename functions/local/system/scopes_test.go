package system

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// listing is one tool in GET /tools, and in tools/list under MCP's names.
type listing struct {
	Name        string         `json:"name"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Annotations map[string]any `json:"annotations"`
	Scopes      []string       `json:"scopes"`
	Confirm     string         `json:"confirm"`
	Granted     bool           `json:"granted"`
	RESTInput   any            `json:"input_schema"`
	RESTOutput  any            `json:"output_schema"`
	MCPInput    any            `json:"inputSchema"`
	MCPOutput   any            `json:"outputSchema"`
	Meta        map[string]any `json:"_meta"`
}

// restList returns GET /tools.
func (w *world) restList(secret string) []listing {
	w.t.Helper()
	var out struct{ Tools []listing }
	a := w.send(http.MethodGet, "/tools", secret, "")
	if a.status != http.StatusOK {
		w.t.Fatalf("GET /tools: %d %s", a.status, a.body)
	}
	a.into(w.t, &out)
	return out.Tools
}

// mcpList returns tools/list.
func (w *world) mcpList(version, secret string) []listing {
	w.t.Helper()
	var out struct {
		Result struct {
			Tools      []listing `json:"tools"`
			CacheScope string    `json:"cacheScope"`
		}
	}
	a := w.mcp(version, "tools/list", secret, "")
	if a.status != http.StatusOK {
		w.t.Fatalf("tools/list: %d %s", a.status, a.body)
	}
	a.into(w.t, &out)
	if version == modern && out.Result.CacheScope != "private" {
		w.t.Errorf("tools/list may be cached by %q", out.Result.CacheScope)
	}
	return out.Result.Tools
}

func names(list []listing, only func(listing) bool) []string {
	var out []string
	for _, l := range list {
		if only(l) {
			out = append(out, l.Name)
		}
	}
	return out
}

func all(listing) bool { return true }

// TestBothListsSayTheSame compares the two lists member by member.
func TestBothListsSayTheSame(t *testing.T) {
	w := newWorld(t)
	for _, version := range []string{modern, legacy} {
		rest, mcp := w.restList(w.Tokens["owner"]), w.mcpList(version, w.Tokens["owner"])
		if len(rest) != 11 {
			t.Fatalf("GET /tools lists %d tools", len(rest))
		}
		for i := range rest {
			rest[i].MCPInput, rest[i].RESTInput = rest[i].RESTInput, nil
			rest[i].MCPOutput, rest[i].RESTOutput = rest[i].RESTOutput, nil
		}
		for i := range mcp {
			for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
				if _, ok := mcp[i].Annotations[hint].(bool); !ok {
					t.Errorf("%s: %s of %s is not on the wire", version, hint, mcp[i].Name)
				}
			}
			if mcp[i].Annotations["title"] != mcp[i].Title {
				t.Errorf("%s: the annotations of %s have the title %v", version, mcp[i].Name, mcp[i].Annotations["title"])
			}
			delete(mcp[i].Annotations, "title")
			if forced := mcp[i].Meta["anthropic/requiresUserInteraction"] == true; forced != (mcp[i].Annotations["destructiveHint"] == true) {
				t.Errorf("%s: the client is told to ask before %s: %v", version, mcp[i].Name, forced)
			}
			// REST alone has these.
			mcp[i].Scopes, mcp[i].Confirm, mcp[i].Granted = rest[i].Scopes, rest[i].Confirm, true
			mcp[i].Meta, rest[i].Meta = nil, nil
		}
		if diff := cmp.Diff(rest, mcp); diff != "" {
			t.Errorf("%s: GET /tools and tools/list differ (-rest +mcp):\n%s", version, diff)
		}
	}
}

// TestEverySubsetOfScopes holds that what is listed as granted is exactly what can be called,
// over both entries, for every set of scopes that a token can have.
func TestEverySubsetOfScopes(t *testing.T) {
	w := newWorld(t)
	scopes := identity.Scopes()
	subsets := make(chan []identity.Scope)
	calls := make(chan []string)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			var made []string
			for subset := range subsets {
				made = append(made, w.checkSubset(subset)...)
			}
			calls <- made
		})
	}
	seen := 0
	for bits := 1; bits < 1<<len(scopes); bits++ { // no scope at all is no token
		var subset []identity.Scope
		for i, s := range scopes {
			if bits&(1<<i) != 0 {
				subset = append(subset, s)
			}
		}
		subsets <- subset
		seen++
	}
	close(subsets)
	var made []string
	for range 4 {
		made = append(made, <-calls...)
	}
	workers.Wait()
	if seen != 255 {
		t.Errorf("saw %d subsets", seen)
	}
	w.checkOneEventEach(made)
}

// checkOneEventEach compares the log with the calls that were made side by side.
func (w *world) checkOneEventEach(made []string) {
	w.t.Helper()
	var recorded []string
	for _, e := range w.events("owner") {
		recorded = append(recorded, e.CallID)
	}
	slices.Sort(made)
	slices.Sort(recorded)
	if diff := cmp.Diff(made, recorded); diff != "" {
		w.t.Errorf("%d calls, %d events (-made +recorded):\n%s", len(made), len(recorded), diff)
	}
}

// checkSubset compares the lists with what a call gives. The arguments are refused by every
// tool that could change something, so nothing does; a missing scope comes before that. It
// returns the ids of the calls.
func (w *world) checkSubset(subset []identity.Scope) (calls []string) {
	secret, _ := w.issue("reader", time.Now(), subset...)
	rest := w.restList(secret)
	if got := names(rest, all); len(got) != len(catalog.All()) {
		w.t.Errorf("%v: GET /tools lists %v", subset, got)
	}
	granted := names(rest, func(l listing) bool { return l.Granted })
	for _, version := range []string{modern, legacy} {
		// A personal token cannot ask for more scopes, so it sees what it may call.
		if listed := names(w.mcpList(version, secret), all); !slices.Equal(listed, granted) {
			w.t.Errorf("%v: granted %v, but tools/list of %s has %v", subset, granted, version, listed)
		}
	}
	for i, d := range catalog.All() {
		overREST := w.rest(d.Name, secret, `{"no_such_argument":1}`)
		if may := overREST.status != http.StatusForbidden; may != slices.Contains(granted, d.Name) {
			w.t.Errorf("%v: POST /tools/%s answers %d, granted are %v", subset, d.Name, overREST.status, granted)
		}
		version := []string{modern, legacy}[i%2]
		overMCP := w.mcpCall(version, d.Name, secret, `{"no_such_argument":1}`)
		if may := overMCP.status != http.StatusForbidden; may != slices.Contains(granted, d.Name) || (may && overMCP.status != http.StatusOK) {
			w.t.Errorf("%v: %s in %s answers %d, granted are %v", subset, d.Name, version, overMCP.status, granted)
		}
		if overREST.status == http.StatusForbidden {
			w.checkRefusal(d.Name, overREST, overMCP)
		}
		calls = append(calls, overREST.header.Get("X-Amzn-Requestid"), overMCP.header.Get("X-Amzn-Requestid"))
	}
	return calls
}

// checkRefusal requires that both refusals say which scope is missing.
func (w *world) checkRefusal(tool string, overREST, overMCP answer) {
	var rest struct{ Error, Reason string }
	overREST.into(w.t, &rest)
	if rest.Error == "" || rest.Reason != "insufficient_scope" || overREST.header.Get("WWW-Authenticate") == "" {
		w.t.Errorf("%s over REST: %s, challenge %q", tool, overREST.body, overREST.header.Get("WWW-Authenticate"))
	}
	if !strings.Contains(string(overMCP.body), `"insufficient_scope"`) {
		w.t.Errorf("%s over MCP: %s", tool, overMCP.body)
	}
}
