package records

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

// randomSnapshot is the Home workspace with n random issues, a tenth of them tombstones.
func randomSnapshot(rnd *rand.Rand, n int) Snapshot {
	s := snapshotOf(trackertest.World()[0])
	s.Tasks, s.Usage = nil, nil
	start := microsOf(trackertest.Start)
	s.Issues = nil
	for number := 1; number <= n; number++ {
		i := IssueSnapshot{
			ID: tracker.ID(fmt.Sprintf("00000000-0000-7000-8004-%012d", number)), Number: number,
			Title:    strings.Join([]string{pick1(rnd, words), pick1(rnd, words), pick1(rnd, words)}, " "),
			Status:   tracker.Status(pick1(rnd, tracker.Todo.Values())),
			Priority: tracker.Priority(pick1(rnd, tracker.Low.Values())), Revision: 1,
			CreatorType: tracker.MemberActor, CreatorID: pick1(rnd, somebody),
			CreatedAt: start + Micros(number), UpdatedAt: start + Micros(rnd.IntN(n/2)), // ties
		}
		switch rnd.IntN(3) {
		case 0:
			i.AssigneeType, i.AssigneeID = tracker.MemberActor, pick1(rnd, somebody)
		case 1:
			i.AssigneeType, i.AssigneeID = tracker.AgentActor, trackertest.Atlas
		}
		for _, l := range s.Labels {
			if rnd.IntN(3) == 0 {
				i.LabelIDs = append(i.LabelIDs, l.ID)
			}
		}
		if number > 10 && rnd.IntN(10) == 0 {
			i.Deleted = &IssueTombstone{At: start, By: trackertest.Mira}
		}
		if parent := rnd.IntN(20); number > 10 && parent < 5 { // numbers 1 to 5 have children
			i.ParentID = s.Issues[parent].ID
		}
		s.Issues = append(s.Issues, i)
	}
	s.NextNumber = n + 1
	return s
}

var (
	words    = []string{"board", "Board", "import", "ÜBER", "sign-in", "search"}
	somebody = []tracker.ID{trackertest.Mira, trackertest.Jonas, trackertest.Priya}
)

func pick1[T any](rnd *rand.Rand, of []T) T { return of[rnd.IntN(len(of))] }

func randomQuery(rnd *rand.Rand, n int) tracker.IssueQuery {
	q := tracker.IssueQuery{
		Sort: tracker.Sort(pick1(rnd, tracker.SortCreated.Values())), Limit: 1 + rnd.IntN(30),
		Direction: tracker.Direction(pick1(rnd, tracker.Ascending.Values())),
	}
	if rnd.IntN(3) == 0 {
		for range 1 + rnd.IntN(2) {
			q.Statuses = append(q.Statuses, tracker.Status(pick1(rnd, tracker.Todo.Values())))
		}
	}
	if rnd.IntN(5) == 0 {
		q.Priorities = tracker.List[tracker.Priority]{tracker.Priority(pick1(rnd, tracker.Low.Values())), tracker.High}
	}
	switch rnd.IntN(8) {
	case 0:
		q.Unassigned = true
	case 1:
		q.Assignee = "Mira Okafor"
	case 2:
		q.Assignee = tracker.AssigneeRef(trackertest.Atlas)
	}
	if rnd.IntN(5) == 0 {
		q.Creator = "jonas lind"
	}
	if rnd.IntN(5) == 0 {
		q.Labels = tracker.List[tracker.LabelRef]{"bug", "DOCS"}
	}
	if rnd.IntN(5) == 0 {
		q.Parent = tracker.IssueRef(fmt.Sprintf("AAC-%d", 1+rnd.IntN(6)))
	}
	switch rnd.IntN(6) {
	case 0:
		q.Query = "über"
	case 1:
		q.Query = "SEARCH boa"
	case 2:
		q.Query = tracker.SearchText(fmt.Sprintf("aac-%d", 1+rnd.IntN(n)))
	}
	return q
}

