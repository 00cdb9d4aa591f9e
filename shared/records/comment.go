package records

import (
	"context"
	"slices"

	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// commentType is the type of what the tools write.
const commentType = "comment"

// changedComments is the word of the audit event for comments added or removed.
const changedComments = "comments"

// CreateComment implements tracker.Store.
func (s *store) CreateComment(ctx context.Context, in tracker.NewComment) (tracker.CreatedComment, error) {
	c, err := s.claim()
	if err != nil {
		return tracker.CreatedComment{}, err
	}
	id := s.newID()
	return act(ctx, s, c, func() (out tracker.CreatedComment, p *plan, err error) {
		first := search{ref: in.Issue, with: c.keys()}
		if in.Parent != "" {
			first.with = append(first.with, commentPointerKey(s.workspace(), in.Parent))
		}
		f, err := s.find(ctx, first)
		if err != nil {
			return out, nil, err
		}
		if done, err := s.replay(c, f.with, &out); done || err != nil {
			out.Replayed = done
			s.targetIfKnown("issue", out.Comment.IssueID)
			return out, nil, err
		}
		if !f.live() {
			return out, nil, issueNotFound()
		}
		a, err := s.readAnswered(ctx, f, in.Parent)
		if err != nil {
			return out, nil, err
		}
		out, p = s.planComment(f, a, id, in)
		return out, p, nil
	})
}

// answered is what a new comment answers: nothing, for a comment at top level.
type answered struct {
	comment *commentRow
	thread  row[threadRow]
}

// readAnswered reads the comment answered and its thread.
//   - fault.Invalid: unknown_reference
//   - fault.Conflict: limit_reached
func (s *store) readAnswered(ctx context.Context, f found, parent tracker.ID) (answered, error) {
	if parent == "" {
		return answered{}, nil
	}
	w, number := s.workspace(), f.issue.Doc.Number
	unknown := noSuchReference("parent_id", "comment under this issue")
	to, err := pick[pointerRow](f.with, commentPointerKey(w, parent))
	if err != nil {
		return answered{}, err
	}
	if to.Doc.Number != number {
		return answered{}, unknown
	}
	key, threads := data(commentsPK(w, number), to.Doc.SK), threadKey(w, number, to.Doc.RootID)
	rows, err := getBatch(ctx, s.t, key, threads)
	if err != nil {
		return answered{}, err
	}
	c, err := pick[commentRow](rows, key)
	if err != nil {
		return answered{}, err
	}
	if !c.found() || c.Doc.deleted() {
		return answered{}, unknown
	}
	a := answered{comment: &c.Doc}
	if a.thread, err = pick[threadRow](rows, threads); err != nil {
		return a, err
	}
	if !a.thread.found() && c.Doc.RootID != c.Doc.ID {
		return a, &table.Conflict{} // a reply has a thread, so both were removed between the two reads
	}
	if len(a.thread.Doc.Live) >= tracker.MaxThreadComments {
		return a, limitReached("parent_id: this thread has all the comments that it can have; start a new one", tracker.MaxThreadComments)
	}
	return a, nil
}

func (s *store) planComment(f found, a answered, id tracker.ID, in tracker.NewComment) (tracker.CreatedComment, *plan) {
	w := s.workspace()
	r := f.issue.Doc
	r.Tasks = slices.Clone(r.Tasks)
	r.touch(s.now())
	r.CommentCount++
	c := commentRow{
		ID: id, AuthorType: tracker.MemberActor, AuthorID: s.userID(), Content: string(in.Content), Type: commentType,
		RootID: id, CreatedAt: r.UpdatedAt, UpdatedAt: r.UpdatedAt,
	}
	if a.comment != nil {
		c.ParentID, c.RootID = a.comment.ID, a.comment.RootID
	}
	st := &starter{store: s, dir: f.dir, issue: &r, at: r.UpdatedAt, suppress: in.SuppressRun}
	outcomes := []tracker.TriggerOutcome{}
	for _, agent := range calledBy(c.Content, a.comment, r) {
		outcomes = append(outcomes, st.start(agent, taskOrigin{Source: sourceComment, CommentID: id}))
	}

	p := &plan{changed: []string{changedComments}}
	p.putIssue(w, f.issue.Version, r)
	key := commentKey(w, r.Number, c.CreatedAt.time(), id)
	p.put(key, 0, c, nil)
	p.put(commentPointerKey(w, id), 0, pointerRow{Number: r.Number, SK: key.SK, RootID: c.RootID}, nil)
	if a.comment != nil {
		p.put(threadKey(w, r.Number, c.RootID), a.thread.Version, a.thread.Doc.with(*a.comment, c), nil)
	}
	p.putTasks(w, f.issue.Version, st.tasks)
	if len(st.tasks) > 0 {
		p.changed = append(p.changed, changedTasks)
	}
	return tracker.CreatedComment{
		Comment: f.dir.commentHead(r.ID, c), IssueRevision: r.Revision, TriggerOutcomes: outcomes,
	}, p
}

// with adds a reply; the first reply brings the root along.
func (t threadRow) with(answered, reply commentRow) threadRow {
	live := slices.Clone(t.Live)
	if len(live) == 0 {
		live = append(live, answered.entry())
	}
	return threadRow{Live: append(live, reply.entry())}
}

func (r commentRow) entry() threadEntry {
	return threadEntry{ID: r.ID, ParentID: r.ParentID, AuthorType: r.AuthorType, AuthorID: r.AuthorID, CreatedAt: r.CreatedAt}
}
