package records

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

// traced notes each request, with the number of its keys.
type traced struct {
	table.Writer
	requests []string
}

func (r *traced) Get(ctx context.Context, key table.Key) (table.Item, bool, error) {
	r.requests = append(r.requests, "get")
	return r.Writer.Get(ctx, key)
}

func (r *traced) BatchGet(ctx context.Context, keys []table.Key) ([]table.Item, error) {
	r.requests = append(r.requests, fmt.Sprintf("batch of %d", len(keys)))
	return r.Writer.BatchGet(ctx, keys)
}

func (r *traced) Query(ctx context.Context, q table.Query) (table.Page, error) {
	r.requests = append(r.requests, "query")
	return r.Writer.Query(ctx, q)
}

func (r *traced) Commit(ctx context.Context, ops []table.Op) error {
	r.requests = append(r.requests, "commit")
	return r.Writer.Commit(ctx, ops)
}

// Whoever may not delete a thing must not learn from the work done whether it is there.
func TestRefusalsTakeTheSameRequests(t *testing.T) {
	db := worldTables(t)
	mira := func() *store { return acting(db, trackertest.Mira) }
	gone, err := mira().CreateIssue(ctx, tracker.NewIssue{Title: "Gone"})
	if err != nil {
		t.Fatal(err)
	}
	removed, err := mira().CreateComment(ctx, tracker.NewComment{Issue: "AAC-1", Content: "Gone"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mira().DeleteIssue(ctx, tracker.IssueRef(gone.Issue.ID)); err != nil {
		t.Fatal(err)
	}
	if _, err := mira().DeleteComment(ctx, tracker.CommentTarget{Comment: removed.Comment.ID}); err != nil {
		t.Fatal(err)
	}
	issue := func(ref tracker.IssueRef) func(tracker.Store, bool) error {
		return func(s tracker.Store, dry bool) (err error) {
			if dry {
				_, err = s.PreviewIssueDeletion(ctx, ref)
			} else {
				_, err = s.DeleteIssue(ctx, ref)
			}
			return err
		}
	}
	comment := func(target tracker.CommentTarget) func(tracker.Store, bool) error {
		return func(s tracker.Store, dry bool) (err error) {
			if dry {
				_, err = s.PreviewCommentDeletion(ctx, target)
			} else {
				_, err = s.DeleteComment(ctx, target)
			}
			return err
		}
	}
	for _, tt := range []struct {
		what, want string
		acts       []func(tracker.Store, bool) error
	}{
		{"an issue by id", "batch of 2, batch of 1", []func(tracker.Store, bool) error{
			issue(tracker.IssueRef(trackertest.NoSuchID)), issue(tracker.IssueRef(trackertest.ForeignIssue)),
			issue(tracker.IssueRef(trackertest.Plain)), issue(tracker.IssueRef(gone.Issue.ID)),
		}},
		{"an issue by identifier", "batch of 2", []func(tracker.Store, bool) error{
			issue("AAC-9999"), issue("NOR-1"), issue("AAC-1"), issue(tracker.IssueRef(gone.Issue.Identifier)),
		}},
		{"a comment", "batch of 2, batch of 3", []func(tracker.Store, bool) error{
			comment(tracker.CommentTarget{Comment: trackertest.NoSuchID}),
			comment(tracker.CommentTarget{Comment: trackertest.ForeignComment}),
			comment(tracker.CommentTarget{Comment: trackertest.Question}),
			comment(tracker.CommentTarget{Comment: removed.Comment.ID}),
			comment(tracker.CommentTarget{Comment: trackertest.Aside, Issue: "AAC-1"}),
			comment(tracker.CommentTarget{Comment: trackertest.Aside, Issue: "NOR-1"}),
			comment(tracker.CommentTarget{Comment: trackertest.Aside, Issue: tracker.IssueRef(trackertest.Plain)}),
		}},
	} {
		for i, act := range tt.acts {
			for _, dry := range []bool{true, false} {
				r := &traced{Writer: db}
				s := acting(r, trackertest.Elin)
				if err := act(s, dry); fault.Of(err).Reason != fault.NotPermitted {
					t.Errorf("%s, target %d: %v", tt.what, i, err)
				}
				if got := strings.Join(r.requests, ", "); got != tt.want {
					t.Errorf("%s, target %d, dry run %v: %s, want %s", tt.what, i, dry, got, tt.want)
				}
			}
		}
	}
}

func TestARepeatedDeletionWritesNothing(t *testing.T) {
	r := &traced{Writer: worldTables(t)}
	for _, want := range []int{1, 1} {
		if _, err := acting(r, trackertest.Priya).DeleteIssue(ctx, "AAC-1"); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(strings.Join(r.requests, " "), "commit"); got != want {
			t.Errorf("%d commits, want %d", got, want)
		}
	}
}

// fill gives AAC-1 all that an issue can have: a parent, sub-issues, tasks, and the run that
// made it.
func fill(t *testing.T, db table.Writer) {
	t.Helper()
	p := &plan{}
	run := runRow{ID: nextID(), AutopilotID: trackertest.Triage, Status: runIssueCreated, TriggeredAt: microsOf(trackertest.Start)}
	rewrite(t, db, issueKey(trackertest.Home, 1), func(r *issueRow) {
		r.ParentID, r.ParentNumber = trackertest.Talk, 3
		r.OriginRun = &runRef{AutopilotID: run.AutopilotID, RunID: run.ID, TriggeredAt: run.TriggeredAt}
		for n := range tracker.MaxSubIssues {
			sub := subIssue{ID: nextID(), Number: 100 + n}
			r.SubIssues = append(r.SubIssues, sub)
			p.putIssue(trackertest.Home, 0, issueRow{
				ID: sub.ID, Number: sub.Number, Title: "Sub", Status: tracker.Todo, Priority: tracker.Low,
				CreatorType: tracker.MemberActor, CreatorID: trackertest.Priya, Revision: 1, ParentID: r.ID, ParentNumber: r.Number,
			})
		}
		for range tracker.MaxActiveTasks {
			task := Task{ID: nextID(), AgentID: nextID(), IssueID: r.ID, Source: sourceAssign, Status: Queued}
			r.Tasks = append(r.Tasks, task)
			p.put(taskKey(trackertest.Home, task.ID), 0, task, nil)
		}
	})
	rewrite(t, db, issueKey(trackertest.Home, 3), func(r *issueRow) {
		r.SubIssues = []subIssue{{ID: trackertest.Plain, Number: 1}}
	})
	p.put(runKey(trackertest.Home, run.AutopilotID, run.TriggeredAt.time(), run.ID), 0, run, nil)
	for len(p.ops) > 0 {
		n := min(len(p.ops), table.MaxCommitOps)
		if err := db.Commit(ctx, p.ops[:n]); err != nil {
			t.Fatal(err)
		}
		p.ops = p.ops[n:]
	}
}

func TestTheLargestIssueCanBeDeleted(t *testing.T) {
	db := worldTables(t)
	fill(t, db)
	before := stored[issueRow](t, db, issueKey(trackertest.Home, 1)).Doc
	h := &hooked{Writer: db}
	out, err := acting(h, trackertest.Priya).DeleteIssue(ctx, "AAC-1")
	if err != nil {
		t.Fatal(err)
	}
	want := tracker.IssueRemoved{CancelledTasks: tracker.MaxActiveTasks, DetachedSubIssues: tracker.MaxSubIssues}
	if diff := cmp.Diff(want, out.Removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if n := len(h.commits[0]); n != 75 {
		t.Errorf("%d operations; the comment at DeleteIssue says 75", n)
	}
	for _, task := range before.Tasks {
		if got := stored[Task](t, db, taskKey(trackertest.Home, task.ID)).Doc.Status; got != CancelledTask {
			t.Errorf("a task is %s", got)
		}
	}
	for _, sub := range before.SubIssues {
		if got := stored[issueRow](t, db, issueKey(trackertest.Home, sub.Number)).Doc; got.ParentID != "" || got.Revision != 2 {
			t.Errorf("a sub-issue: %+v", got)
		}
	}
	if got := stored[issueRow](t, db, issueKey(trackertest.Home, 3)).Doc; len(got.SubIssues) != 0 || got.Revision != 1 {
		t.Errorf("the parent: %+v", got)
	}
	o := before.OriginRun
	run := stored[runRow](t, db, runKey(trackertest.Home, o.AutopilotID, o.TriggeredAt.time(), o.RunID)).Doc
	if run.Status != runFailed || run.ReasonCode != reasonIssueDeleted || run.CompletedAt == 0 {
		t.Errorf("the run: %+v", run)
	}
}

func TestTheLargestThreadCanBeDeleted(t *testing.T) {
	db := worldTables(t)
	// The content that takes the most room where it is stored.
	content := tracker.Content(strings.Repeat(`"`, tracker.MaxContent))
	say := func(parent tracker.ID) tracker.ID {
		out, err := acting(db, trackertest.Tomas).CreateComment(ctx, tracker.NewComment{Issue: "AAC-1", Content: content, Parent: parent})
		if err != nil {
			t.Fatal(err)
		}
		return out.Comment.ID
	}
	root := say("")
	for range tracker.MaxThreadComments - 1 {
		say(root)
	}
	rewrite(t, db, issueKey(trackertest.Home, 1), func(r *issueRow) {
		for range tracker.MaxActiveTasks {
			task := Task{ID: nextID(), AgentID: nextID(), Source: sourceComment, TriggerCommentID: root, Status: Dispatched}
			for len(task.Coalesced) < maxCoalesced-1 {
				task.Coalesced = append(task.Coalesced, taskOrigin{sourceComment, root})
			}
			r.Tasks = append(r.Tasks, task)
		}
	})
	h := &hooked{Writer: db}
	out, err := acting(h, trackertest.Tomas).DeleteComment(ctx, tracker.CommentTarget{Comment: root})
	if err != nil {
		t.Fatal(err)
	}
	want := tracker.CommentRemoved{Replies: tracker.MaxThreadComments - 1, CancelledTasks: tracker.MaxActiveTasks}
	if diff := cmp.Diff(want, out.Removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if n := len(h.commits[0]); n != 84 {
		t.Errorf("%d operations; the comment at DeleteComment says 84", n)
	}
	if _, ok, err := db.Get(ctx, threadKey(trackertest.Home, 1, root)); ok || err != nil {
		t.Errorf("the thread of a removed root is still there: %v", err)
	}
}