// oracle answers the query from the snapshot, without a plan, index or page.
func oracle(s Snapshot, q tracker.IssueQuery) []int {
	ids := map[string]tracker.ID{"Mira Okafor": trackertest.Mira, "jonas lind": trackertest.Jonas, string(trackertest.Atlas): trackertest.Atlas}
	var out []IssueSnapshot
	for _, i := range s.Issues {
		title, keep := strings.ToLower(i.Title), i.Deleted == nil
		keep = keep && (len(q.Statuses) == 0 || slices.Contains(q.Statuses, i.Status))
		keep = keep && (len(q.Priorities) == 0 || slices.Contains(q.Priorities, i.Priority))
		keep = keep && (!q.Unassigned || i.AssigneeID == "")
		keep = keep && (q.Assignee == "" || i.AssigneeID == ids[string(q.Assignee)])
		keep = keep && (q.Creator == "" || i.CreatorID == ids[string(q.Creator)])
		keep = keep && (len(q.Labels) == 0 || slices.Contains(i.LabelIDs, trackertest.Bug) || slices.Contains(i.LabelIDs, trackertest.Docs))
		if q.Parent != "" {
			_, n, _ := q.Parent.Identifier()
			keep = keep && i.ParentID == s.Issues[n-1].ID
		}
		if _, n, ok := tracker.IssueRef(q.Query).Identifier(); ok {
			keep = keep && i.Number == n
		} else {
			for _, w := range strings.Fields(strings.ToLower(string(q.Query))) {
				keep = keep && strings.Contains(title, w)
			}
		}
		if keep {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(a, b IssueSnapshot) int {
		if q.Direction == tracker.Descending {
			a, b = b, a
		}
		if q.Sort == tracker.SortCreated {
			return cmp.Compare(a.Number, b.Number)
		}
		return cmp.Or(cmp.Compare(a.UpdatedAt, b.UpdatedAt), cmp.Compare(a.Number, b.Number))
	})
	numbers := make([]int, 0, len(out))
	for _, i := range out {
		numbers = append(numbers, i.Number)
	}
	return numbers
}

// meter counts the requests that reach a table, and cuts pages short.
type meter struct {
	table.Reader
	most                  int // items of a page; 0: as many as asked for
	gets, batches, ranges int
}

func (m *meter) Get(ctx context.Context, key table.Key) (table.Item, bool, error) {
	m.gets++
	return m.Reader.Get(ctx, key)
}

func (m *meter) BatchGet(ctx context.Context, keys []table.Key) ([]table.Item, error) {
	m.batches++
	return m.Reader.BatchGet(ctx, keys)
}

func (m *meter) Query(ctx context.Context, q table.Query) (table.Page, error) {
	m.ranges++
	if m.most > 0 {
		q.Limit = min(q.Limit, m.most)
	}
	return m.Reader.Query(ctx, q)
}

func (m *meter) String() string {
	return fmt.Sprintf("%d get %d batch %d query", m.gets, m.batches, m.ranges)
}

func TestListIssuesAgainstAnOracle(t *testing.T) {
	const issues, queries = 200, 300
	rnd := rand.New(rand.NewPCG(1, 2))
	s := randomSnapshot(rnd, issues)
	db := emptyTables(t)
	if err := Load(ctx, db, s); err != nil {
		t.Fatal(err)
	}
	matched, short := 0, 0
	for range queries {
		q := randomQuery(rnd, issues)
		want := oracle(s, q)
		matched += len(want)
		got := []int{}
		for pages := 0; ; pages++ {
			m := &meter{Reader: db, most: []int{0, 1, 40}[rnd.IntN(3)]}
			page, err := asking(m, trackertest.Tomas).ListIssues(ctx, q)
			if err != nil {
				t.Fatalf("%+v: %v", q, err)
			}
			if m.ranges > maxQueries || m.gets+m.batches > 3 || len(page.Issues) > q.Limit || pages > issues {
				t.Fatalf("%+v: page %d of %d issues took %s", q, pages, len(page.Issues), m)
			}
			for _, i := range page.Issues {
				got = append(got, i.Number)
			}
			if page.NextCursor == "" {
				break
			}
			if len(page.Issues) < q.Limit {
				short++
			}
			q.Cursor = page.NextCursor
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v: got %v, want %v", q, got, want)
		}
	}
	if matched < queries || short == 0 {
		t.Errorf("%d matches and %d short pages in all: this test looks at too little", matched, short)
	}
}

// TestRequests is the number of requests that each question makes to the table, found or not.
func TestRequests(t *testing.T) {
	db := worldTables(t)
	foreign := tracker.IssueRef(trackertest.ForeignIssue)
	get := func(ref tracker.IssueRef) func(*reader) error {
		return func(r *reader) error { _, err := r.GetIssue(ctx, ref); return err }
	}
	comments := func(q tracker.CommentQuery) func(*reader) error {
		return func(r *reader) error { _, err := r.ListComments(ctx, q); return err }
	}
	list := func(q tracker.IssueQuery) func(*reader) error {
		return func(r *reader) error { _, err := r.ListIssues(ctx, q); return err }
	}
	for _, tt := range []struct {
		what, want string
		ask        func(*reader) error
	}{
		{"issue by identifier", "0 get 1 batch 0 query", get("AAC-1")},
		{"missing issue by identifier", "0 get 1 batch 0 query", get("AAC-99")},
		{"foreign issue by identifier", "0 get 1 batch 0 query", get("NOR-1")},
		{"issue by id", "0 get 2 batch 0 query", get(tracker.IssueRef(trackertest.Plain))},
		{"missing issue by id", "0 get 2 batch 0 query", get(tracker.IssueRef(trackertest.NoSuchID))},
		{"foreign issue by id", "0 get 2 batch 0 query", get(foreign)},
		{"comments by identifier", "0 get 1 batch 1 query", comments(tracker.CommentQuery{Issue: "AAC-3"})},
		{"comments of a missing issue", "0 get 1 batch 1 query", comments(tracker.CommentQuery{Issue: "AAC-99"})},
		{"comments by id", "0 get 2 batch 1 query", comments(tracker.CommentQuery{Issue: tracker.IssueRef(trackertest.Talk)})},
		{"comments of a foreign issue", "0 get 2 batch 1 query", comments(tracker.CommentQuery{Issue: foreign})},
		{"a thread by its root", "0 get 3 batch 0 query", comments(tracker.CommentQuery{Issue: "AAC-3", Thread: trackertest.Question})},
		{"a thread by a reply", "1 get 3 batch 0 query", comments(tracker.CommentQuery{Issue: "AAC-3", Thread: trackertest.Answer})},
		{"all issues", "1 get 0 batch 1 query", list(tracker.IssueQuery{})},
		{"my issues", "1 get 0 batch 1 query", list(tracker.IssueQuery{Assignee: "me"})},
		{"issues with filters", "1 get 0 batch 1 query", list(tracker.IssueQuery{Creator: "Priya Raman", Labels: []tracker.LabelRef{"bug"}})},
		{"sub-issues", "0 get 1 batch 0 query", list(tracker.IssueQuery{Parent: "AAC-1"})},
		{"an identifier", "1 get 1 batch 0 query", list(tracker.IssueQuery{Query: "AAC-1"})},
		{"nothing at all", "1 get 0 batch 1 query", list(tracker.IssueQuery{Unassigned: true, Assignee: "me"})},
		{"usage", "0 get 0 batch 1 query", func(r *reader) error { _, err := r.GetUsage(ctx, tracker.UsageQuery{Days: 30}); return err }},
	} {
		m := &meter{Reader: db}
		err := tt.ask(asking(m, trackertest.Tomas))
		if found := !strings.Contains(tt.what, "missing") && !strings.Contains(tt.what, "foreign"); found != (err == nil) {
			t.Errorf("%s: %v", tt.what, err)
		}
		if got := m.String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, got, tt.want)
		}
	}
}

