package records

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

var (
	prefixForm   = compiled(`^[A-Z0-9]{1,10}$`)
	slugForm     = compiled(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	colorForm    = compiled(`^#[0-9a-f]{6}$`)
	providerForm = compiled(`^[^#]{1,100}$`)
)

const (
	maxName      = 100 // characters of a member's or an agent's name
	maxLabelName = 50  // characters
	maxModel     = 200 // characters of the name of a model
	maxSlug      = 100 // characters
)

// checker collects what is wrong with a snapshot. Its words name things by id or number, never
// by what they say.
type checker struct {
	s       Snapshot
	issues  map[tracker.ID]IssueSnapshot
	ids     map[tracker.ID]bool
	numbers map[int]bool
	errs    []error
}

// check tells whether the snapshot fits together and keeps the bounds of the tracker.
func (s Snapshot) check() error {
	c := &checker{s: s, issues: map[tracker.ID]IssueSnapshot{}, ids: map[tracker.ID]bool{}, numbers: map[int]bool{}}
	for _, i := range s.Issues {
		c.issues[i.ID] = i
	}
	c.workspace()
	c.people()
	c.autopilots()
	c.labels()
	for _, i := range s.Issues {
		c.issue(i)
	}
	c.work()
	c.usage()
	if len(c.errs) == 0 {
		return nil
	}
	return fmt.Errorf("the snapshot does not fit together, nothing was loaded: %w", errors.Join(c.errs...))
}

func (c *checker) must(ok bool, format string, args ...any) {
	if !ok {
		c.errs = append(c.errs, fmt.Errorf(format, args...))
	}
}

func (c *checker) id(id tracker.ID, what string) {
	c.must(tracker.IsID(string(id)) && strings.ToLower(string(id)) == string(id), "%s %q: its id must be a UUID in lower case", what, id)
	c.must(!c.ids[id], "%s %s: its id must be of this thing alone", what, id)
	c.ids[id] = true
}

// names must be told apart by people, and from ids and me by the program.
func (c *checker) names(what string, maxLength int, names map[tracker.ID]string, unique bool) {
	seen := map[string]tracker.ID{}
	for id, name := range names {
		n := utf8.RuneCountInString(name)
		c.must(n >= 1 && n <= maxLength, "%s %s: its name must have 1 to %d characters", what, id, maxLength)
		folded := strings.ToLower(strings.TrimSpace(name))
		c.must(folded != "" && folded != tracker.Me && !tracker.IsID(folded), "%s %s: its name must not be blank, me, or like an id", what, id)
		c.must(!unique || seen[folded] == "", "%s %s: its name must be its own", what, id)
		seen[folded] = id
	}
}

func (c *checker) workspace() {
	w := c.s.Workspace
	c.id(w.ID, "workspace")
	c.must(w.Name != "", "workspace: it must have a name")
	c.must(slugForm().MatchString(w.Slug) && len(w.Slug) <= maxSlug, "workspace: its slug must be of a-z, 0-9 and single hyphens, at most %d characters", maxSlug)
	c.must(prefixForm().MatchString(w.IssuePrefix), "workspace: its issue prefix must be of A-Z and 0-9, 1 to 10 characters")
	c.must(c.s.NextNumber >= 1, "workspace: the next number must be 1 or more")
}

func (c *checker) people() {
	members, agents := map[tracker.ID]string{}, map[tracker.ID]string{}
	owners := 0
	for _, m := range c.s.Members {
		c.id(m.UserID, "member")
		members[m.UserID] = m.Name
		c.must(m.Role == identity.Owner || m.Role == identity.Admin || m.Role == identity.Member, "member %s: the role must be owner, admin or member", m.UserID)
		if m.Role == identity.Owner && !m.left() {
			owners++
		}
	}
	c.must(owners > 0, "members: one must be an owner")
	c.must(len(c.s.Members) <= tracker.MaxMembers, "members: at most %d", tracker.MaxMembers)
	for _, a := range c.s.Agents {
		c.id(a.ID, "agent")
		agents[a.ID] = a.Name
		c.must(a.PermissionMode == Private || a.PermissionMode == PublicTo, "agent %s: the permission mode must be %s or %s", a.ID, Private, PublicTo)
		c.actor("agent "+string(a.ID)+": its owner", tracker.MemberActor, a.OwnerID)
	}
	c.must(len(c.s.Agents) <= tracker.MaxAgents, "agents: at most %d", tracker.MaxAgents)
	c.names("member", maxName, members, false)
	c.names("agent", maxName, agents, true)
}

// actor requires that there is such an actor.
func (c *checker) actor(what string, kind tracker.ActorType, id tracker.ID) {
	ok := kind == tracker.SystemActor && id == ""
	switch kind {
	case tracker.MemberActor:
		_, ok = lookup(c.s.Members, func(m Member) bool { return m.UserID == id })
	case tracker.AgentActor:
		_, ok = lookup(c.s.Agents, func(a Agent) bool { return a.ID == id })
	}
	c.must(ok, "%s: there is no such actor in the snapshot", what)
}

func (c *checker) autopilots() {
	c.must(len(c.s.Autopilots) <= tracker.MaxAutopilots, "autopilots: at most %d", tracker.MaxAutopilots)
	for _, a := range c.s.Autopilots {
		what := "autopilot " + string(a.ID)
		c.id(a.ID, "autopilot")
		c.actor(what+": its agent", tracker.AgentActor, a.AssigneeID)
		c.actor(what+": its creator", tracker.MemberActor, a.CreatedByID)
		c.must(a.Status == AutopilotActive || a.Status == AutopilotPaused || a.Status == AutopilotArchived, "%s: unknown status", what)
		c.must(a.ExecutionMode == "create_issue" || a.ExecutionMode == "run_only", "%s: the execution mode must be create_issue or run_only", what)
	}
}

func (c *checker) labels() {
	c.must(len(c.s.Labels) <= tracker.MaxLabelsDefined, "labels: at most %d", tracker.MaxLabelsDefined)
	names := map[tracker.ID]string{}
	for _, l := range c.s.Labels {
		c.id(l.ID, "label")
		c.must(colorForm().MatchString(l.Color), "label %s: its color must be of the form #rrggbb, in lower case", l.ID)
		names[l.ID] = l.Name
	}
	c.names("label", maxLabelName, names, true)
}

func (c *checker) issue(i IssueSnapshot) {
	what := fmt.Sprintf("issue %d", i.Number)
	c.id(i.ID, "issue")
	c.must(i.Number >= 1 && i.Number <= tracker.MaxIssueNumber && i.Number < c.s.NextNumber, "%s: its number must be from 1 to below the next number", what)
	c.must(!c.numbers[i.Number], "%s: its number must be its own", what)
	c.numbers[i.Number] = true
	c.must(i.Title != "" || i.Deleted != nil, "%s: it must have a title", what)
	c.must(utf8.RuneCountInString(i.Title) <= tracker.MaxTitle, "%s: its title must have at most %d characters", what, tracker.MaxTitle)
	c.must(len(i.Description) <= tracker.MaxDescription, "%s: its description must have at most %d bytes", what, tracker.MaxDescription)
	c.must(oneOfWords(i.Status), "%s: unknown status", what)
	c.must(oneOfWords(i.Priority), "%s: unknown priority", what)
	c.must(i.Revision >= 1, "%s: its revision must be 1 or more", what)
	c.actor(what+": its creator", i.CreatorType, i.CreatorID)
	if i.AssigneeType != "" || i.AssigneeID != "" {
		c.actor(what+": its assignee", i.AssigneeType, i.AssigneeID)
	}
	c.must(len(i.LabelIDs) <= tracker.MaxLabels, "%s: at most %d labels", what, tracker.MaxLabels)
	for _, id := range i.LabelIDs {
		_, ok := lookup(c.s.Labels, func(l Label) bool { return l.ID == id })
		c.must(ok, "%s: a label of it is not in the snapshot", what)
	}
	if i.ParentID != "" {
		parent, ok := c.issues[i.ParentID]
		c.must(ok && parent.Deleted == nil && parent.ID != i.ID, "%s: its parent must be another issue that is not deleted", what)
	}
	if i.OriginRunID != "" {
		_, ok := lookup(c.s.Runs, func(r RunSnapshot) bool { return r.ID == i.OriginRunID })
		c.must(ok, "%s: its run is not in the snapshot", what)
	}
	children, tasks := c.s.hanging(i)
	c.must(len(children) <= tracker.MaxSubIssues, "%s: at most %d sub-issues", what, tracker.MaxSubIssues)
	c.must(len(tasks) <= tracker.MaxActiveTasks, "%s: at most %d active tasks", what, tracker.MaxActiveTasks)
	c.must(len(tasks) == 0 || i.Deleted == nil, "%s: a deleted issue must have no active task", what)
	c.comments(what, i)
}

func oneOfWords[E tracker.Enum](v E) bool {
	for _, w := range v.Values() {
		if w == string(v) {
			return true
		}
	}
	return false
}

func (c *checker) comments(what string, i IssueSnapshot) {
	before := len(c.errs)
	for _, comment := range i.Comments {
		name := what + ", comment " + string(comment.ID)
		c.id(comment.ID, "comment")
		c.actor(name+": its author", comment.AuthorType, comment.AuthorID)
		c.must(comment.Content != "" && len(comment.Content) <= tracker.MaxContent, "%s: it must have 1 to %d bytes", name, tracker.MaxContent)
		if comment.ParentID == "" {
			continue
		}
		parent, ok := lookup(i.Comments, func(p CommentSnapshot) bool { return p.ID == comment.ParentID })
		c.must(ok && parent.CreatedAt < comment.CreatedAt, "%s: it must answer an older comment of the same issue", name)
		c.must(parent.Deleted == nil || comment.Deleted != nil, "%s: what it answers is deleted, so it must be too", name)
	}
	if len(c.errs) > before {
		return // threads of broken comments have no end
	}
	for root, live := range i.threads() {
		c.must(len(live) <= tracker.MaxThreadComments, "%s, comment %s: at most %d live comments in a thread", what, root, tracker.MaxThreadComments)
	}
}

// work checks tasks and runs.
func (c *checker) work() {
	for _, t := range c.s.Tasks {
		c.id(t.ID, "task")
		c.actor("task "+string(t.ID)+": its agent", tracker.AgentActor, t.AgentID)
		_, ok := c.issues[t.IssueID]
		c.must(ok || t.IssueID == "", "task %s: its issue is not in the snapshot", t.ID)
	}
	for _, r := range c.s.Runs {
		c.id(r.ID, "run")
		_, ok := lookup(c.s.Autopilots, func(a Autopilot) bool { return a.ID == r.AutopilotID })
		c.must(ok, "run %s: its autopilot is not in the snapshot", r.ID)
	}
}

func (c *checker) usage() {
	seen := map[string]bool{}
	for n, u := range c.s.Usage {
		var day tracker.Day
		c.must(day.UnmarshalText([]byte(u.Date)) == nil, "usage row %d: its date must be of the form YYYY-MM-DD", n)
		c.must(providerForm().MatchString(u.Provider), "usage row %d: its provider must have 1 to 100 characters and no #", n)
		c.must(u.Model != "" && len(u.Model) <= maxModel, "usage row %d: its model must have 1 to %d bytes", n, maxModel)
		c.must(!seen[usageSK(u)], "usage row %d: there is another of this day, provider and model", n)
		seen[usageSK(u)] = true
	}
}
