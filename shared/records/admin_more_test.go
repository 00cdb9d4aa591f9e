package records

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

func usageOf(n int, tokens int64) (rows []tracker.UsageRow) {
	for i := range n {
		rows = append(rows, tracker.UsageRow{
			Date: "2025-06-20", Provider: "anthropic", Model: fmt.Sprintf("model-%03d", i),
			UsageSums: tracker.UsageSums{InputTokens: tokens, CostUSDTicks: 5, TaskCount: 1},
		})
	}
	return rows
}

func TestImportUsage(t *testing.T) {
	o := newOffice(t)
	total := func() int64 {
		t.Helper()
		u, err := asking(o.DB, trackertest.Mira).GetUsage(ctx, tracker.UsageQuery{Days: 30, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		return u.Totals.InputTokens
	}
	before := total()
	steps := []struct {
		rows []tracker.UsageRow
		want ImportedUsage
		sum  int64 // of what was imported
	}{
		{usageOf(MaxUsageImport, 10), ImportedUsage{Added: MaxUsageImport}, 10 * int64(MaxUsageImport)},
		{usageOf(MaxUsageImport, 10), ImportedUsage{Unchanged: MaxUsageImport}, 10 * int64(MaxUsageImport)},
		{slices.Concat(usageOf(3, 20), usageOf(5, 10)[3:]), ImportedUsage{Changed: 3, Unchanged: 2}, 10*int64(MaxUsageImport) + 30},
	}
	for n, step := range steps {
		call := o.call()
		got, err := o.ImportUsage(ctx, call, step.rows)
		if err != nil {
			t.Fatalf("step %d: %v", n, err)
		}
		if diff := cmp.Diff(step.want, got); diff != "" || total()-before != step.sum || call.Recorded() == (step.want.Added+step.want.Changed == 0) {
			t.Errorf("step %d: %d tokens, recorded %v\n%s", n, total()-before, call.Recorded(), diff)
		}
	}
	for _, n := range []int{0, MaxUsageImport + 1} {
		if _, err := o.ImportUsage(ctx, o.call(), usageOf(n, 1)); err == nil {
			t.Errorf("%d rows are accepted", n)
		}
	}
}

// busy makes an issue with comments in several threads and a description, as of Start.
func (o *office) busyIssue(comments int) tracker.Summary {
	o.t.Helper()
	made, err := acting(o.DB, trackertest.Tomas).CreateIssue(ctx, tracker.NewIssue{
		Title: "Busy", Description: "Long", Labels: tracker.List[tracker.LabelRef]{"bug"}, Assignee: "me", DueDate: "2025-07-01",
	})
	if err != nil {
		o.t.Fatal(err)
	}
	var root tracker.ID
	for n := range comments {
		c := tracker.NewComment{Issue: tracker.IssueRef(made.Issue.ID), Content: "/note word", Parent: root}
		out, err := actingAt(o.DB, trackertest.Tomas, trackertest.Start.Add(time.Duration(n)*time.Second)).CreateComment(ctx, c)
		if err != nil {
			o.t.Fatal(err)
		}
		switch n % 3 {
		case 0:
			root = out.Comment.ID
		case 2:
			root = ""
		}
	}
	return made.Issue
}

func TestPurge(t *testing.T) {
	o := newOffice(t)
	issue := o.busyIssue(130)
	ref := tracker.IssueRef(issue.ID)
	deleted, err := acting(o.DB, trackertest.Tomas).DeleteIssue(ctx, ref)
	if err != nil {
		t.Fatal(err)
	}
	candidates := func() []int {
		t.Helper()
		numbers, err := o.Purgeable(ctx, o.call())
		if err != nil {
			t.Fatal(err)
		}
		return numbers
	}
	full := dump(t, o.DB)
	until := stored[issueRow](t, o.DB, issueKey(trackertest.Home, issue.Number)).Doc.RestorableUntil.time()
	o.now = until.Add(-time.Microsecond)
	for _, number := range []int{issue.Number, 1, 999} { // in time, live, never made
		call := o.call()
		if done, err := o.Purge(ctx, call, number); !done || err != nil || call.Recorded() {
			t.Errorf("purging %d: done %v, %v", number, done, err)
		}
	}
	if got := dump(t, o.DB); got != full || len(candidates()) != 0 {
		t.Fatalf("what is not past its time was touched: %v\n%s", candidates(), cmp.Diff(full, got))
	}

	o.now = until
	if diff := cmp.Diff([]int{issue.Number}, candidates()); diff != "" {
		t.Fatal(diff)
	}
	commits := 0
	for done := false; !done; commits++ {
		call := o.call()
		if done, err = o.Purge(ctx, call, issue.Number); err != nil {
			t.Fatal(err)
		}
		if e := eventOf(o.events(), call); !call.Recorded() || e.Target != "issue/"+string(issue.ID) || len(e.Changed) == 0 {
			t.Errorf("commit %d: %+v", commits, e)
		}
	}
	if commits < 3 || len(candidates()) != 0 {
		t.Errorf("%d commits, left: %v", commits, candidates())
	}
	w := trackertest.Home
	for _, pk := range []string{commentsPK(w, issue.Number), threadKey(w, issue.Number, "").PK, bodyKey(w, issue.Number).PK} {
		page, err := o.Query(ctx, table.Query{Table: table.Data, PK: pk, Limit: 1})
		if err != nil || len(page.Items) != 0 {
			t.Errorf("%s is not empty, %v", pk[:2], err)
		}
	}
	row := stored[issueRow](t, o.DB, issueKey(w, issue.Number)).Doc
	if row.Title != "" || row.LabelIDs != nil || row.AssigneeID != "" || row.DueDate != "" || row.BodyVersion != 0 || !row.deleted() {
		t.Errorf("the tombstone: %+v", row)
	}
	again, err := actingAt(o.DB, trackertest.Tomas, o.now).DeleteIssue(ctx, ref)
	if diff := cmp.Diff(deleted, again); diff != "" || err != nil {
		t.Errorf("deleting it again: %v\n%s", err, diff)
	}
	if _, err := o.RestoreIssue(ctx, o.call(), ref); fault.Of(err).Reason != fault.TargetUnavailable {
		t.Errorf("restoring it: %v", err)
	}
	next, err := acting(o.DB, trackertest.Tomas).CreateIssue(ctx, tracker.NewIssue{Title: "Next"})
	if err != nil || next.Issue.Number <= issue.Number {
		t.Errorf("the next number is %d, %v", next.Issue.Number, err)
	}
}

func TestAnOperatorRestores(t *testing.T) {
	o := newOffice(t)
	issue := o.busyIssue(4)
	if _, err := acting(o.DB, trackertest.Tomas).DeleteIssue(ctx, tracker.IssueRef(issue.ID)); err != nil {
		t.Fatal(err)
	}
	call := o.call()
	back, err := o.RestoreIssue(ctx, call, tracker.IssueRef(issue.ID))
	if err != nil || back.Title != "Busy" || back.CreatorName != "Tomas Rey" || back.CommentCount != 4 {
		t.Errorf("%+v, %v", back, err)
	}
	if e := eventOf(o.events(), call); e.Actor != "operator:ops" || e.Target != "issue/"+string(issue.ID) {
		t.Errorf("%+v", e)
	}
	if _, err := acting(o.DB, trackertest.Tomas).GetIssue(ctx, tracker.IssueRef(issue.ID)); err != nil {
		t.Error(err)
	}
}
