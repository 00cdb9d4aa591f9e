package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// parents maps a sub-issue to its parent, by number.
var parents = map[int]int{51: 40, 52: 40, 53: 40, 42: 41, 45: 41, 46: 41, 43: 42, 44: 42, 49: 48, 50: 48}

// assignments are the issues that people gave to an agent, and the state of its task: empty for
// one that is parked.
var assignments = map[int]struct{ agent, by, task string }{
	14: {"atlas", "jonas", records.Running},
	19: {"atlas", "tomas", ""},
	22: {"atlas", "mira", records.Completed},
	24: {"scout", "priya", records.Dispatched},
	27: {"scribe", "elin", records.Completed},
	32: {"atlas", "jonas", records.Completed},
	42: {"atlas", "jonas", records.Queued},
	43: {"atlas", "priya", records.Completed},
	51: {"scribe", "mira", records.Completed},
}

// deletions are the issues that are tombstones: how many days before the anchor, by whom, and
// how many comments went with it if its content is purged.
var deletions = map[int]struct {
	days    int
	by      string
	purged  bool
	removed int
}{
	13: {days: 5, by: "tomas"},
	29: {days: 40, by: "jonas", purged: true, removed: 2},
}

var statusOf = map[byte]tracker.Status{
	'b': tracker.Backlog, 't': tracker.Todo, 'p': tracker.InProgress, 'r': tracker.InReview,
	'd': tracker.Done, 'k': tracker.Blocked, 'c': tracker.Cancelled, 'x': tracker.Todo,
}

// statusSteps is how often an issue's status was changed until it stood there.
var statusSteps = map[tracker.Status]int{
	tracker.InProgress: 1, tracker.InReview: 2, tracker.Done: 3, tracker.Blocked: 2, tracker.Cancelled: 1,
}

func status(n int) tracker.Status { return statusOf[strings.ReplaceAll(statuses, " ", "")[n-1]] }

// issueID returns the id of the demo workspace's issue with this number.
func issueID(n int) tracker.ID {
	if n == boardIssue {
		return FixedIssueID
	}
	return id(fmt.Sprintf("issue/%d", n))
}

func isTriage(n int) bool { return drafts[n-1].title == "" && !deletions[n].purged }

// about makes a label that belongs to an issue.
func about(n int, what string) string { return fmt.Sprintf("issue/%d/%s", n, what) }

// issue tells the life of an issue: made, commented, given to an agent, moved on, perhaps
// deleted. Tasks and runs on the way are added to the generator's.
func (g *generator) issue(n int) records.IssueSnapshot {
	if isTriage(n) {
		return g.triageIssue(n)
	}
	created := g.createdAt(n)
	i := records.IssueSnapshot{
		ID: issueID(n), Number: n, Title: drafts[n-1].title, Description: drafts[n-1].description,
		Status: status(n), Priority: g.priority(n),
		CreatorType: tracker.MemberActor, CreatorID: member(people[n%len(people)].first),
		LabelIDs: labelIDs(n), Revision: 1, CreatedAt: records.MicrosOf(created),
	}
	if p, ok := parents[n]; ok {
		i.ParentID = issueID(p)
	}
	g.plan(&i, created)
	last := g.discuss(&i, created)
	last = g.assign(&i, last)
	last = g.move(&i, last)
	i.UpdatedAt = records.MicrosOf(last)
	g.remove(&i)
	return i
}

// createdAt spreads the issues over the three months before the anchor: the higher the number,
// the later, the last one on the day before.
func (g *generator) createdAt(n int) time.Time {
	return g.daysBefore(3*(NextNumber-n)/2, 9*time.Hour+g.minutes(about(n, "created"), 0, 479))
}

func (g *generator) priority(n int) tracker.Priority {
	if n == boardIssue {
		return tracker.High
	}
	switch p := g.choose(about(n, "priority"), 100); {
	case p < 5:
		return tracker.Urgent
	case p < 25:
		return tracker.High
	case p < 60:
		return tracker.Medium
	case p < 80:
		return tracker.Low
	default:
		return tracker.NoPriority
	}
}

func labelIDs(n int) []tracker.ID {
	var ids []tracker.ID
	for _, name := range drafts[n-1].labels {
		ids = append(ids, label(name))
	}
	return ids
}

// plan chooses who has the issue, unless an agent will, and by when it is wanted.
func (g *generator) plan(i *records.IssueSnapshot, created time.Time) {
	if _, ok := assignments[i.Number]; !ok && g.choose(about(i.Number, "assigned"), 4) > 0 {
		i.AssigneeType = tracker.MemberActor
		i.AssigneeID = member(people[g.choose(about(i.Number, "assignee"), len(people))].first)
	}
	if g.choose(about(i.Number, "due"), 3) == 0 {
		due := created.AddDate(0, 0, 10+g.choose(about(i.Number, "due/days"), 60))
		i.DueDate = tracker.Day(due.Format(time.DateOnly))
	}
}

