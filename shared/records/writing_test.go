package records

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

// acting is a store for one call of a member of the Home workspace, at trackertest.Start.
func acting(w table.Writer, user tracker.ID) *store {
	return actingAt(w, user, trackertest.Start)
}

func actingAt(w table.Writer, user tracker.ID, at time.Time) *store {
	c := trackertest.Caller{Workspace: trackertest.Home, User: user, Scopes: identity.Scopes(), Tool: "test"}
	return newStore(storesOver(w), callOf(c, func() time.Time { return at }))
}

// storesOver does not wait between attempts.
func storesOver(w table.Writer) *Stores {
	s := NewStores(w, nextID)
	s.pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return s
}

// stored reads a row that must be there.
func stored[T any](t *testing.T, r table.Reader, key table.Key) row[T] {
	t.Helper()
	got, err := get[T](ctx, r, key)
	if err != nil {
		t.Fatal(err)
	}
	if !got.found() {
		t.Fatalf("%s %s is not there", key.PK, key.SK)
	}
	return got
}

// rewrite changes a row as another program would.
func rewrite[T any](t *testing.T, w table.Writer, key table.Key, change func(*T)) {
	t.Helper()
	old := stored[T](t, w, key)
	change(&old.Doc)
	p := &plan{}
	if r, ok := any(old.Doc).(issueRow); ok {
		p.putIssue(trackertest.Home, old.Version, r)
	} else {
		p.put(key, old.Version, old.Doc, nil)
	}
	if err := w.Commit(ctx, p.ops); err != nil {
		t.Fatal(err)
	}
}

// hooked runs something before each commit, which it can make fail.
type hooked struct {
	table.Writer
	mu      sync.Mutex
	commits [][]table.Op
	before  func(n int, ops []table.Op) error // n counts commits from 1
}

func (h *hooked) Commit(ctx context.Context, ops []table.Op) error {
	h.mu.Lock()
	h.commits = append(h.commits, ops)
	n := len(h.commits)
	h.mu.Unlock()
	if h.before != nil {
		if err := h.before(n, ops); err != nil {
			return err
		}
	}
	return h.Writer.Commit(ctx, ops)
}

// events reads the audit events of the Home workspace on the day of trackertest.Start.
func events(t *testing.T, r table.Reader) []audit.Event {
	t.Helper()
	q := table.Query{
		Table: table.Audit, Index: table.ByWorkspace, Limit: 1000,
		PK: "W#" + string(trackertest.Home) + "#" + trackertest.Start.Format(time.DateOnly),
	}
	var all []audit.Event
	for {
		page, err := r.Query(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			e, err := decode[audit.Event](it)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, e.Doc)
			q.After = it.Index[table.ByWorkspace].SK
		}
		if !page.More {
			return all
		}
	}
}

func TestAChangeIsDecidedAnewUntilItFits(t *testing.T) {
	db := worldTables(t)
	h := &hooked{Writer: db, before: func(n int, _ []table.Op) error {
		if n < maxAttempts {
			return &table.Conflict{}
		}
		return nil
	}}
	s := acting(h, trackertest.Priya)
	out, err := s.UpdateIssue(ctx, "AAC-1", tracker.IssueChange{Priority: tracker.Some(tracker.Low)})
	if err != nil || out.Issue.Revision != 2 || len(h.commits) != maxAttempts || !s.call.Recorded() {
		t.Fatalf("after %d commits: revision %d, %v", len(h.commits), out.Issue.Revision, err)
	}
	got := events(t, db)
	if len(got) != 1 || got[0].Outcome != "success" || got[0].Target != "issue/"+string(trackertest.Plain) || !slices.Equal(got[0].Changed, []string{"priority"}) {
		t.Errorf("events: %+v", got)
	}
}

