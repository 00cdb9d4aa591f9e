package system

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

// findings are the rules of what was found in the workspace of a token in local.json, with how
// often, newest first, once the monitor has seen all that was recorded.
func (w *world) findings(key string) (found []string) {
	w.t.Helper()
	w.feed.settle()
	all, err := monitor.Findings(w.t.Context(), w.Tables, monitor.Query{Workspace: string(grantOf(w.t, key).WorkspaceID), Limit: 100, Now: time.Now()})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range all {
		found = append(found, fmt.Sprintf("%s %d", f.Rule, f.Count))
	}
	return found
}

// TestCallsAreWatched calls through the front door as an intruder would, and finds it in the
// workspace where it happened alone.
func TestCallsAreWatched(t *testing.T) {
	w := newWorld(t)
	w.rest("list_issues", w.Tokens["reader"], `{}`)
	if found := w.findings("owner"); len(found) > 0 {
		t.Errorf("one call, and found %v", found)
	}
	for i := range 25 {
		w.rest(fmt.Sprintf("tool_%d", i%5), w.Tokens["reader"], `{}`)
	}
	w.rest("delete_issue", w.Tokens["owner"], `{"issue_id":"AAC-40","confirm":true}`)
	want := []string{"first_destructive_use 1", "destructive_without_read 1", "denial_burst 25", "probing 5"}
	if diff := cmp.Diff(sortedSet(want), sortedSet(w.findings("owner"))); diff != "" {
		t.Errorf("-want +found\n%s", diff)
	}
	if found := w.findings("outsider"); len(found) > 0 {
		t.Errorf("in the other workspace found %v", found)
	}
	if log := w.log.String(); strings.Count(log, `"msg":"finding"`) < 4 {
		t.Errorf("the log tells of too few findings:\n%s", log)
	}
}

func sortedSet(list []string) map[string]bool {
	set := map[string]bool{}
	for _, s := range list {
		set[s] = true
	}
	return set
}

// TestDeletingAfterReadingIsOrdinary: nothing to find.
func TestDeletingAfterReadingIsOrdinary(t *testing.T) {
	w := newWorld(t)
	w.rest("get_issue", w.Tokens["owner"], `{"issue_id":"AAC-40"}`)
	w.rest("delete_issue", w.Tokens["owner"], `{"issue_id":"AAC-40","dry_run":true}`)
	if a := w.rest("delete_issue", w.Tokens["owner"], `{"issue_id":"AAC-40","confirm":true}`); a.status != http.StatusOK {
		t.Fatalf("%s", a.body)
	}
	if found := w.findings("owner"); len(found) > 0 {
		t.Errorf("found %v", found)
	}
}

// TestTheNextStartCatchesUp: what was recorded by a process that was killed before its monitor
// had seen it is found by the next one, and only once.
func TestTheNextStartCatchesUp(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	first := startIn(t, dir)
	first.rest("list_issues", first.Tokens["reader"], `{}`)
	if err := first.System.Close(); err != nil {
		t.Fatal(err)
	}
	recordBehindTheFeed(t, filepath.Join(dir, dataFile), string(first.WorkspaceID), 30)
	for range 2 {
		w := startIn(t, dir)
		if diff := cmp.Diff([]string{"denial_burst 30"}, w.findings("owner")); diff != "" {
			t.Errorf("-want +found\n%s", diff)
		}
		if err := w.System.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// recordBehindTheFeed writes refused calls into the log of a file that no system has open.
func recordBehindTheFeed(t *testing.T, file, workspace string, n int) {
	t.Helper()
	db, err := embedded.OpenUnsynced(file)
	if err != nil {
		t.Fatal(err)
	}
	set := audit.Settings{Now: time.Now, NewID: newEventID, Retention: audit.DefaultRetention}
	for range n {
		call := set.Begin(audit.Start{
			Principal: &identity.Principal{WorkspaceID: workspace, UserID: "u", TokenID: "t"}, Tool: "get_issue", Recorder: "get_issue", Transport: audit.REST, CallID: "c",
		})
		if err := call.Record(t.Context(), db, fault.New(fault.NotFound, fault.TargetNotFound, "no")); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFeedDeliversAgain: what the monitor could not take comes again from the first record that
// failed, and the position stays behind what was given up.
func TestFeedDeliversAgain(t *testing.T) {
	w := newWorld(t)
	f := w.feed
	var got [][]string
	answers := []string{`{"batchItemFailures":[{"itemIdentifier":"b"}]}`, `{"batchItemFailures":[]}`}
	f.monitor = func(_ context.Context, payload []byte) ([]byte, error) {
		got = append(got, sequences(t, payload))
		answer := answers[0]
		answers = answers[1:]
		return []byte(answer), nil
	}
	batch := []monitor.Record{{Sequence: "a"}, {Sequence: "b"}, {Sequence: "c"}}
	rest := f.deliver(batch)
	if rest = f.deliver(rest); rest != nil {
		t.Errorf("%v is left", rest)
	}
	if diff := cmp.Diff([][]string{{"a", "b", "c"}, {"b", "c"}}, got); diff != "" {
		t.Errorf("-want +delivered\n%s", diff)
	}
	f.lost = true
	f.save(time.Now().Add(time.Hour))
	if _, found, err := w.Tables.Get(t.Context(), positionKey); err != nil || found {
		t.Errorf("the position was written: %v, %v", found, err)
	}
	f.lost = false
}

// sequences are those of the records in a Kinesis event.
func sequences(t *testing.T, payload []byte) (all []string) {
	t.Helper()
	var event struct {
		Records []struct {
			Kinesis struct {
				SequenceNumber string `json:"sequenceNumber"`
			} `json:"kinesis"`
		}
	}
	if err := json.Unmarshal(payload, &event); err != nil {
		t.Fatal(err)
	}
	for _, r := range event.Records {
		all = append(all, r.Kinesis.SequenceNumber)
	}
	return all
}
