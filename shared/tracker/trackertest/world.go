package trackertest

import (
	"fmt"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// The World is what an implementation holds when a test begins. Everything else a test makes
// through the Store.

// Start is the time at which a test begins. What the World holds is older.
var Start = time.Date(2025, 6, 22, 15, 30, 0, 0, time.UTC)

// Workspaces.
var (
	Home    = id(1) // prefix AAC
	Foreign = id(2) // prefix NOR
)

// Members. Ada is in the Foreign workspace, all others in Home.
var (
	Mira  = id(11) // owner
	Jonas = id(12) // admin
	Priya = id(13) // member, owns Scout
	Tomas = id(14) // member
	Elin  = id(15) // member
	Left  = id(16) // left the workspace
	Twin1 = id(17) // Twin1 and Twin2 bear one name
	Twin2 = id(18)
	Ada   = id(19) // owner of Foreign
)

// Agents of Home.
var (
	Atlas  = id(21) // of Jonas, for all
	Scribe = id(22) // of Mira, for all
	Scout  = id(23) // of Priya, private
	Relic  = id(24) // of Mira, for all, archived
	Night  = id(25) // of Jonas, for all, offline
)

// Autopilots of Home.
var (
	Triage    = id(31) // create_issue with Atlas, of Mira; title "Triage {{date}}"
	Digest    = id(32) // run_only with Scout, of Priya
	Sweep     = id(33) // paused; Atlas, of Jonas
	OldSweep  = id(34) // archived; Atlas, of Jonas
	Untitled  = id(35) // create_issue with Atlas, of Tomas; its template gives no valid title
	Exhibit   = id(36) // create_issue with Relic, of Mira
	NightRun  = id(37) // run_only with Night, of Mira
	PlainRun  = id(38) // run_only with Atlas, of Tomas
	SelfNamed = id(39) // create_issue with Atlas, of Tomas; no template
)

// Labels of Home.
var (
	Bug     = id(41)
	Feature = id(42)
	Docs    = id(43)
)

// Issues. ForeignIssue is in Foreign.
var (
	Plain        = id(51) // AAC-1, by Priya, todo
	Working      = id(52) // AAC-2, by Atlas, assigned to Atlas, in progress, with a running task
	Talk         = id(53) // AAC-3, by Tomas, with five comments
	ForeignIssue = id(59) // NOR-1, by Ada
)

// Comments of Talk, in order of time. ForeignComment is under ForeignIssue.
var (
	Question       = id(61) // by Tomas
	Answer         = id(62) // by Priya, to Question
	AgentAnswer    = id(63) // by Atlas, to Answer
	Notice         = id(64) // by the system, at top level
	Aside          = id(65) // by Elin, at top level
	ForeignComment = id(69)
)

// RunningTask is the task of Working.
var RunningTask = id(71)

func id(n int) tracker.ID { return tracker.ID(fmt.Sprintf("00000000-0000-7000-8000-%012d", n)) }

// NoSuchID is an id of nothing.
var NoSuchID = id(999)

// Workspace is one workspace of the World.
type Workspace struct {
	ID         tracker.ID
	Name, Slug string
	Prefix     string
	Members    []Member
	Agents     []Agent
	Autopilots []Autopilot
	Labels     []tracker.Label
	Issues     []Issue
	Usage      []tracker.UsageRow
}

// Member is a member of a workspace.
type Member struct {
	ID          tracker.ID
	Role        identity.Role
	Name, Email string
	Left        bool
}

// Agent is an agent of a workspace.
type Agent struct {
	ID       tracker.ID
	Name     string
	Owner    tracker.ID
	Private  bool
	Archived bool
	Status   string
}

// Autopilot is an autopilot of a workspace.
type Autopilot struct {
	ID       tracker.ID
	Title    string
	Agent    tracker.ID
	Status   string
	Mode     string
	Template string
	Creator  tracker.ID
}

// Issue is an issue of a workspace. Its revision is 1.
type Issue struct {
	ID           tracker.ID
	Number       int
	Title        string
	Description  string
	Status       tracker.Status
	Priority     tracker.Priority
	CreatorType  tracker.ActorType
	Creator      tracker.ID
	AssigneeType tracker.ActorType
	Assignee     tracker.ID
	Labels       []tracker.ID
	CreatedAt    time.Time // and updated
	Comments     []Comment
	RunningTask  tracker.ID // of the assignee; empty: none
}

// Comment is a comment of an issue.
type Comment struct {
	ID         tracker.ID
	AuthorType tracker.ActorType
	Author     tracker.ID
	Content    string
	Parent     tracker.ID
	CreatedAt  time.Time
}

// World returns both workspaces.
func World() []Workspace { return []Workspace{home(), foreign()} }

func home() Workspace {
	return Workspace{
		ID: Home, Name: "AACWorkflow Demo", Slug: "demo", Prefix: "AAC",
		Members: []Member{
			{ID: Mira, Role: identity.Owner, Name: "Mira Okafor", Email: "mira@example.com"},
			{ID: Jonas, Role: identity.Admin, Name: "Jonas Lind", Email: "jonas@example.com"},
			{ID: Priya, Role: identity.Member, Name: "Priya Raman", Email: "priya@example.com"},
			{ID: Tomas, Role: identity.Member, Name: "Tomas Rey", Email: "tomas@example.com"},
			{ID: Elin, Role: identity.Member, Name: "Elin Novak", Email: "elin@example.com"},
			{ID: Left, Role: identity.Member, Name: "Former Member", Email: "former@example.com", Left: true},
			{ID: Twin1, Role: identity.Member, Name: "Same Name", Email: "twin1@example.com"},
			{ID: Twin2, Role: identity.Member, Name: "Same Name", Email: "twin2@example.com"},
		},
		Agents: []Agent{
			{ID: Atlas, Name: "Atlas", Owner: Jonas, Status: "idle"},
			{ID: Scribe, Name: "Scribe", Owner: Mira, Status: "idle"},
			{ID: Scout, Name: "Scout", Owner: Priya, Private: true, Status: "idle"},
			{ID: Relic, Name: "Relic", Owner: Mira, Archived: true, Status: "offline"},
			{ID: Night, Name: "Night", Owner: Jonas, Status: "offline"},
		},
		Autopilots: autopilots(),
		Labels: []tracker.Label{
			{ID: Bug, Name: "bug", Color: "#d73a4a"},
			{ID: Feature, Name: "feature", Color: "#0e8a16"},
			{ID: Docs, Name: "docs", Color: "#0075ca"},
		},
		Issues: homeIssues(),
		Usage:  usage(),
	}
}

func autopilots() []Autopilot {
	const create, runOnly, active = "create_issue", "run_only", "active"
	return []Autopilot{
		{Triage, "Backlog triage", Atlas, active, create, "Triage {{date}}", Mira},
		{Digest, "Customer digest", Scout, active, runOnly, "", Priya},
		{Sweep, "Dependency sweep", Atlas, "paused", create, "", Jonas},
		{OldSweep, "Old sweep", Atlas, "archived", create, "", Jonas},
		{Untitled, "Untitled", Atlas, active, create, "two\nlines", Tomas},
		{Exhibit, "Exhibit", Relic, active, create, "", Mira},
		{NightRun, "Night run", Night, active, runOnly, "", Mira},
		{PlainRun, "Plain run", Atlas, active, runOnly, "", Tomas},
		{SelfNamed, "Self-named", Atlas, active, create, "", Tomas},
	}
}

func homeIssues() []Issue {
	const m, a, s = tracker.MemberActor, tracker.AgentActor, tracker.SystemActor
	ago := func(d time.Duration) time.Time { return Start.Add(-d) }
	return []Issue{
		{
			ID: Plain, Number: 1, Title: "Plain issue", Description: "Nothing hangs on it.",
			Status: tracker.Todo, Priority: tracker.Medium, CreatorType: m, Creator: Priya,
			Labels: []tracker.ID{Feature, Bug}, CreatedAt: ago(72 * time.Hour),
		},
		{
			ID: Working, Number: 2, Title: "Agent at work", Status: tracker.InProgress, Priority: tracker.High,
			CreatorType: a, Creator: Atlas, AssigneeType: a, Assignee: Atlas,
			CreatedAt: ago(48 * time.Hour), RunningTask: RunningTask,
		},
		{
			ID: Talk, Number: 3, Title: "Much talk", Status: tracker.InReview, Priority: tracker.NoPriority,
			CreatorType: m, Creator: Tomas, AssigneeType: m, Assignee: Elin, CreatedAt: ago(24 * time.Hour),
			Comments: []Comment{
				{Question, m, Tomas, "Is it so?", "", ago(5 * time.Hour)},
				{Answer, m, Priya, "It is.", Question, ago(4 * time.Hour)},
				{AgentAnswer, a, Atlas, "Confirmed.", Answer, ago(3 * time.Hour)},
				{Notice, s, "", "Moved to review.", "", ago(2 * time.Hour)},
				{Aside, m, Elin, "By the way.", "", ago(time.Hour)},
			},
		},
	}
}

func foreign() Workspace {
	at := Start.Add(-24 * time.Hour)
	return Workspace{
		ID: Foreign, Name: "Northwind", Slug: "northwind", Prefix: "NOR",
		Members: []Member{{ID: Ada, Role: identity.Owner, Name: "Ada Berg", Email: "ada@example.com"}},
		Issues: []Issue{{
			ID: ForeignIssue, Number: 1, Title: "Elsewhere", Status: tracker.Todo, Priority: tracker.Low,
			CreatorType: tracker.MemberActor, Creator: Ada, CreatedAt: at,
			Comments: []Comment{{ForeignComment, tracker.MemberActor, Ada, "Not yours.", "", at.Add(time.Hour)}},
		}},
	}
}

// usage has rows on each of 40 days up to Start, of two models; the second has no price.
func usage() []tracker.UsageRow {
	var rows []tracker.UsageRow
	for ago := range 40 {
		n := int64(ago + 1)
		day := tracker.Day(Start.AddDate(0, 0, -ago).Format(time.DateOnly))
		rows = append(rows,
			tracker.UsageRow{Date: day, Provider: "anthropic", Model: "claude-sonnet-4", UsageSums: tracker.UsageSums{
				InputTokens: 1000 * n, OutputTokens: 100 * n, CacheReadTokens: 10 * n, CacheWriteTokens: n,
				CostUSDTicks: 123_456_789 * n, TaskCount: n,
			}},
			tracker.UsageRow{Date: day, Provider: "ollama", Model: "qwen2.5-coder", UsageSums: tracker.UsageSums{
				InputTokens: 7 * n, OutputTokens: 3 * n, UncostedInputTokens: 7 * n, UncostedOutputTokens: 3 * n, TaskCount: 1,
			}},
		)
	}
	return rows
}
