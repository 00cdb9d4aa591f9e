package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/reader"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// failing is a deployed system whose requests to DynamoDB can be held.
type failing struct {
	*side
	system *System
	gate   *gate
}

func startFailing(t *testing.T) *failing {
	t.Helper()
	g := &gate{t: t}
	s := startDeployed(t, Config{Between: g.between})
	return &failing{&side{t, "as deployed", s.URL, s.Access.Tokens, writer.Open(s.Conn)}, s, g}
}

// later makes a call while the test goes on.
func (f *failing) later(c call) <-chan answer {
	done := make(chan answer, 1)
	go func() { done <- f.send(c) }()
	return done
}

// kill kills the process of a function, as kill -9 does.
func (f *failing) kill(logicalID string) {
	f.t.Helper()
	pid, err := f.system.functions[logicalID].pid()
	if err != nil || pid == 0 {
		f.t.Fatalf("%s has no process: %v", logicalID, err)
	}
	if err := kill(pid); err != nil {
		f.t.Fatal(err)
	}
}

// events are those of a call, or of all calls of a tool, read past the front door.
func (f *failing) events(tool, callID string) (found []audit.Event) {
	f.t.Helper()
	page, err := audit.Query{
		Workspace: string(demo.WorkspaceID()), Filter: audit.Filter{Tool: tool, Since: time.Now().Add(-time.Hour)},
		Limit: audit.MaxQueryLimit, Now: time.Now(), Retention: audit.DefaultRetention,
	}.Run(f.t.Context(), reader.Open(f.system.Conn))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range page.Events {
		if callID == "" || e.CallID == callID {
			found = append(found, e)
		}
	}
	return found
}

// internal requires the one answer that a failure of ours has, and returns the call id.
func (f *failing) internal(what string, a answer, status int) (callID string) {
	f.t.Helper()
	callID = a.header.Get("X-Amzn-Requestid")
	if a.status != status || !strings.Contains(a.body, fault.InternalText) || callID == "" || !strings.Contains(a.body, callID) {
		f.t.Errorf("%s: %d %s; want status %d, the text of an internal error and the call id", what, a.status, a.body, status)
	}
	return callID
}

// works requires that a call succeeds.
func (f *failing) works(what string, c call) answer {
	f.t.Helper()
	a := f.send(c)
	if a.status != http.StatusOK || strings.Contains(a.body, `"isError":true`) {
		f.t.Errorf("%s: %d %s", what, a.status, a.body)
	}
	return a
}

const readIssue = `{"issue_id":"AAC-42"}`

// TestTimeOut lets the data be slow: for a tool that is in time to record it, and for one that
// Lambda has to stop.
func TestTimeOut(t *testing.T) {
	f := startFailing(t)
	tool := f.system.functions["GetIssueFunction"]
	tool.timeout = 3 * time.Second // before its first start
	slow := f.gate.hold("BatchGetItem", false)
	id := f.internal("out of time", f.send(callOf(rest, "reader", "get_issue", readIssue)), http.StatusInternalServerError)
	close(slow.release)
	if e := f.events("get_issue", id); len(e) != 1 || e[0].Outcome != fault.Failed {
		t.Errorf("a call out of time left the events %+v, want one of the outcome error", e)
	}
	f.works("after a call out of time", callOf(rest, "reader", "get_issue", readIssue))

	for _, d := range []door{rest, legacy} {
		stuck := []*hold{f.gate.hold("BatchGetItem", false), f.gate.hold("PutItem", false)}
		a := f.send(callOf(d, "reader", "get_issue", readIssue))
		if d == rest {
			f.internal("stopped by Lambda", a, http.StatusBadGateway)
		} else {
			f.internal("stopped by Lambda", a, http.StatusOK)
		}
		if !strings.Contains(tool.log.String(), "Invoke failed") && !strings.Contains(tool.log.String(), "Task timed out") {
			t.Errorf("Lambda did not stop the function: %s", tool.log.String())
		}
		for _, h := range stuck {
			close(h.release)
		}
		f.works("after a call that Lambda has stopped", callOf(d, "reader", "get_issue", readIssue))
	}
}

