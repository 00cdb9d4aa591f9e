package records

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// DeleteComment implements tracker.Store. The largest deletion takes 84 operations: the issue,
// 60 comments, their thread, 20 tasks, the check of the caller's right, and the audit event.
func (s *store) DeleteComment(ctx context.Context, target tracker.CommentTarget) (tracker.CommentDeletion, error) {
	return act(ctx, s, nil, func() (out tracker.CommentDeletion, p *plan, err error) {
		f, err := s.deletableComment(ctx, target)
		if err != nil {
			return out, nil, err
		}
		if f.comment.Doc.deleted() {
			return f.deletion(f.comment.Doc), nil, nil
		}
		p, gone, err := s.planRemoval(ctx, f, f.under())
		return f.deletion(gone), p, err
	})
}

// foundComment is a comment, or its tombstone, with its issue and its thread.
type foundComment struct {
	found
	comment row[commentRow]
	thread  row[threadRow]
}

// deletableComment finds a comment that the caller may delete, or a tombstone of one. Until it
// answers, the requests made are the same whatever is there.
//   - fault.Forbidden: NoSuchTarget
func (r *reader) deletableComment(ctx context.Context, target tracker.CommentTarget) (foundComment, error) {
	f, err := r.findComment(ctx, target.Comment)
	switch {
	case err != nil:
		return f, err
	case !f.comment.found() || !f.live() || !f.dir.means(target.Issue, f.issue.Doc):
		return f, tracker.NoSuchTarget(fault.TargetMissing)
	case !f.dir.mayManage(f.comment.Doc.AuthorType, f.comment.Doc.AuthorID):
		return f, tracker.NoSuchTarget(fault.TargetForbidden)
	default:
		return f, nil
	}
}

// findComment reads a comment and its issue, in two requests, whatever is there.
func (r *reader) findComment(ctx context.Context, id tracker.ID) (foundComment, error) {
	w := r.workspace()
	pointer := commentPointerKey(w, id)
	first, err := getBatch(ctx, r.t, directoryKey(w), pointer)
	if err != nil {
		return foundComment{}, err
	}
	to, err := pick[pointerRow](first, pointer)
	if err != nil {
		return foundComment{}, err
	}
	if !to.found() {
		to.Doc.SK, to.Doc.RootID = timeSK(micros(0).time()), id // nothing is there; it is looked for all the same
	}
	key, threads := data(commentsPK(w, to.Doc.Number), to.Doc.SK), threadKey(w, to.Doc.Number, to.Doc.RootID)
	second, err := getBatch(ctx, r.t, issueKey(w, to.Doc.Number), key, threads)
	if err != nil {
		return foundComment{}, err
	}
	var f foundComment
	if f.found, err = r.take(search{}, to.Doc.Number, first, second); err != nil {
		return f, err
	}
	if f.comment, err = pick[commentRow](second, key); err != nil {
		return f, err
	}
	if f.thread, err = pick[threadRow](second, threads); err != nil {
		return f, err
	}
	if f.comment.found() {
		r.call.Target("comment", string(id))
	}
	return f, nil
}

// means tells whether the reference, if there is one, is to this issue.
func (d *directory) means(ref tracker.IssueRef, r issueRow) bool {
	if ref == "" {
		return true
	}
	if prefix, number, ok := ref.Identifier(); ok {
		return prefix == d.Workspace.IssuePrefix && number == r.Number
	}
	return strings.EqualFold(string(ref), string(r.ID))
}

// deletion is the answer that a tombstone stands for, the first time and ever after.
func (f foundComment) deletion(c commentRow) tracker.CommentDeletion {
	out := tracker.CommentDeletion{
		Deleted: true, CommentID: c.ID, Issue: f.dir.issueName(f.issue.Doc),
		DeletedAt: c.DeletedAt.pointer(), RestorableUntil: c.RestorableUntil.pointer(),
	}
	if c.Removed != nil {
		out.Removed = *c.Removed
	}
	return out
}

// underComment is what goes with a comment.
type underComment struct {
	gone    []threadEntry // the comment first, then all live replies below it
	tasks   []Task        // active ones that stay, some with fewer causes
	cut     []Task        // those of them that lost a cause
	cancels []Task        // open ones that nothing else caused
}

// under works out what goes with the comment.
func (f foundComment) under() underComment {
	u := underComment{gone: below(f.comment.Doc.entry(), f.thread.Doc.Live)}
	for _, t := range f.issue.Doc.Tasks {
		rest, changed, alone := t.without(u.gone)
		switch {
		case alone:
			u.cancels = append(u.cancels, t)
		case changed:
			u.cut = append(u.cut, rest)
			fallthrough
		default:
			u.tasks = append(u.tasks, rest)
		}
	}
	return u
}

