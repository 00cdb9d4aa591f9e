package records

import (
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

// BenchmarkDecodeIssue is most of what a list with filters costs: up to 900 rows a call.
func BenchmarkDecodeIssue(b *testing.B) {
	s := snapshotOf(trackertest.World()[0])
	s.Issues[0].ParentID, s.Issues[0].AssigneeID, s.Issues[0].AssigneeType = trackertest.Working, trackertest.Mira, tracker.MemberActor
	items, err := s.items()
	if err != nil {
		b.Fatal(err)
	}
	for _, it := range items {
		if it.Key == issueKey(trackertest.Home, 1) {
			for b.Loop() {
				if _, err := decode[issueRow](it); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}
