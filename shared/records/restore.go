package records

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// RestoreIssue takes a deletion back: the issue has its number and its comments again. Its
// sub-issues, its parent and its tasks are not tied back to it. Restoring what is not deleted
// changes nothing. It is no tool: administrators call it.
//   - fault.NotFound
//   - fault.Forbidden: not_permitted
//   - fault.Conflict: target_unavailable, once RestorableFor has passed
//   - fault.RateLimited: contention
func (st *Stores) RestoreIssue(ctx context.Context, call *audit.Call, ref tracker.IssueRef) (tracker.Summary, error) {
	return newStore(st, call).restoreIssue(ctx, ref)
}

func (s *store) restoreIssue(ctx context.Context, ref tracker.IssueRef) (tracker.Summary, error) {
	return act(ctx, s, nil, func() (out tracker.Summary, p *plan, err error) {
		f, err := s.findIssue(ctx, ref)
		switch {
		case err != nil:
			return out, nil, err
		case !f.dir.caller.Role.Manages():
			return out, nil, mayNotRestore()
		case !f.issue.found():
			return out, nil, issueNotFound()
		case !f.issue.Doc.deleted():
			return f.dir.summary(f.issue.Doc), nil, nil
		case f.issue.Doc.RestorableUntil <= s.now():
			return out, nil, tooLateToRestore("issue", f.issue.Doc.RestorableUntil)
		}
		r := f.issue.Doc.restored(s.now())
		p = &plan{changed: []string{"deleted_at"}}
		p.requireDirectory(f.dir)
		p.putIssue(s.workspace(), f.issue.Version, r)
		return f.dir.summary(r), p, nil
	})
}

// restored is the issue, live again. Its agent counts as not started, for the tasks went with
// the deletion.
func (r issueRow) restored(now micros) issueRow {
	r.touch(now)
	r.DeletedAt, r.DeletedBy, r.RestorableUntil, r.Removed = 0, "", 0, nil
	r.Parked = r.AssigneeType == tracker.AgentActor
	return r
}
