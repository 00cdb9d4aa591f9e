package records

import (
	"context"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// NewAgent is an agent to be added.
type NewAgent struct {
	Name        string // 1 to 100 characters, unique among those not archived
	Description string // at most 255 characters, one line
	Mode        string // Private or PublicTo
	Owner       tracker.MemberRef
	Status      string // idle, working, blocked, error or offline
}

func (n *NewAgent) check() error {
	n.Name, n.Description = strings.TrimSpace(n.Name), strings.TrimSpace(n.Description)
	switch {
	case !oneLine(n.Description, 0, maxDescription):
		return refuseField("description", "must be one line of at most 255 characters")
	case n.Mode != Private && n.Mode != PublicTo:
		return refuseField("mode", "must be private or public_to")
	case !slices.Contains([]string{"idle", "working", "blocked", "error", statusOffline}, n.Status):
		return refuseField("status", "must be idle, working, blocked, error or offline")
	}
	return checkName("name", n.Name, maxName)
}

// AddAgent adds an agent.
//   - fault.Invalid: invalid_arguments; unknown_reference, ambiguous_reference for owner
//   - fault.Conflict: limit_reached
func (a *Admin) AddAgent(ctx context.Context, call *audit.Call, in NewAgent) (Agent, error) {
	if err := in.check(); err != nil {
		return Agent{}, err
	}
	s := a.store(call)
	id := s.newID() // one for all attempts
	return change(ctx, s, func(d *directory, p *plan) (Agent, error) {
		owner, err := d.member("owner", in.Owner)
		if err != nil {
			return Agent{}, err
		}
		var names []string
		for _, other := range d.Agents {
			if !other.archived() {
				names = append(names, other.Name)
			}
		}
		if err := checkUnique("name", in.Name, names); err != nil {
			return Agent{}, err
		}
		if len(names) >= tracker.MaxAgents {
			return Agent{}, limitReached("this workspace has all the agents that it can have: archive one first", tracker.MaxAgents)
		}
		made := Agent{ID: id, Name: in.Name, Description: in.Description, PermissionMode: in.Mode, OwnerID: owner.UserID, Status: in.Status}
		d.Agents = append(d.Agents, made)
		call.Target("agent", string(id))
		p.changed = []string{"agents"}
		return made, nil
	})
}

// ArchiveAgent takes an agent out of use, for good: it can be given no work any more. Its tasks
// are its runtime's to end. Archiving it again changes nothing.
//   - fault.Invalid: unknown_reference, ambiguous_reference
func (a *Admin) ArchiveAgent(ctx context.Context, call *audit.Call, ref tracker.AgentRef) (Agent, error) {
	return change(ctx, a.store(call), func(d *directory, p *plan) (Agent, error) {
		found, err := d.agent("agent", ref)
		if err != nil {
			return Agent{}, err
		}
		call.Target("agent", string(found.ID))
		if found.archived() {
			return found, nil
		}
		at := slices.IndexFunc(d.Agents, func(other Agent) bool { return other.ID == found.ID })
		d.Agents[at].ArchivedAt = microsOf(call.Now())
		p.changed = []string{"archived_at"}
		return d.Agents[at], nil
	})
}

// NewAutopilot is an autopilot to be added. It is active at once.
type NewAutopilot struct {
	Title    string           // 1 to 200 characters, unique among those not archived
	Agent    tracker.AgentRef // who does its work
	Mode     string           // create_issue or run_only
	Template string           // of the titles of its issues, with {{date}}; empty: the title
	Creator  tracker.MemberRef
}

func (n *NewAutopilot) check(call *audit.Call) error {
	n.Title, n.Template = strings.TrimSpace(n.Title), strings.TrimSpace(n.Template)
	if n.Mode != modeCreateIssue && n.Mode != modeRunOnly {
		return refuseField("mode", "must be create_issue or run_only")
	}
	if err := checkName("title", n.Title, maxTitle); err != nil {
		return err
	}
	if _, ok := (Autopilot{Title: n.Title, IssueTitleTemplate: n.Template}).issueTitle(call.Now()); !ok {
		return refuseField("template", "must give an issue title of one line and at most 500 characters; {{date}} is the only variable")
	}
	return nil
}

// AddAutopilot adds an autopilot.
//   - fault.Invalid: invalid_arguments; unknown_reference, ambiguous_reference for agent, creator
//   - fault.Conflict: limit_reached; target_unavailable, for an archived agent
func (a *Admin) AddAutopilot(ctx context.Context, call *audit.Call, in NewAutopilot) (Autopilot, error) {
	if err := in.check(call); err != nil {
		return Autopilot{}, err
	}
	s := a.store(call)
	id := s.newID() // one for all attempts
	return change(ctx, s, func(d *directory, p *plan) (Autopilot, error) {
		agent, err := d.agent("agent", in.Agent)
		if err != nil {
			return Autopilot{}, err
		}
		if agent.archived() {
			return Autopilot{}, fault.New(fault.Conflict, fault.TargetUnavailable, "this agent is archived: take another one")
		}
		creator, err := d.member("creator", in.Creator)
		if err != nil {
			return Autopilot{}, err
		}
		var titles []string
		for _, other := range d.Autopilots {
			if other.Status != AutopilotArchived {
				titles = append(titles, other.Title)
			}
		}
		if err := checkUnique("title", in.Title, titles); err != nil {
			return Autopilot{}, err
		}
		if len(titles) >= tracker.MaxAutopilots {
			return Autopilot{}, limitReached("this workspace has all the autopilots that it can have: archive one first", tracker.MaxAutopilots)
		}
		made := Autopilot{
			ID: id, Title: in.Title, AssigneeID: agent.ID, Status: AutopilotActive, ExecutionMode: in.Mode,
			IssueTitleTemplate: in.Template, CreatedByID: creator.UserID,
		}
		d.Autopilots = append(d.Autopilots, made)
		p.put(autopilotKey(d.Workspace.ID, id), 0, autopilotState{}, nil)
		call.Target("autopilot", string(id))
		p.changed = []string{"autopilots"}
		return made, nil
	})
}

// SetAutopilotStatus pauses, resumes (AutopilotActive) or archives an autopilot. Archived is for
// good. The same status again changes nothing.
//   - fault.NotFound; fault.Invalid: ambiguous_reference
//   - fault.Conflict: autopilot_not_active, for one that is archived
func (a *Admin) SetAutopilotStatus(ctx context.Context, call *audit.Call, ref tracker.AutopilotRef, status string) (Autopilot, error) {
	return change(ctx, a.store(call), func(d *directory, p *plan) (Autopilot, error) {
		found, err := d.autopilot(ref)
		if err != nil {
			return Autopilot{}, err
		}
		call.Target("autopilot", string(found.ID))
		switch found.Status {
		case status:
			return found, nil
		case AutopilotArchived:
			return Autopilot{}, fault.New(fault.Conflict, fault.AutopilotNotActive,
				"this autopilot is archived: add a new one").With("status", found.Status)
		}
		at := slices.IndexFunc(d.Autopilots, func(other Autopilot) bool { return other.ID == found.ID })
		d.Autopilots[at].Status = status
		p.changed = []string{"status"}
		return d.Autopilots[at], nil
	})
}

// AddLabel adds a label. The color may be written in either case.
//   - fault.Invalid: invalid_arguments
//   - fault.Conflict: limit_reached
func (a *Admin) AddLabel(ctx context.Context, call *audit.Call, name, color string) (Label, error) {
	name, color = strings.TrimSpace(name), strings.ToLower(color)
	if err := checkName("name", name, maxLabelName); err != nil {
		return Label{}, err
	}
	if !colorForm().MatchString(color) {
		return Label{}, refuseField("color", "must be of the form #rrggbb, such as #d1382c")
	}
	s := a.store(call)
	id := s.newID() // one for all attempts
	return change(ctx, s, func(d *directory, p *plan) (Label, error) {
		var names []string
		for _, other := range d.Labels {
			names = append(names, other.Name)
		}
		if err := checkUnique("name", name, names); err != nil {
			return Label{}, err
		}
		if len(names) >= tracker.MaxLabelsDefined {
			return Label{}, limitReached("this workspace has all the labels that it can have", tracker.MaxLabelsDefined)
		}
		made := Label{ID: id, Name: name, Color: color}
		d.Labels = append(d.Labels, made)
		call.Target("label", string(id))
		p.changed = []string{"labels"}
		return made, nil
	})
}
