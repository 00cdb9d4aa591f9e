package records

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Who is set to work by a change. These rules look at what the change says, not at whether the
// agent can be started: that is tasks.go. No start is hidden, so each agent named here appears
// in the answer with what became of it.

// Sources of a start.
const (
	sourceAssign    = "assign"
	sourceStatus    = "status"
	sourceComment   = "comment"
	sourceAutopilot = "autopilot"
)

// calledBy returns the agents that a comment calls, each once. parent is the comment answered,
// nil at top level. The first rule that fits decides alone.
func calledBy(content string, parent *commentRow, issue issueRow) []tracker.ID {
	if isNote(content) {
		return nil
	}
	agents, others := mentions(content)
	switch {
	case len(agents) > 0:
		return agents
	case others:
		return nil
	case parent != nil && parent.AuthorType == tracker.AgentActor:
		return []tracker.ID{parent.AuthorID}
	case parent != nil:
		return nil
	case issue.AssigneeType == tracker.AgentActor:
		return []tracker.ID{issue.AssigneeID}
	default:
		return nil
	}
}

const noteWord = "/note"

// isNote tells whether the first word is /note, in any case: a remark that calls nobody.
func isNote(content string) bool {
	s := strings.TrimSpace(content)
	if len(s) < len(noteWord) || !strings.EqualFold(s[:len(noteWord)], noteWord) {
		return false
	}
	next, size := utf8.DecodeRuneInString(s[len(noteWord):])
	return size == 0 || !(unicode.IsLetter(next) || unicode.IsDigit(next) || next == '_' || next == '-')
}

// mentionForm is a Markdown link to an agent, to a member or to all. Anything else of that look
// is plain text.
var mentionForm = compiled(`\[@[^\n]*?\]\(mention://(?:(agent|member)/(` +
	`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})|all/all)\)`)

// mentions returns the first tracker.MaxMentions agents mentioned, each once, and whether a
// member or everybody is mentioned too.
func mentions(content string) (agents []tracker.ID, others bool) {
	for _, m := range mentionForm().FindAllStringSubmatch(content, -1) {
		id := tracker.ID(strings.ToLower(m[2]))
		switch {
		case m[1] != string(tracker.AgentActor):
			others = true
		case len(agents) < tracker.MaxMentions && !slices.Contains(agents, id):
			agents = append(agents, id)
		}
	}
	return agents, others
}

// startsOnStatus tells whether moving the issue between these statuses sets its agent to work:
// leaving the backlog for a status in which work goes on.
func startsOnStatus(from, to tracker.Status) bool {
	if from != tracker.Backlog {
		return false
	}
	switch to {
	case tracker.Todo, tracker.InProgress, tracker.InReview, tracker.Blocked:
		return true
	default:
		return false
	}
}

// assignmentStart is what an assignment to an agent does besides naming it.
type assignmentStart int

const (
	keepAsIs    assignmentStart = iota // the agent has the issue and was started: nothing to do
	parkAgent                          // the issue is in the backlog: not yet
	startAgent                         // set it to work
	holdAgentUp                        // the caller asked not to start it
)

// startsOnAssign decides for an issue as it was before the assignment. An agent that has the
// issue already is started only if it never was, and the issue has left the backlog.
func startsOnAssign(before issueRow, agent tracker.ID, suppress bool) assignmentStart {
	has := before.AssigneeType == tracker.AgentActor && before.AssigneeID == agent
	switch {
	case has && !before.Parked:
		return keepAsIs
	case before.Status == tracker.Backlog:
		return parkAgent
	case suppress:
		return holdAgentUp
	default:
		return startAgent
	}
}
