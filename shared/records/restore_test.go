package records

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

func TestRestoreIssue(t *testing.T) {
	db := worldTables(t)
	restore := func(user tracker.ID, ref tracker.IssueRef, after time.Duration) (tracker.Summary, error) {
		s := actingAt(db, user, trackertest.Start.Add(after))
		return storesOver(db).RestoreIssue(ctx, s.call, ref)
	}
	remove := func(after time.Duration) tracker.IssueDeletion {
		t.Helper()
		out, err := actingAt(db, trackertest.Tomas, trackertest.Start.Add(after)).DeleteIssue(ctx, "AAC-3")
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	sub, err := acting(db, trackertest.Tomas).CreateIssue(ctx, tracker.NewIssue{Title: "Sub", Parent: "AAC-3"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := acting(db, trackertest.Tomas).AssignIssue(ctx, tracker.Assignment{Issue: "AAC-3", Agent: "Atlas"}); err != nil {
		t.Fatal(err)
	}
	before, err := acting(db, trackertest.Tomas).GetIssue(ctx, "AAC-3")
	if err != nil {
		t.Fatal(err)
	}
	first := remove(time.Hour)

	if _, err := restore(trackertest.Tomas, "AAC-3", time.Hour); fault.Of(err).Reason != fault.NotPermitted {
		t.Errorf("a member: %v", err)
	}
	if _, err := restore(trackertest.Jonas, "AAC-99", time.Hour); fault.Of(err).Reason != fault.TargetNotFound {
		t.Errorf("an issue that never was: %v", err)
	}
	if _, err := restore(trackertest.Jonas, "AAC-3", time.Hour+RestorableFor+time.Second); fault.Of(err).Reason != fault.TargetUnavailable {
		t.Errorf("after 30 days: %v", err)
	}
	back, err := restore(trackertest.Jonas, "AAC-3", 2*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	want := before.Issue.Summary
	want.Revision++
	want.UpdatedAt = tracker.At(trackertest.Start.Add(2 * time.Hour))
	if diff := cmp.Diff(want, back); diff != "" {
		t.Errorf("the issue restored (-want +got):\n%s", diff)
	}
	if again, err := restore(trackertest.Jonas, "AAC-3", 3*time.Hour); err != nil || again.Revision != back.Revision {
		t.Errorf("restoring what is there: revision %d, %v", again.Revision, err)
	}
	got, err := acting(db, trackertest.Tomas).GetIssue(ctx, "AAC-3")
	if err != nil || got.SubIssueCount != 0 || len(got.OpenTasks) != 0 {
		t.Errorf("sub-issues and tasks are not tied back: %+v, %v", got, err)
	}
	page, err := acting(db, trackertest.Tomas).ListComments(ctx, tracker.CommentQuery{Issue: "AAC-3", Limit: 100})
	if err != nil || len(page.Comments) != 5 {
		t.Errorf("%d comments, %v", len(page.Comments), err)
	}
	if s, err := acting(db, trackertest.Tomas).GetIssue(ctx, tracker.IssueRef(sub.Issue.ID)); err != nil || s.Issue.ParentIssueID != "" {
		t.Errorf("the former sub-issue: %+v, %v", s, err)
	}
	out, err := acting(db, trackertest.Tomas).AssignIssue(ctx, tracker.Assignment{Issue: "AAC-3", Agent: "Atlas"})
	if err != nil || out.TriggerOutcomes[0].Status != startQueued {
		t.Errorf("its agent can be started again: %+v, %v", out.TriggerOutcomes, err)
	}
	if second := remove(4 * time.Hour); !second.DeletedAt.After(first.DeletedAt.Time) {
		t.Errorf("the later deletion is of %s, the first of %s", second.DeletedAt, first.DeletedAt)
	}
}
