package trackertest

import (
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

var repeating = []testCase{
	{"eight calls under one key have one effect", func(t *testing.T, f Fixture) {
		outs, errs := make([]tracker.CreatedIssue, 8), make([]error, 8)
		atOnce(len(errs), func(i int) {
			outs[i], errs[i] = f.As(Priya, Keyed("create_issue", "k", "d1")).CreateIssue(t.Context(), tracker.NewIssue{Title: "Once"})
		})
		replayed := 0
		for i, err := range errs {
			if err != nil {
				t.Fatal(describe(err))
			}
			equal(t, "the issue", outs[0].Issue, outs[i].Issue)
			if outs[i].Replayed {
				replayed++
			}
		}
		if replayed != 7 {
			t.Errorf("%d replayed, want 7", replayed)
		}
	}},
	{"a key is for one caller, one tool and one set of arguments", func(t *testing.T, f Fixture) {
		first := f.by(t, Priya, Keyed("create_issue", "k", "d1")).issue("Once")
		_, err := f.As(Priya, Keyed("create_issue", "k", "d2")).CreateIssue(t.Context(), tracker.NewIssue{Title: "Else"})
		refusedAs(t, err, fault.Conflict, fault.IdempotencyConflict)
		for _, a := range []actor{
			f.by(t, Tomas, Keyed("create_issue", "k", "d1")),
			f.by(t, Priya, Keyed("another_tool", "k", "d1")),
			f.by(t, Priya, Keyed("create_issue", "K", "d1")),
		} {
			if got := a.create(tracker.NewIssue{Title: "Once"}); got.Replayed || got.Issue.ID == first.ID {
				t.Errorf("replayed: %s", toJSON(got))
			}
		}
	}},
	{"a key is free again after 24 hours", func(t *testing.T, f Fixture) {
		priya := f.by(t, Priya, Keyed("create_issue", "k", "d1"))
		first := priya.issue("Once")
		f.Clock.Advance(24*time.Hour - time.Second)
		if got := priya.create(tracker.NewIssue{Title: "Once"}); !got.Replayed {
			t.Error("not replayed within 24 hours")
		}
		f.Clock.Advance(time.Second)
		again := f.by(t, Priya, Keyed("create_issue", "k", "d2")).create(tracker.NewIssue{Title: "Twice"})
		if again.Replayed || again.Issue.ID == first.ID {
			t.Errorf("replayed after 24 hours: %s", toJSON(again))
		}
		if got := f.by(t, Priya, Keyed("create_issue", "k", "d2")).create(tracker.NewIssue{Title: "Twice"}); got.Issue.ID != again.Issue.ID {
			t.Error("the new result is not the one kept")
		}
	}},
	{"a call that is refused leaves its key free", func(t *testing.T, f Fixture) {
		priya := f.by(t, Priya, Keyed("create_issue", "k", "d1"))
		_, err := priya.store().CreateIssue(t.Context(), tracker.NewIssue{Title: "Refused", Assignee: "Nobody"})
		refusedAs(t, err, fault.Invalid, fault.UnknownReference)
		if got := f.by(t, Priya, Keyed("create_issue", "k", "d2")).create(tracker.NewIssue{Title: "Now"}); got.Replayed {
			t.Error("a refusal was kept")
		}
	}},
	{"a replay answers also when its issue is deleted", func(t *testing.T, f Fixture) {
		issue := f.by(t, Priya).issue("To be deleted")
		say := f.by(t, Priya, Keyed("comment_issue", "k", "d1"))
		create := f.by(t, Priya, Keyed("create_issue", "k", "d1"))
		comment := say.say(issue.ID, "", mention(Atlas))
		sub := create.create(tracker.NewIssue{Title: "Sub", Parent: tracker.IssueRef(issue.ID)})
		f.by(t, Priya).delete(issue.ID)
		comment.Replayed, sub.Replayed = true, true
		equal(t, "the comment", comment, say.say(issue.ID, "", mention(Atlas)))
		equal(t, "the sub-issue", sub, create.create(tracker.NewIssue{Title: "Sub", Parent: tracker.IssueRef(issue.ID)}))
	}},
	{"a replay needs today's membership", func(t *testing.T, f Fixture) {
		f.by(t, Tomas, Keyed("create_issue", "k", "d1")).issue("Once")
		f.Leave(t, Tomas)
		_, err := f.As(Tomas, Keyed("create_issue", "k", "d1")).CreateIssue(t.Context(), tracker.NewIssue{Title: "Once"})
		refusedAs(t, err, fault.Unauthenticated, fault.TokenRevoked)
	}},
	{"comments at once under one key are one comment", func(t *testing.T, f Fixture) {
		outs, errs := make([]tracker.CreatedComment, 8), make([]error, 8)
		atOnce(len(errs), func(i int) {
			outs[i], errs[i] = f.As(Priya, Keyed("comment_issue", "k", "d1")).CreateComment(t.Context(), tracker.NewComment{Issue: "AAC-1", Content: "Once"})
		})
		for i, err := range errs {
			if err != nil {
				t.Fatal(describe(err))
			}
			equal(t, "the comment", outs[0].Comment, outs[i].Comment)
		}
		if n := len(f.by(t, Priya).comments(Plain)); n != 1 {
			t.Errorf("%d comments", n)
		}
	}},
	{"a trigger under a key starts one run", func(t *testing.T, f Fixture) {
		mira := f.by(t, Mira, Keyed("trigger_autopilot", "k", "d1"))
		first := mira.trigger("Backlog triage")
		f.Clock.Advance(time.Hour)
		first.Replayed = true
		equal(t, "the run", first, mira.trigger("Backlog triage"))
	}},
}
