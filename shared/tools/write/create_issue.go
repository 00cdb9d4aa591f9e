// Package write holds the tools that add, change or remove, one file each. A handler here gets
// a tracker.Store that is already bound to its call: a change and its audit event are committed
// together, and no handler can forget it.
//
// It is not for tools that only read; those are in tools/read. Open create_issue.go first, then
// delete_issue.go for a tool that destroys.
package write

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

type createIssueIn struct {
	Title       tracker.Title                  `json:"title" jsonschema:"One line that says what is to be done."`
	Description tracker.Description            `json:"description,omitempty" jsonschema:"Markdown, at most 64 KiB; default none."`
	Status      tracker.Status                 `json:"status,omitempty" jsonschema:"Default todo."`
	Priority    tracker.Priority               `json:"priority,omitempty" jsonschema:"Default none."`
	AssigneeID  tracker.MemberRef              `json:"assignee_id,omitempty" jsonschema:"A member who gets the issue: user id, exact name or e-mail, or me. Not an agent: use assign_issue_to_agent afterwards."`
	ParentID    tracker.IssueRef               `json:"parent_issue_id,omitempty" jsonschema:"Makes it a sub-issue of this issue, by id or identifier such as AAC-42. Can be cleared later, not changed."`
	LabelIDs    tracker.List[tracker.LabelRef] `json:"label_ids,omitempty" jsonschema:"Labels that exist, by id or exact name."`
	StartDate   tracker.Day                    `json:"start_date,omitempty" jsonschema:"Planned start, YYYY-MM-DD."`
	DueDate     tracker.Day                    `json:"due_date,omitempty" jsonschema:"Due date, YYYY-MM-DD."`
}

// CreateIssue makes an issue.
var CreateIssue = tool.Write(tool.Spec{
	Name: "create_issue", Title: "Create issue", Scope: identity.IssuesWrite,
	Doc: `Makes a new issue in your workspace and gives it the next number. Use it once for each thing to be done; look with list_issues first whether there is one already, for equal titles are not refused.

Returns the issue without its description. It starts no agent: to give the issue to one, call assign_issue_to_agent with the new identifier. Labels and members must exist; an unknown one is refused with the choices you have. Each call makes another issue: to be safe when you repeat a call after an error, give an idempotency_key and repeat it unchanged; replayed is then true if the first call had worked.`,
}, createIssue)

func createIssue(ctx context.Context, s tracker.Store, in createIssueIn) (tracker.CreatedIssue, error) {
	return s.CreateIssue(ctx, tracker.NewIssue{
		Title: in.Title, Description: in.Description, Status: in.Status, Priority: in.Priority,
		Assignee: in.AssigneeID, Parent: in.ParentID, Labels: in.LabelIDs,
		StartDate: in.StartDate, DueDate: in.DueDate,
	})
}
