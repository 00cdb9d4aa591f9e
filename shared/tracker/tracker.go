// Package tracker is the domain: what an issue, a comment and a run are, which values are
// accepted, and what can be asked and done. Everything else in the project serves it.
//
// It is not an implementation: records keeps the domain in tables, and an adapter to another
// server could stand in its place. trackertest is the contract for all of them. Start here,
// then read values.go and tool/bind.go.
package tracker

import "context"

// Reader asks. A Reader is bound to one call: it answers for that caller's workspace alone, and
// what lies in another is not there. Its methods change nothing.
//
// Every method may fail with fault.RateLimited (throttled) or a plain error (internal); further
// faults are said at the method.
type Reader interface {
	// ListIssues returns a page of issues that match all filters.
	//   - fault.Invalid: unknown_reference, ambiguous_reference, invalid_cursor
	ListIssues(context.Context, IssueQuery) (IssuePage, error)
	// GetIssue returns one issue.
	//   - fault.NotFound
	GetIssue(context.Context, IssueRef) (IssueDetail, error)
	// ListComments returns a page of an issue's comments.
	//   - fault.NotFound: the issue
	//   - fault.Invalid: unknown_reference (thread), invalid_cursor
	ListComments(context.Context, CommentQuery) (CommentPage, error)
	// GetUsage returns daily usage rows and the totals of the whole window.
	//   - fault.Invalid: invalid_cursor
	GetUsage(context.Context, UsageQuery) (Usage, error)
	// PreviewIssueDeletion says what DeleteIssue would do, and whether it would be refused.
	//   - fault.Forbidden: NoSuchTarget, for a missing and for a forbidden issue alike
	PreviewIssueDeletion(context.Context, IssueRef) (IssueDeletion, error)
	// PreviewCommentDeletion says what DeleteComment would do, and whether it would be refused.
	//   - fault.Forbidden: NoSuchTarget
	PreviewCommentDeletion(context.Context, CommentTarget) (CommentDeletion, error)
}

// Store asks and acts. A Store is bound to one call, and a change is committed together with
// the call's audit event, or not at all.
//
// Every acting method may also fail with fault.RateLimited (contention: others kept writing the
// same issue; nothing was done).
type Store interface {
	Reader
	// CreateIssue makes an issue with the next number of the workspace.
	//   - fault.Invalid: unknown_reference, ambiguous_reference, invalid_arguments (an agent as assignee)
	//   - fault.Conflict: limit_reached (sub-issues), idempotency_conflict
	CreateIssue(context.Context, NewIssue) (CreatedIssue, error)
	// UpdateIssue changes the fields that are set. What is equal already is no change; without
	// a change nothing is written and no revision is compared.
	//   - fault.NotFound
	//   - fault.Invalid: unknown_reference, ambiguous_reference, invalid_arguments
	//   - fault.Conflict: revision_conflict, limit_reached
	UpdateIssue(context.Context, IssueRef, IssueChange) (UpdatedIssue, error)
	// CreateComment adds a comment and starts the agents that it calls.
	//   - fault.NotFound: the issue
	//   - fault.Invalid: unknown_reference (the parent)
	//   - fault.Conflict: limit_reached (comments of a thread), idempotency_conflict
	CreateComment(context.Context, NewComment) (CreatedComment, error)
	// AssignIssue gives the issue to an agent and starts it, unless it has it already.
	//   - fault.NotFound: the issue
	//   - fault.Invalid: unknown_reference, ambiguous_reference (the agent)
	//   - fault.Forbidden: invocation_not_allowed
	//   - fault.Conflict: target_unavailable, revision_conflict
	AssignIssue(context.Context, Assignment) (AssignedIssue, error)
	// TriggerAutopilot starts a run. Once found, permitted and active a run is always recorded.
	//   - fault.NotFound, fault.Forbidden: not_permitted
	//   - fault.Invalid: ambiguous_reference
	//   - fault.Conflict: autopilot_not_active, idempotency_conflict
	TriggerAutopilot(context.Context, AutopilotTrigger) (TriggeredRun, error)
	// DeleteIssue makes the issue a tombstone, with its comments. Deleting it again returns the
	// first answer.
	//   - fault.Forbidden: NoSuchTarget
	DeleteIssue(context.Context, IssueRef) (IssueDeletion, error)
	// DeleteComment removes a comment and all replies below it. Deleting it again returns the
	// first answer.
	//   - fault.Forbidden: NoSuchTarget
	DeleteComment(context.Context, CommentTarget) (CommentDeletion, error)
}
