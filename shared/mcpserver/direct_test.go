package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// pair is two fronts that differ in one thing: one has the SDK answer everything.
type pair struct{ direct, slow *stage }

func newPair(tb testing.TB, scopes ...identity.Scope) pair {
	p := pair{newStage(tb, scopes...), newStage(tb, scopes...)}
	f := build(p.slow.config(), nil)
	f.slow = true
	p.slow.inner = f.guarded()
	return p
}

func (p pair) both(change func(*stage)) {
	change(p.direct)
	change(p.slow)
}

// answered is all that is to be seen of a request.
type answered struct {
	Status int
	Header http.Header
	Body   any
	Calls  []string
	Events []string
}

func answerOf(s *stage, body string, headers ...string) answered {
	r := s.post(body, headers...)
	a := answered{Status: r.status, Header: r.header}
	if err := json.Unmarshal([]byte(r.body), &a.Body); err != nil {
		a.Body = r.body
	}
	for _, c := range s.invoker.took() {
		a.Calls = append(a.Calls, fmt.Sprintf("%s %s %+v %s %s", c.name, c.req.Arguments, c.req.Client, c.req.TraceID, c.req.CallID))
	}
	for _, e := range s.log.took() {
		a.Events = append(a.Events, fmt.Sprintf("%s %s %s %v", e.Tool, e.Outcome, e.Reason, e.ScopesRequired))
	}
	return a
}

// same requires that both answer alike.
func (p pair) same(t *testing.T, name, body string, headers ...string) answered {
	t.Helper()
	slow := answerOf(p.slow, body, headers...)
	if diff := cmp.Diff(slow, answerOf(p.direct, body, headers...)); diff != "" {
		t.Errorf("%s: %s\n(-SDK +direct):\n%s", name, body, diff)
	}
	return slow
}

// TestDirectCallsAreTheSDKs, whatever the tool replies.
func TestDirectCallsAreTheSDKs(t *testing.T) {
	wait := fault.New(fault.RateLimited, fault.Contention, "try again")
	wait.RetryAfter = 1500 * time.Millisecond
	replies := map[string]func(context.Context, call) (tool.Reply, error){
		"as the scope allows": nil,
		"a value": func(context.Context, call) (tool.Reply, error) {
			return tool.Reply{Value: json.RawMessage("{ \"a\" : \"<é\u2028😀\\u0041\\\"&\", \"n\":[1.50,-0,1e3,null,true],\n\"o\":{}}")}, nil
		},
		"an empty value": func(context.Context, call) (tool.Reply, error) { return tool.Reply{Value: json.RawMessage(`{}`)}, nil },
		"no object":      func(context.Context, call) (tool.Reply, error) { return tool.Reply{Value: json.RawMessage(`[1]`)}, nil },
		"half a value": func(context.Context, call) (tool.Reply, error) {
			return tool.Reply{Value: json.RawMessage(`{"a":`)}, nil
		},
		"nothing": func(context.Context, call) (tool.Reply, error) { return tool.Reply{}, nil },
		"a fault": func(context.Context, call) (tool.Reply, error) {
			return tool.Reply{Fault: wait.With("choices", []string{"a<b"})}, nil
		},
		"unauthenticated": func(context.Context, call) (tool.Reply, error) {
			return tool.Reply{Fault: unauthenticated().fault}, nil
		},
		"an error": func(context.Context, call) (tool.Reply, error) { return tool.Reply{}, errors.New("secret") },
		"one not recorded": func(context.Context, call) (tool.Reply, error) {
			return tool.Reply{}, &tool.Unrecorded{Err: errors.New("secret")}
		},
		"a panic": func(context.Context, call) (tool.Reply, error) { panic("secret") },
	}
	seen := map[int]int{}
	for name, reply := range replies {
		for _, scopes := range [][]identity.Scope{allScopes, {identity.IssuesRead}} {
			p := newPair(t, scopes...)
			p.both(func(s *stage) { s.invoker.answer = reply })
			for _, e := range allEras {
				for _, d := range definitions() {
					headers := slices.Clone(e.headers)
					if e.modern {
						headers = append(headers, "Mcp-Method", "tools/call", "Mcp-Name", d.Name)
					}
					a := p.same(t, name, e.message("tools/call", fmt.Sprintf(`"name":%q,"arguments":{"x": [1,"é"]}`, d.Name)), headers...)
					seen[a.Status]++
				}
			}
		}
	}
	if seen[200] == 0 || seen[403] == 0 || seen[401] == 0 {
		t.Errorf("statuses %v: too few to tell anything", seen)
	}
}

