// Package read holds the tools that change nothing, one file each. Being in this directory is
// the promise: a handler here gets a tracker.Reader, and nothing below the package can reach
// storage or the network.
//
// It is not for tools that write, however little; those are in tools/write. Open list_issues.go
// first: every other file has the same four parts.
package read

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Issues on a page, unless the caller says otherwise.
const issuesPerPage = 25

type listIssuesIn struct {
	Statuses   tracker.List[tracker.Status]   `json:"statuses,omitempty" jsonschema:"Only issues with one of these statuses."`
	Priorities tracker.List[tracker.Priority] `json:"priorities,omitempty" jsonschema:"Only issues with one of these priorities."`
	AssigneeID tracker.AssigneeRef            `json:"assignee_id,omitempty" jsonschema:"Only issues of this assignee: id, exact name or e-mail of a member, exact name of an agent, or me."`
	Unassigned bool                           `json:"unassigned,omitempty" jsonschema:"true: only issues that nobody has. Not together with assignee_id: nothing would match."`
	CreatorID  tracker.AssigneeRef            `json:"creator_id,omitempty" jsonschema:"Only issues made by this member or agent; same forms as assignee_id."`
	LabelIDs   tracker.List[tracker.LabelRef] `json:"label_ids,omitempty" jsonschema:"Only issues with at least one of these labels, by id or exact name."`
	ParentID   tracker.IssueRef               `json:"parent_issue_id,omitempty" jsonschema:"Only the direct sub-issues of this issue, by id or identifier such as AAC-42."`
	Query      tracker.SearchText             `json:"q,omitempty" jsonschema:"Words that all occur in the title, in any case and order; or an identifier such as AAC-42. Descriptions and comments are not searched."`
	Sort       tracker.Sort                   `json:"sort,omitempty" jsonschema:"What to order by; default updated_at. Take created_at to walk through everything: then no issue is missed or repeated."`
	Direction  tracker.Direction              `json:"direction,omitempty" jsonschema:"asc or desc; default desc, newest first."`
	Limit      tracker.Limit                  `json:"limit,omitempty" jsonschema:"At most this many issues on the page; default 25."`
	Cursor     tracker.Cursor                 `json:"cursor,omitempty" jsonschema:"next_cursor of the page before, with the same filters and order."`
}

// ListIssues lists the issues of the caller's workspace.
var ListIssues = tool.Read(tool.Spec{
	Name: "list_issues", Title: "List issues", Scope: identity.IssuesRead,
	Doc: `Lists the issues of your workspace, without their descriptions. Use it to find issues by status, priority, assignee, creator, label, parent or words in the title; all filters must match at once. Use get_issue for one issue whole.

Returns issues and, if there may be more, next_cursor: repeat the call with cursor set to it and everything else unchanged. A page can be short or even empty and still have a next one; only a missing next_cursor is the end. There is no total. Deleted issues are not listed. A change made a moment ago may not show yet.`,
}, listIssues)

func listIssues(ctx context.Context, r tracker.Reader, in listIssuesIn) (tracker.IssuePage, error) {
	return r.ListIssues(ctx, tracker.IssueQuery{
		Statuses: in.Statuses, Priorities: in.Priorities,
		Assignee: in.AssigneeID, Unassigned: in.Unassigned, Creator: in.CreatorID,
		Labels: in.LabelIDs, Parent: in.ParentID, Query: in.Query,
		Sort: in.Sort, Direction: in.Direction, Limit: in.Limit.Or(issuesPerPage), Cursor: in.Cursor,
	})
}
