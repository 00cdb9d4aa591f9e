package write

import (
	"context"
	"slices"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

type updateIssueIn struct {
	IssueID          tracker.IssueRef                            `json:"issue_id" jsonschema:"The issue to change: id, or identifier such as AAC-42."`
	Title            tracker.Opt[tracker.Title]                  `json:"title,omitzero" jsonschema:"The new title, one line."`
	Description      tracker.Opt[tracker.Description]            `json:"description,omitzero" jsonschema:"The whole new description, Markdown; an empty string removes it."`
	Status           tracker.Opt[tracker.Status]                 `json:"status,omitzero" jsonschema:"The new status. Taking an issue of an agent out of backlog can start the agent."`
	Priority         tracker.Opt[tracker.Priority]               `json:"priority,omitzero" jsonschema:"The new priority."`
	AssigneeID       tracker.Opt[tracker.MemberRef]              `json:"assignee_id,omitzero" jsonschema:"The member who gets the issue: user id, exact name or e-mail, or me. Not an agent: use assign_issue_to_agent."`
	LabelIDs         tracker.Opt[tracker.List[tracker.LabelRef]] `json:"label_ids,omitzero" jsonschema:"The whole new set of labels, by id or exact name; an empty list removes all."`
	StartDate        tracker.Opt[tracker.Day]                    `json:"start_date,omitzero" jsonschema:"Planned start, YYYY-MM-DD."`
	DueDate          tracker.Opt[tracker.Day]                    `json:"due_date,omitzero" jsonschema:"Due date, YYYY-MM-DD."`
	Clear            tracker.List[tracker.Clearable]             `json:"clear,omitempty" jsonschema:"Fields to empty. null is not accepted: name the field here instead."`
	SuppressRun      bool                                        `json:"suppress_run,omitempty" jsonschema:"true: start no agent, even if the new status would. Default false."`
	ExpectedRevision tracker.Revision                            `json:"expected_revision,omitempty" jsonschema:"revision as you last read it: the change is refused if the issue has changed since."`
}

// UpdateIssue changes fields of an issue.
var UpdateIssue = tool.Write(tool.Spec{
	Name: "update_issue", Title: "Update issue", Scope: identity.IssuesWrite, Idempotent: true,
	Doc: `Changes the fields that you name of one issue and leaves all others as they are. Use it to retitle, re-describe, move, prioritise, label, schedule or reassign to a member. At least one field must be set or cleared. description and label_ids replace what was there: read the issue with get_issue first and pass expected_revision, so that you overwrite nobody's work unseen.

Returns the issue without its description, changed (the fields that really changed; empty if all was so already) and trigger_outcomes: moving an agent's issue out of backlog starts that agent, if your token has agents:write, unless suppress_run is true. It cannot give an issue to an agent (assign_issue_to_agent does), move it below another parent, or delete it. Repeating the same call changes nothing more.`,
}, updateIssue)

func updateIssue(ctx context.Context, s tracker.Store, in updateIssueIn) (tracker.UpdatedIssue, error) {
	if err := in.check(); err != nil {
		return tracker.UpdatedIssue{}, err
	}
	return s.UpdateIssue(ctx, in.IssueID, tracker.IssueChange{
		Title: in.Title, Description: in.Description, Status: in.Status, Priority: in.Priority,
		Assignee: in.AssigneeID, Labels: in.LabelIDs, StartDate: in.StartDate, DueDate: in.DueDate,
		Clear: in.Clear, SuppressRun: in.SuppressRun, ExpectedRevision: in.ExpectedRevision,
	})
}

// check holds the rules across fields.
func (in updateIssueIn) check() error {
	clearable := map[tracker.Clearable]bool{
		tracker.ClearAssignee:  in.AssigneeID.Set,
		tracker.ClearStartDate: in.StartDate.Set,
		tracker.ClearDueDate:   in.DueDate.Set,
	}
	for _, field := range in.Clear {
		if clearable[field] {
			return invalid(string(field), "is both set and cleared: do one of the two")
		}
	}
	set := []bool{
		in.Title.Set, in.Description.Set, in.Status.Set, in.Priority.Set, in.AssigneeID.Set,
		in.LabelIDs.Set, in.StartDate.Set, in.DueDate.Set, len(in.Clear) > 0,
	}
	if !slices.Contains(set, true) {
		return fault.New(fault.Invalid, fault.InvalidArguments,
			"nothing to change: set at least one field, or name one in clear")
	}
	return nil
}

// invalid refuses an argument because of another one.
func invalid(field, text string) error {
	return fault.New(fault.Invalid, fault.InvalidArguments, field+": "+text).With("field", field)
}
