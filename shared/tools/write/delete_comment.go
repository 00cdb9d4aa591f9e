package write

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

type deleteCommentIn struct {
	CommentID tracker.ID       `json:"comment_id" jsonschema:"The comment to delete, by id."`
	IssueID   tracker.IssueRef `json:"issue_id,omitempty" jsonschema:"Optional safeguard: the issue you believe it belongs to. A comment of another issue is refused."`
}

// DeleteComment removes a comment with all replies below it.
var DeleteComment = tool.Destroy(tool.Spec{
	Name: "delete_comment", Title: "Delete comment", Scope: identity.CommentsWrite, Idempotent: true,
	Doc: `Deletes one comment and all replies below it, whoever wrote them, and cancels a waiting task of an agent that these comments alone had caused. You must have written the comment, or be an administrator.

Call it first with dry_run true: nothing is deleted and would_delete shows the comment and how many replies, and whose, would go. Show that to the user, ask, and only then call it with confirm true; without confirm it is refused.

Returns deleted_at, restorable_until and counts of what was removed. Until restorable_until (30 days by default) an administrator can restore the comment with what went with it; no tool can. Deleting it again gives the same answer. A comment that is not there, one that you may not delete, and one of a deleted issue are refused alike.`,
}, deleteComment, previewCommentDeletion)

func deleteComment(ctx context.Context, s tracker.Store, in deleteCommentIn) (tracker.CommentDeletion, error) {
	return s.DeleteComment(ctx, in.target())
}

func previewCommentDeletion(ctx context.Context, r tracker.Reader, in deleteCommentIn) (tracker.CommentDeletion, error) {
	return r.PreviewCommentDeletion(ctx, in.target())
}

func (in deleteCommentIn) target() tracker.CommentTarget {
	return tracker.CommentTarget{Comment: in.CommentID, Issue: in.IssueID}
}
