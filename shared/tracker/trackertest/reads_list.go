package trackertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

var listCases = []testCase{
	{"lists come in the order asked for", listsInOrder},
	{"each filter holds, alone and with others", listsFiltered},
	{"references of filters", listsByReference},
	{"a cursor continues its own list and no other", listCursors},
	{"by number, pages under writes repeat and miss nothing", pagesUnderWrites},
	{"what changes keeps its place by number and moves by change", listsMoved},
}

func listsInOrder(t *testing.T, f Fixture) {
	for _, tt := range []struct {
		sort tracker.Sort
		dir  tracker.Direction
		want []tracker.ID
	}{
		{"", "", []tracker.ID{Talk, Working, Plain}},
		{tracker.SortUpdated, tracker.Ascending, []tracker.ID{Plain, Working, Talk}},
		{tracker.SortCreated, "", []tracker.ID{Talk, Working, Plain}},
		{tracker.SortCreated, tracker.Ascending, []tracker.ID{Plain, Working, Talk}},
	} {
		for limit := 1; limit <= 4; limit++ {
			got := f.by(t, Tomas).list(tracker.IssueQuery{Sort: tt.sort, Direction: tt.dir, Limit: limit}, nil)
			wantIDs(t, fmt.Sprintf("%s %s in pages of %d", tt.sort, tt.dir, limit), issueIDs(got), tt.want...)
		}
	}
	page, err := f.Abroad().ListIssues(t.Context(), tracker.IssueQuery{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "abroad", issueIDs(page.Issues), ForeignIssue)
	if page.NextCursor != "" {
		t.Error("the last page has a next one")
	}
	detail := f.by(t, Tomas).get(Plain).Issue.Summary
	equal(t, "the issue in a list and alone", detail, f.by(t, Tomas).list(tracker.IssueQuery{Query: "plain"}, nil)[0])
}

func listsFiltered(t *testing.T, f Fixture) {
	whole := f.by(t, Jonas).create(tracker.NewIssue{Title: "Écran Bleu", Status: tracker.Blocked, Priority: tracker.Urgent, Assignee: "me"}).Issue
	part := f.by(t, Jonas).create(tracker.NewIssue{
		Title: "Bleu partout", Parent: tracker.IssueRef(whole.ID), Labels: []tracker.LabelRef{"docs"}, Assignee: "Tomas Rey",
	}).Issue
	for what, tt := range map[string]struct {
		q    tracker.IssueQuery
		want []tracker.ID
	}{
		"one status":               {tracker.IssueQuery{Statuses: []tracker.Status{tracker.Todo}}, []tracker.ID{Plain, part.ID}},
		"two statuses":             {tracker.IssueQuery{Statuses: []tracker.Status{tracker.Blocked, tracker.InReview}}, []tracker.ID{Talk, whole.ID}},
		"a status of none":         {tracker.IssueQuery{Statuses: []tracker.Status{tracker.Cancelled}}, nil},
		"priority":                 {tracker.IssueQuery{Priorities: []tracker.Priority{tracker.Urgent, tracker.High}}, []tracker.ID{Working, whole.ID}},
		"assignee":                 {tracker.IssueQuery{Assignee: "Tomas Rey"}, []tracker.ID{part.ID}},
		"an agent as assignee":     {tracker.IssueQuery{Assignee: "atlas"}, []tracker.ID{Working}},
		"me":                       {tracker.IssueQuery{Assignee: "ME"}, []tracker.ID{whole.ID}},
		"unassigned":               {tracker.IssueQuery{Unassigned: true}, []tracker.ID{Plain}},
		"unassigned and assigned":  {tracker.IssueQuery{Unassigned: true, Assignee: "me"}, nil},
		"creator":                  {tracker.IssueQuery{Creator: "Priya Raman"}, []tracker.ID{Plain}},
		"an agent as creator":      {tracker.IssueQuery{Creator: tracker.AssigneeRef(Atlas)}, []tracker.ID{Working}},
		"labels":                   {tracker.IssueQuery{Labels: []tracker.LabelRef{"docs", "Bug"}}, []tracker.ID{Plain, part.ID}},
		"parent":                   {tracker.IssueQuery{Parent: tracker.IssueRef(whole.Identifier)}, []tracker.ID{part.ID}},
		"parent and another":       {tracker.IssueQuery{Parent: tracker.IssueRef(whole.ID), Statuses: []tracker.Status{tracker.Done}}, nil},
		"a parent of none":         {tracker.IssueQuery{Parent: tracker.IssueRef(part.ID)}, nil},
		"each word in the title":   {tracker.IssueQuery{Query: "BLEU écr"}, []tracker.ID{whole.ID}},
		"an identifier":            {tracker.IssueQuery{Query: "aac-2"}, []tracker.ID{Working}},
		"an identifier of another": {tracker.IssueQuery{Query: "NOR-1"}, nil},
		"all at once": {tracker.IssueQuery{
			Statuses: []tracker.Status{tracker.Todo}, Priorities: []tracker.Priority{tracker.NoPriority}, Assignee: tracker.AssigneeRef(Tomas),
			Creator: "jonas@example.com", Labels: []tracker.LabelRef{tracker.LabelRef(Docs)}, Parent: tracker.IssueRef(whole.ID), Query: "bleu",
		}, []tracker.ID{part.ID}},
	} {
		for _, sort := range []tracker.Sort{tracker.SortUpdated, tracker.SortCreated} {
			for _, limit := range []int{1, 100} {
				q := tt.q
				q.Sort, q.Direction, q.Limit = sort, tracker.Ascending, limit
				got := issueIDs(f.by(t, Jonas).list(q, nil))
				wantIDs(t, fmt.Sprintf("%s, by %s in pages of %d", what, sort, limit), got, tt.want...)
			}
		}
	}
}

func listsByReference(t *testing.T, f Fixture) {
	ask := func(q tracker.IssueQuery) error {
		q.Limit = 10
		_, err := f.As(Elin).ListIssues(t.Context(), q)
		return err
	}
	for _, ref := range []tracker.AssigneeRef{
		"me", " Tomas Rey ", "TOMAS REY", "tomas@example.com", "Tomas@Example.com", tracker.AssigneeRef(Tomas),
		"Scribe", "Relic", tracker.AssigneeRef(Relic), "Former Member", tracker.AssigneeRef(Left), tracker.AssigneeRef(Twin1),
	} {
		if err := ask(tracker.IssueQuery{Assignee: ref}); err != nil {
			t.Errorf("%s: %s", ref, describe(err))
		}
	}
	for _, ref := range []tracker.AssigneeRef{"Nobody", "Tomas", "ada@example.com", tracker.AssigneeRef(Ada), tracker.AssigneeRef(Bug)} {
		f := refusedAs(t, ask(tracker.IssueQuery{Assignee: ref}), fault.Invalid, fault.UnknownReference)
		wantField(t, f, "assignee_id")
		got := choices(t, f)
		if len(got) == 0 || len(got) > 20 {
			t.Errorf("%s: %d choices", ref, len(got))
		}
		for _, c := range got {
			if strings.Contains(c, "@") || c == "Scout" || c == "Former Member" || c == "Relic" || c == "Ada Berg" {
				t.Errorf("%s: the choices hold %s", ref, c)
			}
		}
	}
	ambiguous := refusedAs(t, ask(tracker.IssueQuery{Creator: "same name"}), fault.Invalid, fault.AmbiguousReference)
	wantField(t, ambiguous, "creator_id")
	if got := choices(t, ambiguous); !slices.Contains(got, string(Twin1)) || !slices.Contains(got, string(Twin2)) || len(got) != 2 {
		t.Errorf("choices of an ambiguous name: %v", got)
	}
	label := refusedAs(t, ask(tracker.IssueQuery{Labels: []tracker.LabelRef{"bug", "bugs"}}), fault.Invalid, fault.UnknownReference)
	wantField(t, label, "label_ids")
	if got := choices(t, label); !slices.Contains(got, "bug") || len(got) != 3 {
		t.Errorf("choices of a label: %v", got)
	}
	for _, ref := range []tracker.IssueRef{"AAC-77", "NOR-1", tracker.IssueRef(ForeignIssue)} {
		wantField(t, refusedAs(t, ask(tracker.IssueQuery{Parent: ref}), fault.Invalid, fault.UnknownReference), "parent_issue_id")
	}
}

func listCursors(t *testing.T, f Fixture) {
	base := tracker.IssueQuery{Limit: 1}
	first, err := f.As(Tomas).ListIssues(t.Context(), base)
	if err != nil || first.NextCursor == "" {
		t.Fatalf("no cursor: %v", err)
	}
	cursor := first.NextCursor
	if len(cursor) > tracker.MaxCursor {
		t.Errorf("a cursor of %d characters", len(cursor))
	}
	refused := func(what string, s tracker.Store, q tracker.IssueQuery) {
		t.Helper()
		if _, err := s.ListIssues(t.Context(), q); err == nil {
			t.Errorf("%s: accepted", what)
		} else {
			refusedAs(t, err, fault.Invalid, fault.InvalidCursor)
		}
	}
	for what, c := range map[string]tracker.Cursor{
		"made up": "abc", "not base64": "%%%", "cut": cursor[:len(cursor)-1], "longer": cursor + "A", "twice": cursor + cursor,
		"too long": tracker.Cursor(strings.Repeat("A", 2000)), "changed": "A" + cursor[1:],
	} {
		refused(what, f.As(Tomas), tracker.IssueQuery{Limit: 1, Cursor: c})
	}
	for what, change := range map[string]func(*tracker.IssueQuery){
		"sort":       func(q *tracker.IssueQuery) { q.Sort = tracker.SortCreated },
		"direction":  func(q *tracker.IssueQuery) { q.Direction = tracker.Ascending },
		"statuses":   func(q *tracker.IssueQuery) { q.Statuses = []tracker.Status{tracker.Todo} },
		"priorities": func(q *tracker.IssueQuery) { q.Priorities = []tracker.Priority{tracker.Low} },
		"assignee":   func(q *tracker.IssueQuery) { q.Assignee = "me" },
		"unassigned": func(q *tracker.IssueQuery) { q.Unassigned = true },
		"creator":    func(q *tracker.IssueQuery) { q.Creator = "me" },
		"labels":     func(q *tracker.IssueQuery) { q.Labels = []tracker.LabelRef{"bug"} },
		"parent":     func(q *tracker.IssueQuery) { q.Parent = "AAC-1" },
		"query":      func(q *tracker.IssueQuery) { q.Query = "plain" },
	} {
		q := base
		q.Cursor = cursor
		change(&q)
		refused("with another "+what, f.As(Tomas), q)
	}
	refused("in another workspace", f.Abroad(), tracker.IssueQuery{Limit: 1, Cursor: cursor})
	if _, err := f.As(Tomas).ListComments(t.Context(), tracker.CommentQuery{Issue: "AAC-3", Limit: 1, Cursor: cursor}); err == nil {
		t.Error("a list of comments takes the cursor of a list of issues")
	}
	if _, err := f.As(Tomas).GetUsage(t.Context(), tracker.UsageQuery{Days: 30, Limit: 1, Cursor: cursor}); err == nil {
		t.Error("usage takes the cursor of a list of issues")
	}
	other := tracker.IssueQuery{Limit: 100, Cursor: cursor, Sort: tracker.SortUpdated, Direction: tracker.Descending}
	page, err := f.As(Elin).ListIssues(t.Context(), other)
	if err != nil {
		t.Fatalf("with the defaults written out, another limit and another member: %s", describe(err))
	}
	wantIDs(t, "the rest", issueIDs(page.Issues), Working, Plain)
}

func pagesUnderWrites(t *testing.T, f Fixture) {
	for n := range 20 {
		f.by(t, Mira).issue(tracker.Title(fmt.Sprintf("Stays %d", n)))
	}
	before := issueIDs(f.by(t, Mira).list(tracker.IssueQuery{Sort: tracker.SortCreated}, nil))
	doomed := f.by(t, Mira).issue("Goes")
	for _, dir := range []tracker.Direction{tracker.Ascending, tracker.Descending} {
		write := func(page int) {
			f.Clock.Advance(time.Second)
			f.by(t, Mira).issue("Comes")
			f.by(t, Mira).move(before[(page*7)%len(before)], []tracker.Status{tracker.Done, tracker.Todo}[page%2])
			if page == 1 {
				f.by(t, Mira).delete(doomed.ID)
			}
		}
		seen := map[tracker.ID]int{}
		last := 0
		for _, i := range f.by(t, Mira).list(tracker.IssueQuery{Sort: tracker.SortCreated, Direction: dir, Limit: 3}, write) {
			seen[i.ID]++
			if last != 0 && (i.Number > last) != (dir == tracker.Ascending) {
				t.Errorf("%s: %d comes after %d", dir, i.Number, last)
			}
			last = i.Number
		}
		for _, id := range before {
			if seen[id] != 1 {
				t.Errorf("%s: %s came %d times", dir, id, seen[id])
			}
		}
	}
}

func listsMoved(t *testing.T, f Fixture) {
	f.by(t, Mira).move(Plain, tracker.Done)
	wantIDs(t, "by change", issueIDs(f.by(t, Mira).list(tracker.IssueQuery{}, nil)), Plain, Talk, Working)
	wantIDs(t, "by number", issueIDs(f.by(t, Mira).list(tracker.IssueQuery{Sort: tracker.SortCreated}, nil)), Talk, Working, Plain)
	wantIDs(t, "where it was", issueIDs(f.by(t, Mira).list(tracker.IssueQuery{Statuses: []tracker.Status{tracker.Todo}}, nil)))
	wantIDs(t, "where it is", issueIDs(f.by(t, Mira).list(tracker.IssueQuery{Statuses: []tracker.Status{tracker.Done}}, nil)), Plain)
	f.by(t, Mira).update(Plain, tracker.IssueChange{Assignee: tracker.Some[tracker.MemberRef]("me")})
	wantIDs(t, "whose it was", issueIDs(f.by(t, Mira).list(tracker.IssueQuery{Unassigned: true}, nil)))
	wantIDs(t, "whose it is", issueIDs(f.by(t, Mira).list(tracker.IssueQuery{Assignee: "me"}, nil)), Plain)
}