// TestListIssuesPassesOverManyThatDoNotMatch: a page may be empty and yet have a next one.
func TestListIssuesPassesOverManyThatDoNotMatch(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	s := randomSnapshot(rnd, 1200)
	for n := range s.Issues {
		s.Issues[n].Title, s.Issues[n].Deleted, s.Issues[n].ParentID = "hay", nil, ""
		s.Issues[n].UpdatedAt = microsOf(trackertest.Start.Add(time.Duration(n) * time.Second))
	}
	s.Issues[3].Title = "needle"
	db := emptyTables(t)
	if err := Load(ctx, db, s); err != nil {
		t.Fatal(err)
	}
	q := tracker.IssueQuery{Query: "needle", Limit: 10}
	first, err := asking(db, trackertest.Tomas).ListIssues(ctx, q)
	if err != nil || len(first.Issues) != 0 || first.NextCursor == "" {
		t.Fatalf("the first page: %d issues, next %q, %v", len(first.Issues), first.NextCursor, err)
	}
	q.Cursor = first.NextCursor
	second, err := asking(db, trackertest.Tomas).ListIssues(ctx, q)
	if err != nil || len(second.Issues) != 1 || second.NextCursor != "" {
		t.Fatalf("the second page: %d issues, next %q, %v", len(second.Issues), second.NextCursor, err)
	}
}
