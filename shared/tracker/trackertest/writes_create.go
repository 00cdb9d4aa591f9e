package trackertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

var creating = []testCase{
	{"a new issue has the next number and its defaults", func(t *testing.T, f Fixture) {
		priya := f.by(t, Priya)
		first, second := priya.issue("One"), priya.issue("Two")
		if second.Number != first.Number+1 || second.ID == first.ID {
			t.Errorf("numbers %d and %d of %s and %s", first.Number, second.Number, first.ID, second.ID)
		}
		want := tracker.Summary{
			ID: first.ID, Number: first.Number, Identifier: fmt.Sprintf("AAC-%d", first.Number), Title: "One",
			Status: tracker.Todo, Priority: tracker.NoPriority,
			CreatorType: tracker.MemberActor, CreatorID: Priya, CreatorName: "Priya Raman",
			Labels: []tracker.Label{}, Revision: 1, CreatedAt: tracker.At(Start), UpdatedAt: tracker.At(Start),
		}
		equal(t, "the issue made", want, first)
		equal(t, "the issue read", tracker.Issue{Summary: want, WorkspaceID: Home}, priya.get(first.ID).Issue)
	}},
	{"a new issue has all that was said", func(t *testing.T, f Fixture) {
		mira := f.by(t, Mira)
		before := mira.get(Plain)
		made := mira.create(tracker.NewIssue{
			Title: "Full", Description: "A <b>body</b> & more", Status: tracker.Backlog, Priority: tracker.Urgent,
			Assignee: "tomas rey", Parent: "aac-1", Labels: []tracker.LabelRef{"FEATURE", "bug", tracker.LabelRef(Bug)},
			StartDate: "2025-07-01", DueDate: "2025-06-30",
		}).Issue
		got := mira.get(made.ID).Issue
		equal(t, "the issue read", made, got.Summary)
		if got.Description != "A <b>body</b> & more" || got.Status != tracker.Backlog || got.Priority != tracker.Urgent ||
			got.AssigneeID != Tomas || got.AssigneeName != "Tomas Rey" || got.ParentIssueID != Plain || got.ParentIdentifier != "AAC-1" ||
			len(got.Labels) != 2 || got.Labels[0].ID != Bug || got.Labels[1].ID != Feature ||
			got.StartDate != "2025-07-01" || got.DueDate != "2025-06-30" {
			t.Errorf("not all is there: %s", toJSON(got))
		}
		after := mira.get(Plain)
		if after.SubIssueCount != 1 {
			t.Errorf("the parent has %d sub-issues, want 1", after.SubIssueCount)
		}
		equal(t, "the parent's own fields", before.Issue, after.Issue)
	}},
	{"an assignee can be the caller, or named by e-mail", func(t *testing.T, f Fixture) {
		for _, ref := range []tracker.MemberRef{"me", "ELIN@example.com", tracker.MemberRef(Elin)} {
			if got := f.by(t, Elin).create(tracker.NewIssue{Title: "Mine", Assignee: ref}).Issue; got.AssigneeID != Elin {
				t.Errorf("%s: assigned to %s", ref, got.AssigneeID)
			}
		}
	}},
	{"what a new issue refers to must exist", func(t *testing.T, f Fixture) {
		mira := f.by(t, Mira)
		gone := mira.issue("Gone")
		mira.delete(gone.ID)
		refuse := func(field string, reason fault.Reason, in tracker.NewIssue) {
			t.Helper()
			in.Title = "Refused"
			_, err := mira.store().CreateIssue(t.Context(), in)
			if got := refusedAs(t, err, fault.Invalid, reason).Member("field"); got != field {
				t.Errorf("field %v, want %s", got, field)
			}
		}
		for _, ref := range []tracker.MemberRef{"Nobody", tracker.MemberRef(NoSuchID), tracker.MemberRef(Ada), "ada@example.com", tracker.MemberRef(Left)} {
			refuse("assignee_id", fault.UnknownReference, tracker.NewIssue{Assignee: ref})
		}
		refuse("assignee_id", fault.AmbiguousReference, tracker.NewIssue{Assignee: "Same Name"})
		refuse("assignee_id", fault.InvalidArguments, tracker.NewIssue{Assignee: "Atlas"})
		refuse("assignee_id", fault.InvalidArguments, tracker.NewIssue{Assignee: tracker.MemberRef(Scribe)})
		refuse("label_ids", fault.UnknownReference, tracker.NewIssue{Labels: []tracker.LabelRef{"bug", "bugs"}})
		for _, ref := range []tracker.IssueRef{tracker.IssueRef(NoSuchID), tracker.IssueRef(ForeignIssue), "NOR-1", "AAC-999999", tracker.IssueRef(gone.ID)} {
			refuse("parent_issue_id", fault.UnknownReference, tracker.NewIssue{Parent: ref})
		}
	}},
	{"40 issues made at once have 40 numbers", func(t *testing.T, f Fixture) {
		numbers, errs := make([]int, 40), make([]error, 40)
		atOnce(len(numbers), func(i int) {
			out, err := f.As(Tomas).CreateIssue(t.Context(), tracker.NewIssue{Title: "Many"})
			numbers[i], errs[i] = out.Issue.Number, err
		})
		seen := map[int]bool{1: true, 2: true, 3: true} // those of the World
		for i, n := range numbers {
			if errs[i] != nil {
				t.Fatal(describe(errs[i]))
			}
			if seen[n] {
				t.Errorf("number %d twice", n)
			}
			seen[n] = true
		}
	}},
	{"the number of a deleted issue is not used again", func(t *testing.T, f Fixture) {
		mira := f.by(t, Mira)
		gone := mira.issue("Gone")
		mira.delete(gone.ID)
		if next := mira.issue("Next"); next.Number <= gone.Number {
			t.Errorf("number %d after %d", next.Number, gone.Number)
		}
	}},
	{"an issue has at most 50 sub-issues", func(t *testing.T, f Fixture) {
		elin := f.by(t, Elin)
		for range tracker.MaxSubIssues {
			elin.create(tracker.NewIssue{Title: "Sub", Parent: "AAC-1"})
		}
		_, err := elin.store().CreateIssue(t.Context(), tracker.NewIssue{Title: "One too many", Parent: "AAC-1"})
		if got := refusedAs(t, err, fault.Conflict, fault.LimitReached).Member("limit"); got != tracker.MaxSubIssues {
			t.Errorf("limit %v", got)
		}
		if got := elin.get(Plain).SubIssueCount; got != tracker.MaxSubIssues {
			t.Errorf("%d sub-issues", got)
		}
	}},
}

