package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
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
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

const (
	killRounds  = 6
	killWriters = 4
	mostAnswers = 60 // in a round, before the kill
)

// TestKilledWhileWriting kills the program, with SIGKILL and at random moments, while it takes
// writes from several clients, again and again on the same data. Afterwards every change has its
// event, every event of a success its change, and nothing is lost that a client was told.
func TestKilledWhileWriting(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	told := map[string]string{} // by call id: the tool that answered with success
	for round := range killRounds {
		killWhileWriting(t, data, 1+random.IntN(mostAnswers), told)
		found := readAll(t, data)
		for _, problem := range found.problems(told) {
			t.Errorf("round %d: %s", round, problem)
		}
		t.Logf("round %d: %d calls answered with success so far, %d events, %d new issues", round, len(told), len(found.events), len(found.issues))
	}
	if len(told) < killRounds {
		t.Errorf("only %d calls were answered: this test saw nothing", len(told))
	}
	readAll(t, data).mustBeMissed(t, told)
}

// mustBeMissed takes away one event after the other, then one issue after the other, and
// requires that this is noticed.
func (c contents) mustBeMissed(t *testing.T, told map[string]string) {
	t.Helper()
	for n, e := range c.events {
		less := contents{slices.Delete(slices.Clone(c.events), n, n+1), c.issues, c.comments}
		if len(less.problems(told)) == 0 && told[e.CallID] != "" {
			t.Errorf("nobody misses the event %+v", e)
		}
	}
	for id := range c.issues {
		less := contents{c.events, maps.Clone(c.issues), c.comments}
		delete(less.issues, id)
		if len(less.problems(told)) == 0 {
			t.Errorf("nobody misses the issue %s", id)
		}
	}
}

