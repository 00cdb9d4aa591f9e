package trackertest

import (
	"slices"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// reads is what asking answers.
var reads = slices.Concat(getCases, listCases, commentCases, usageCases)

var getCases = []testCase{
	{"an issue is found by id and by identifier in any case", findsIssue},
	{"nothing else finds an issue", findsNoOtherIssue},
	{"an issue is shown whole", showsIssue},
	{"only tasks that take input are open", showsOpenTasks},
	{"a private agent has no name for those who may not see it", hidesPrivateAgent},
	{"a deleted issue is not there", hidesDeletedIssue},
	{"who has left asks in vain", refusesWhoLeft},
}

func findsIssue(t *testing.T, f Fixture) {
	for _, ref := range []tracker.IssueRef{"AAC-1", "aac-1", "Aac-1", tracker.IssueRef(Plain)} {
		got, err := f.As(Tomas).GetIssue(t.Context(), ref)
		if err != nil || got.Issue.ID != Plain || got.Issue.Identifier != "AAC-1" {
			t.Errorf("%s: found %s, %v", ref, got.Issue.Identifier, err)
		}
	}
}

func findsNoOtherIssue(t *testing.T, f Fixture) {
	for _, ref := range []tracker.IssueRef{
		"AAC-001", "XYZ-1", "NOR-1", "AAC-999999999", "AAC-", "AAC-0", "1", "",
		tracker.IssueRef(ForeignIssue), tracker.IssueRef(NoSuchID), tracker.IssueRef(Question), tracker.IssueRef(Home),
	} {
		_, err := f.As(Mira).GetIssue(t.Context(), ref)
		refusedAs(t, err, fault.NotFound, fault.TargetNotFound)
		_, err = f.As(Mira).ListComments(t.Context(), tracker.CommentQuery{Issue: ref, Limit: 10})
		refusedAs(t, err, fault.NotFound, fault.TargetNotFound)
	}
	if got, err := f.Abroad().GetIssue(t.Context(), tracker.IssueRef(ForeignIssue)); err != nil || got.Issue.Identifier != "NOR-1" {
		t.Errorf("in its own workspace the foreign issue is %s, %v", got.Issue.Identifier, err)
	}
}

func showsIssue(t *testing.T, f Fixture) {
	created := tracker.At(Start.AddDate(0, 0, -3))
	equal(t, "an issue", tracker.IssueDetail{
		Issue: tracker.Issue{
			WorkspaceID: Home, Description: "Nothing hangs on it.",
			Summary: tracker.Summary{
				ID: Plain, Number: 1, Identifier: "AAC-1", Title: "Plain issue", Status: tracker.Todo, Priority: tracker.Medium,
				CreatorType: tracker.MemberActor, CreatorID: Priya, CreatorName: "Priya Raman",
				Labels:   []tracker.Label{{ID: Bug, Name: "bug", Color: "#d73a4a"}, {ID: Feature, Name: "feature", Color: "#0e8a16"}},
				Revision: 1, CreatedAt: created, UpdatedAt: created,
			},
		},
		OpenTasks: []tracker.OpenTask{},
	}, f.by(t, Tomas).get(Plain))

	parent := tracker.IssueRef(Plain)
	child := f.by(t, Tomas).create(tracker.NewIssue{
		Title: "A part", Parent: parent, Assignee: tracker.Me, DueDate: "2025-07-01", StartDate: "2025-06-01",
	}).Issue
	if got := f.by(t, Tomas).get(Plain); got.SubIssueCount != 1 {
		t.Errorf("the parent counts %d sub-issues, want 1", got.SubIssueCount)
	}
	got := f.by(t, Elin).get(child.ID).Issue
	if got.ParentIssueID != Plain || got.ParentIdentifier != "AAC-1" || got.AssigneeID != Tomas || got.AssigneeName != "Tomas Rey" ||
		got.AssigneeType != tracker.MemberActor || got.DueDate != "2025-07-01" || got.StartDate != "2025-06-01" {
		t.Errorf("the part is %s", toJSON(got))
	}
}

func showsOpenTasks(t *testing.T, f Fixture) {
	if got := f.by(t, Tomas).get(Working); len(got.OpenTasks) != 0 {
		t.Errorf("a running task is shown as open: %s", toJSON(got.OpenTasks))
	}
	f.by(t, Tomas).give(Plain, Scribe, "queued")
	got := f.by(t, Tomas).get(Plain).OpenTasks
	if len(got) != 1 || got[0].AgentID != Scribe || got[0].AgentName != "Scribe" || got[0].Status != "queued" || !got[0].CreatedAt.Equal(Start) {
		t.Errorf("open tasks: %s", toJSON(got))
	}
}

func hidesPrivateAgent(t *testing.T, f Fixture) {
	f.by(t, Priya).give(Plain, Scout, "queued")
	for user, want := range map[tracker.ID]string{Priya: "Scout", Jonas: "Scout", Mira: "Scout", Tomas: ""} {
		got := f.by(t, user).get(Plain)
		if got.Issue.AssigneeID != Scout || got.Issue.AssigneeName != want || len(got.OpenTasks) != 1 || got.OpenTasks[0].AgentName != want {
			t.Errorf("as %s the assignee is %q, the task %s; want the name %q", user, got.Issue.AssigneeName, toJSON(got.OpenTasks), want)
		}
	}
	made := func(ref tracker.AssigneeRef) *fault.Fault {
		_, err := f.As(Tomas).ListIssues(t.Context(), tracker.IssueQuery{Assignee: ref, Limit: 10})
		return refusedAs(t, err, fault.Invalid, fault.UnknownReference)
	}
	private, invented := made("Scout"), made("Nobody")
	equal(t, "the refusal of a private and of an invented agent", invented, private)
	if slices.Contains(choices(t, private), "Scout") {
		t.Error("the choices name a private agent")
	}
	equal(t, "the same by id", made(tracker.AssigneeRef(NoSuchID)), made(tracker.AssigneeRef(Scout)))
}

func hidesDeletedIssue(t *testing.T, f Fixture) {
	parent := f.by(t, Mira).issue("Whole")
	gone := f.by(t, Mira).create(tracker.NewIssue{Title: "Part", Parent: tracker.IssueRef(parent.ID), Labels: []tracker.LabelRef{"docs"}}).Issue
	f.by(t, Mira).say(gone.ID, "", "Farewell.")
	f.by(t, Mira).delete(gone.ID)

	for _, ref := range []tracker.IssueRef{tracker.IssueRef(gone.ID), tracker.IssueRef(gone.Identifier)} {
		_, err := f.As(Mira).GetIssue(t.Context(), ref)
		refusedAs(t, err, fault.NotFound, fault.TargetNotFound)
		_, err = f.As(Mira).ListComments(t.Context(), tracker.CommentQuery{Issue: ref, Limit: 10})
		refusedAs(t, err, fault.NotFound, fault.TargetNotFound)
		_, err = f.As(Mira).UpdateIssue(t.Context(), ref, tracker.IssueChange{Title: tracker.Some[tracker.Title]("Back")})
		refusedAs(t, err, fault.NotFound, fault.TargetNotFound)
		_, err = f.As(Mira).CreateComment(t.Context(), tracker.NewComment{Issue: ref, Content: "Still there?"})
		refusedAs(t, err, fault.NotFound, fault.TargetNotFound)
		_, err = f.As(Mira).AssignIssue(t.Context(), tracker.Assignment{Issue: ref, Agent: "Atlas"})
		refusedAs(t, err, fault.NotFound, fault.TargetNotFound)
		_, err = f.As(Mira).ListIssues(t.Context(), tracker.IssueQuery{Parent: ref, Limit: 10})
		wantField(t, refusedAs(t, err, fault.Invalid, fault.UnknownReference), "parent_issue_id")
	}
	for what, q := range map[string]tracker.IssueQuery{
		"all":            {},
		"by number":      {Sort: tracker.SortCreated},
		"by status":      {Statuses: []tracker.Status{tracker.Todo}},
		"unassigned":     {Unassigned: true},
		"by label":       {Labels: []tracker.LabelRef{"docs"}},
		"of the parent":  {Parent: tracker.IssueRef(parent.ID)},
		"its identifier": {Query: tracker.SearchText(gone.Identifier)},
		"its title":      {Query: "part"},
	} {
		if slices.Contains(issueIDs(f.by(t, Mira).list(q, nil)), gone.ID) {
			t.Errorf("%s: the list holds a deleted issue", what)
		}
	}
	if got := f.by(t, Mira).get(parent.ID); got.SubIssueCount != 0 {
		t.Errorf("the parent counts %d sub-issues, want 0", got.SubIssueCount)
	}
}

func refusesWhoLeft(t *testing.T, f Fixture) {
	f.Leave(t, Elin)
	for _, user := range []tracker.ID{Elin, Left, Ada} {
		_, err := f.As(user).GetIssue(t.Context(), "AAC-1")
		refusedAs(t, err, fault.Unauthenticated, fault.TokenRevoked)
		_, err = f.As(user).ListIssues(t.Context(), tracker.IssueQuery{Limit: 10})
		refusedAs(t, err, fault.Unauthenticated, fault.TokenRevoked)
		_, err = f.As(user).ListComments(t.Context(), tracker.CommentQuery{Issue: "AAC-3", Limit: 10})
		refusedAs(t, err, fault.Unauthenticated, fault.TokenRevoked)
	}
	if got := f.by(t, Tomas).get(Talk); got.Issue.AssigneeName != "Elin Novak" {
		t.Errorf("the assignee who left is called %q", got.Issue.AssigneeName)
	}
	f.SetRole(t, Tomas, identity.Admin)
	f.by(t, Priya).give(Plain, Scout, "queued")
	if got := f.by(t, Tomas).get(Plain); got.Issue.AssigneeName != "Scout" {
		t.Error("a new administrator does not see a private agent: the role must be that of now")
	}
}
