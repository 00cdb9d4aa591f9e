package demo

import (
	"slices"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

type person struct {
	first, name string
	role        identity.Role
}

// The people of the demo workspace, in the order in which they take turns.
var people = []person{
	{"mira", "Mira Okafor", identity.Owner},
	{"jonas", "Jonas Lind", identity.Admin},
	{"priya", "Priya Raman", identity.Member},
	{"tomas", "Tomas Rey", identity.Member},
	{"elin", "Elin Novak", identity.Member},
}

func member(first string) tracker.ID { return id("member/" + first) }

func agent(name string) tracker.ID { return id("agent/" + name) }

func label(name string) tracker.ID { return id("label/" + name) }

func members() []records.Member {
	var all []records.Member
	for _, p := range people {
		all = append(all, records.Member{UserID: member(p.first), Role: p.role, Name: p.name, Email: p.first + "@example.com"})
	}
	return all
}

func (g *generator) agents() []records.Agent {
	return []records.Agent{
		{ID: agent("atlas"), Name: "Atlas", Description: "Writes and reviews code, and sorts the backlog.",
			PermissionMode: records.PublicTo, OwnerID: member("jonas"), Status: "working"},
		{ID: agent("scribe"), Name: "Scribe", Description: "Writes guides, release notes and help texts.",
			PermissionMode: records.PublicTo, OwnerID: member("mira"), Status: "idle"},
		{ID: agent("scout"), Name: "Scout", Description: "Reads up on a question and reports what it found, with sources.",
			PermissionMode: records.Private, OwnerID: member("priya"), Status: "working"},
		{ID: agent("relic"), Name: "Relic", Description: "The first code agent, replaced by Atlas.",
			PermissionMode: records.PublicTo, OwnerID: member("mira"), Status: "offline",
			ArchivedAt: records.MicrosOf(g.daysBefore(80, 10*time.Hour))},
	}
}

func autopilot(name string) tracker.ID { return id("autopilot/" + name) }

func autopilots() []records.Autopilot {
	return []records.Autopilot{
		{ID: autopilot("triage"), Title: "Backlog triage", AssigneeID: agent("atlas"), Status: records.AutopilotActive,
			ExecutionMode: "create_issue", IssueTitleTemplate: "Triage {{date}}", CreatedByID: member("mira")},
		{ID: autopilot("digest"), Title: "Customer digest", AssigneeID: agent("scout"), Status: records.AutopilotActive,
			ExecutionMode: "run_only", CreatedByID: member("priya")},
		{ID: autopilot("sweep"), Title: "Dependency sweep", AssigneeID: agent("atlas"), Status: records.AutopilotPaused,
			ExecutionMode: "create_issue", IssueTitleTemplate: "Update dependencies {{date}}", CreatedByID: member("jonas")},
	}
}

func labels() []records.Label {
	var all []records.Label
	for _, l := range [][2]string{
		{"bug", "#d1382c"}, {"feature", "#2563c9"}, {"docs", "#0e7c66"}, {"performance", "#b26a00"},
		{"security", "#8b1e3f"}, {"ux", "#7a4cc2"}, {"tech-debt", "#5f6b7a"},
	} {
		all = append(all, records.Label{ID: label(l[0]), Name: l[0], Color: l[1]})
	}
	return all
}

// Grant is a token that the demo data come with. Its secret is random and not part of them.
type Grant struct {
	// Key is the name of the token in local.json: reader, editor, owner or outsider. Empty for
	// a token that is only printed.
	Key         string
	Name        string // of the token
	Holder      string // display name of the member, for people
	WorkspaceID tracker.ID
	UserID      tracker.ID
	Role        identity.Role
	Scopes      []identity.Scope
}

// Grants returns the tokens to issue: one for each member with what that member works with,
// Elin's read-only one, and that of the foreign workspace's owner. Those with a key come first.
func Grants() []Grant {
	tools := slices.DeleteFunc(identity.Scopes(), func(s identity.Scope) bool { return s == identity.AuditRead })
	reads := []identity.Scope{identity.IssuesRead, identity.CommentsRead, identity.DashboardRead}
	at := func(key, name, first string, scopes []identity.Scope) Grant {
		i := slices.IndexFunc(people, func(p person) bool { return p.first == first })
		return Grant{Key: key, Name: name, Holder: people[i].name, WorkspaceID: WorkspaceID(), UserID: member(first),
			Role: people[i].role, Scopes: scopes}
	}
	return []Grant{
		at("reader", "Elin, read only", "elin", reads),
		at("editor", "Priya", "priya", tools),
		at("owner", "Mira", "mira", identity.Scopes()),
		{Key: "outsider", Name: "Ada", Holder: "Ada Berg", WorkspaceID: foreignWorkspaceID(), UserID: member("ada"),
			Role: identity.Owner, Scopes: identity.Scopes()},
		at("", "Jonas", "jonas", identity.Scopes()),
		at("", "Tomas", "tomas", tools),
		at("", "Elin", "elin", tools),
	}
}
