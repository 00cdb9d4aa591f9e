package trackertest

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// actor makes calls of one member that must succeed; a failure ends the test. Use it from the
// test's own goroutine alone.
type actor struct {
	t    *testing.T
	f    Fixture
	user tracker.ID
	with []func(*Caller)
}

func (f Fixture) by(t *testing.T, user tracker.ID, with ...func(*Caller)) actor {
	return actor{t: t, f: f, user: user, with: with}
}

// store is that of the next call.
func (a actor) store() tracker.Store { return a.f.As(a.user, a.with...) }

func succeed[T any](a actor, call func(context.Context, tracker.Store) (T, error)) T {
	a.t.Helper()
	out, err := call(a.t.Context(), a.store())
	if err != nil {
		a.t.Fatalf("the call must succeed, but: %s", describe(err))
	}
	return out
}

func (a actor) create(in tracker.NewIssue) tracker.CreatedIssue {
	a.t.Helper()
	return succeed(a, func(ctx context.Context, s tracker.Store) (tracker.CreatedIssue, error) {
		return s.CreateIssue(ctx, in)
	})
}

// issue makes an issue with a title alone.
func (a actor) issue(title tracker.Title) tracker.Summary {
	a.t.Helper()
	return a.create(tracker.NewIssue{Title: title}).Issue
}

func (a actor) update(id tracker.ID, c tracker.IssueChange) tracker.UpdatedIssue {
	a.t.Helper()
	return succeed(a, func(ctx context.Context, s tracker.Store) (tracker.UpdatedIssue, error) {
		return s.UpdateIssue(ctx, tracker.IssueRef(id), c)
	})
}

// move changes the status alone.
func (a actor) move(id tracker.ID, to tracker.Status) tracker.UpdatedIssue {
	a.t.Helper()
	return a.update(id, tracker.IssueChange{Status: tracker.Some(to)})
}

func (a actor) comment(in tracker.NewComment) tracker.CreatedComment {
	a.t.Helper()
	return succeed(a, func(ctx context.Context, s tracker.Store) (tracker.CreatedComment, error) {
		return s.CreateComment(ctx, in)
	})
}

// say adds a comment; parent is empty for one at top level.
func (a actor) say(issue, parent tracker.ID, content tracker.Content) tracker.CreatedComment {
	a.t.Helper()
	return a.comment(tracker.NewComment{Issue: tracker.IssueRef(issue), Parent: parent, Content: content})
}

func (a actor) assign(in tracker.Assignment) tracker.AssignedIssue {
	a.t.Helper()
	return succeed(a, func(ctx context.Context, s tracker.Store) (tracker.AssignedIssue, error) {
		return s.AssignIssue(ctx, in)
	})
}

// give assigns an issue to an agent, and expects this to become of the start.
func (a actor) give(issue, agent tracker.ID, want string) tracker.AssignedIssue {
	a.t.Helper()
	out := a.assign(tracker.Assignment{Issue: tracker.IssueRef(issue), Agent: tracker.AgentRef(agent)})
	a.started(out.TriggerOutcomes, agent, want)
	return out
}

// started expects exactly one outcome: of this agent, with this status.
func (a actor) started(outcomes []tracker.TriggerOutcome, agent tracker.ID, status string) tracker.TriggerOutcome {
	a.t.Helper()
	if len(outcomes) != 1 || outcomes[0].TargetID != agent || outcomes[0].Status != status {
		a.t.Fatalf("trigger_outcomes: want one of agent %s with status %s, got %s", agent, status, toJSON(outcomes))
	}
	return outcomes[0]
}

func (a actor) trigger(ref tracker.AutopilotRef) tracker.TriggeredRun {
	a.t.Helper()
	return succeed(a, func(ctx context.Context, s tracker.Store) (tracker.TriggeredRun, error) {
		return s.TriggerAutopilot(ctx, tracker.AutopilotTrigger{Autopilot: ref})
	})
}

func (a actor) get(id tracker.ID) tracker.IssueDetail {
	a.t.Helper()
	return succeed(a, func(ctx context.Context, s tracker.Store) (tracker.IssueDetail, error) {
		return s.GetIssue(ctx, tracker.IssueRef(id))
	})
}

// openTasks counts the open tasks of an agent on an issue.
func (a actor) openTasks(issue, agent tracker.ID) int {
	a.t.Helper()
	n := 0
	for _, task := range a.get(issue).OpenTasks {
		if task.AgentID == agent {
			n++
		}
	}
	return n
}

// comments lists an issue's comments, up to one page.
func (a actor) comments(issue tracker.ID) []tracker.Comment {
	a.t.Helper()
	return succeed(a, func(ctx context.Context, s tracker.Store) (tracker.CommentPage, error) {
		return s.ListComments(ctx, tracker.CommentQuery{Issue: tracker.IssueRef(issue), Limit: tracker.MaxPage})
	}).Comments
}

func (a actor) delete(issue tracker.ID) tracker.IssueDeletion {
	a.t.Helper()
	return succeed(a, func(ctx context.Context, s tracker.Store) (tracker.IssueDeletion, error) {
		return s.DeleteIssue(ctx, tracker.IssueRef(issue))
	})
}

func (a actor) previewDelete(issue tracker.ID) tracker.IssueDeletion {
	a.t.Helper()
	return succeed(a, func(ctx context.Context, s tracker.Store) (tracker.IssueDeletion, error) {
		return s.PreviewIssueDeletion(ctx, tracker.IssueRef(issue))
	})
}

func (a actor) remove(comment tracker.ID) tracker.CommentDeletion {
	a.t.Helper()
	return succeed(a, func(ctx context.Context, s tracker.Store) (tracker.CommentDeletion, error) {
		return s.DeleteComment(ctx, tracker.CommentTarget{Comment: comment})
	})
}

func (a actor) previewRemove(comment tracker.ID) tracker.CommentDeletion {
	a.t.Helper()
	return succeed(a, func(ctx context.Context, s tracker.Store) (tracker.CommentDeletion, error) {
		return s.PreviewCommentDeletion(ctx, tracker.CommentTarget{Comment: comment})
	})
}

// refusedAs expects a fault of this kind and reason.
func refusedAs(t *testing.T, err error, kind fault.Kind, reason fault.Reason) *fault.Fault {
	t.Helper()
	if err == nil {
		t.Fatalf("want %s (%s), but the call succeeded", kind, reason)
	}
	f := fault.Of(err)
	if f.Kind != kind || f.Reason != reason {
		t.Fatalf("want %s (%s), got %s", kind, reason, describe(err))
	}
	return f
}

func describe(err error) string {
	f := fault.Of(err)
	if f.Kind == fault.Internal {
		return "internal: " + err.Error()
	}
	return f.Kind.String() + " " + string(f.PublicJSON(""))
}

// equal compares two values as a caller sees them.
func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if w, g := toJSON(want), toJSON(got); w != g {
		t.Errorf("%s:\nwant %s\n got %s", what, w, g)
	}
}

func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// atOnce runs n calls side by side.
func atOnce(n int, call func(i int)) {
	begin := make(chan struct{})
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			<-begin
			call(i)
		})
	}
	close(begin)
	done.Wait()
}