// killWhileWriting runs the program until so many calls have been answered with success.
func killWhileWriting(t *testing.T, data string, answers int, told map[string]string) {
	t.Helper()
	p, err := startLocal(t.TempDir(), append(os.Environ(), "ADDR=127.0.0.1:0", "DATA="+data, "RESET="))
	if err != nil {
		t.Fatal(err)
	}
	l, err := readLocalFile(data)
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan [2]string)
	var writers sync.WaitGroup
	for range killWriters {
		writers.Go(func() { (&writer{l: l, answered: answered}).writeForEver() })
	}
	go func() {
		writers.Wait()
		close(answered)
	}()
	for a := range answered {
		told[a[0]] = a[1]
		if answers--; answers == 0 {
			if err := p.cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	if err := p.wait(); err == nil || p.cmd.ProcessState.Exited() {
		t.Fatalf("the program ended by itself: %v\n%s", err, p.stderr)
	}
}

// writer is one client: it makes issues, comments on them, changes and deletes them, until the
// program is gone.
type writer struct {
	l        localFile
	answered chan<- [2]string // call id and tool of each success
}

func (w *writer) writeForEver() {
	for n := 1; ; n++ {
		id, ok := w.call("create_issue", `{"title":"One of many"}`)
		if !ok {
			return
		}
		calls := [][2]string{
			{"comment_issue", fmt.Sprintf(`{"issue_id":%q,"content":"First"}`, id)},
			{"update_issue", fmt.Sprintf(`{"issue_id":%q,"status":"in_progress","priority":"high"}`, id)},
			{"comment_issue", fmt.Sprintf(`{"issue_id":%q,"content":"Second","idempotency_key":"k-%s"}`, id, id)},
			{"comment_issue", fmt.Sprintf(`{"issue_id":%q,"content":"Second","idempotency_key":"k-%s"}`, id, id)}, // a replay
			{"update_issue", fmt.Sprintf(`{"issue_id":%q,"status":"in_progress"}`, id)},                           // no change
		}
		if n%3 == 0 {
			calls = append(calls, [2]string{"delete_issue", fmt.Sprintf(`{"issue_id":%q,"confirm":true}`, id)})
		}
		for _, c := range calls {
			if _, ok := w.call(c[0], c[1]); !ok {
				return
			}
		}
	}
}

// call returns the issue's id, and false when the program no longer answers.
func (w *writer) call(tool, arguments string) (string, bool) {
	r, err := http.NewRequest(http.MethodPost, w.l.URL+"/tools/"+tool, strings.NewReader(arguments))
	if err != nil {
		return "", false
	}
	r.Header.Set("Authorization", "Bearer "+w.l.Tokens["editor"])
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", false
	}
	defer response.Body.Close()
	var answer struct {
		Issue struct{ ID string } `json:"issue"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return "", false
	}
	if response.StatusCode == http.StatusOK {
		w.answered <- [2]string{response.Header.Get("X-Amzn-Requestid"), tool}
	}
	return answer.Issue.ID, true
}

// contents is what lies in the file after a kill.
type contents struct {
	events   []audit.Event
	issues   map[string]tracker.Summary // live and new, by id
	comments map[string]int             // that can be read, by issue
}

// readAll opens the file as the program would and reads all that the writers can have made.
func readAll(t *testing.T, data string) contents {
	t.Helper()
	db, err := embedded.Open(filepath.Join(data, "tracker.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	c := contents{issues: map[string]tracker.Summary{}, comments: map[string]int{}}
	for cursor := ""; ; {
		page, err := audit.Query{Workspace: string(demo.WorkspaceID()), Cursor: cursor, Limit: audit.MaxQueryLimit,
			Now: time.Now(), Retention: audit.DefaultRetention}.Run(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		c.events = append(c.events, page.Events...)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	g := demo.Grants()[1]
	settings := audit.Settings{Now: time.Now, NewID: uuid.NewString, Retention: time.Hour}
	reader := records.NewReaders(db).Reader(settings.Begin(audit.Start{Principal: &identity.Principal{
		WorkspaceID: string(g.WorkspaceID), UserID: string(g.UserID), TokenID: "test", Role: g.Role, Scopes: g.Scopes,
	}}))
	q := tracker.IssueQuery{Sort: tracker.SortCreated, Limit: tracker.MaxPage}
	for {
		page, err := reader.ListIssues(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Issues {
			if i.Number >= demo.NextNumber {
				c.issues[string(i.ID)] = i
			}
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			break
		}
	}
	for id := range c.issues {
		page, err := reader.ListComments(ctx, tracker.CommentQuery{Issue: tracker.IssueRef(id), Limit: tracker.MaxPage})
		if err != nil {
			t.Fatal(err)
		}
		c.comments[id] = len(page.Comments)
	}
	return c
}

// problems compares the changes with the events, both ways, and with what clients were told.
func (c contents) problems(told map[string]string) (problems []string) {
	calls := map[string]audit.Event{}
	targets := map[string]map[string]int{} // by tool: how many changes each issue has events for
	for _, e := range c.events {
		if _, twice := calls[e.CallID]; twice {
			problems = append(problems, "two events for the call "+e.CallID)
		}
		calls[e.CallID] = e
		if e.Outcome != fault.Success || e.Replayed || (e.Tool == "update_issue" && len(e.Changed) == 0) {
			continue
		}
		if targets[e.Tool] == nil {
			targets[e.Tool] = map[string]int{}
		}
		targets[e.Tool][strings.TrimPrefix(e.Target, "issue/")]++
	}
	for call, tool := range told {
		if e := calls[call]; e.Tool != tool || e.Outcome != fault.Success {
			problems = append(problems, fmt.Sprintf("a client was told that its call %s of %s succeeded, the event is %+v", call, tool, e))
		}
	}
	gone := targets["delete_issue"]
	for id := range targets["create_issue"] {
		if _, live := c.issues[id]; live == (gone[id] > 0) {
			problems = append(problems, fmt.Sprintf("issue %s: live %v, but its deletion has %d events", id, live, gone[id]))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.issues)) {
		i := c.issues[id]
		made, said, updated := targets["create_issue"][id], targets["comment_issue"][id], targets["update_issue"][id]
		if made != 1 || said != c.comments[id] || said != i.CommentCount || int(i.Revision) != 1+said+updated {
			problems = append(problems, fmt.Sprintf("issue %s has revision %d, says that it has %d comments and has %d; events: %d created, %d commented, %d updated",
				id, i.Revision, i.CommentCount, c.comments[id], made, said, updated))
		}
	}
	return problems
}
