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
	s := newStore(st, call)
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
		r, err := s.readRemoved(ctx, f)
		if err != nil {
			return out, nil, err
		}
		p, back := s.planReturn(f, r)
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

// removedComments are the tombstones that come back, the comment itself first, and the thread
// they come back to.
type removedComments struct {
	rows   []row[commentRow]
	thread row[threadRow]
}

// readRemoved reads what went with the comment, and what it comes back to.
//   - fault.Conflict: target_unavailable, limit_reached
func (s *store) readRemoved(ctx context.Context, f foundComment) (removedComments, error) {
	w, number, c := s.workspace(), f.issue.Doc.Number, f.comment.Doc
	thread, err := get[threadRow](ctx, s.t, threadKey(w, number, c.RootID))
	if err != nil {
		return removedComments{}, err
	}
	live := func(e threadEntry) bool { return e.ID == c.ParentID }
	if c.ParentID != "" && !slices.ContainsFunc(thread.Doc.Live, live) {
		return removedComments{}, restoreFirst("the comment that this one answers is deleted too: restore that one first", c.ParentID)
	}
	r := removedComments{rows: []row[commentRow]{f.comment}, thread: thread}
	err = s.eachComment(ctx, number, func(other row[commentRow]) {
		if other.Doc.RemovedWith == c.ID {
			r.rows = append(r.rows, other)
		}
	})
	if err == nil && len(thread.Doc.Live)+len(r.rows) > tracker.MaxThreadComments {
		err = limitReached("this thread has got too many new comments for the old ones to come back", tracker.MaxThreadComments)
	}
	return r, err
}

// planReturn makes the tombstones comments again. It returns the comment that was asked for.
func (s *store) planReturn(f foundComment, back removedComments) (*plan, commentRow) {
	w, number := s.workspace(), f.issue.Doc.Number
	issue := f.issue.Doc
	issue.touch(s.now())
	issue.CommentCount += len(back.rows)

	p := &plan{changed: []string{changedComments}}
	p.requireDirectory(f.dir)
	p.putIssue(w, f.issue.Version, issue)
	thread := threadRow{Live: slices.Clone(back.thread.Doc.Live)}
	for i := range back.rows {
		c := &back.rows[i].Doc
		c.DeletedAt, c.DeletedBy, c.RestorableUntil, c.RemovedWith, c.Removed = 0, "", 0, "", nil
		c.UpdatedAt = issue.UpdatedAt
		p.put(c.key(w, number), back.rows[i].Version, *c, nil)
		thread.Live = append(thread.Live, c.entry())
	}
	if len(thread.Live) > 1 {
		p.put(threadKey(w, number, f.comment.Doc.RootID), back.thread.Version, thread, nil)
	}
	return p, back.rows[0].Doc
}
