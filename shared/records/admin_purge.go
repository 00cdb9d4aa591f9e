package records

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// purged tells whether nothing is left of the issue but its tombstone. A title is never empty
// otherwise.
func (r issueRow) purged() bool { return r.deleted() && r.Title == "" }

// purgeable tells whether the issue cannot be restored any more, and still has its content.
func (r issueRow) purgeable(now micros) bool {
	return r.deleted() && r.RestorableUntil <= now && !r.purged()
}

// Purgeable lists the numbers of the deleted issues whose content is past its time, ascending.
// It reads all issues of the workspace.
func (a *Admin) Purgeable(ctx context.Context, call *audit.Call) ([]int, error) {
	s := a.store(call)
	q := table.Query{
		Table: table.Data, PK: workspacePK(s.workspace()), Limit: usageItems,
		From: issueSK(0), To: issueSK(tracker.MaxIssueNumber),
	}
	numbers := []int{}
	for {
		page, err := s.t.Query(ctx, q)
		if err != nil {
			return nil, engineError("read issues", err)
		}
		for _, it := range page.Items {
			q.After = it.SK
			r, err := decode[issueRow](it)
			if err != nil {
				return nil, err
			}
			if r.Doc.purgeable(s.now()) {
				numbers = append(numbers, r.Doc.Number)
			}
		}
		if !page.More {
			return numbers, nil
		}
	}
}

const (
	purgeComments = 45                     // in one commit: each is a row and a pointer
	purgeOps      = table.MaxCommitOps - 3 // besides the issue, its description and the event
)

// Purge removes the content of a deleted issue that is past its time, as much as one commit
// takes, and tells whether all is gone. Its bare tombstone stays for good: the number stays
// taken, and deleting it again gives the same answer. Purging anything else changes nothing.
//   - fault.RateLimited: contention
func (a *Admin) Purge(ctx context.Context, call *audit.Call, number int) (done bool, err error) {
	s := a.store(call)
	done, err = act(ctx, s, nil, func() (bool, *plan, error) {
		issue, err := get[issueRow](ctx, s.t, issueKey(s.workspace(), number))
		if err != nil || !issue.found() {
			return true, nil, err
		}
		call.Target("issue", string(issue.Doc.ID))
		if !issue.Doc.purgeable(s.now()) {
			return true, nil, nil
		}
		p := &plan{changed: []string{changedComments}}
		more, err := s.planPurge(ctx, p, number)
		if err != nil {
			return false, nil, err
		}
		r := issue.Doc
		if !more {
			r.Title, r.LabelIDs, r.AssigneeType, r.AssigneeID = "", nil, "", ""
			r.StartDate, r.DueDate, r.Parked, r.BodyVersion = "", "", false, 0
			p.ops = append(p.ops, table.Delete(bodyKey(s.workspace(), number), table.Guard{}))
			p.changed = []string{"title", "description", changedComments}
		}
		p.putIssue(s.workspace(), issue.Version, r)
		return !more, p, nil
	})
	return done, adminError(err)
}

// planPurge removes comments, then what says which of them were live in a thread. more tells
// whether some are left.
func (s *store) planPurge(ctx context.Context, p *plan, number int) (more bool, err error) {
	w := s.workspace()
	comments, err := s.t.Query(ctx, table.Query{Table: table.Data, PK: commentsPK(w, number), Limit: purgeComments})
	if err != nil {
		return false, engineError("read comments", err)
	}
	for _, it := range comments.Items {
		c, err := decode[commentRow](it)
		if err != nil {
			return false, err
		}
		p.ops = append(p.ops, table.Delete(it.Key, table.Guard{}), table.Delete(commentPointerKey(w, c.Doc.ID), table.Guard{}))
	}
	if comments.More {
		return true, nil
	}
	threads, err := s.t.Query(ctx, table.Query{
		Table: table.Data, PK: threadKey(w, number, "").PK, Limit: purgeOps - len(p.ops),
	})
	if err != nil {
		return false, engineError("read threads", err)
	}
	for _, it := range threads.Items {
		p.ops = append(p.ops, table.Delete(it.Key, table.Guard{}))
	}
	return threads.More, nil
}
