package records

import (
	"cmp"
	"context"
	"slices"

	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// What a deletion would do. A preview finds, permits and counts with the very functions of the
// deletion, and has no method that writes.

// PreviewIssueDeletion implements tracker.Reader.
func (r *reader) PreviewIssueDeletion(ctx context.Context, ref tracker.IssueRef) (tracker.IssueDeletion, error) {
	f, err := r.deletableIssue(ctx, ref)
	if err != nil {
		return tracker.IssueDeletion{}, err
	}
	issue := f.issue.Doc
	if issue.deleted() {
		out := f.dir.issueDeletion(issue)
		out.DryRun = true
		return out, nil
	}
	around, err := r.readAround(ctx, issue)
	if err != nil {
		return tracker.IssueDeletion{}, err
	}
	others, err := r.commentsByOthers(ctx, issue)
	if err != nil {
		return tracker.IssueDeletion{}, err
	}
	would := &tracker.WouldDeleteIssue{
		Issue: f.dir.ref(issue), CreatorName: f.dir.name(issue.CreatorType, issue.CreatorID), CommentsByOthers: others,
		SubIssues: []tracker.Ref{}, Tasks: []tracker.TaskPreview{},
	}
	for _, sub := range around.subs {
		would.SubIssues = append(would.SubIssues, f.dir.ref(sub.Doc))
	}
	for _, t := range issue.Tasks {
		would.Tasks = append(would.Tasks, tracker.TaskPreview{AgentName: f.dir.name(tracker.AgentActor, t.AgentID), Status: t.Status})
	}
	return tracker.IssueDeletion{
		DryRun: true, Issue: f.dir.issueName(issue), Removed: around.removed(issue), WouldDelete: would,
	}, nil
}

// commentsByOthers counts the live comments that the caller did not write.
func (r *reader) commentsByOthers(ctx context.Context, issue issueRow) (int, error) {
	if issue.CommentCount == 0 {
		return 0, nil
	}
	n := 0
	err := r.eachComment(ctx, issue.Number, func(c row[commentRow]) {
		if !c.Doc.deleted() && (c.Doc.AuthorType != tracker.MemberActor || c.Doc.AuthorID != r.userID()) {
			n++
		}
	})
	return n, err
}

// commentsAtOnce is how many comments one query asks for; an engine may return fewer.
const commentsAtOnce = 500

// eachComment goes through all comments of an issue, tombstones too.
func (r *reader) eachComment(ctx context.Context, number int, do func(row[commentRow])) error {
	q := table.Query{Table: table.Data, PK: commentsPK(r.workspace(), number), Limit: commentsAtOnce}
	for {
		page, err := r.t.Query(ctx, q)
		if err != nil {
			return engineError("read comments", err)
		}
		for _, it := range page.Items {
			c, err := decode[commentRow](it)
			if err != nil {
				return err
			}
			do(c)
			q.After = it.SK
		}
		if !page.More {
			return nil
		}
	}
}

// PreviewCommentDeletion implements tracker.Reader.
func (r *reader) PreviewCommentDeletion(ctx context.Context, target tracker.CommentTarget) (tracker.CommentDeletion, error) {
	f, err := r.deletableComment(ctx, target)
	if err != nil {
		return tracker.CommentDeletion{}, err
	}
	c := f.comment.Doc
	if c.deleted() {
		out := f.deletion(c)
		out.DryRun = true
		return out, nil
	}
	u := f.under()
	would := &tracker.WouldDeleteComment{
		AuthorName: f.dir.name(c.AuthorType, c.AuthorID), Excerpt: excerpt(c.Content), CreatedAt: c.CreatedAt.wire(),
		ReplyAuthors: f.dir.replyAuthors(u.gone[1:]),
	}
	newest := micros(0)
	for _, e := range u.gone[1:] {
		newest = max(newest, e.CreatedAt)
	}
	would.NewestReplyAt = newest.pointer()
	return tracker.CommentDeletion{
		DryRun: true, CommentID: c.ID, Issue: f.dir.issueName(f.issue.Doc),
		Removed: u.removed(r.userID()), WouldDelete: would,
	}, nil
}

// maxExcerpt is the length of an excerpt, in characters.
const maxExcerpt = 200

func excerpt(content string) string {
	n := 0
	for i := range content {
		if n == maxExcerpt {
			return content[:i]
		}
		n++
	}
	return content
}

// replyAuthors counts replies by author, the most first.
func (d *directory) replyAuthors(replies []threadEntry) []tracker.ReplyAuthor {
	type actor struct {
		kind tracker.ActorType
		id   tracker.ID
	}
	counts := map[actor]int{}
	for _, e := range replies {
		counts[actor{e.AuthorType, e.AuthorID}]++
	}
	authors := make([]tracker.ReplyAuthor, 0, len(counts))
	for a, n := range counts {
		authors = append(authors, tracker.ReplyAuthor{Type: a.kind, Name: d.name(a.kind, a.id), Count: n})
	}
	slices.SortFunc(authors, func(a, b tracker.ReplyAuthor) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type))
	})
	return authors
}