// discuss adds the comments and returns the time of the last.
func (g *generator) discuss(i *records.IssueSnapshot, created time.Time) time.Time {
	last := created
	switch {
	case i.Number == boardIssue:
		i.Comments = g.boardComments()
		last = timeOf(i.Comments[len(i.Comments)-1].CreatedAt)
		g.boardTasks()
	case !deletions[i.Number].purged:
		for k := range g.choose(about(i.Number, "comments"), 5) {
			c := g.comment(i, k, last)
			i.Comments, last = append(i.Comments, c), timeOf(c.CreatedAt)
		}
	}
	i.Revision += tracker.Revision(len(i.Comments))
	return last
}

// comment makes the k-th comment of an issue; every third or so answers an earlier one.
func (g *generator) comment(i *records.IssueSnapshot, k int, last time.Time) records.CommentSnapshot {
	name := fmt.Sprintf("comment/%d/%d", i.Number, k)
	c := records.CommentSnapshot{
		ID: id(name), AuthorType: tracker.MemberActor, AuthorID: member(people[g.choose(name+"/author", len(people))].first),
		Content: g.sentence(name, i.Comments), CreatedAt: records.MicrosOf(g.later(last, name)),
	}
	if k > 0 && g.choose(name+"/reply", 3) == 0 {
		c.ParentID = i.Comments[g.choose(name+"/parent", k)].ID
	}
	return c
}

// sentence picks a sentence that the issue does not have yet.
func (g *generator) sentence(name string, before []records.CommentSnapshot) string {
	for s := g.choose(name+"/sentence", len(sentences)); ; s = (s + 1) % len(sentences) {
		said := func(c records.CommentSnapshot) bool { return c.Content == sentences[s] }
		if !slices.ContainsFunc(before, said) {
			return sentences[s]
		}
	}
}

// assign gives the issue to its agent, if it has one, and returns when. Work that is still
// under way was given on the evening before the anchor.
func (g *generator) assign(i *records.IssueSnapshot, last time.Time) time.Time {
	a, ok := assignments[i.Number]
	if !ok {
		return last
	}
	i.AssigneeType, i.AssigneeID = tracker.AgentActor, agent(a.agent)
	i.Parked = a.task == ""
	i.Revision++
	at := g.later(last, about(i.Number, "assign"))
	if a.task != "" && a.task != records.Completed {
		at = g.anchor.Add(-7*time.Hour + g.minutes(about(i.Number, "assign/evening"), 0, 59))
	}
	if a.task != "" {
		g.tasks = append(g.tasks, records.Task{
			ID: id(fmt.Sprintf("task/%d", i.Number)), AgentID: i.AssigneeID, IssueID: i.ID, Source: "assign", Status: a.task,
			Priority: taskPriority(i.Priority), RequestedBy: member(a.by), CreatedAt: records.MicrosOf(at),
		})
	}
	return at
}

// taskPriority is an issue's priority as a task carries it: 0 for none to 4 for urgent.
func taskPriority(p tracker.Priority) int {
	all := tracker.NoPriority.Values() // most urgent first
	return len(all) - 1 - slices.Index(all, string(p))
}

// move takes the issue to its status and returns when it got there.
func (g *generator) move(i *records.IssueSnapshot, last time.Time) time.Time {
	steps := statusSteps[i.Status]
	i.Revision += tracker.Revision(steps)
	switch i.Status {
	case tracker.InProgress, tracker.InReview, tracker.Blocked:
		return g.lately(last, about(i.Number, "move"))
	}
	for step := range steps {
		last = g.later(last, about(i.Number, fmt.Sprintf("move/%d", step)))
	}
	return last
}

// remove makes the issue a tombstone, if it is one.
func (g *generator) remove(i *records.IssueSnapshot) {
	d, ok := deletions[i.Number]
	if !ok {
		return
	}
	at := g.daysBefore(d.days, 10*time.Hour+g.minutes(about(i.Number, "deleted"), 0, 300))
	i.Deleted = &records.IssueTombstone{
		At: records.MicrosOf(at), By: member(d.by), RestorableUntil: records.MicrosOf(at.Add(records.RestorableFor)),
		Removed: tracker.IssueRemoved{Comments: len(i.Comments)},
	}
	if !d.purged {
		return
	}
	i.Deleted.Removed.Comments = d.removed
	i.Revision += tracker.Revision(d.removed)
	i.Priority, i.AssigneeType, i.AssigneeID, i.DueDate = tracker.NoPriority, "", "", ""
}
