package records

import (
	"context"
	"slices"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// AssignIssue implements tracker.Store.
func (s *store) AssignIssue(ctx context.Context, in tracker.Assignment) (tracker.AssignedIssue, error) {
	return act(ctx, s, nil, func() (out tracker.AssignedIssue, p *plan, err error) {
		f, err := s.liveIssue(ctx, in.Issue)
		if err != nil {
			return out, nil, err
		}
		a, err := f.dir.startable("agent_id", in.Agent)
		if err != nil {
			return out, nil, err
		}
		before, after := f.issue.Doc, f.issue.Doc
		after.Tasks = slices.Clone(before.Tasks)
		out.Changed = []string{}
		if before.AssigneeID != a.ID {
			if err := checkRevision(in.ExpectedRevision, before.Revision); err != nil {
				return out, nil, err
			}
			after.AssigneeType, after.AssigneeID, after.Parked = tracker.AgentActor, a.ID, true
			after.touch(s.now())
			out.Changed = append(out.Changed, "assignee_id")
			out.PreviousAssignee = f.dir.assigneeOf(before)
		}
		st := &starter{store: s, dir: f.dir, issue: &after, at: later(s.now(), before.UpdatedAt)}
		out.TriggerOutcomes = []tracker.TriggerOutcome{st.assigned(before, a.ID, in.SuppressRun)}
		out.Issue = f.dir.summary(after)
		out.OtherOpenTasks = f.dir.openTasks(tasksOfOthers(after.Tasks, a.ID))
		if len(out.Changed) == 0 && len(st.tasks) == 0 && after.Parked == before.Parked {
			return out, nil, nil
		}
		p = &plan{changed: out.Changed}
		p.putIssue(s.workspace(), f.issue.Version, after)
		p.putTasks(s.workspace(), f.issue.Version, st.tasks)
		if len(st.tasks) > 0 {
			p.changed = append(slices.Clone(p.changed), changedTasks)
		}
		return out, p, nil
	})
}

// startable resolves a reference to an agent that the caller may start.
//   - fault.Invalid: unknown_reference, ambiguous_reference
//   - fault.Forbidden: invocation_not_allowed
//   - fault.Conflict: target_unavailable
func (d *directory) startable(field string, ref tracker.AgentRef) (Agent, error) {
	a, err := d.agent(field, ref)
	switch {
	case err != nil:
		return a, err
	case !d.mayStart(a):
		return a, fault.New(fault.Forbidden, fault.InvocationNotAllowed,
			field+": this agent is private, only its owner may give it work; ask the owner or take another agent").With("field", field)
	case a.archived():
		return a, fault.New(fault.Conflict, fault.TargetUnavailable,
			field+": this agent is archived and takes no work; take another agent").With("field", field)
	default:
		return a, nil
	}
}

// assigned does what the assignment means for the agent's work.
func (st *starter) assigned(before issueRow, agent tracker.ID, suppress bool) tracker.TriggerOutcome {
	switch startsOnAssign(before, agent, suppress) {
	case startAgent:
		return st.start(agent, taskOrigin{Source: sourceAssign})
	case parkAgent:
		return st.outcome(agent, sourceAssign, startParked)
	case holdAgentUp:
		return st.outcome(agent, sourceAssign, startSuppressed)
	default:
		return st.outcome(agent, sourceAssign, startUnchanged)
	}
}

// assigneeOf names who has the issue; nil for nobody.
func (d *directory) assigneeOf(r issueRow) *tracker.PreviousAssignee {
	if r.AssigneeID == "" {
		return nil
	}
	return &tracker.PreviousAssignee{Type: r.AssigneeType, ID: r.AssigneeID, Name: d.name(r.AssigneeType, r.AssigneeID)}
}

func tasksOfOthers(tasks []Task, agent tracker.ID) []Task {
	return slices.DeleteFunc(slices.Clone(tasks), func(t Task) bool { return t.AgentID == agent })
}
