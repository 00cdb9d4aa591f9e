package records

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

var ctx = context.Background()

// bigSnapshot needs several commits, and has some of everything.
func bigSnapshot(shift Micros) Snapshot {
	s := snapshotOf(trackertest.World()[0])
	for n := range 150 {
		i := s.Issues[0]
		i.ID, i.Number = nextID(), 10+n
		i.CreatedAt, i.UpdatedAt = i.CreatedAt+shift, i.UpdatedAt+shift+Micros(n)
		i.Comments = []CommentSnapshot{{
			ID: nextID(), AuthorType: tracker.MemberActor, AuthorID: trackertest.Mira, Content: "word", CreatedAt: 1000 + shift,
		}}
		s.Issues = append(s.Issues, i)
	}
	s.Runs = append(s.Runs, RunSnapshot{ID: nextID(), AutopilotID: trackertest.Triage, Status: "completed", TriggeredAt: 5000 + shift})
	s.NextNumber = 500
	return s
}

// breaking is a table whose commits fail after some.
type breaking struct {
	*embedded.DB
	left int
}

var errBroken = errors.New("broken")

func (b *breaking) Commit(ctx context.Context, ops []table.Op) error {
	if b.left == 0 {
		return errBroken
	}
	b.left--
	return b.DB.Commit(ctx, ops)
}

func TestLoadAfterACrash(t *testing.T) {
	want := dump(t, loadAll(t, emptyTables(t), 7))
	for left := 1; ; left++ {
		db := emptyTables(t)
		err := Load(ctx, &breaking{db, left}, bigSnapshot(0))
		if err == nil {
			if left < 4 {
				t.Fatalf("loaded with %d commits: the snapshot is too small for this test", left)
			}
			break
		}
		if !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
		if exists, err := Exists(ctx, db, trackertest.Home); err != nil || exists {
			t.Fatalf("after %d commits: exists %v, %v", left, exists, err)
		}
		if _, _, active, err := Members(db).Member(ctx, string(trackertest.Home), string(trackertest.Mira)); active || err != nil {
			t.Fatalf("after %d commits: a member is active: %v, %v", left, active, err)
		}
		if got := dump(t, loadAll(t, db, 7)); got != want {
			t.Errorf("after %d commits and another load: %s", left, cmp.Diff(want, got))
		}
	}
}

// loadAll loads with ids that are the same each time.
func loadAll(t *testing.T, db *embedded.DB, shift Micros) *embedded.DB {
	t.Helper()
	s := bigSnapshot(shift)
	for i := range s.Issues[3:] {
		issue := &s.Issues[3+i]
		issue.ID = tracker.ID(fmt.Sprintf("00000000-0000-7000-8001-%012d", i))
		issue.Comments[0].ID = tracker.ID(fmt.Sprintf("00000000-0000-7000-8002-%012d", i))
	}
	s.Runs[0].ID = "00000000-0000-7000-8003-000000000000"
	if err := Load(ctx, db, s); err != nil {
		t.Fatal(err)
	}
	return db
}

