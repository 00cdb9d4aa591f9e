// Package records keeps the domain in tables: keys, revisions, cursors, idempotency, tombstones.
// It implements tracker.Reader over a table.Reader and tracker.Store over a table.Writer.
//
// It knows no engine and no protocol. Start with keys.go (where things are) and rows.go (what
// is stored), then get_issue.go for a read and create.go for a write.
package records

import (
	"encoding/json"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// What is stored. Times inside are µs (microseconds since 1970, UTC), so that ordering is
// finer than the whole seconds on the wire. The version of a row is its table.Item's.

// micros is a time in microseconds since 1970, UTC; 0 is none.
type micros int64

func microsOf(t time.Time) micros { return micros(t.UnixMicro()) }

func (m micros) time() time.Time { return time.UnixMicro(int64(m)).UTC() }

func (m micros) wire() tracker.Time { return tracker.At(m.time()) }

// directoryRow is all that is small and shared in a workspace, in one row: one read gives names,
// roles and rights as they are now, and its version guards a right until the commit.
type directoryRow struct {
	Workspace  Workspace   `json:"workspace"`
	Members    []Member    `json:"members"`
	Agents     []Agent     `json:"agents"`
	Autopilots []Autopilot `json:"autopilots"`
	Labels     []Label     `json:"labels"`
}

// Workspace is a tenant. Everything else belongs to one.
type Workspace struct {
	ID          tracker.ID `json:"id"`
	Name        string     `json:"name"`
	Slug        string     `json:"slug"`         // unique among all workspaces
	IssuePrefix string     `json:"issue_prefix"` // ^[A-Z0-9]{1,10}$
}

// Member is a person in a workspace. One who left stays for the name.
type Member struct {
	UserID tracker.ID    `json:"user_id"`
	Role   identity.Role `json:"role"`
	Name   string        `json:"name"`  // 1 to 100 characters
	Email  string        `json:"email"` // never output
	LeftAt micros        `json:"left_at,omitempty"`
}

// Permission modes of an agent.
const (
	Private  = "private"   // only its owner sees and starts it (administrators see it)
	PublicTo = "public_to" // all members see and start it
)

// Agent is a worker outside this project that takes tasks.
type Agent struct {
	ID             tracker.ID `json:"id"`
	Name           string     `json:"name"`        // 1 to 100 characters, unique
	Description    string     `json:"description"` // at most 255 characters
	PermissionMode string     `json:"permission_mode"`
	OwnerID        tracker.ID `json:"owner_id"`
	Status         string     `json:"status"` // idle, working, blocked, error or offline
	ArchivedAt     micros     `json:"archived_at,omitempty"`
}

// Statuses of an autopilot.
const (
	AutopilotActive   = "active"
	AutopilotPaused   = "paused"
	AutopilotArchived = "archived"
)

// Autopilot is standing work for an agent.
type Autopilot struct {
	ID                 tracker.ID `json:"id"`
	Title              string     `json:"title"`       // 1 to 200 characters
	AssigneeID         tracker.ID `json:"assignee_id"` // an agent
	Status             string     `json:"status"`
	ExecutionMode      string     `json:"execution_mode"`
	IssueTitleTemplate string     `json:"issue_title_template"` // {{date}}; empty: the title
	CreatedByID        tracker.ID `json:"created_by_id"`
}

// Label is a coloured word that issues can carry.
type Label struct {
	ID    tracker.ID `json:"id"`
	Name  string     `json:"name"`  // 1 to 50 characters, unique
	Color string     `json:"color"` // #rrggbb
}

// issueRow is an issue without its description, or the tombstone of one.
type issueRow struct {
	ID           tracker.ID        `json:"id"`
	Number       int               `json:"number"`
	Title        string            `json:"title"`
	Status       tracker.Status    `json:"status"`
	Priority     tracker.Priority  `json:"priority"`
	CreatorType  tracker.ActorType `json:"creator_type"`
	CreatorID    tracker.ID        `json:"creator_id"`
	AssigneeType tracker.ActorType `json:"assignee_type,omitempty"`
	AssigneeID   tracker.ID        `json:"assignee_id,omitempty"`
	ParentID     tracker.ID        `json:"parent_issue_id,omitempty"`
	ParentNumber int               `json:"parent_number,omitempty"`
	LabelIDs     []tracker.ID      `json:"label_ids,omitempty"`
	StartDate    tracker.Day       `json:"start_date,omitempty"`
	DueDate      tracker.Day       `json:"due_date,omitempty"`
	CommentCount int               `json:"comment_count,omitempty"` // live ones
	Revision     tracker.Revision  `json:"revision"`
	CreatedAt    micros            `json:"created_at"`
	UpdatedAt    micros            `json:"updated_at"`

	SubIssues []subIssue `json:"sub_issues,omitempty"` // live ones, at most tracker.MaxSubIssues
	Tasks     []Task     `json:"tasks,omitempty"`      // active ones, at most tracker.MaxActiveTasks
	Parked    bool       `json:"parked,omitempty"`     // its agent was assigned, but not started
	OriginRun *runRef    `json:"origin_run,omitempty"` // the run that made it
	// BodyVersion is the version of the bodyRow, 0 for none. Whoever changes the description
	// gives the bodyRow the version that this row gets in the same commit, so that a reader of
	// both sees whether they belong together.
	BodyVersion int64 `json:"body_version,omitempty"`

	DeletedAt       micros                `json:"deleted_at,omitempty"`
	DeletedBy       tracker.ID            `json:"deleted_by,omitempty"`
	RestorableUntil micros                `json:"restorable_until,omitempty"`
	Removed         *tracker.IssueRemoved `json:"removed,omitempty"`
}

func (r issueRow) deleted() bool { return r.DeletedAt != 0 }

type subIssue struct {
	ID     tracker.ID `json:"id"`
	Number int        `json:"number"`
}

type runRef struct {
	AutopilotID tracker.ID `json:"autopilot_id"`
	RunID       tracker.ID `json:"run_id"`
	TriggeredAt micros     `json:"triggered_at"`
}

type bodyRow struct {
	Description string `json:"description"`
}

// pointerRow leads from an id to the row: an issue's number and, for a comment, its sort key
// and the root of its thread, so that comment and thread are read together.
type pointerRow struct {
	Number int        `json:"number"`
	SK     string     `json:"sort_key,omitempty"`
	RootID tracker.ID `json:"thread_root_id,omitempty"`
}

// commentRow is a comment, or the tombstone of one.
type commentRow struct {
	ID         tracker.ID        `json:"id"`
	AuthorType tracker.ActorType `json:"author_type"`
	AuthorID   tracker.ID        `json:"author_id,omitempty"`
	Content    string            `json:"content"`
	Type       string            `json:"type"`
	ParentID   tracker.ID        `json:"parent_id,omitempty"`
	RootID     tracker.ID        `json:"thread_root_id"` // its own id at top level
	CreatedAt  micros            `json:"created_at"`
	UpdatedAt  micros            `json:"updated_at"`

	DeletedAt       micros                  `json:"deleted_at,omitempty"`
	DeletedBy       tracker.ID              `json:"deleted_by,omitempty"`
	RestorableUntil micros                  `json:"restorable_until,omitempty"`
	RemovedWith     tracker.ID              `json:"removed_with,omitempty"` // the comment whose deletion took it
	Removed         *tracker.CommentRemoved `json:"removed,omitempty"`
}

func (r commentRow) deleted() bool { return r.DeletedAt != 0 }

// threadRow lists the live comments of a thread that has replies, the root included, so that
// a subtree is found with one consistent read. At most tracker.MaxThreadComments.
type threadRow struct {
	Live []threadEntry `json:"live"`
}

type threadEntry struct {
	ID         tracker.ID        `json:"id"`
	ParentID   tracker.ID        `json:"parent_id,omitempty"`
	AuthorType tracker.ActorType `json:"author_type"`
	AuthorID   tracker.ID        `json:"author_id,omitempty"`
	CreatedAt  micros            `json:"created_at"`
}

// Task statuses.
const (
	Queued        = "queued"
	Dispatched    = "dispatched"
	Running       = "running"
	Completed     = "completed"
	FailedStatus  = "failed"
	CancelledTask = "cancelled"
)

// Task is work for a runtime outside this project. Active tasks stand in their issue's row too,
// with the same bytes, so that one read decides; both are written in one commit.
type Task struct {
	ID               tracker.ID   `json:"id"`
	AgentID          tracker.ID   `json:"agent_id"`
	IssueID          tracker.ID   `json:"issue_id,omitempty"`
	AutopilotRunID   tracker.ID   `json:"autopilot_run_id,omitempty"`
	TriggerCommentID tracker.ID   `json:"trigger_comment_id,omitempty"`
	Coalesced        []taskOrigin `json:"coalesced,omitempty"` // starts merged into it
	Source           string       `json:"source"`              // assign, status, comment or autopilot
	Status           string       `json:"status"`
	Priority         int          `json:"priority"` // 0 (none) to 4 (urgent)
	RequestedBy      tracker.ID   `json:"requested_by,omitempty"`
	CreatedAt        micros       `json:"created_at"`
}

type taskOrigin struct {
	Source    string     `json:"source"`
	CommentID tracker.ID `json:"comment_id,omitempty"`
}

// open tells whether the task still takes new input.
func (t Task) open() bool { return t.Status == Queued || t.Status == Dispatched }

// active tells whether the task is not over.
func (t Task) active() bool { return t.open() || t.Status == Running }

type autopilotState struct {
	LastRunAt     micros `json:"last_run_at,omitempty"`
	LastStartedAt micros `json:"last_started_at,omitempty"`
}

type runRow struct {
	ID            tracker.ID `json:"id"`
	AutopilotID   tracker.ID `json:"autopilot_id"`
	Source        string     `json:"source"`
	Status        string     `json:"status"`
	IssueID       tracker.ID `json:"issue_id,omitempty"`
	TaskID        tracker.ID `json:"task_id,omitempty"`
	TriggeredBy   tracker.ID `json:"triggered_by,omitempty"`
	TriggeredAt   micros     `json:"triggered_at"`
	CompletedAt   micros     `json:"completed_at,omitempty"`
	FailureReason string     `json:"failure_reason,omitempty"`
	ReasonCode    string     `json:"reason_code,omitempty"`
}

// idempotencyRow is what a successful call under a key left: the digest of its arguments and
// its result, as the Store method returned it.
type idempotencyRow struct {
	Digest    string          `json:"digest"`
	Result    json.RawMessage `json:"result"`
	ExpiresAt micros          `json:"expires_at"` // compared when read
}

// How long things are kept.
const (
	IdempotencyFor = 24 * time.Hour
	RestorableFor  = 30 * 24 * time.Hour
)