// without takes comments out of what caused an open task. alone: nothing else had caused it. A
// running task has its input already, and one that is full has forgotten causes.
func (t Task) without(gone []threadEntry) (rest Task, changed, alone bool) {
	if !t.open() || len(t.Coalesced) >= maxCoalesced {
		return t, false, false
	}
	causes := append([]taskOrigin{{t.Source, t.TriggerCommentID}}, t.Coalesced...)
	left := slices.DeleteFunc(slices.Clone(causes), func(o taskOrigin) bool {
		return o.CommentID != "" && slices.ContainsFunc(gone, func(e threadEntry) bool { return e.ID == o.CommentID })
	})
	switch len(left) {
	case len(causes):
		return t, false, false
	case 0:
		return t, true, true
	}
	t.Source, t.TriggerCommentID, t.Coalesced = left[0].Source, left[0].CommentID, left[1:]
	return t, true, false
}

// removed counts what goes with the comment. Others are all but the caller.
func (u underComment) removed(caller tracker.ID) tracker.CommentRemoved {
	out := tracker.CommentRemoved{Replies: len(u.gone) - 1, CancelledTasks: len(u.cancels)}
	for _, e := range u.gone[1:] {
		if e.AuthorType != tracker.MemberActor || e.AuthorID != caller {
			out.RepliesByOthers++
		}
	}
	return out
}

// planRemoval makes the comment and all below it tombstones. It returns the comment's.
func (s *store) planRemoval(ctx context.Context, f foundComment, u underComment) (*plan, commentRow, error) {
	w, number, version := s.workspace(), f.issue.Doc.Number, f.issue.Version
	r := f.issue.Doc
	r.touch(s.now())
	r.CommentCount -= len(u.gone)
	r.Tasks = u.tasks

	p := &plan{changed: []string{changedComments}}
	p.requireDirectory(f.dir)
	p.putIssue(w, version, r)
	p.putTasks(w, version, cancelled(u.cancels))
	p.putTasks(w, version, u.cut)
	if len(u.cancels)+len(u.cut) > 0 {
		p.changed = append(p.changed, changedTasks)
	}
	p.shrinkThread(threadKey(w, number, f.comment.Doc.RootID), f.thread, u.gone)

	rows, err := s.readEntries(ctx, number, u.gone[1:])
	if err != nil {
		return nil, commentRow{}, err
	}
	removed := u.removed(s.userID())
	top := f.comment.Doc.tombstone(s.userID(), r.UpdatedAt)
	top.Removed = &removed
	p.put(top.key(w, number), f.comment.Version, top, nil)
	for _, c := range rows {
		reply := c.Doc.tombstone(s.userID(), r.UpdatedAt)
		reply.RemovedWith = top.ID
		p.put(reply.key(w, number), c.Version, reply, nil)
	}
	return p, top, nil
}

// shrinkThread leaves in the thread what stays live; a thread whose root goes is gone.
func (p *plan) shrinkThread(key table.Key, thread row[threadRow], gone []threadEntry) {
	if !thread.found() {
		return
	}
	live := slices.DeleteFunc(slices.Clone(thread.Doc.Live), func(e threadEntry) bool {
		return slices.ContainsFunc(gone, func(g threadEntry) bool { return g.ID == e.ID })
	})
	if len(live) == 0 {
		p.ops = append(p.ops, table.Delete(key, thread.unchanged()))
		return
	}
	p.put(key, thread.Version, threadRow{Live: live}, nil)
}

// readEntries reads the comments of a thread that are to go with another.
func (s *store) readEntries(ctx context.Context, number int, entries []threadEntry) ([]row[commentRow], error) {
	if len(entries) == 0 {
		return nil, nil
	}
	keys := make([]table.Key, 0, len(entries))
	for _, e := range entries {
		keys = append(keys, commentKey(s.workspace(), number, e.CreatedAt.time(), e.ID))
	}
	batch, err := getBatch(ctx, s.t, keys...)
	if err != nil {
		return nil, err
	}
	rows := make([]row[commentRow], 0, len(keys))
	for _, key := range keys {
		c, err := pick[commentRow](batch, key)
		if err != nil {
			return nil, err
		}
		if !c.found() {
			return nil, errors.New("a thread lists a comment that is not there: both are written in one commit")
		}
		rows = append(rows, c)
	}
	return rows, nil
}

func (r commentRow) key(w tracker.ID, number int) table.Key {
	return commentKey(w, number, r.CreatedAt.time(), r.ID)
}

// tombstone is the comment, deleted. Its content stays until it can no longer be restored.
func (r commentRow) tombstone(by tracker.ID, at micros) commentRow {
	r.DeletedAt, r.DeletedBy, r.UpdatedAt = at, by, at
	r.RestorableUntil = microsOf(at.time().Add(RestorableFor))
	return r
}