// TestDirectListsAreTheSDKs, for no scope, for each alone and for all, and for those who can get more.
func TestDirectListsAreTheSDKs(t *testing.T) {
	for i := range len(allScopes) + 2 {
		scopes := allScopes
		if i <= len(allScopes) {
			scopes = allScopes[max(i-1, 0):i]
		}
		for _, stepUp := range []bool{false, true} {
			p := newPair(t, scopes...)
			p.both(func(s *stage) { s.principal.CanStepUp = stepUp })
			for _, e := range []era{modern, legacy} {
				p.same(t, "list", e.message("tools/list", ""), append(slices.Clone(e.headers), "Mcp-Method", "tools/list")...)
			}
		}
	}
}

// odd are params that a front could take otherwise than the SDK.
var odd = []string{
	``, `"_meta":{}`, `"_meta":{"progressToken":7}`, `"_meta":{"progressToken":{}}`, `"_meta":{"progressToken":null}`, `"_meta":{"x":[1,{"y":null}]}`,
	`"cursor":""`, `"cursor":null`, `"cursor":5`, `"cursor":"x"`, `"inputResponses":{}`, `"inputResponses":5`, `"requestState":5`, `"requestState":"s"`, `"task":{"ttl":1}`,
	`"_meta":{"io.modelcontextprotocol/logLevel":"loud"}`, `"_meta":{"io.modelcontextprotocol/clientCapabilities":5}`, `"_meta":{"traceparent":5}`,
	`"_meta":null`, `"_meta":[]`, `"uri":"x"`, `"capabilities":5`, `"protocolVersion":5`, `"clientInfo":5`, `"level":"x"`,
}

// oddMeta are what a modern message may say of its client.
var oddMeta = []string{
	`{}`, `{"elicitation":{}}`, `{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"sampling":{"tools":{}},"experimental":{"x":{}}}`, `{"roots":5}`, `{"roots":null}`,
	`{"Roots":5}`, `{"sampling":[]}`, `{"extensions":{"a/b":{}}}`, `{"extensions":{"a/b":5}}`, `{"tasks":{"list":{}}}`, `{"unheard_of":5}`, `{"experimental":5}`,
}

var oddInfo = []string{``, `{}`, `{"name":"x","version":"1"}`, `{"name":5}`, `{"name":"x","icons":[{"src":"y"}]}`, `{"name":"x","icons":5}`, `{"name":"x","websiteUrl":7}`, `{"Name":5}`}