// dump writes down the data table of the Home workspace as far as a loaded workspace can have
// rows, also those that nothing leads to any more.
func dump(t *testing.T, db *embedded.DB) string {
	t.Helper()
	w := trackertest.Home
	partitions := []string{workspacePK(w), usagePK(w), counterKey(w).PK, slugKey("demo").PK}
	for n := range 500 {
		partitions = append(partitions, commentsPK(w, n), bodyKey(w, n).PK, threadKey(w, n, "").PK)
	}
	for n := range 100 {
		partitions = append(partitions, runsPK(w, tracker.ID(fmt.Sprintf("00000000-0000-7000-8000-%012d", n))))
	}
	var b strings.Builder
	for _, pk := range partitions {
		q := table.Query{Table: table.Data, PK: pk, Limit: 1000}
		for {
			page, err := db.Query(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range page.Items {
				fmt.Fprintf(&b, "%s %s %d %v %s\n", it.PK, it.SK, it.Version, it.Index, it.Doc)
				q.After = it.SK
			}
			if !page.More {
				break
			}
		}
	}
	return b.String()
}

func TestLoadRefusesWhatExists(t *testing.T) {
	db := worldTables(t)
	before := dump(t, db)
	again := snapshotOf(trackertest.World()[0])
	if err := Load(ctx, db, again); !errors.Is(err, errExists) {
		t.Errorf("the same workspace again: %v", err)
	}
	again.Workspace.Slug = "another"
	if err := Load(ctx, db, again); !errors.Is(err, errExists) {
		t.Errorf("under another slug: %v", err)
	}
	other := Snapshot{
		Workspace: Workspace{ID: nextID(), Name: "Other", Slug: "demo", IssuePrefix: "OTH"},
		Members:   []Member{{UserID: nextID(), Role: "owner", Name: "Someone"}}, NextNumber: 1,
	}
	if err := Load(ctx, db, other); !errors.Is(err, errSlugTaken) {
		t.Errorf("another workspace under the same slug: %v", err)
	}
	if after := dump(t, db); after != before {
		t.Error("a refused load changed something:", cmp.Diff(before, after))
	}
}

// overtaking begins another load before its nth commit.
type overtaking struct {
	*embedded.DB
	before func()
	at, n  int
}

func (o *overtaking) Commit(ctx context.Context, ops []table.Op) error {
	if o.n++; o.n == o.at {
		o.before()
	}
	return o.DB.Commit(ctx, ops)
}

func TestOfTwoLoadsOneFinishes(t *testing.T) {
	for at := 2; at <= 4; at++ {
		db := emptyTables(t)
		other := func() { loadAll(t, db, 7) }
		err := Load(ctx, &overtaking{DB: db, before: other, at: at}, bigSnapshot(0))
		if !errors.Is(err, errOvertaken) {
			t.Errorf("overtaken at commit %d: %v", at, err)
		}
		if got, want := dump(t, db), dump(t, loadAll(t, emptyTables(t), 7)); got != want {
			t.Errorf("overtaken at commit %d: %s", at, cmp.Diff(want, got))
		}
	}
}

func TestLoadChecksTheSnapshot(t *testing.T) {
	cases := map[string]func(s *Snapshot){
		"no owner":                func(s *Snapshot) { s.Members[0].Role = "admin" },
		"owner has left":          func(s *Snapshot) { s.Members[0].LeftAt = 1 },
		"unknown role":            func(s *Snapshot) { s.Members[1].Role = "king" },
		"id twice":                func(s *Snapshot) { s.Members[1].UserID = s.Members[0].UserID },
		"id in upper case":        func(s *Snapshot) { s.Labels[0].ID = "00000000-0000-7000-8000-00000000000A" },
		"prefix":                  func(s *Snapshot) { s.Workspace.IssuePrefix = "aac" },
		"slug":                    func(s *Snapshot) { s.Workspace.Slug = "a#b" },
		"next number taken":       func(s *Snapshot) { s.NextNumber = 3 },
		"number twice":            func(s *Snapshot) { s.Issues[1].Number = 1 },
		"member called me":        func(s *Snapshot) { s.Members[1].Name = " Me " },
		"agent like an id":        func(s *Snapshot) { s.Agents[1].Name = string(trackertest.Mira) },
		"agents of one name":      func(s *Snapshot) { s.Agents[1].Name = "ATLAS" },
		"agent of nobody":         func(s *Snapshot) { s.Agents[1].OwnerID = trackertest.NoSuchID },
		"label color":             func(s *Snapshot) { s.Labels[0].Color = "red" },
		"autopilot without agent": func(s *Snapshot) { s.Autopilots[0].AssigneeID = trackertest.Mira },
		"autopilot mode":          func(s *Snapshot) { s.Autopilots[0].ExecutionMode = "fly" },
		"unknown label":           func(s *Snapshot) { s.Issues[0].LabelIDs = []tracker.ID{trackertest.NoSuchID} },
		"unknown assignee": func(s *Snapshot) {
			s.Issues[0].AssigneeType = tracker.AgentActor
			s.Issues[0].AssigneeID = trackertest.Mira
		},
		"own parent":                func(s *Snapshot) { s.Issues[0].ParentID = s.Issues[0].ID },
		"deleted parent":            func(s *Snapshot) { s.Issues[0].Deleted = &IssueTombstone{}; s.Issues[1].ParentID = s.Issues[0].ID },
		"no title":                  func(s *Snapshot) { s.Issues[0].Title = "" },
		"unknown status":            func(s *Snapshot) { s.Issues[0].Status = "lost" },
		"revision":                  func(s *Snapshot) { s.Issues[0].Revision = 0 },
		"comment before its parent": func(s *Snapshot) { s.Issues[2].Comments[1].CreatedAt = 1 },
		"live below deleted":        func(s *Snapshot) { s.Issues[2].Comments[0].Deleted = &CommentTombstone{} },
		"deleted with active task":  func(s *Snapshot) { s.Issues[1].Deleted = &IssueTombstone{} },
		"unknown task issue":        func(s *Snapshot) { s.Tasks[0].IssueID = trackertest.NoSuchID },
		"unknown run autopilot":     func(s *Snapshot) { s.Runs = []RunSnapshot{{ID: nextID(), AutopilotID: trackertest.Mira}} },
		"unknown origin run":        func(s *Snapshot) { s.Issues[0].OriginRunID = trackertest.NoSuchID },
		"usage twice":               func(s *Snapshot) { s.Usage = append(s.Usage, s.Usage[0]) },
		"usage provider":            func(s *Snapshot) { s.Usage[0].Provider = "a#b" },
		"usage day":                 func(s *Snapshot) { s.Usage[0].Date = "today" },
		"too many sub-issues": func(s *Snapshot) {
			for n := range tracker.MaxSubIssues + 1 {
				i := s.Issues[0]
				i.ID, i.Number, i.ParentID = nextID(), 10+n, s.Issues[0].ID
				s.Issues = append(s.Issues, i)
			}
			s.NextNumber = 100
		},
		"too long a thread": func(s *Snapshot) {
			i := &s.Issues[2]
			for range tracker.MaxThreadComments {
				c := i.Comments[1]
				c.ID = nextID()
				i.Comments = append(i.Comments, c)
			}
		},
	}
	if err := snapshotOf(trackertest.World()[0]).check(); err != nil {
		t.Fatal("the control:", err)
	}
	for name, spoil := range cases {
		s := snapshotOf(trackertest.World()[0])
		spoil(&s)
		db := emptyTables(t)
		if err := Load(ctx, db, s); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if got := dump(t, db); got != "" {
			t.Errorf("%s: refused, but wrote %s", name, got)
		}
	}
}

func TestMembers(t *testing.T) {
	m := Members(worldTables(t))
	for _, tt := range []struct {
		workspace, user tracker.ID
		want            string
	}{
		{trackertest.Home, trackertest.Jonas, "Jonas Lind admin true"},
		{trackertest.Home, trackertest.Left, "  false"},
		{trackertest.Home, trackertest.Ada, "  false"},
		{trackertest.Foreign, trackertest.Ada, "Ada Berg owner true"},
		{trackertest.NoSuchID, trackertest.Ada, "  false"},
	} {
		name, role, active, err := m.Member(ctx, string(tt.workspace), string(tt.user))
		if got := fmt.Sprint(name, " ", role, " ", active); err != nil || got != tt.want {
			t.Errorf("member %s of %s: %q, %v; want %q", tt.user, tt.workspace, got, err, tt.want)
		}
	}
}
