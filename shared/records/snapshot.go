package records

import (
	"time"

	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Micros is a time in microseconds since 1970, UTC; 0 is none.
type Micros = micros

// MicrosOf returns t as it is stored.
func MicrosOf(t time.Time) Micros { return microsOf(t) }

// Snapshot is a whole new workspace, for Load. What follows from the rest is not in it: comment
// counts, thread roots, lists of sub-issues and of active tasks, and when an autopilot last ran.
type Snapshot struct {
	Workspace  Workspace
	Members    []Member // at most tracker.MaxMembers, one owner at least
	Agents     []Agent
	Autopilots []Autopilot
	Labels     []Label
	Issues     []IssueSnapshot // in any order
	Tasks      []Task          // of issues and of runs, also those that are over
	Runs       []RunSnapshot
	Usage      []tracker.UsageRow // at most one for a day, provider and model
	// NextNumber is the number of the next issue made. It is above all numbers in Issues.
	NextNumber int
}

// IssueSnapshot is an issue with its comments, or the tombstone of one.
type IssueSnapshot struct {
	ID           tracker.ID
	Number       int    // 1 to tracker.MaxIssueNumber, unique
	Title        string // empty only if its content is purged
	Description  string
	Status       tracker.Status
	Priority     tracker.Priority
	CreatorType  tracker.ActorType
	CreatorID    tracker.ID
	AssigneeType tracker.ActorType // empty: nobody
	AssigneeID   tracker.ID
	ParentID     tracker.ID   // an issue of the snapshot that is not deleted; empty: none
	LabelIDs     []tracker.ID // at most tracker.MaxLabels
	StartDate    tracker.Day
	DueDate      tracker.Day
	Revision     tracker.Revision // 1 or more
	CreatedAt    Micros
	UpdatedAt    Micros
	Parked       bool       // its agent was assigned, but not started
	OriginRunID  tracker.ID // the run in Runs that made it; empty: none
	Comments     []CommentSnapshot
	Deleted      *IssueTombstone // nil: live
}

// IssueTombstone says when an issue was deleted, and what its deletion reported.
type IssueTombstone struct {
	At              Micros
	By              tracker.ID // a member
	RestorableUntil Micros
	Removed         tracker.IssueRemoved
}

// CommentSnapshot is a comment, or the tombstone of one.
type CommentSnapshot struct {
	ID         tracker.ID
	AuthorType tracker.ActorType
	AuthorID   tracker.ID // empty for the system
	Content    string
	Type       string     // empty: comment
	ParentID   tracker.ID // an older comment of the same issue; empty: top level
	CreatedAt  Micros
	UpdatedAt  Micros            // 0: as created
	Deleted    *CommentTombstone // nil: live
}

// CommentTombstone says when a comment was deleted. All below a deleted comment is deleted.
type CommentTombstone struct {
	At              Micros
	By              tracker.ID // a member
	RestorableUntil Micros
	RemovedWith     tracker.ID              // the comment whose deletion took it; empty: its own
	Removed         *tracker.CommentRemoved // what its own deletion reported; nil if it went with another
}

// RunSnapshot is a run of an autopilot.
type RunSnapshot struct {
	ID            tracker.ID
	AutopilotID   tracker.ID
	Source        string // manual, schedule, webhook or api
	Status        string // issue_created, running, completed, failed or skipped
	IssueID       tracker.ID
	TaskID        tracker.ID
	TriggeredBy   tracker.ID
	TriggeredAt   Micros
	CompletedAt   Micros
	FailureReason string
	ReasonCode    string
}
