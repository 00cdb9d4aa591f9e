package read

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

type getIssueIn struct {
	IssueID tracker.IssueRef `json:"issue_id" jsonschema:"The issue: id, or identifier such as AAC-42."`
}

// GetIssue returns one issue whole.
var GetIssue = tool.Read(tool.Spec{
	Name: "get_issue", Title: "Get issue", Scope: identity.IssuesRead,
	Doc: `Returns one issue whole: all fields with its description, the number of its sub-issues, and the open tasks of agents on it. Use it before you change an issue: revision is what update_issue and assign_issue_to_agent take as expected_revision.

Comments are not included: list_comments has them. To see the sub-issues call list_issues with parent_issue_id. A deleted issue is not found.`,
}, getIssue)

func getIssue(ctx context.Context, r tracker.Reader, in getIssueIn) (tracker.IssueDetail, error) {
	return r.GetIssue(ctx, in.IssueID)
}
