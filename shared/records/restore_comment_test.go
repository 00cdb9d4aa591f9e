package records

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

func TestRestoreComment(t *testing.T) {
	db := worldTables(t)
	restore := func(user, comment tracker.ID, after time.Duration) error {
		t.Helper()
		s := actingAt(db, user, trackertest.Start.Add(after))
		_, err := storesOver(db).RestoreComment(ctx, s.call, comment)
		return err
	}
	remove := func(comment tracker.ID) tracker.CommentDeletion {
		t.Helper()
		out, err := acting(db, trackertest.Mira).DeleteComment(ctx, tracker.CommentTarget{Comment: comment})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	listed := func() (ids []tracker.ID) {
		t.Helper()
		page, err := acting(db, trackertest.Mira).ListComments(ctx, tracker.CommentQuery{Issue: "AAC-3", Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Comments {
			ids = append(ids, c.ID)
		}
		return ids
	}
	want := listed()
	remove(trackertest.AgentAnswer) // on its own, before
	first := remove(trackertest.Question)

	for _, tt := range []struct {
		what    string
		user    tracker.ID
		comment tracker.ID
		after   time.Duration
		reason  fault.Reason
	}{
		{"a member", trackertest.Tomas, trackertest.Question, 0, fault.NotPermitted},
		{"what never was", trackertest.Jonas, trackertest.NoSuchID, 0, fault.TargetNotFound},
		{"what is elsewhere", trackertest.Jonas, trackertest.ForeignComment, 0, fault.TargetNotFound},
		{"after 30 days", trackertest.Jonas, trackertest.Question, RestorableFor + time.Second, fault.TargetUnavailable},
		{"what went with another", trackertest.Jonas, trackertest.Answer, 0, fault.TargetUnavailable},
		{"what answers one that is gone", trackertest.Jonas, trackertest.AgentAnswer, 0, fault.TargetUnavailable},
	} {
		if err := restore(tt.user, tt.comment, tt.after); fault.Of(err).Reason != tt.reason {
			t.Errorf("%s: %v, want %s", tt.what, err, tt.reason)
		}
	}

	for _, comment := range []tracker.ID{trackertest.Question, trackertest.AgentAnswer, trackertest.AgentAnswer} {
		if err := restore(trackertest.Jonas, comment, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, listed()); diff != "" {
		t.Errorf("after restoring all (-want +got):\n%s", diff)
	}
	issue := stored[issueRow](t, db, issueKey(trackertest.Home, 3)).Doc
	if issue.CommentCount != len(want) || issue.Revision != 5 {
		t.Errorf("%d comments, revision %d", issue.CommentCount, issue.Revision)
	}
	live := stored[threadRow](t, db, threadKey(trackertest.Home, 3, trackertest.Question)).Doc.Live
	if len(live) != 3 || !slices.ContainsFunc(live, func(e threadEntry) bool { return e.ID == trackertest.AgentAnswer }) {
		t.Errorf("the thread: %+v", live)
	}
	alone := threadKey(trackertest.Home, 3, trackertest.Question)
	remove(trackertest.Answer)
	if err := db.Commit(ctx, []table.Op{table.Delete(alone, table.IfPresent())}); err != nil { // as in a loaded workspace
		t.Fatal(err)
	}
	if err := restore(trackertest.Jonas, trackertest.Answer, time.Hour); err != nil {
		t.Fatal(err)
	}
	if live := stored[threadRow](t, db, alone).Doc.Live; len(live) != 3 {
		t.Errorf("the thread made anew: %+v", live)
	}
	second := remove(trackertest.Question)
	if second.Removed.Replies != 2 || !stored[commentRow](t, db, commentKey(trackertest.Home, 3, trackertest.Start.Add(-5*time.Hour), trackertest.Question)).Doc.DeletedAt.time().After(first.DeletedAt.Time) {
		t.Errorf("the later deletion: %+v", second)
	}
	if _, err := acting(db, trackertest.Mira).DeleteIssue(ctx, "AAC-3"); err != nil {
		t.Fatal(err)
	}
	if err := restore(trackertest.Jonas, trackertest.Question, time.Hour); fault.Of(err).Reason != fault.TargetNotFound {
		t.Errorf("under a deleted issue: %v", err)
	}
}