func modernWith(method, params, capabilities, info, more string) string {
	meta := `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + capabilities + more
	if info != "" {
		meta += `,"io.modelcontextprotocol/clientInfo":` + info
	}
	return `{"jsonrpc":"2.0","id":"7","method":"` + method + `","params":{` + params + `"_meta":{` + meta + `}}}`
}

// TestOddMessagesAreTheSDKs: where the SDK objects, so does the front.
func TestOddMessagesAreTheSDKs(t *testing.T) {
	p := newPair(t, allScopes...)
	const name = `"name":"delete_issue","arguments":{}`
	for _, params := range odd {
		for _, e := range []era{legacy, older, unnamed} {
			p.same(t, "odd list", e.message("tools/list", params), e.headers...)
			call := name
			if params != "" {
				call += "," + params
			}
			p.same(t, "odd call", e.message("tools/call", call), e.headers...)
		}
	}
	for _, capabilities := range oddMeta {
		for _, info := range oddInfo {
			for _, more := range []string{"", `,"io.modelcontextprotocol/logLevel":"info"`, `,"io.modelcontextprotocol/logLevel":5`, `,"progressToken":{}`} {
				p.same(t, "odd client", modernWith("tools/list", "", capabilities, info, more), "MCP-Protocol-Version", modernVersion, "Mcp-Method", "tools/list")
				p.same(t, "odd client", modernWith("tools/call", name+",", capabilities, info, more), "MCP-Protocol-Version", modernVersion, "Mcp-Method", "tools/call", "Mcp-Name", "delete_issue")
			}
		}
	}
}

// FuzzDirect looks for a message that the SDK would answer otherwise.
func FuzzDirect(f *testing.F) {
	for _, params := range odd {
		f.Add(params, "{}", "", uint8(0))
	}
	for _, capabilities := range oddMeta {
		for _, info := range oddInfo {
			f.Add("", capabilities, info, uint8(1))
		}
	}
	p := newPair(f, allScopes...)
	f.Fuzz(func(t *testing.T, params, capabilities, info string, way uint8) {
		method, name := "tools/call", "delete_issue"
		if way&2 != 0 {
			method, name = "tools/list", ""
		} else if params = `"name":"delete_issue",` + params; params[len(params)-1] == ',' {
			params = params[:len(params)-1]
		}
		if way&1 == 0 {
			p.same(t, "legacy", legacy.message(method, params), legacy.headers...)
			return
		}
		if params != "" {
			params += ","
		}
		headers := []string{"MCP-Protocol-Version", modernVersion, "Mcp-Method", method}
		if name != "" {
			headers = append(headers, "Mcp-Name", name)
		}
		p.same(t, "modern", modernWith(method, params, capabilities, info, ""), headers...)
	})
}

// A client that goes away does not end a call, and a call has the time that the request has.
func TestDirectCallOutlivesItsClient(t *testing.T) {
	s := newStage(t, allScopes...)
	var ended error
	var within time.Duration
	s.invoker.answer = func(ctx context.Context, _ call) (tool.Reply, error) {
		deadline, _ := ctx.Deadline()
		ended, within = ctx.Err(), time.Until(deadline)
		return stubbed, nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	cancel()
	s.do(request(http.MethodPost, "/mcp", legacy.message("tools/call", `"name":"list_issues"`)).WithContext(ctx))
	if ended != nil || within <= 59*time.Minute || within >= time.Hour {
		t.Errorf("the tool found %v, %v left", ended, within)
	}
}

// TestDirectCallsAreCheap holds what they are for: a tenth of the memory, half of the allocations.
func TestDirectCallsAreCheap(t *testing.T) {
	p := newPair(t, allScopes...)
	p.both(func(s *stage) {
		s.invoker.answer = func(context.Context, call) (tool.Reply, error) { return stubbed, nil }
	})
	for _, e := range []era{modern, legacy} {
		cost := func(s *stage) (bytes, allocations float64) {
			const rounds = 200
			s.callTool(e, "list_issues", `{}`) // prepares what is prepared once
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range rounds {
				s.callTool(e, "list_issues", `{}`)
			}
			runtime.ReadMemStats(&after)
			s.invoker.took()
			return float64(after.TotalAlloc-before.TotalAlloc) / rounds, float64(after.Mallocs-before.Mallocs) / rounds
		}
		directBytes, directAllocations := cost(p.direct)
		slowBytes, slowAllocations := cost(p.slow)
		t.Logf("%s: %.0f of %.0f bytes, %.0f of %.0f allocations", e.name, directBytes, slowBytes, directAllocations, slowAllocations)
		if directBytes > slowBytes/10 || directAllocations > slowAllocations/2 {
			t.Errorf("%s: %.0f of %.0f bytes, %.0f of %.0f allocations", e.name, directBytes, slowBytes, directAllocations, slowAllocations)
		}
	}
}
