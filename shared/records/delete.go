package records

import (
	"context"
	"slices"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// DeleteIssue implements tracker.Store. The largest deletion takes 75 operations: the issue, 50
// sub-issues, the parent, 20 tasks, a run, the check of the caller's right, and the audit event.
func (s *store) DeleteIssue(ctx context.Context, ref tracker.IssueRef) (tracker.IssueDeletion, error) {
	return act(ctx, s, nil, func() (out tracker.IssueDeletion, p *plan, err error) {
		f, err := s.deletableIssue(ctx, ref)
		if err != nil {
			return out, nil, err
		}
		if f.issue.Doc.deleted() {
			return f.dir.issueDeletion(f.issue.Doc), nil, nil
		}
		around, err := s.readAround(ctx, f.issue.Doc)
		if err != nil {
			return out, nil, err
		}
		p, gone := s.planDeletion(f, around)
		return f.dir.issueDeletion(gone), p, nil
	})
}

// deletableIssue finds an issue that the caller may delete, or a tombstone that the caller could
// have made. Until it answers, the requests made are the same whatever is there.
//   - fault.Forbidden: NoSuchTarget
func (r *reader) deletableIssue(ctx context.Context, ref tracker.IssueRef) (found, error) {
	f, err := r.findIssue(ctx, ref)
	switch {
	case err != nil:
		return f, err
	case !f.issue.found():
		return f, tracker.NoSuchTarget(fault.TargetMissing)
	case !f.dir.mayManage(f.issue.Doc.CreatorType, f.issue.Doc.CreatorID):
		return f, tracker.NoSuchTarget(fault.TargetForbidden)
	default:
		return f, nil
	}
}

// mayManage tells whether the caller may do what only the maker of a thing and administrators
// may.
func (d *directory) mayManage(maker tracker.ActorType, id tracker.ID) bool {
	return d.caller.Role.Manages() || maker == tracker.MemberActor && id == d.caller.UserID
}

// issueDeletion is the answer that a tombstone stands for, the first time and ever after.
func (d *directory) issueDeletion(r issueRow) tracker.IssueDeletion {
	out := tracker.IssueDeletion{
		Deleted: true, Issue: d.issueName(r),
		DeletedAt: r.DeletedAt.pointer(), RestorableUntil: r.RestorableUntil.pointer(),
	}
	if r.Removed != nil {
		out.Removed = *r.Removed
	}
	return out
}

// pointer is the time on the wire; nil for none.
func (m micros) pointer() *tracker.Time {
	if m == 0 {
		return nil
	}
	t := m.wire()
	return &t
}

// surroundings are the rows that change with an issue's deletion.
type surroundings struct {
	subs   []row[issueRow] // live sub-issues
	parent row[issueRow]
	run    row[runRow]
	runKey table.Key
}

// readAround reads, in one request, what hangs on an issue.
func (r *reader) readAround(ctx context.Context, issue issueRow) (surroundings, error) {
	w := r.workspace()
	var around surroundings
	var keys []table.Key
	for _, sub := range issue.SubIssues {
		keys = append(keys, issueKey(w, sub.Number))
	}
	if issue.ParentID != "" {
		keys = append(keys, issueKey(w, issue.ParentNumber))
	}
	if o := issue.OriginRun; o != nil {
		around.runKey = runKey(w, o.AutopilotID, o.TriggeredAt.time(), o.RunID)
		keys = append(keys, around.runKey)
	}
	if len(keys) == 0 {
		return around, nil
	}
	rows, err := getBatch(ctx, r.t, keys...)
	if err != nil {
		return around, err
	}
	for _, sub := range issue.SubIssues {
		below, err := pick[issueRow](rows, issueKey(w, sub.Number))
		if err != nil {
			return around, err
		}
		if below.found() && !below.Doc.deleted() && below.Doc.ParentID == issue.ID {
			around.subs = append(around.subs, below)
		}
	}
	if issue.ParentID != "" {
		if around.parent, err = pick[issueRow](rows, issueKey(w, issue.ParentNumber)); err != nil {
			return around, err
		}
	}
	if issue.OriginRun != nil {
		around.run, err = pick[runRow](rows, around.runKey)
	}
	return around, err
}

// removed counts what goes with the issue.
func (around surroundings) removed(r issueRow) tracker.IssueRemoved {
	return tracker.IssueRemoved{
		Comments: r.CommentCount, CancelledTasks: len(r.Tasks), DetachedSubIssues: len(around.subs),
	}
}

// planDeletion makes the issue a tombstone. Its comments stay where they are and cannot be
// reached any more; nor does anything still lead to it.
func (s *store) planDeletion(f found, around surroundings) (*plan, issueRow) {
	w, version := s.workspace(), f.issue.Version
	removed := around.removed(f.issue.Doc)
	gone := f.issue.Doc
	gone.DeletedAt = later(s.now(), gone.UpdatedAt)
	gone.DeletedBy = s.userID()
	gone.RestorableUntil = microsOf(gone.DeletedAt.time().Add(RestorableFor))
	gone.UpdatedAt = gone.DeletedAt
	gone.Removed = &removed
	gone.Tasks, gone.SubIssues, gone.ParentID, gone.ParentNumber = nil, nil, "", 0

	p := &plan{changed: []string{"deleted_at"}}
	p.requireDirectory(f.dir)
	p.putIssue(w, version, gone)
	p.putTasks(w, version, cancelled(f.issue.Doc.Tasks))
	for _, sub := range around.subs {
		orphan := sub.Doc
		orphan.ParentID, orphan.ParentNumber = "", 0
		orphan.touch(gone.DeletedAt)
		p.putIssue(w, sub.Version, orphan)
	}
	if f.issue.Doc.ParentID != "" {
		p.removeSubIssue(w, around.parent, gone.ID)
	}
	if run := around.run; run.found() && run.Doc.unfinished() {
		run.Doc.Status, run.Doc.CompletedAt = runFailed, gone.DeletedAt
		run.Doc.ReasonCode, run.Doc.FailureReason = reasonIssueDeleted, "the issue of this run was deleted"
		p.put(around.runKey, run.Version, run.Doc, nil)
	}
	return p, gone
}

func cancelled(tasks []Task) []Task {
	out := slices.Clone(tasks)
	for i := range out {
		out[i].Status = CancelledTask
	}
	return out
}
