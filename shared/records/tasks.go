package records

import (
	"slices"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// What became of a start.
const (
	startQueued     = "queued"     // there is a new task
	startCoalesced  = "coalesced"  // a task that is open takes it
	startParked     = "parked"     // the issue is in the backlog
	startSuppressed = "suppressed" // the caller asked not to
	startUnchanged  = "unchanged"  // the agent has the issue and was started
	startBlocked    = "blocked"    // a reason code says why
)

// Why a start is blocked, or a run was not let in.
const (
	reasonScopeMissing  = "scope_missing"
	reasonUnavailable   = "target_unavailable" // archived, unknown or not seen
	reasonNotAllowed    = "invocation_not_allowed"
	reasonQuota         = "quota_exceeded"
	reasonOffline       = "runtime_offline"
	reasonAlreadyActive = "already_active"
	reasonTemplate      = "template_invalid"
	reasonIssueDeleted  = "issue_deleted"
)

// maxCoalesced bounds how many starts a task remembers. One that is full is not cancelled with
// a comment, since others may have caused it too.
const maxCoalesced = 20

// starter sets agents to work on one issue. It changes the issue in memory and notes which
// tasks must be written.
type starter struct {
	store    *store
	dir      *directory
	issue    *issueRow
	at       micros
	suppress bool
	tasks    []Task // to write
}

// start tries to set one agent to work and says what became of it.
func (st *starter) start(agent tracker.ID, why taskOrigin) tracker.TriggerOutcome {
	out := st.outcome(agent, why.Source, startBlocked)
	a, known := st.dir.agentByID(agent)
	switch {
	case st.suppress:
		out.Status = startSuppressed
	case !st.store.principal().Has(identity.AgentsWrite):
		out.ReasonCode = reasonScopeMissing
	case !known || !st.dir.sees(a) || a.archived():
		out.ReasonCode = reasonUnavailable
	case !st.dir.mayStart(a):
		out.ReasonCode = reasonNotAllowed
	default:
		st.enqueue(&out, why)
	}
	return out
}

// outcome is the answer's entry for an agent.
func (st *starter) outcome(agent tracker.ID, source, status string) tracker.TriggerOutcome {
	return tracker.TriggerOutcome{
		TargetType: tracker.AgentActor, TargetID: agent, TargetName: st.dir.name(tracker.AgentActor, agent),
		Source: source, Status: status,
	}
}

// enqueue gives the start to the agent's open task, else to a new one. An assignment is not
// parked any more once its agent has a task.
func (st *starter) enqueue(out *tracker.TriggerOutcome, why taskOrigin) {
	open := slices.IndexFunc(st.issue.Tasks, func(t Task) bool { return t.AgentID == out.TargetID && t.open() })
	switch {
	case open >= 0:
		t := &st.issue.Tasks[open]
		if len(t.Coalesced) < maxCoalesced {
			t.Coalesced = append(slices.Clone(t.Coalesced), why)
			st.tasks = append(st.tasks, *t)
		}
		out.Status, out.TaskID = startCoalesced, t.ID
	case len(st.issue.Tasks) >= tracker.MaxActiveTasks:
		out.ReasonCode = reasonQuota
		return
	default:
		t := st.newTask(out.TargetID, why)
		st.issue.Tasks = append(st.issue.Tasks, t)
		st.tasks = append(st.tasks, t)
		out.Status, out.TaskID = startQueued, t.ID
	}
	if st.issue.AssigneeType == tracker.AgentActor && st.issue.AssigneeID == out.TargetID {
		st.issue.Parked = false
	}
}

func (st *starter) newTask(agent tracker.ID, why taskOrigin) Task {
	return Task{
		ID: st.store.newID(), AgentID: agent, IssueID: st.issue.ID, TriggerCommentID: why.CommentID,
		Source: why.Source, Status: Queued, Priority: taskPriority(st.issue.Priority),
		RequestedBy: st.store.userID(), CreatedAt: st.at,
	}
}

// taskPriority is an issue's priority as runtimes order tasks: 0 (none) to 4 (urgent).
func taskPriority(p tracker.Priority) int {
	values := p.Values() // most urgent first
	if i := slices.Index(values, string(p)); i >= 0 {
		return len(values) - 1 - i
	}
	return 0
}
