package tracker

import (
	"errors"

	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// What the tools answer with. A field without a value is left out, never null; lists are always
// there. Source of the names: Multica's REST API, where both have a thing.

// ActorType says what kind of actor an id belongs to.
type ActorType string

const (
	MemberActor ActorType = "member"
	AgentActor  ActorType = "agent"
	SystemActor ActorType = "system" // comments only
)

// Label is a coloured word on an issue.
type Label struct {
	ID    ID     `json:"id"`
	Name  string `json:"name"`
	Color string `json:"color"` // #rrggbb
}

// Ref is an issue in one line.
type Ref struct {
	ID         ID     `json:"id"`
	Identifier string `json:"identifier"`
	Title      string `json:"title"`
	Status     Status `json:"status"`
}

// Summary is an issue as lists show it.
type Summary struct {
	ID               ID        `json:"id"`
	Number           int       `json:"number"`
	Identifier       string    `json:"identifier"`
	Title            string    `json:"title"`
	Status           Status    `json:"status"`
	Priority         Priority  `json:"priority"`
	CreatorType      ActorType `json:"creator_type"`
	CreatorID        ID        `json:"creator_id"`
	CreatorName      string    `json:"creator_name,omitempty"`
	AssigneeType     ActorType `json:"assignee_type,omitempty"`
	AssigneeID       ID        `json:"assignee_id,omitempty"`
	AssigneeName     string    `json:"assignee_name,omitempty"`
	ParentIssueID    ID        `json:"parent_issue_id,omitempty"`
	ParentIdentifier string    `json:"parent_identifier,omitempty"`
	Labels           []Label   `json:"labels"`
	StartDate        Day       `json:"start_date,omitempty"`
	DueDate          Day       `json:"due_date,omitempty"`
	CommentCount     int       `json:"comment_count"`
	Revision         Revision  `json:"revision"`
	CreatedAt        Time      `json:"created_at"`
	UpdatedAt        Time      `json:"updated_at"`
}

// Issue is an issue whole.
type Issue struct {
	Summary
	WorkspaceID ID     `json:"workspace_id"`
	Description string `json:"description"` // "" is none
}

// OpenTask is work of an agent that is queued or dispatched.
type OpenTask struct {
	ID        ID     `json:"id"`
	AgentID   ID     `json:"agent_id"`
	AgentName string `json:"agent_name,omitempty"`
	Status    string `json:"status"`
	CreatedAt Time   `json:"created_at"`
}

// Comment is a comment whole.
type Comment struct {
	CommentHead
	Content string `json:"content"`
}

// CommentHead is a comment without its content.
type CommentHead struct {
	ID         ID        `json:"id"`
	IssueID    ID        `json:"issue_id"`
	AuthorType ActorType `json:"author_type"`
	AuthorID   ID        `json:"author_id,omitempty"` // none: the system
	AuthorName string    `json:"author_name,omitempty"`
	Type       string    `json:"type"` // comment, progress_update or system
	ParentID   ID        `json:"parent_id,omitempty"`
	CreatedAt  Time      `json:"created_at"`
	UpdatedAt  Time      `json:"updated_at"`
}

// TriggerOutcome says what became of one start of an agent.
type TriggerOutcome struct {
	TargetType ActorType `json:"target_type"` // always agent
	TargetID   ID        `json:"target_id"`
	TargetName string    `json:"target_name,omitempty"`
	Source     string    `json:"source"` // assign, status or comment
	Status     string    `json:"status"` // queued, coalesced, parked, suppressed, unchanged or blocked
	ReasonCode string    `json:"reason_code,omitempty"`
	TaskID     ID        `json:"task_id,omitempty"`
}

// Run is one run of an autopilot.
type Run struct {
	ID            ID     `json:"id"`
	AutopilotID   ID     `json:"autopilot_id"`
	Source        string `json:"source"` // manual, schedule, webhook or api
	Status        string `json:"status"` // issue_created, running, completed, failed or skipped
	IssueID       ID     `json:"issue_id,omitempty"`
	TaskID        ID     `json:"task_id,omitempty"`
	TriggeredAt   Time   `json:"triggered_at"`
	CompletedAt   *Time  `json:"completed_at,omitempty"`
	FailureReason string `json:"failure_reason,omitempty"`
	ReasonCode    string `json:"reason_code,omitempty"`
}

// NoSuchTarget is the one answer of a destructive tool to a target that is missing, in another
// workspace, or not the caller's to delete, so that nobody can probe for what exists.
func NoSuchTarget(d fault.Detail) *fault.Fault {
	return fault.New(fault.Forbidden, fault.NotPermitted, "no such target, or you may not delete it").Noting(d)
}

func asFault(err error) bool {
	var f *fault.Fault
	return errors.As(err, &f)
}
