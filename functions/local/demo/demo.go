// Package demo makes up the data that local mode starts with: a workspace with 60 live issues,
// people, agents, autopilots and two months of usage, and a second, foreign workspace.
//
// It is not for a deployed connector, and it stores nothing: records.Load does. The data follow
// from the anchor day alone, so that walks, documentation and tests can name what they find.
// Start here; titles.go holds the text, choose.go says where every choice comes from.
package demo

import (
	"time"

	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// FixedIssueID is the id of AAC-42, the same whatever the anchor: examples use it.
const FixedIssueID tracker.ID = "550e8400-e29b-41d4-a716-446655440000"

// NextNumber is the number of the first issue made in the demo workspace after loading.
const NextNumber = 63

// WorkspaceID returns the id of the demo workspace.
func WorkspaceID() tracker.ID { return id("workspace/aac") }

// Snapshots returns the demo workspace and the foreign one, in this order, as of the first
// instant of the anchor's UTC day: nothing in them is later. The same day gives the same values.
func Snapshots(anchor time.Time) []records.Snapshot {
	g := newGenerator(anchor, choose)
	return []records.Snapshot{g.home(), g.foreign()}
}

// generator makes the data of one anchor day. It collects tasks and runs while it makes issues.
type generator struct {
	anchor time.Time // the first instant of the UTC day
	choose func(label string, n int) int
	tasks  []records.Task
	runs   []records.RunSnapshot
}

func newGenerator(anchor time.Time, choose func(string, int) int) *generator {
	return &generator{anchor: anchor.UTC().Truncate(24 * time.Hour), choose: choose}
}

func (g *generator) home() records.Snapshot {
	s := records.Snapshot{
		Workspace:  records.Workspace{ID: WorkspaceID(), Name: "AACWorkflow Demo", Slug: "aacworkflow-demo", IssuePrefix: "AAC"},
		Members:    members(),
		Agents:     g.agents(),
		Autopilots: autopilots(),
		Labels:     labels(),
		NextNumber: NextNumber,
	}
	for n := 1; n < NextNumber; n++ {
		s.Issues = append(s.Issues, g.issue(n))
	}
	g.digestRuns()
	s.Tasks, s.Runs, s.Usage = g.tasks, g.runs, g.usage()
	return s
}

// daysBefore returns a time of day (after midnight UTC) so many days before the anchor.
func (g *generator) daysBefore(days int, ofDay time.Duration) time.Time {
	return g.anchor.AddDate(0, 0, -days).Add(ofDay)
}
