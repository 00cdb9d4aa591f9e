package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// TestManyAtOnce has callers come side by side, over REST and MCP, while there is one instance of
// each function: all are served, each issue has a number of its own, and each call an event.
func TestManyAtOnce(t *testing.T) {
	f := startFailing(t)
	const callers = 12
	var mu sync.Mutex
	numbers := map[int]bool{}
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			d := []door{rest, modern, legacy}[i%3]
			a := f.send(callOf(d, "editor", "create_issue", fmt.Sprintf(`{"title":"Caller %d"}`, i)))
			number := numberIn(d, a.body)
			mu.Lock()
			defer mu.Unlock()
			if a.status != http.StatusOK || number == 0 || numbers[number] {
				t.Errorf("caller %d over %s: %d, number %d: %s", i, d, a.status, number, a.body)
			}
			numbers[number] = true
		})
	}
	all.Wait()
	events := f.events("create_issue", "")
	for _, e := range events {
		if e.Outcome != fault.Success {
			t.Errorf("an event %+v", e)
		}
	}
	if len(events) != callers || len(numbers) != callers {
		t.Errorf("%d callers got %d numbers and left %d events", callers, len(numbers), len(events))
	}
}

// numberIn reads the number of an issue that was made, 0 if there is none.
func numberIn(d door, body string) int {
	type made struct{ Issue struct{ Number int } }
	if d == rest {
		var m made
		_ = json.Unmarshal([]byte(body), &m) // no number then
		return m.Issue.Number
	}
	var rpc struct {
		Result struct{ StructuredContent made }
	}
	_ = json.Unmarshal([]byte(body), &rpc)
	return rpc.Result.StructuredContent.Issue.Number
}
