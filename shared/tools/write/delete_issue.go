package write

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

type deleteIssueIn struct {
	IssueID tracker.IssueRef `json:"issue_id" jsonschema:"The issue to delete: id, or identifier such as AAC-42."`
}

// DeleteIssue removes an issue with its comments.
var DeleteIssue = tool.Destroy(tool.Spec{
	Name: "delete_issue", Title: "Delete issue", Scope: identity.IssuesWrite, Idempotent: true,
	Doc: `Deletes one issue with all its comments, whoever wrote them, and cancels the tasks of agents on it. Its sub-issues stay and lose their parent. You must have made the issue, or be an administrator.

Call it first with dry_run true: nothing is deleted and would_delete shows what would go. Show that to the user, ask, and only then call it with confirm true; without confirm it is refused. To finish or drop an issue and keep it, use update_issue with status done or cancelled instead.

Returns deleted_at, restorable_until and counts of what was removed. Until restorable_until (30 days by default) an administrator can restore the issue with its comments; no tool can. The number is never used again. Deleting it again gives the same answer. An issue that is not there and one that you may not delete are refused alike.`,
}, deleteIssue, previewIssueDeletion)

func deleteIssue(ctx context.Context, s tracker.Store, in deleteIssueIn) (tracker.IssueDeletion, error) {
	return s.DeleteIssue(ctx, in.IssueID)
}

func previewIssueDeletion(ctx context.Context, r tracker.Reader, in deleteIssueIn) (tracker.IssueDeletion, error) {
	return r.PreviewIssueDeletion(ctx, in.IssueID)
}