var updating = []testCase{
	{"each field can be changed", func(t *testing.T, f Fixture) {
		priya := f.by(t, Priya)
		some := tracker.IssueChange{
			Title: tracker.Some[tracker.Title]("New title"), Description: tracker.Some[tracker.Description]("New body"),
			Status: tracker.Some(tracker.Blocked), Priority: tracker.Some(tracker.Low), Assignee: tracker.Some[tracker.MemberRef]("me"),
			Labels:    tracker.Some(tracker.List[tracker.LabelRef]{"docs"}),
			StartDate: tracker.Some[tracker.Day]("2025-07-01"), DueDate: tracker.Some[tracker.Day]("2025-07-02"),
		}
		f.Clock.Advance(time.Hour)
		out := priya.update(Plain, some)
		equal(t, "changed", []string{"title", "description", "status", "priority", "assignee_id", "label_ids", "start_date", "due_date"}, out.Changed)
		equal(t, "trigger_outcomes", []tracker.TriggerOutcome{}, out.TriggerOutcomes)
		got := priya.get(Plain).Issue
		equal(t, "the issue read", out.Issue, got.Summary)
		if got.Title != "New title" || got.Description != "New body" || got.Status != tracker.Blocked || got.Priority != tracker.Low ||
			got.AssigneeID != Priya || len(got.Labels) != 1 || got.StartDate != "2025-07-01" || got.DueDate != "2025-07-02" {
			t.Errorf("not all is there: %s", toJSON(got))
		}
		if got.Revision != 2 || !got.UpdatedAt.Equal(Start.Add(time.Hour)) {
			t.Errorf("revision %d at %s, want 2, an hour after the start", got.Revision, got.UpdatedAt)
		}
	}},
	{"what is equal already is no change, whatever expected_revision says", func(t *testing.T, f Fixture) {
		priya := f.by(t, Priya)
		before := priya.get(Plain)
		f.Clock.Advance(time.Hour)
		for _, c := range []tracker.IssueChange{
			{Title: tracker.Some[tracker.Title]("Plain issue"), Description: tracker.Some[tracker.Description]("Nothing hangs on it.")},
			{Labels: tracker.Some(tracker.List[tracker.LabelRef]{"bug", "feature"})},
			{Clear: []tracker.Clearable{tracker.ClearAssignee, tracker.ClearParent, tracker.ClearDueDate, tracker.ClearStartDate}},
			{Status: tracker.Some(tracker.Todo), ExpectedRevision: 77},
		} {
			out := priya.update(Plain, c)
			equal(t, "changed", []string{}, out.Changed)
			equal(t, "the issue", before.Issue.Summary, out.Issue)
		}
		equal(t, "the issue read", before, priya.get(Plain))
	}},
	{"a change that is stale is refused", func(t *testing.T, f Fixture) {
		priya := f.by(t, Priya)
		c := tracker.IssueChange{Priority: tracker.Some(tracker.High), ExpectedRevision: 1}
		priya.update(Plain, c)
		c.Priority = tracker.Some(tracker.Low)
		_, err := priya.store().UpdateIssue(t.Context(), "AAC-1", c)
		got := refusedAs(t, err, fault.Conflict, fault.RevisionConflict)
		equal(t, "members", []any{1, 2}, []any{got.Member("expected_revision"), got.Member("actual_revision")})
		if p := priya.get(Plain).Issue.Priority; p != tracker.High {
			t.Errorf("priority %s", p)
		}
	}},
	{"clear touches only what it names", func(t *testing.T, f Fixture) {
		mira := f.by(t, Mira)
		made := mira.create(tracker.NewIssue{Title: "Sub", Parent: "AAC-1", Assignee: "me", StartDate: "2025-07-01", DueDate: "2025-07-02"}).Issue
		out := mira.update(made.ID, tracker.IssueChange{Clear: []tracker.Clearable{tracker.ClearDueDate}})
		equal(t, "changed", []string{"due_date"}, out.Changed)
		if out.Issue.DueDate != "" || out.Issue.StartDate == "" || out.Issue.AssigneeID != Mira || out.Issue.ParentIssueID != Plain {
			t.Errorf("cleared too much or too little: %s", toJSON(out.Issue))
		}
		revision := mira.get(Plain).Issue.Revision
		out = mira.update(made.ID, tracker.IssueChange{Clear: []tracker.Clearable{tracker.ClearParent, tracker.ClearAssignee, tracker.ClearStartDate}})
		equal(t, "changed", []string{"parent_issue_id", "assignee_id", "start_date"}, out.Changed)
		if out.Issue.ParentIssueID != "" || out.Issue.ParentIdentifier != "" || out.Issue.AssigneeType != "" || out.Issue.StartDate != "" {
			t.Errorf("not all is cleared: %s", toJSON(out.Issue))
		}
		if parent := mira.get(Plain); parent.SubIssueCount != 0 || parent.Issue.Revision != revision {
			t.Errorf("the former parent: %s", toJSON(parent))
		}
	}},
	{"a description can be removed and set again", func(t *testing.T, f Fixture) {
		tomas := f.by(t, Tomas)
		for _, d := range []tracker.Description{"", "Again", "Once more"} {
			tomas.update(Plain, tracker.IssueChange{Description: tracker.Some(d)})
			if got := tomas.get(Plain).Issue.Description; got != string(d) {
				t.Errorf("description %q, want %q", got, d)
			}
		}
	}},
	{"an agent cannot be assigned by a change", func(t *testing.T, f Fixture) {
		_, err := f.As(Priya).UpdateIssue(t.Context(), "AAC-1", tracker.IssueChange{Assignee: tracker.Some[tracker.MemberRef]("Atlas")})
		refusedAs(t, err, fault.Invalid, fault.InvalidArguments)
	}},
	{"only an issue of the workspace that is there can be changed", func(t *testing.T, f Fixture) {
		mira := f.by(t, Mira)
		gone := mira.issue("Gone")
		mira.delete(gone.ID)
		for _, ref := range []tracker.IssueRef{tracker.IssueRef(NoSuchID), tracker.IssueRef(ForeignIssue), "NOR-1", "AAC-999999", tracker.IssueRef(gone.ID), tracker.IssueRef(gone.Identifier)} {
			_, err := mira.store().UpdateIssue(t.Context(), ref, tracker.IssueChange{Status: tracker.Some(tracker.Done)})
			refusedAs(t, err, fault.NotFound, fault.TargetNotFound)
			_, err = mira.store().CreateComment(t.Context(), tracker.NewComment{Issue: ref, Content: "Hello"})
			refusedAs(t, err, fault.NotFound, fault.TargetNotFound)
			_, err = mira.store().AssignIssue(t.Context(), tracker.Assignment{Issue: ref, Agent: "Atlas"})
			refusedAs(t, err, fault.NotFound, fault.TargetNotFound)
		}
	}},
	{"of eight different changes to one revision, one wins", func(t *testing.T, f Fixture) {
		errs := make([]error, 8)
		atOnce(len(errs), func(i int) {
			_, errs[i] = f.As(Priya).UpdateIssue(t.Context(), "AAC-1", tracker.IssueChange{
				Title: tracker.Some(tracker.Title(fmt.Sprintf("Title %d", i))), ExpectedRevision: 1,
			})
		})
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			refusedAs(t, err, fault.Conflict, fault.RevisionConflict)
		}
		if got := f.by(t, Priya).get(Plain).Issue.Revision; won != 1 || got != 2 {
			t.Errorf("%d changes won, the revision is %d", won, got)
		}
	}},
	{"eight equal changes to one revision all succeed", func(t *testing.T, f Fixture) {
		errs := make([]error, 8)
		atOnce(len(errs), func(i int) {
			_, errs[i] = f.As(Priya).UpdateIssue(t.Context(), "AAC-1", tracker.IssueChange{
				Title: tracker.Some[tracker.Title]("The same"), ExpectedRevision: 1,
			})
		})
		for _, err := range errs {
			if err != nil {
				t.Error(describe(err))
			}
		}
		if got := f.by(t, Priya).get(Plain).Issue.Revision; got != 2 {
			t.Errorf("revision %d, want 2", got)
		}
	}},
}
