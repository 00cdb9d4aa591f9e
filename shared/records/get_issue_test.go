package records

import (
	"context"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

// torn answers with a description of another version, some times.
type torn struct {
	table.Reader
	times int
}

func (r *torn) BatchGet(ctx context.Context, keys []table.Key) ([]table.Item, error) {
	items, err := r.Reader.BatchGet(ctx, keys)
	for i := range items {
		if items[i].Key == bodyKey(trackertest.Home, 1) && r.times > 0 {
			r.times--
			items[i].Version++
			items[i].Doc = []byte(`{"description":"of another version"}`)
		}
	}
	return items, err
}

func TestIssueAndDescriptionBelongTogether(t *testing.T) {
	db := worldTables(t)
	for times := range bodyTries {
		r := &torn{db, times}
		got, err := asking(r, trackertest.Tomas).GetIssue(ctx, "AAC-1")
		if err != nil || got.Issue.Description != "Nothing hangs on it." || r.times != 0 {
			t.Errorf("torn %d times: %q, %v", times, got.Issue.Description, err)
		}
	}
	_, err := asking(&torn{db, bodyTries}, trackertest.Tomas).GetIssue(ctx, "AAC-1")
	if f := fault.Of(err); f.Reason != fault.Contention || f.RetryAfterSeconds() < 1 {
		t.Errorf("torn for good: %v", err)
	}
}

func TestFoundIssueIsTheTargetOfTheEvent(t *testing.T) {
	db := worldTables(t)
	for ref, want := range map[string]string{
		"AAC-1": "issue/" + string(trackertest.Plain), string(trackertest.Plain): "issue/" + string(trackertest.Plain),
		"AAC-99": "", "NOR-1": "", string(trackertest.ForeignIssue): "",
	} {
		r := asking(db, trackertest.Tomas)
		if _, err := r.findIssue(ctx, tracker.IssueRef(ref)); err != nil {
			t.Fatal(err)
		}
		if got := r.call.Event.Target; got != want {
			t.Errorf("%s: the target is %q, want %q", ref, got, want)
		}
	}
}
