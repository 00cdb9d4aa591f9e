package toolstest

import (
	"fmt"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// A preparation makes one thing differ from the demo data. Cases name it, word by word, under
// given. One that no case names fails TestPreparationsAreUsed.
type preparation struct {
	data   func(home *records.Snapshot) // before the data are loaded
	engine func(*engine)                // while the case runs
}

var preparations = map[string]preparation{
	"a second member is called Elin Novak": {data: func(s *records.Snapshot) {
		twin := *memberCalled(s, "Elin Novak")
		twin.UserID, twin.Email = testID(1), "novak@example.com"
		s.Members = append(s.Members, twin)
	}},
	"a second autopilot is called Backlog triage": {data: func(s *records.Snapshot) {
		twin := *autopilotCalled(s, "Backlog triage")
		twin.ID = testID(3)
		s.Autopilots = append(s.Autopilots, twin)
	}},
	"Elin has left": {data: func(s *records.Snapshot) {
		memberCalled(s, "Elin Novak").LeftAt = records.MicrosOf(anchor.Add(-time.Hour))
	}},
	"Jonas is no administrator any more": {data: func(s *records.Snapshot) {
		memberCalled(s, "Jonas Lind").Role = identity.Member
	}},
	"Dependency sweep is archived": {data: func(s *records.Snapshot) {
		autopilotCalled(s, "Dependency sweep").Status = records.AutopilotArchived
	}},
	"Backlog triage is for Relic": {data: func(s *records.Snapshot) {
		autopilotCalled(s, "Backlog triage").AssigneeID = agentCalled(s, "Relic").ID
	}},
	"the title template of Backlog triage has an unknown variable": {data: func(s *records.Snapshot) {
		autopilotCalled(s, "Backlog triage").IssueTitleTemplate = "Triage {{week}}"
	}},
	"Scout is offline": {data: func(s *records.Snapshot) {
		agentCalled(s, "Scout").Status = "offline"
	}},
	"AAC-62 has 20 active tasks": {data: func(s *records.Snapshot) {
		for i := range tracker.MaxActiveTasks {
			s.Tasks = append(s.Tasks, records.Task{
				ID: testID(100 + i), AgentID: agentCalled(s, "Scribe").ID, IssueID: issueNumbered(s, 62).ID,
				Source: "assign", Status: records.Running, RequestedBy: memberCalled(s, "Mira Okafor").UserID,
				CreatedAt: records.MicrosOf(anchor),
			})
		}
	}},
	"others keep writing":          {engine: func(e *engine) { e.busy = true }},
	"the storage asks for a pause": {engine: func(e *engine) { e.throttled = true }},
}

func preparationsOf(lines []string) ([]preparation, error) {
	var all []preparation
	for _, line := range lines {
		p, ok := preparations[line]
		if !ok {
			return nil, fmt.Errorf("given: %q is not in given.go", line)
		}
		all = append(all, p)
	}
	return all, nil
}

// testID is the id of something that only a preparation makes.
func testID(n int) tracker.ID { return tracker.ID(fmt.Sprintf("01979830-0000-7000-9000-%012d", n)) }

// The data must have what a preparation changes; a nil pointer stops the test loudly.

func memberCalled(s *records.Snapshot, name string) *records.Member {
	return find(s.Members, func(m records.Member) bool { return m.Name == name })
}

func agentCalled(s *records.Snapshot, name string) *records.Agent {
	return find(s.Agents, func(a records.Agent) bool { return a.Name == name })
}

func autopilotCalled(s *records.Snapshot, title string) *records.Autopilot {
	return find(s.Autopilots, func(a records.Autopilot) bool { return a.Title == title })
}

func issueNumbered(s *records.Snapshot, number int) *records.IssueSnapshot {
	return find(s.Issues, func(i records.IssueSnapshot) bool { return i.Number == number })
}

func find[T any](all []T, is func(T) bool) *T {
	for i := range all {
		if is(all[i]) {
			return &all[i]
		}
	}
	return nil
}
