package tracker

// NewIssue is an issue to be made.
type NewIssue struct {
	Title       Title
	Description Description
	Status      Status   // "" is Todo
	Priority    Priority // "" is NoPriority
	Assignee    MemberRef
	Parent      IssueRef
	Labels      List[LabelRef]
	StartDate   Day
	DueDate     Day
}

// CreatedIssue is the issue made, now or by an earlier call with the same idempotency key.
type CreatedIssue struct {
	Issue    Summary `json:"issue"`
	Replayed bool    `json:"replayed"`
}

// IssueChange is what to change in an issue. What is not set stays.
type IssueChange struct {
	Title            Opt[Title]
	Description      Opt[Description]
	Status           Opt[Status]
	Priority         Opt[Priority]
	Assignee         Opt[MemberRef]
	Labels           Opt[List[LabelRef]] // the whole set
	StartDate        Opt[Day]
	DueDate          Opt[Day]
	Clear            List[Clearable]
	SuppressRun      bool
	ExpectedRevision Revision // 0: not compared
}

// UpdatedIssue is the issue after the change, the fields that really changed, and what became
// of the starts.
type UpdatedIssue struct {
	Issue           Summary          `json:"issue"`
	Changed         []string         `json:"changed"`
	TriggerOutcomes []TriggerOutcome `json:"trigger_outcomes"`
}

// NewComment is a comment to be added.
type NewComment struct {
	Issue       IssueRef
	Content     Content
	Parent      ID // the comment answered; "" for a top-level comment
	SuppressRun bool
}

// CreatedComment is the comment added, now or by an earlier call with the same idempotency key.
type CreatedComment struct {
	Comment         CommentHead      `json:"comment"`
	IssueRevision   Revision         `json:"issue_revision"`
	TriggerOutcomes []TriggerOutcome `json:"trigger_outcomes"`
	Replayed        bool             `json:"replayed"`
}

// Assignment gives an issue to an agent.
type Assignment struct {
	Issue            IssueRef
	Agent            AgentRef
	SuppressRun      bool
	ExpectedRevision Revision // 0: not compared; judged only if the assignee would change
}

// PreviousAssignee is who had the issue before.
type PreviousAssignee struct {
	Type ActorType `json:"type"`
	ID   ID        `json:"id"`
	Name string    `json:"name,omitempty"`
}

// AssignedIssue is the issue after the assignment.
type AssignedIssue struct {
	Issue            Summary           `json:"issue"`
	Changed          []string          `json:"changed"`
	PreviousAssignee *PreviousAssignee `json:"previous_assignee,omitempty"`
	TriggerOutcomes  []TriggerOutcome  `json:"trigger_outcomes"` // exactly one
	OtherOpenTasks   []OpenTask        `json:"other_open_tasks"` // of other agents: they go on
}

// AutopilotTrigger starts a run by hand.
type AutopilotTrigger struct {
	Autopilot AutopilotRef
}

// TriggeredRun is the run recorded. Skipped and failed are results, not failures of the call.
type TriggeredRun struct {
	Run      Run    `json:"run"`
	Outcome  string `json:"outcome"` // started, skipped or failed
	Message  string `json:"message"` // for a person: what ran, or that nothing did
	Replayed bool   `json:"replayed"`
}

// IssueName names an issue without saying what it was about.
type IssueName struct {
	ID         ID     `json:"id"`
	Identifier string `json:"identifier"`
}

// IssueDeletion says what a deletion did, or would do.
type IssueDeletion struct {
	Deleted         bool              `json:"deleted"`
	DryRun          bool              `json:"dry_run"`
	Issue           IssueName         `json:"issue"`
	DeletedAt       *Time             `json:"deleted_at,omitempty"`
	RestorableUntil *Time             `json:"restorable_until,omitempty"`
	Removed         IssueRemoved      `json:"removed"`
	WouldDelete     *WouldDeleteIssue `json:"would_delete,omitempty"`
}

// IssueRemoved counts what went, or would go, with an issue.
type IssueRemoved struct {
	Comments          int `json:"comments"`
	CancelledTasks    int `json:"cancelled_tasks"`
	DetachedSubIssues int `json:"detached_sub_issues"`
}

// WouldDeleteIssue shows a person what a deletion would take.
type WouldDeleteIssue struct {
	Issue            Ref           `json:"issue"`
	CreatorName      string        `json:"creator_name,omitempty"`
	CommentsByOthers int           `json:"comments_by_others"`
	SubIssues        []Ref         `json:"sub_issues"` // detached, not deleted
	Tasks            []TaskPreview `json:"tasks"`
}

// TaskPreview is a task that a deletion would cancel.
type TaskPreview struct {
	AgentName string `json:"agent_name,omitempty"`
	Status    string `json:"status"`
}

// CommentTarget names a comment to delete. If an issue is given, it must be the comment's.
type CommentTarget struct {
	Comment ID
	Issue   IssueRef
}

// CommentDeletion says what a deletion did, or would do.
type CommentDeletion struct {
	Deleted         bool                `json:"deleted"`
	DryRun          bool                `json:"dry_run"`
	CommentID       ID                  `json:"comment_id"`
	Issue           IssueName           `json:"issue"`
	DeletedAt       *Time               `json:"deleted_at,omitempty"`
	RestorableUntil *Time               `json:"restorable_until,omitempty"`
	Removed         CommentRemoved      `json:"removed"`
	WouldDelete     *WouldDeleteComment `json:"would_delete,omitempty"`
}

// CommentRemoved counts what went, or would go, with a comment.
type CommentRemoved struct {
	Replies         int `json:"replies"`
	RepliesByOthers int `json:"replies_by_others"`
	CancelledTasks  int `json:"cancelled_tasks"`
}

// WouldDeleteComment shows a person what a deletion would take.
type WouldDeleteComment struct {
	AuthorName    string        `json:"author_name,omitempty"`
	Excerpt       string        `json:"excerpt"` // 200 characters
	CreatedAt     Time          `json:"created_at"`
	ReplyAuthors  []ReplyAuthor `json:"reply_authors"`
	NewestReplyAt *Time         `json:"newest_reply_at,omitempty"`
}

// ReplyAuthor counts the replies of one author.
type ReplyAuthor struct {
	Type  ActorType `json:"type"`
	Name  string    `json:"name,omitempty"`
	Count int       `json:"count"`
}