func TestAChangeThatNeverFitsIsNotMade(t *testing.T) {
	db := worldTables(t)
	h := &hooked{Writer: db, before: func(int, []table.Op) error { return &table.Conflict{} }}
	stores, pauses := storesOver(h), 0
	stores.pause = func(_ context.Context, d time.Duration) error {
		if d < 0 || d >= longestPause<<maxAttempts {
			t.Errorf("pause of %s", d)
		}
		pauses++
		return nil
	}
	s := newStore(stores, acting(h, trackertest.Priya).call)
	_, err := s.CreateIssue(ctx, tracker.NewIssue{Title: "Never"})
	want := contention()
	if diff := cmp.Diff(want.Error(), errorText(err)); diff != "" {
		t.Errorf("the refusal (-want +got):\n%s", diff)
	}
	if len(h.commits) != maxAttempts || pauses != maxAttempts-1 {
		t.Errorf("%d commits, %d pauses", len(h.commits), pauses)
	}
	if s.call.Recorded() || s.call.Event.Changed != nil || s.call.Event.Target != "" {
		t.Errorf("the event tells of a change that was not made: %+v", s.call.Event)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAnEndedContextEndsTheAttempts(t *testing.T) {
	h := &hooked{Writer: worldTables(t), before: func(int, []table.Op) error { return &table.Conflict{} }}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := sleep(ended, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("sleep: %v", err)
	}
	stores := storesOver(h)
	stores.pause = func(context.Context, time.Duration) error { return ended.Err() }
	_, err := newStore(stores, acting(h, trackertest.Priya).call).CreateIssue(ctx, tracker.NewIssue{Title: "Late"})
	if !errors.Is(err, context.Canceled) || len(h.commits) != 1 {
		t.Errorf("%d commits, %v", len(h.commits), err)
	}
}

// A right that is lost between the decision and the commit is lost: the directory's version
// guards it.
func TestARightIsCheckedAgainInTheCommit(t *testing.T) {
	acts := map[string]func(*store) error{
		"delete issue": func(s *store) error { _, err := s.DeleteIssue(ctx, "AAC-1"); return err },
		"delete comment": func(s *store) error {
			_, err := s.DeleteComment(ctx, tracker.CommentTarget{Comment: trackertest.Question})
			return err
		},
		"trigger": func(s *store) error {
			_, err := s.TriggerAutopilot(ctx, tracker.AutopilotTrigger{Autopilot: "Plain run"})
			return err
		},
	}
	for name, act := range acts {
		t.Run(name, func(t *testing.T) {
			db := worldTables(t)
			h := &hooked{Writer: db, before: func(n int, _ []table.Op) error {
				if n == 1 {
					changeMember(t, db, trackertest.Jonas, func(m *Member) { m.Role = identity.Member })
				}
				return nil
			}}
			err := act(acting(h, trackertest.Jonas))
			if fault.Of(err).Reason != fault.NotPermitted || len(h.commits) != 1 {
				t.Errorf("%d commits, %v", len(h.commits), err)
			}
			if n := len(events(t, db)); n != 0 {
				t.Errorf("%d events of changes", n)
			}
		})
	}
}

// After an error in doubt the log must tell what really happened.
func TestAnErrorInDoubtLeavesTheTruth(t *testing.T) {
	for _, happened := range []bool{true, false} {
		db := worldTables(t)
		h := &hooked{Writer: db, before: func(_ int, ops []table.Op) error {
			if happened {
				if err := db.Commit(ctx, ops); err != nil {
					t.Fatal(err)
				}
			}
			return errors.New("connection lost")
		}}
		s := acting(h, trackertest.Priya)
		_, err := s.CreateIssue(ctx, tracker.NewIssue{Title: "In doubt"})
		if err == nil || len(h.commits) != 1 {
			t.Fatalf("%d commits, %v", len(h.commits), err)
		}
		if err := s.call.Record(ctx, db, err); err != nil {
			t.Fatal(err)
		}
		got := events(t, db)
		if len(got) != 1 || (got[0].Outcome == "success") != happened || (got[0].Changed != nil) != happened {
			t.Errorf("happened %v, but the events are %+v", happened, got)
		}
	}
}

// An engine that tries again by itself after a lost answer meets its own commit.
func TestAChangeThatMetItselfIsNotMadeTwice(t *testing.T) {
	db := worldTables(t)
	h := &hooked{Writer: db, before: func(_ int, ops []table.Op) error { return db.Commit(ctx, ops) }}
	s := acting(h, trackertest.Priya)
	_, err := s.CreateIssue(ctx, tracker.NewIssue{Title: "Once"})
	if fault.KindOf(err) != fault.Internal || len(h.commits) != 1 {
		t.Fatalf("%d commits, %v", len(h.commits), err)
	}
	if err := s.call.Record(ctx, db, err); err != nil {
		t.Fatal(err)
	}
	if got := events(t, db); len(got) != 1 || got[0].Outcome != fault.Success {
		t.Errorf("events: %+v", got)
	}
}

func TestReplayIsInTheEvent(t *testing.T) {
	db := worldTables(t)
	keyed := func() *store {
		s := acting(db, trackertest.Priya)
		s.call.IdempotencyKey, s.call.Event.ArgumentsDigest = "k", "sha256:1"
		return s
	}
	first, err := keyed().CreateIssue(ctx, tracker.NewIssue{Title: "Once"})
	if err != nil {
		t.Fatal(err)
	}
	again := keyed()
	if _, err := again.CreateIssue(ctx, tracker.NewIssue{Title: "Once"}); err != nil {
		t.Fatal(err)
	}
	if e := again.call.Event; !e.Replayed || e.Target != "issue/"+string(first.Issue.ID) || again.call.Recorded() {
		t.Errorf("the event of the replay: %+v", e)
	}
	unbound := acting(db, trackertest.Priya)
	unbound.call.IdempotencyKey = "k"
	if _, err := unbound.CreateIssue(ctx, tracker.NewIssue{Title: "Once"}); err == nil {
		t.Error("a key without a digest was accepted")
	}
}

func TestTheLargestResultsCanBeKept(t *testing.T) {
	longest := func(n int) string { return string(slices.Repeat([]rune{'"'}, n)) }
	issue := tracker.CreatedIssue{Issue: tracker.Summary{
		Title: longest(tracker.MaxTitle), CreatorName: longest(100), AssigneeName: longest(100),
	}}
	for range tracker.MaxLabels {
		issue.Issue.Labels = append(issue.Issue.Labels, tracker.Label{ID: trackertest.Bug, Name: longest(50), Color: "#000000"})
	}
	comment := tracker.CreatedComment{Comment: tracker.CommentHead{AuthorName: longest(100)}}
	for range tracker.MaxMentions {
		comment.TriggerOutcomes = append(comment.TriggerOutcomes, tracker.TriggerOutcome{
			TargetType: tracker.AgentActor, TargetID: trackertest.Atlas, TargetName: longest(100), Source: sourceComment,
			Status: startBlocked, ReasonCode: reasonNotAllowed, TaskID: trackertest.RunningTask,
		})
	}
	for _, result := range []any{issue, comment} {
		if _, err := (&claim{key: idempotencyKey(trackertest.Home, trackertest.Mira, "t", "k")}).keep(trackertest.Start, result); err != nil {
			t.Error(err)
		}
	}
	if _, err := (&claim{}).keep(trackertest.Start, longest(maxKeptResult)); err == nil {
		t.Error("a result over the limit was kept")
	}
}

// racing removes a thread's root in the middle of the request that reads a reply and its thread.
type racing struct {
	table.Writer
	thread table.Key
	remove func()
}

func (o *racing) BatchGet(ctx context.Context, keys []table.Key) ([]table.Item, error) {
	items, err := o.Writer.BatchGet(ctx, keys)
	if remove := o.remove; remove != nil && slices.Contains(keys, o.thread) {
		o.remove = nil
		remove()
		items = slices.DeleteFunc(items, func(it table.Item) bool { return it.Key == o.thread })
	}
	return items, err
}

func TestAReplyWhoseThreadGoesWhileItIsRead(t *testing.T) {
	db := worldTables(t)
	o := &racing{Writer: db, thread: threadKey(trackertest.Home, 3, trackertest.Question), remove: func() {
		if _, err := acting(db, trackertest.Mira).DeleteComment(ctx, tracker.CommentTarget{Comment: trackertest.Question}); err != nil {
			t.Error(err)
		}
	}}
	_, err := acting(o, trackertest.Priya).CreateComment(ctx, tracker.NewComment{Issue: "AAC-3", Content: "Late", Parent: trackertest.Answer})
	if fault.Of(err).Reason != fault.UnknownReference || o.remove != nil {
		t.Errorf("removed: %v; %v", o.remove == nil, err)
	}
}