// TestKilledBeforeTheChange kills a tool that is about to commit: nothing is made, the front has the
// failure on record where there is a front, and the next call works.
func TestKilledBeforeTheChange(t *testing.T) {
	f := startFailing(t)
	for i, d := range []door{rest, modern} {
		held := f.gate.hold("TransactWriteItems", false)
		done := f.later(callOf(d, "editor", "create_issue", `{"title":"Never made"}`))
		<-held.arrived
		f.kill("CreateIssueFunction")
		status := http.StatusBadGateway
		if d != rest {
			status = http.StatusOK // the answer of the front, in MCP's words
		}
		id := f.internal("killed before the change", <-done, status)
		e := f.events("create_issue", id)
		if byFront := len(e) == 1 && e[0].Outcome == fault.Failed && e[0].Recorder == audit.RecorderMCP; byFront != (d != rest) || (d == rest && len(e) != 0) {
			t.Errorf("events %+v of a call that was killed", e)
		}
		a := f.works("the next call", callOf(d, "editor", "create_issue", `{"title":"Made"}`))
		// The number of what was not made is lost.
		if number := fmt.Sprintf("AAC-%d", demo.NextNumber+2*i+1); !strings.Contains(a.body, number) {
			t.Errorf("the next issue is not %s: %s", number, a.body)
		}
		if lost := f.send(callOf(rest, "editor", "get_issue", fmt.Sprintf(`{"issue_id":"AAC-%d"}`, demo.NextNumber+2*i))); lost.status != http.StatusNotFound {
			t.Errorf("half an issue is there: %s", lost.body)
		}
	}
}

// TestKilledAfterTheChange kills a tool that has committed and does not know it yet: change and
// event are there, both, and the call made again with its key has one effect.
func TestKilledAfterTheChange(t *testing.T) {
	f := startFailing(t)
	again := callOf(rest, "editor", "create_issue", `{"title":"Made once","idempotency_key":"k"}`)
	held := f.gate.hold("TransactWriteItems", true)
	done := f.later(again)
	<-held.arrived
	f.kill("CreateIssueFunction")
	id := f.internal("killed after the change", <-done, http.StatusBadGateway)
	if e := f.events("create_issue", id); len(e) != 1 || e[0].Outcome != fault.Success {
		t.Errorf("the change left the events %+v, want one of success", e)
	}
	var made struct {
		Issue    struct{ Identifier string }
		Replayed bool
	}
	if err := json.Unmarshal([]byte(f.works("the same call again", again).body), &made); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("AAC-%d", demo.NextNumber); made.Issue.Identifier != want || !made.Replayed {
		t.Errorf("the same call again gave %+v, want %s, replayed", made, want)
	}
}

// TestKilledInFront kills the functions before the tool.
func TestKilledInFront(t *testing.T) {
	f := startFailing(t)
	f.works("a first call", callOf(legacy, "editor", "get_issue", readIssue))

	held := f.gate.hold("TransactWriteItems", false)
	done := f.later(callOf(legacy, "editor", "create_issue", `{"title":"Made all the same"}`))
	<-held.arrived
	f.kill("McpFunction")
	id := f.internal("the front was killed", <-done, http.StatusBadGateway)
	close(held.release) // the tool goes on: nobody tells it
	f.works("the next call through the front", callOf(legacy, "editor", "create_issue", `{"title":"Another"}`))
	if e := f.events("create_issue", id); len(e) != 1 || e[0].Outcome != fault.Success {
		t.Errorf("the call left the events %+v, want one of success", e)
	}

	held = f.gate.hold("GetItem", false)
	done = f.later(callOf(rest, "editor", "get_issue", readIssue))
	<-held.arrived
	f.kill("AuthorizerFunction")
	f.internal("the authorizer was killed", <-done, http.StatusInternalServerError)
	f.works("the next call", callOf(rest, "editor", "get_issue", readIssue))
}
