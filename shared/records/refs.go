package records

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// References: what a caller wrote in place of an id. No tool lists agents, labels or autopilots,
// so a refusal names choices; only such as the caller may see, and never an e-mail address.

// maxChoices bounds the choices of a refusal.
const maxChoices = 20

// candidate is something that a reference can mean.
type candidate struct {
	id    tracker.ID
	name  string
	email string // matched, never shown
	kind  tracker.ActorType
	gone  bool // can be meant, but is not offered, and yields to one that is not gone
}

// member resolves a reference to a member who has not left.
//   - fault.Invalid: unknown_reference, ambiguous_reference; invalid_arguments for an agent
func (d *directory) member(field string, ref tracker.MemberRef) (Member, error) {
	candidates := slices.DeleteFunc(d.people(), func(c candidate) bool { return c.gone })
	c, err := d.resolve(field, string(ref), candidates)
	if err != nil {
		if _, agentErr := d.resolve(field, string(ref), d.workers()); agentErr == nil {
			return Member{}, fault.New(fault.Invalid, fault.InvalidArguments,
				field+": must be a member; to give an issue to an agent, call assign_issue_to_agent").With("field", field)
		}
		return Member{}, err
	}
	m, _ := d.memberByID(c.id)
	return m, nil
}

// agent resolves a reference to an agent that the caller sees, archived or not.
//   - fault.Invalid: unknown_reference, ambiguous_reference
func (d *directory) agent(field string, ref tracker.AgentRef) (Agent, error) {
	c, err := d.resolve(field, string(ref), d.workers())
	if err != nil {
		return Agent{}, err
	}
	a, _ := d.agentByID(c.id)
	return a, nil
}

// assignee resolves a reference to a member or an agent, for a filter: also to a member who
// has left, and to an archived agent.
//   - fault.Invalid: unknown_reference, ambiguous_reference
func (d *directory) assignee(field string, ref tracker.AssigneeRef) (tracker.ID, error) {
	c, err := d.resolve(field, string(ref), append(d.people(), d.workers()...))
	return c.id, err
}

// label resolves a reference to a label.
//   - fault.Invalid: unknown_reference, ambiguous_reference
func (d *directory) label(field string, ref tracker.LabelRef) (Label, error) {
	all := make([]candidate, 0, len(d.Labels))
	for _, l := range d.Labels {
		all = append(all, candidate{id: l.ID, name: l.Name})
	}
	c, err := d.resolve(field, string(ref), all)
	if err != nil {
		return Label{}, err
	}
	l, _ := d.labelByID(c.id)
	return l, nil
}

// labelIDs resolves references to labels; two references to one label count once. The order is
// that of the references, the result never nil.
func (d *directory) labelIDs(field string, refs []tracker.LabelRef) ([]tracker.ID, error) {
	ids := make([]tracker.ID, 0, len(refs))
	for _, ref := range refs {
		l, err := d.label(field, ref)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, l.ID) {
			ids = append(ids, l.ID)
		}
	}
	return ids, nil
}

// autopilot resolves the reference that a call is about.
//   - fault.NotFound, with choices
//   - fault.Invalid: ambiguous_reference
func (d *directory) autopilot(ref tracker.AutopilotRef) (Autopilot, error) {
	all := make([]candidate, 0, len(d.Autopilots))
	for _, a := range d.Autopilots {
		all = append(all, candidate{id: a.ID, name: a.Title, gone: a.Status == AutopilotArchived})
	}
	c, err := d.resolve("autopilot_id", string(ref), all)
	if f := fault.Of(err); err != nil && f.Reason == fault.UnknownReference {
		return Autopilot{}, fault.New(fault.NotFound, fault.TargetNotFound,
			"there is no such autopilot: choices has the titles of those there are").With("choices", f.Member("choices"))
	}
	if err != nil {
		return Autopilot{}, err
	}
	a, _ := lookup(d.Autopilots, func(a Autopilot) bool { return a.ID == c.id })
	return a, nil
}

func (d *directory) people() []candidate {
	all := make([]candidate, 0, len(d.Members)+len(d.Agents))
	for _, m := range d.Members {
		all = append(all, candidate{m.UserID, m.Name, m.Email, tracker.MemberActor, m.left()})
	}
	return all
}

// workers are the agents that the caller sees.
func (d *directory) workers() []candidate {
	var all []candidate
	for _, a := range d.Agents {
		if d.sees(a) {
			all = append(all, candidate{a.ID, a.Name, "", tracker.AgentActor, a.archived()})
		}
	}
	return all
}

// resolve finds the one candidate that the reference means.
func (d *directory) resolve(field, ref string, all []candidate) (candidate, error) {
	meant := d.meant(strings.TrimSpace(ref), all)
	switch {
	case len(meant) == 1:
		return meant[0], nil
	case len(meant) > 1:
		return candidate{}, ambiguous(field, meant)
	}
	return candidate{}, unknown(field, nearest(ref, all))
}

func (d *directory) meant(ref string, all []candidate) []candidate {
	var is func(candidate) bool
	switch {
	case tracker.IsID(ref):
		is = func(c candidate) bool { return strings.EqualFold(ref, string(c.id)) }
	case strings.EqualFold(ref, tracker.Me):
		is = func(c candidate) bool { return c.kind == tracker.MemberActor && c.id == d.caller.UserID }
	default:
		is = func(c candidate) bool {
			return sameName(ref, c.name) || c.email != "" && strings.EqualFold(ref, c.email)
		}
	}
	var present, gone []candidate
	for _, c := range all {
		switch {
		case !is(c):
		case c.gone:
			gone = append(gone, c)
		default:
			present = append(present, c)
		}
	}
	if len(present) > 0 {
		return present
	}
	return gone
}

// nearest lists names to choose from, those that hold the reference first.
func nearest(ref string, all []candidate) []string {
	word := strings.ToLower(strings.TrimSpace(ref))
	var near, far []string
	for _, c := range all {
		switch {
		case c.gone:
		case strings.Contains(strings.ToLower(c.name), word):
			near = append(near, c.name)
		default:
			far = append(far, c.name)
		}
	}
	slices.Sort(near)
	slices.Sort(far)
	return firstChoices(slices.Concat(near, far))
}

func firstChoices(choices []string) []string {
	return append([]string{}, choices[:min(len(choices), maxChoices)]...)
}

func unknown(field string, choices []string) *fault.Fault {
	return fault.New(fault.Invalid, fault.UnknownReference,
		fmt.Sprintf("%s: nothing here has this name or id; choices has names to take instead", field)).
		With("field", field).With("choices", choices)
}

// noSuchReference refuses a reference to what has no names to offer, such as an issue.
func noSuchReference(field, what string) *fault.Fault {
	return fault.New(fault.Invalid, fault.UnknownReference,
		fmt.Sprintf("%s: there is no such %s in this workspace", field, what)).
		With("field", field).With("choices", []string{})
}

// ambiguous offers ids, for the names are what does not help.
func ambiguous(field string, meant []candidate) *fault.Fault {
	ids := make([]string, 0, len(meant))
	for _, c := range meant {
		ids = append(ids, string(c.id))
	}
	return fault.New(fault.Invalid, fault.AmbiguousReference,
		fmt.Sprintf("%s: this name means more than one; choices has their ids, take one of them", field)).
		With("field", field).With("choices", firstChoices(ids))
}
