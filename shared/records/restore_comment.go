package records

import (
	"context"
	"slices"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// RestoreComment takes a deletion back: the comment is there again, with all that went with it.
// Tasks that it had caused stay cancelled. Restoring what is not deleted changes nothing. It is
// no tool: administrators call it.
//   - fault.NotFound: no such comment, or its issue is deleted
//   - fault.Forbidden: not_permitted
//   - fault.Conflict: target_unavailable, once RestorableFor has passed, or if another comment
//     must be restored first (member comment_id); limit_reached (comments of a thread)
//   - fault.RateLimited: contention
func (st *Stores) RestoreComment(ctx context.Context, call *audit.Call, id tracker.ID) (tracker.CommentHead, error) {
	return newStore(st, call).restoreComment(ctx, id)
}

func (s *store) restoreComment(ctx context.Context, id tracker.ID) (tracker.CommentHead, error) {
	return act(ctx, s, nil, func() (out tracker.CommentHead, p *plan, err error) {
		f, err := s.findComment(ctx, id)
		if err != nil {
			return out, nil, err
		}
		c := f.comment.Doc
		switch {
		case !f.dir.caller.Role.Manages():
			return out, nil, mayNotRestore()
		case !f.comment.found() || !f.live():
			return out, nil, fault.New(fault.NotFound, fault.TargetNotFound,
				"there is no such comment under an issue that is there: restore the issue first, if that was deleted too").Noting(fault.TargetMissing)
		case !c.deleted():
			return f.dir.commentHead(f.issue.Doc.ID, c), nil, nil
		case c.RestorableUntil <= s.now():
			return out, nil, tooLateToRestore("comment", c.RestorableUntil)
		case c.RemovedWith != "":
			return out, nil, restoreFirst("this comment went with another one: restore that one", c.RemovedWith)
		}
		thread, err := s.readThread(ctx, f)
		if err != nil {
			return out, nil, err
		}
		rows, err := s.readRemoved(ctx, f)
		if err != nil {
			return out, nil, err
		}
		if len(thread)+len(rows) > tracker.MaxThreadComments {
			return out, nil, limitReached("this thread has got too many new comments for the old ones to come back", tracker.MaxThreadComments)
		}
		p, back := s.planReturn(f, thread, rows)
		return f.dir.commentHead(f.issue.Doc.ID, back), p, nil
	})
}

func mayNotRestore() *fault.Fault {
	return fault.New(fault.Forbidden, fault.NotPermitted, "only an administrator may restore: ask one")
}

func tooLateToRestore(what string, until micros) *fault.Fault {
	return fault.New(fault.Conflict, fault.TargetUnavailable,
		"the time in which this "+what+" could be restored has passed: make a new one").
		With("restorable_until", until.wire())
}

func restoreFirst(text string, comment tracker.ID) *fault.Fault {
	return fault.New(fault.Conflict, fault.TargetUnavailable, text).With("comment_id", comment)
}

// readThread lists what is live in the thread that the comment comes back to. A root without
// replies need not have a thread row.
//   - fault.Conflict: target_unavailable, if the comment answered is deleted
func (s *store) readThread(ctx context.Context, f foundComment) ([]threadEntry, error) {
	c, live := f.comment.Doc, f.thread.Doc.Live
	if c.ParentID == "" || slices.ContainsFunc(live, func(e threadEntry) bool { return e.ID == c.ParentID }) {
		return live, nil
	}
	parent, err := s.findComment(ctx, c.ParentID)
	s.call.Target("comment", string(c.ID))
	if err != nil {
		return nil, err
	}
	if !parent.comment.found() || parent.comment.Doc.deleted() {
		return nil, restoreFirst("the comment that this one answers is deleted too: restore that one first", c.ParentID)
	}
	return append(slices.Clone(live), parent.comment.Doc.entry()), nil
}

// readRemoved reads the tombstones that come back, the comment itself first.
func (s *store) readRemoved(ctx context.Context, f foundComment) ([]row[commentRow], error) {
	rows := []row[commentRow]{f.comment}
	err := s.eachComment(ctx, f.issue.Doc.Number, func(other row[commentRow]) {
		if other.Doc.RemovedWith == f.comment.Doc.ID {
			rows = append(rows, other)
		}
	})
	return rows, err
}

// planReturn makes the tombstones comments again. It returns the comment that was asked for.
func (s *store) planReturn(f foundComment, live []threadEntry, rows []row[commentRow]) (*plan, commentRow) {
	w, number := s.workspace(), f.issue.Doc.Number
	issue := f.issue.Doc
	issue.touch(s.now())
	issue.CommentCount += len(rows)

	p := &plan{changed: []string{changedComments}}
	p.requireDirectory(f.dir)
	p.putIssue(w, f.issue.Version, issue)
	thread := threadRow{Live: slices.Clone(live)}
	for i := range rows {
		c := &rows[i].Doc
		c.DeletedAt, c.DeletedBy, c.RestorableUntil, c.RemovedWith, c.Removed = 0, "", 0, "", nil
		c.UpdatedAt = issue.UpdatedAt
		p.put(c.key(w, number), rows[i].Version, *c, nil)
		thread.Live = append(thread.Live, c.entry())
	}
	if len(thread.Live) > 1 {
		p.put(threadKey(w, number, f.comment.Doc.RootID), f.thread.Version, thread, nil)
	}
	return p, rows[0].Doc
}
