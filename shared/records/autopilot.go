package records

import (
	"context"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// What an autopilot does when it runs.
const (
	modeCreateIssue = "create_issue" // makes an issue for its agent
	modeRunOnly     = "run_only"     // makes a task without an issue
)

// Statuses of a run.
const (
	runIssueCreated = "issue_created"
	runRunning      = "running"
	runFailed       = "failed"
	runSkipped      = "skipped"
)

// What became of a trigger.
const (
	outcomeStarted = "started"
	outcomeSkipped = "skipped" // not let in
	outcomeFailed  = "failed"  // let in, but impossible
)

// sourceManual is the source of a run that a member started.
const sourceManual = "manual"

// statusOffline is the status of an agent without a runtime.
const statusOffline = "offline"

// quietFor is how long after a start an autopilot lets no other run in.
const quietFor = 60 * time.Second

// unfinished tells whether the run is not over.
func (r runRow) unfinished() bool { return r.Status == runIssueCreated || r.Status == runRunning }

// TriggerAutopilot implements tracker.Store.
func (s *store) TriggerAutopilot(ctx context.Context, in tracker.AutopilotTrigger) (tracker.TriggeredRun, error) {
	c, err := s.claim()
	if err != nil {
		return tracker.TriggeredRun{}, err
	}
	number := 0
	return act(ctx, s, c, func() (out tracker.TriggeredRun, p *plan, err error) {
		dir, rows, err := s.readDirectory(ctx, c)
		if err != nil {
			return out, nil, err
		}
		if done, err := s.replay(c, rows, &out); done || err != nil {
			out.Replayed = done
			s.targetIfKnown("autopilot", out.Run.AutopilotID)
			return out, nil, err
		}
		a, err := s.triggerable(dir, in.Autopilot)
		if err != nil {
			return out, nil, err
		}
		state, err := get[autopilotState](ctx, s.t, autopilotKey(s.workspace(), a.ID))
		if err != nil {
			return out, nil, err
		}
		t := s.newTrigger(dir, a, state)
		t.decide()
		if t.issue != nil && number == 0 { // once for all attempts
			if number, err = s.nextNumber(ctx); err != nil {
				return out, nil, err
			}
		}
		return t.result(), t.plan(number), nil
	})
}

// triggerable finds an autopilot that the caller may start and that is active.
//   - fault.NotFound, fault.Forbidden: not_permitted
//   - fault.Invalid: ambiguous_reference
//   - fault.Conflict: autopilot_not_active
func (s *store) triggerable(d *directory, ref tracker.AutopilotRef) (Autopilot, error) {
	a, err := d.autopilot(ref)
	if err != nil {
		return a, err
	}
	s.call.Target("autopilot", string(a.ID))
	switch {
	case !d.mayManage(tracker.MemberActor, a.CreatedByID):
		return a, fault.New(fault.Forbidden, fault.NotPermitted,
			"only its creator or an administrator may start this autopilot: ask one of them")
	case a.Status != AutopilotActive:
		return a, fault.New(fault.Conflict, fault.AutopilotNotActive,
			"this autopilot is not active and nothing ran: ask an administrator to activate it").With("status", a.Status)
	default:
		return a, nil
	}
}

// trigger is a run in the making. Once there is one a run is recorded, whatever comes of it.
type trigger struct {
	store     *store
	dir       *directory
	autopilot Autopilot
	state     row[autopilotState]

	run     runRow
	outcome string
	issue   *issueRow
	task    *Task
}

func (s *store) newTrigger(d *directory, a Autopilot, state row[autopilotState]) *trigger {
	return &trigger{store: s, dir: d, autopilot: a, state: state, run: runRow{
		ID: s.newID(), AutopilotID: a.ID, Source: sourceManual,
		TriggeredBy: s.userID(), TriggeredAt: later(s.now(), state.Doc.LastRunAt),
	}}
}

// decide fills in the run, with the work that it starts if it starts any.
func (t *trigger) decide() {
	if reason := t.notLetIn(); reason != "" {
		t.end(outcomeSkipped, runSkipped, reason, "")
		return
	}
	if t.autopilot.ExecutionMode == modeCreateIssue {
		title, ok := t.autopilot.issueTitle(t.run.TriggeredAt.time())
		if !ok {
			t.end(outcomeFailed, runFailed, reasonTemplate, "the template of the autopilot does not give a title that an issue can have")
			return
		}
		t.makeIssue(title)
		t.run.Status = runIssueCreated
	} else {
		t.makeTask("")
		t.run.Status = runRunning
	}
	t.outcome = outcomeStarted
}

// notLetIn says why there is nothing to be started; empty if there is.
func (t *trigger) notLetIn() string {
	agent, known := t.dir.agentByID(t.autopilot.AssigneeID)
	started := t.state.Doc.LastStartedAt
	switch {
	case !known || !t.dir.sees(agent) || agent.archived():
		return reasonUnavailable
	case !t.dir.mayStart(agent):
		return reasonNotAllowed
	case t.autopilot.ExecutionMode == modeRunOnly && agent.Status == statusOffline:
		return reasonOffline
	case started != 0 && t.run.TriggeredAt < started+micros(quietFor.Microseconds()):
		return reasonAlreadyActive
	default:
		return ""
	}
}

func (t *trigger) end(outcome, status, reason, text string) {
	t.outcome = outcome
	t.run.Status, t.run.ReasonCode, t.run.FailureReason, t.run.CompletedAt = status, reason, text, t.run.TriggeredAt
}

var (
	dateVariable = compiled(`\{\{\s*date\s*\}\}`)
	anyVariable  = compiled(`\{\{.*\}\}`)
)

// issueTitle is what the template gives on a day, and whether it can be a title. A variable that
// is not known is a mistake in the template, not a title.
func (a Autopilot) issueTitle(day time.Time) (string, bool) {
	template := a.IssueTitleTemplate
	if strings.TrimSpace(template) == "" {
		template = a.Title
	}
	text := dateVariable().ReplaceAllString(template, day.Format(time.DateOnly))
	var title tracker.Title
	err := title.UnmarshalText([]byte(text))
	return string(title), err == nil && !anyVariable().MatchString(text)
}

// makeIssue makes the agent's own issue, with its task.
func (t *trigger) makeIssue(title string) {
	t.issue = &issueRow{
		ID: t.store.newID(), Title: title, Status: tracker.Todo, Priority: tracker.NoPriority,
		CreatorType: tracker.AgentActor, CreatorID: t.autopilot.AssigneeID,
		AssigneeType: tracker.AgentActor, AssigneeID: t.autopilot.AssigneeID,
		Revision: 1, CreatedAt: t.run.TriggeredAt, UpdatedAt: t.run.TriggeredAt,
		OriginRun: &runRef{AutopilotID: t.autopilot.ID, RunID: t.run.ID, TriggeredAt: t.run.TriggeredAt},
	}
	t.makeTask(t.issue.ID)
	t.issue.Tasks = []Task{*t.task}
	t.run.IssueID = t.issue.ID
}

func (t *trigger) makeTask(issue tracker.ID) {
	t.task = &Task{
		ID: t.store.newID(), AgentID: t.autopilot.AssigneeID, IssueID: issue, AutopilotRunID: t.run.ID,
		Source: sourceAutopilot, Status: Queued, Priority: taskPriority(tracker.NoPriority),
		RequestedBy: t.store.userID(), CreatedAt: t.run.TriggeredAt,
	}
	t.run.TaskID = t.task.ID
}

func (t *trigger) plan(number int) *plan {
	w := t.store.workspace()
	p := &plan{changed: []string{"runs"}}
	p.requireDirectory(t.dir)
	p.put(runKey(w, t.autopilot.ID, t.run.TriggeredAt.time(), t.run.ID), 0, t.run, nil)
	state := t.state.Doc
	state.LastRunAt = t.run.TriggeredAt
	if t.outcome == outcomeStarted {
		state.LastStartedAt = t.run.TriggeredAt
	}
	p.put(autopilotKey(w, t.autopilot.ID), t.state.Version, state, nil)
	if t.issue != nil {
		t.issue.Number = number
		p.putIssue(w, 0, *t.issue)
		p.put(issuePointerKey(w, t.issue.ID), 0, pointerRow{Number: number}, nil)
		p.changed = append(p.changed, "issues")
	}
	if t.task != nil {
		p.put(taskKey(w, t.task.ID), 0, *t.task, nil)
		p.changed = append(p.changed, changedTasks)
	}
	return p
}

func (t *trigger) result() tracker.TriggeredRun {
	return tracker.TriggeredRun{Run: t.run.wire(), Outcome: t.outcome, Message: t.message()}
}

func (r runRow) wire() tracker.Run {
	return tracker.Run{
		ID: r.ID, AutopilotID: r.AutopilotID, Source: r.Source, Status: r.Status, IssueID: r.IssueID, TaskID: r.TaskID,
		TriggeredAt: r.TriggeredAt.wire(), CompletedAt: r.CompletedAt.pointer(),
		FailureReason: r.FailureReason, ReasonCode: r.ReasonCode,
	}
}

// message says to a person what ran, or why nothing did.
func (t *trigger) message() string {
	switch t.run.ReasonCode {
	case reasonUnavailable:
		return "Skipped, nothing ran: the agent of this autopilot is archived or not there."
	case reasonNotAllowed:
		return "Skipped, nothing ran: the agent of this autopilot is private, and only its owner may start it."
	case reasonOffline:
		return "Skipped, nothing ran: the agent of this autopilot is offline."
	case reasonAlreadyActive:
		return "Skipped, nothing ran: another run of this autopilot started less than a minute ago."
	case reasonTemplate:
		return "Failed, nothing ran: the title template of this autopilot does not give a valid title."
	}
	if t.issue != nil {
		return "Started: an issue was made for the agent, and its task is queued."
	}
	return "Started: a task without an issue is queued for the agent."
}
