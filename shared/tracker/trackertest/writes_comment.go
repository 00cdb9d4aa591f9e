package trackertest

import (
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

func mention(agent tracker.ID) tracker.Content {
	return tracker.Content("[@Name](mention://agent/" + string(agent) + ") please")
}

var commenting = []testCase{
	{"a comment is added and counted", func(t *testing.T, f Fixture) {
		tomas := f.by(t, Tomas)
		f.Clock.Advance(time.Minute)
		out := tomas.say(Plain, "", "First")
		at := tracker.At(Start.Add(time.Minute))
		want := tracker.CommentHead{
			ID: out.Comment.ID, IssueID: Plain, AuthorType: tracker.MemberActor, AuthorID: Tomas, AuthorName: "Tomas Rey",
			Type: "comment", CreatedAt: at, UpdatedAt: at,
		}
		equal(t, "the answer", tracker.CreatedComment{Comment: want, IssueRevision: 2, TriggerOutcomes: []tracker.TriggerOutcome{}}, out)
		equal(t, "the comments", []tracker.Comment{{CommentHead: want, Content: "First"}}, tomas.comments(Plain))
		issue := tomas.get(Plain).Issue
		if issue.CommentCount != 1 || issue.Revision != 2 || !issue.UpdatedAt.Equal(at.Time) {
			t.Errorf("the issue: %s", toJSON(issue))
		}
	}},
	{"comments keep their order, also in one instant", func(t *testing.T, f Fixture) {
		elin := f.by(t, Elin)
		var want, got []tracker.ID
		for range 20 {
			want = append(want, elin.say(Plain, "", "Next").Comment.ID)
		}
		for _, c := range elin.comments(Plain) {
			got = append(got, c.ID)
		}
		equal(t, "order", want, got)
	}},
	{"a reply answers a comment of the same issue that is there", func(t *testing.T, f Fixture) {
		tomas := f.by(t, Tomas)
		reply := tomas.say(Talk, AgentAnswer, "/note To an answer")
		if reply.Comment.ParentID != AgentAnswer {
			t.Errorf("parent %s", reply.Comment.ParentID)
		}
		elsewhere := tomas.say(Plain, "", "Elsewhere").Comment.ID
		gone := tomas.say(Talk, "", "Gone").Comment.ID
		tomas.remove(gone)
		for _, parent := range []tracker.ID{NoSuchID, ForeignComment, elsewhere, gone, Talk} {
			_, err := tomas.store().CreateComment(t.Context(), tracker.NewComment{Issue: "AAC-3", Content: "Hello", Parent: parent})
			if got := refusedAs(t, err, fault.Invalid, fault.UnknownReference).Member("field"); got != "parent_id" {
				t.Errorf("field %v", got)
			}
		}
	}},
	{"a thread has at most 60 comments", func(t *testing.T, f Fixture) {
		tomas := f.by(t, Tomas)
		root := tomas.say(Plain, "", "Root").Comment.ID
		last := root
		for range tracker.MaxThreadComments - 1 {
			last = tomas.say(Plain, last, "Deeper").Comment.ID
		}
		_, err := tomas.store().CreateComment(t.Context(), tracker.NewComment{Issue: "AAC-1", Content: "Too deep", Parent: root})
		refusedAs(t, err, fault.Conflict, fault.LimitReached)
		tomas.remove(last)
		tomas.say(Plain, root, "There is room again")
		out := tomas.remove(root)
		equal(t, "removed", tracker.CommentRemoved{Replies: tracker.MaxThreadComments - 1}, out.Removed)
		if got := tomas.get(Plain).Issue.CommentCount; got != 0 {
			t.Errorf("%d comments left", got)
		}
	}},
	{"of 20 comments at once each is stored or refused", func(t *testing.T, f Fixture) {
		errs := make([]error, 20)
		atOnce(len(errs), func(i int) {
			_, errs[i] = f.As(Tomas).CreateComment(t.Context(), tracker.NewComment{Issue: "AAC-1", Content: "Many"})
		})
		stored := 0
		for _, err := range errs {
			if err == nil {
				stored++
				continue
			}
			if got := refusedAs(t, err, fault.RateLimited, fault.Contention); got.RetryAfterSeconds() != 1 {
				t.Errorf("retry after %d s", got.RetryAfterSeconds())
			}
		}
		tomas := f.by(t, Tomas)
		issue := tomas.get(Plain).Issue
		if stored == 0 || issue.CommentCount != stored || issue.Revision != tracker.Revision(1+stored) || len(tomas.comments(Plain)) != stored {
			t.Errorf("%d stored, %d listed; the issue: %s", stored, len(tomas.comments(Plain)), toJSON(issue))
		}
	}},
	{"a comment at top level calls the assigned agent", func(t *testing.T, f Fixture) {
		tomas := f.by(t, Tomas)
		out := tomas.say(Working, "", "What now?")
		got := tomas.started(out.TriggerOutcomes, Atlas, "queued") // the running task takes nothing new
		equal(t, "outcome", tracker.TriggerOutcome{
			TargetType: tracker.AgentActor, TargetID: Atlas, TargetName: "Atlas", Source: "comment", Status: "queued", TaskID: got.TaskID,
		}, got)
		out = tomas.say(Working, "", "And then?")
		if again := tomas.started(out.TriggerOutcomes, Atlas, "coalesced"); again.TaskID != got.TaskID {
			t.Errorf("coalesced into %s, not %s", again.TaskID, got.TaskID)
		}
		if n := tomas.openTasks(Working, Atlas); n != 1 {
			t.Errorf("%d open tasks", n)
		}
		equal(t, "a note", []tracker.TriggerOutcome{}, tomas.say(Working, "", " /NOTE for us").TriggerOutcomes)
		tomas.started(tomas.say(Working, "", "/notes").TriggerOutcomes, Atlas, "coalesced")
	}},
	{"a reply calls an agent only if it answers it", func(t *testing.T, f Fixture) {
		tomas := f.by(t, Tomas)
		tomas.started(tomas.say(Talk, AgentAnswer, "Thanks").TriggerOutcomes, Atlas, "queued")
		for _, parent := range []tracker.ID{Question, Notice, Aside} {
			equal(t, "a reply to anyone else", []tracker.TriggerOutcome{}, tomas.say(Talk, parent, "Hm").TriggerOutcomes)
		}
		if n := tomas.openTasks(Talk, Atlas); n != 1 {
			t.Errorf("%d open tasks", n)
		}
	}},
	{"mentions call exactly those agents", func(t *testing.T, f Fixture) {
		mira := f.by(t, Mira)
		out := mira.say(Working, "", mention(Scribe)+mention(Night)+mention(Scribe)).TriggerOutcomes
		if len(out) != 2 || out[0].TargetID != Scribe || out[1].TargetID != Night || out[0].Status != "queued" || out[1].Status != "queued" {
			t.Errorf("outcomes: %s", toJSON(out))
		}
		member := tracker.Content("[@Elin](mention://member/" + string(Elin) + ") look")
		equal(t, "a member", []tracker.TriggerOutcome{}, mira.say(Working, "", member).TriggerOutcomes)
		equal(t, "all", []tracker.TriggerOutcome{}, mira.say(Working, "", "[@all](mention://all/all)").TriggerOutcomes)
	}},
	{"an agent that cannot be called is said to be so", func(t *testing.T, f Fixture) {
		blocked := func(user, agent tracker.ID, reason, name string, with ...func(*Caller)) {
			t.Helper()
			a := f.by(t, user, with...)
			got := a.started(a.say(Plain, "", mention(agent)).TriggerOutcomes, agent, "blocked")
			if got.ReasonCode != reason || got.TargetName != name || got.TaskID != "" {
				t.Errorf("outcome: %s", toJSON(got))
			}
		}
		blocked(Mira, Relic, "target_unavailable", "Relic")
		blocked(Mira, NoSuchID, "target_unavailable", "")
		blocked(Mira, Scout, "invocation_not_allowed", "Scout")
		blocked(Tomas, Scout, "target_unavailable", "")
		blocked(Tomas, Atlas, "scope_missing", "Atlas", Without(identity.AgentsWrite))
		priya := f.by(t, Priya)
		if got := priya.get(Plain); got.Issue.CommentCount != 5 || len(got.OpenTasks) != 0 {
			t.Errorf("all are stored and none started, but: %s", toJSON(got))
		}
		priya.started(priya.say(Plain, "", mention(Scout)).TriggerOutcomes, Scout, "queued")
	}},
	{"suppress_run calls nobody", func(t *testing.T, f Fixture) {
		tomas := f.by(t, Tomas)
		out := tomas.comment(tracker.NewComment{Issue: "AAC-2", Content: "Quietly", SuppressRun: true})
		tomas.started(out.TriggerOutcomes, Atlas, "suppressed")
		if n := tomas.openTasks(Working, Atlas); n != 0 {
			t.Errorf("%d open tasks", n)
		}
	}},
}

var assigning = []testCase{
	{"an agent gets an issue and is started once", func(t *testing.T, f Fixture) {
		tomas := f.by(t, Tomas)
		first := tomas.give(Talk, Atlas, "queued")
		equal(t, "changed", []string{"assignee_id"}, first.Changed)
		equal(t, "previous", &tracker.PreviousAssignee{Type: tracker.MemberActor, ID: Elin, Name: "Elin Novak"}, first.PreviousAssignee)
		equal(t, "others", []tracker.OpenTask{}, first.OtherOpenTasks)
		if first.Issue.AssigneeType != tracker.AgentActor || first.Issue.AssigneeName != "Atlas" || first.Issue.Revision != 2 {
			t.Errorf("the issue: %s", toJSON(first.Issue))
		}
		before := tomas.get(Talk)
		f.Clock.Advance(time.Hour)
		second := tomas.give(Talk, Atlas, "unchanged")
		equal(t, "changed", []string{}, second.Changed)
		if second.PreviousAssignee != nil {
			t.Errorf("a previous assignee: %s", toJSON(second.PreviousAssignee))
		}
		equal(t, "the issue", before, tomas.get(Talk))
	}},
	{"eight assignments at once start one task", func(t *testing.T, f Fixture) {
		errs := make([]error, 8)
		atOnce(len(errs), func(i int) {
			_, errs[i] = f.As(Priya).AssignIssue(t.Context(), tracker.Assignment{Issue: "AAC-1", Agent: "Atlas"})
		})
		for _, err := range errs {
			if err != nil {
				t.Error(describe(err))
			}
		}
		priya := f.by(t, Priya)
		if got := priya.get(Plain); got.Issue.Revision != 2 || len(got.OpenTasks) != 1 {
			t.Errorf("the issue: %s", toJSON(got))
		}
	}},
	{"reassigning cancels nothing and starts nobody twice", func(t *testing.T, f Fixture) {
		priya := f.by(t, Priya)
		priya.give(Plain, Atlas, "queued")
		out := priya.give(Plain, Scribe, "queued")
		if len(out.OtherOpenTasks) != 1 || out.OtherOpenTasks[0].AgentID != Atlas {
			t.Errorf("other tasks: %s", toJSON(out.OtherOpenTasks))
		}
		priya.give(Plain, Atlas, "coalesced")
		priya.update(Plain, tracker.IssueChange{Assignee: tracker.Some[tracker.MemberRef]("me")})
		priya.move(Plain, tracker.Done)
		if a, s := priya.openTasks(Plain, Atlas), priya.openTasks(Plain, Scribe); a != 1 || s != 1 {
			t.Errorf("%d open tasks of one agent, %d of the other", a, s)
		}
	}},
	{"in the backlog an assignment is parked", func(t *testing.T, f Fixture) {
		priya := f.by(t, Priya)
		priya.move(Plain, tracker.Backlog)
		priya.give(Plain, Atlas, "parked")
		priya.give(Plain, Atlas, "parked")
		if n := priya.openTasks(Plain, Atlas); n != 0 {
			t.Fatalf("%d open tasks in the backlog", n)
		}
		equal(t, "closing starts nobody", []tracker.TriggerOutcome{}, priya.move(Plain, tracker.Done).TriggerOutcomes)
		priya.move(Plain, tracker.Backlog)
		out := priya.move(Plain, tracker.InReview)
		if got := priya.started(out.TriggerOutcomes, Atlas, "queued"); got.Source != "status" {
			t.Errorf("source %s", got.Source)
		}
		equal(t, "changed", []string{"status"}, out.Changed)
		priya.give(Plain, Atlas, "unchanged")
		if n := priya.openTasks(Plain, Atlas); n != 1 {
			t.Errorf("%d open tasks", n)
		}
	}},
	{"a parked assignment starts when it is made again outside the backlog", func(t *testing.T, f Fixture) {
		priya := f.by(t, Priya)
		priya.move(Plain, tracker.Backlog)
		priya.give(Plain, Atlas, "parked")
		out := priya.update(Plain, tracker.IssueChange{Status: tracker.Some(tracker.Todo), SuppressRun: true})
		priya.started(out.TriggerOutcomes, Atlas, "suppressed")
		revision := out.Issue.Revision
		started := priya.give(Plain, Atlas, "queued")
		if len(started.Changed) != 0 || started.Issue.Revision != revision {
			t.Errorf("a start is no visible change, but: %s", toJSON(started))
		}
		priya.give(Plain, Atlas, "unchanged")
	}},
	{"a suppressed assignment starts once it is made without", func(t *testing.T, f Fixture) {
		priya := f.by(t, Priya)
		quiet := tracker.Assignment{Issue: "AAC-1", Agent: "atlas", SuppressRun: true}
		for range 2 {
			priya.started(priya.assign(quiet).TriggerOutcomes, Atlas, "suppressed")
		}
		priya.give(Plain, Atlas, "queued")
		priya.started(priya.assign(quiet).TriggerOutcomes, Atlas, "unchanged")
		if n := priya.openTasks(Plain, Atlas); n != 1 {
			t.Errorf("%d open tasks", n)
		}
	}},
	{"a comment that starts the agent ends the parking", func(t *testing.T, f Fixture) {
		priya := f.by(t, Priya)
		priya.move(Plain, tracker.Backlog)
		priya.give(Plain, Atlas, "parked")
		priya.started(priya.say(Plain, "", "Do look").TriggerOutcomes, Atlas, "queued")
		priya.give(Plain, Atlas, "unchanged")
		priya.started(priya.move(Plain, tracker.Todo).TriggerOutcomes, Atlas, "coalesced")
	}},
	{"without agents:write a change is stored and the start blocked", func(t *testing.T, f Fixture) {
		priya := f.by(t, Priya)
		priya.move(Plain, tracker.Backlog)
		priya.give(Plain, Atlas, "parked")
		out := f.by(t, Priya, Without(identity.AgentsWrite)).move(Plain, tracker.Todo)
		if got := priya.started(out.TriggerOutcomes, Atlas, "blocked"); got.ReasonCode != "scope_missing" {
			t.Errorf("reason %s", got.ReasonCode)
		}
		if got := priya.get(Plain); got.Issue.Status != tracker.Todo || len(got.OpenTasks) != 0 {
			t.Errorf("the issue: %s", toJSON(got))
		}
		priya.give(Plain, Atlas, "queued")
	}},
	{"a private agent is its owner's to start, and others cannot tell it from none", func(t *testing.T, f Fixture) {
		f.by(t, Priya).give(Plain, Scout, "queued")
		for _, ref := range []tracker.AgentRef{"Scout", tracker.AgentRef(Scout)} {
			_, err := f.As(Mira).AssignIssue(t.Context(), tracker.Assignment{Issue: "AAC-3", Agent: ref})
			refusedAs(t, err, fault.Forbidden, fault.InvocationNotAllowed)
			_, err = f.As(Tomas).AssignIssue(t.Context(), tracker.Assignment{Issue: "AAC-3", Agent: ref})
			private := refusedAs(t, err, fault.Invalid, fault.UnknownReference)
			_, err = f.As(Tomas).AssignIssue(t.Context(), tracker.Assignment{Issue: "AAC-3", Agent: tracker.AgentRef(NoSuchID)})
			equal(t, "the refusal", refusedAs(t, err, fault.Invalid, fault.UnknownReference), private)
		}
		got := f.by(t, Tomas).get(Plain)
		if got.Issue.AssigneeName != "" || len(got.OpenTasks) != 1 || got.OpenTasks[0].AgentName != "" {
			t.Errorf("a member reads the name of a private agent: %s", toJSON(got))
		}
	}},
	{"an archived agent gets no issue", func(t *testing.T, f Fixture) {
		_, err := f.As(Mira).AssignIssue(t.Context(), tracker.Assignment{Issue: "AAC-1", Agent: "Relic"})
		refusedAs(t, err, fault.Conflict, fault.TargetUnavailable)
	}},
	{"expected_revision counts only if the assignee would change", func(t *testing.T, f Fixture) {
		priya := f.by(t, Priya)
		_, err := priya.store().AssignIssue(t.Context(), tracker.Assignment{Issue: "AAC-1", Agent: "Atlas", ExpectedRevision: 9})
		refusedAs(t, err, fault.Conflict, fault.RevisionConflict)
		priya.assign(tracker.Assignment{Issue: "AAC-1", Agent: "Atlas", ExpectedRevision: 1})
		priya.assign(tracker.Assignment{Issue: "AAC-1", Agent: "Atlas", ExpectedRevision: 9})
	}},
}
