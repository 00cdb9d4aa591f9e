package write

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

type assignIssueToAgentIn struct {
	IssueID          tracker.IssueRef `json:"issue_id" jsonschema:"The issue: id, or identifier such as AAC-42."`
	AgentID          tracker.AgentRef `json:"agent_id" jsonschema:"The agent: id or exact name. An unknown one is refused with the agents you can choose from."`
	SuppressRun      bool             `json:"suppress_run,omitempty" jsonschema:"true: assign without starting the agent. Default false."`
	ExpectedRevision tracker.Revision `json:"expected_revision,omitempty" jsonschema:"revision as you last read it: the assignment is refused if the issue has changed since."`
}

// AssignIssueToAgent gives an issue to an agent and starts it.
var AssignIssueToAgent = tool.Write(tool.Spec{
	Name: "assign_issue_to_agent", Title: "Assign issue to agent", Scope: identity.AgentsWrite, Idempotent: true,
	Doc: `Gives one issue to an AI agent, in place of whoever had it, and starts the agent on it. Use it when an agent is to do the work; for a person use update_issue with assignee_id.

Returns the issue, changed, previous_assignee, exactly one entry in trigger_outcomes, and other_open_tasks of other agents on the issue, which go on: this tool cancels nothing. In backlog the assignment is parked: the agent starts when the issue leaves backlog. An agent that has the issue and was started is not started again, so repeating the call is harmless. The work itself happens later and elsewhere: get_issue shows open tasks, list_comments what the agent reports.`,
}, assignIssueToAgent)

func assignIssueToAgent(ctx context.Context, s tracker.Store, in assignIssueToAgentIn) (tracker.AssignedIssue, error) {
	return s.AssignIssue(ctx, tracker.Assignment{
		Issue: in.IssueID, Agent: in.AgentID, SuppressRun: in.SuppressRun, ExpectedRevision: in.ExpectedRevision,
	})
}
