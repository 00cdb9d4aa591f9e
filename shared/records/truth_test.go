package records

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

// unreliable fails a commit now and then, before it happens or after, or says that another got
// in the way.
type unreliable struct {
	table.Writer
	mu     sync.Mutex
	rand   *rand.Rand
	lost   int // commits that failed before they happened
	hidden int // commits that happened, though the caller was told otherwise
}

func (u *unreliable) Commit(ctx context.Context, ops []table.Op) error {
	u.mu.Lock()
	at := u.rand.IntN(10)
	u.mu.Unlock()
	switch at {
	case 0:
		u.count(&u.lost)
		return errors.New("no connection")
	case 1:
		if err := u.Writer.Commit(ctx, ops); err != nil {
			return err
		}
		u.count(&u.hidden)
		return errors.New("time-out")
	case 2:
		return &table.Conflict{}
	case 3:
		return &table.Throttled{RetryAfter: time.Second}
	default:
		return u.Writer.Commit(ctx, ops)
	}
}

func (u *unreliable) count(n *int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	*n++
}

// calls made at once, over tables that fail, must leave exactly one event each; and the changes
// that are there must be those of which an event says success, no more and no fewer.
func TestEveryChangeHasItsEventAndEveryEventItsChange(t *testing.T) {
	db := worldTables(t)
	u := &unreliable{Writer: db, rand: rand.New(rand.NewPCG(5, 6))}
	const workers, each = 8, 60
	began := make([][]string, workers)
	var done sync.WaitGroup
	for w := range workers {
		done.Go(func() {
			rnd := rand.New(rand.NewPCG(7, uint64(w)))
			for n := range each {
				s := acting(u, trackertest.Mira)
				began[w] = append(began[w], s.call.Event.EventID)
				err := anyWrite(s, rnd, fmt.Sprintf("%d-%d", w, n))
				if err := s.call.Record(ctx, db, err); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	if u.lost < 10 || u.hidden < 10 {
		t.Fatalf("%d commits lost, %d hidden: this test looks at too little", u.lost, u.hidden)
	}

	byID := map[string]audit.Event{}
	log := events(t, db)
	for _, e := range log {
		byID[e.EventID] = e
	}
	for _, ids := range began {
		for _, id := range ids {
			if _, ok := byID[id]; !ok {
				t.Errorf("call %s has no event", id)
			}
		}
	}
	if len(log) != workers*each || len(byID) != len(log) {
		t.Errorf("%d events of %d calls", len(log), workers*each)
	}
	compareWithLog(t, db, log)
}

// anyWrite makes one change, or tries to.
func anyWrite(s *store, rnd *rand.Rand, name string) error {
	ref := tracker.IssueRef(fmt.Sprintf("AAC-%d", 1+rnd.IntN(12)))
	var err error
	switch rnd.IntN(6) {
	case 0:
		s.call.Event.Tool = "create"
		_, err = s.CreateIssue(ctx, tracker.NewIssue{Title: tracker.Title("Title " + name)})
	case 1, 2:
		s.call.Event.Tool = "update"
		_, err = s.UpdateIssue(ctx, ref, tracker.IssueChange{Title: tracker.Some(tracker.Title("New " + name))})
	case 3, 4:
		s.call.Event.Tool = "comment"
		_, err = s.CreateComment(ctx, tracker.NewComment{Issue: ref, Content: tracker.Content("Comment " + name)})
	default:
		if rnd.IntN(6) == 0 {
			s.call.Event.Tool = "delete"
			_, err = s.DeleteIssue(ctx, ref)
			return err
		}
		s.call.Event.Tool = "assign"
		agent := []tracker.AgentRef{"Atlas", "Scribe", "Night"}[rnd.IntN(3)]
		_, err = s.AssignIssue(ctx, tracker.Assignment{Issue: ref, Agent: agent})
	}
	return err
}

// compareWithLog checks, issue by issue, that what is stored is what the log tells.
func compareWithLog(t *testing.T, r table.Reader, log []audit.Event) {
	t.Helper()
	type history struct{ made, visible, comments, deleted int }
	told := map[string]*history{}
	for _, e := range log {
		if e.Outcome != fault.Success || len(e.Changed) == 0 {
			continue
		}
		h := told[e.Target]
		if h == nil {
			h = &history{}
			told[e.Target] = h
		}
		switch e.Tool {
		case "create":
			h.made++
		case "delete":
			h.deleted++
		case "comment":
			h.comments++
			h.visible++
		default:
			if e.Changed[0] != changedTasks { // a start alone is not visible in the issue
				h.visible++
			}
		}
	}
	world := map[tracker.ID]int{trackertest.Plain: 0, trackertest.Working: 0, trackertest.Talk: 5} // comments
	page, err := r.Query(ctx, table.Query{Table: table.Data, PK: workspacePK(trackertest.Home), From: issuePrefix, To: issuePrefix + "~", Limit: 1000})
	if err != nil || page.More {
		t.Fatal("not all issues in one page", err)
	}
	for _, it := range page.Items {
		got, err := decode[issueRow](it)
		if err != nil {
			t.Fatal(err)
		}
		i, target := got.Doc, "issue/"+string(got.Doc.ID)
		h := told[target]
		if h == nil {
			h = &history{}
		}
		delete(told, target)
		comments, old := world[i.ID]
		if (h.made == 1) == old || int(i.Revision) != 1+h.visible || i.CommentCount != comments+h.comments || i.deleted() != (h.deleted == 1) {
			t.Errorf("AAC-%d: revision %d, %d comments, deleted %v; the log tells %+v", i.Number, i.Revision, i.CommentCount, i.deleted(), *h)
		}
		if n := liveComments(t, r, i.Number); n != i.CommentCount {
			t.Errorf("AAC-%d counts %d comments and has %d", i.Number, i.CommentCount, n)
		}
	}
	for target := range told {
		t.Errorf("the log tells of %s, which is not there", target)
	}
	if len(page.Items) < 20 {
		t.Errorf("only %d issues: this test looks at too little", len(page.Items))
	}
}

func liveComments(t *testing.T, r table.Reader, number int) int {
	t.Helper()
	page, err := r.Query(ctx, table.Query{Table: table.Data, PK: commentsPK(trackertest.Home, number), Limit: 1000})
	if err != nil || page.More {
		t.Fatal("not all comments in one page", err)
	}
	n := 0
	for _, it := range page.Items {
		if !strings.Contains(string(it.Doc), `"deleted_at"`) {
			n++
		}
	}
	return n
}
