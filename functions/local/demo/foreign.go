package demo

import (
	"fmt"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// The second workspace is there to be out of reach: nothing in it may ever show in the first,
// nor the other way round.

func foreignWorkspaceID() tracker.ID { return id("workspace/nor") }

var foreignIssues = []struct {
	title, description string
	status             tracker.Status
	priority           tracker.Priority
	steps              tracker.Revision // changes since it was made
}{
	{"Check the freight bills of the spring", "Three carriers billed the fuel surcharge twice.", tracker.Done, tracker.High, 3},
	{"Label printer at dock 4 skips every tenth label", "", tracker.InProgress, tracker.Urgent, 1},
	{"Agree on packing for the winter season", "Samples arrive in the second week.", tracker.Todo, tracker.NoPriority, 0},
}

func (g *generator) foreign() records.Snapshot {
	ada := member("ada")
	s := records.Snapshot{
		Workspace:  records.Workspace{ID: foreignWorkspaceID(), Name: "Northwind", Slug: "northwind", IssuePrefix: "NOR"},
		Members:    []records.Member{{UserID: ada, Role: identity.Owner, Name: "Ada Berg", Email: "ada@example.com"}},
		NextNumber: len(foreignIssues) + 1,
	}
	for k, f := range foreignIssues {
		n := k + 1
		name := fmt.Sprintf("foreign/%d", n)
		created := g.daysBefore(12*(len(foreignIssues)-k), 9*time.Hour+g.minutes(name+"/created", 0, 479))
		i := records.IssueSnapshot{
			ID: id(name), Number: n, Title: f.title, Description: f.description, Status: f.status, Priority: f.priority,
			CreatorType: tracker.MemberActor, CreatorID: ada, AssigneeType: tracker.MemberActor, AssigneeID: ada,
			Revision: 1 + f.steps, CreatedAt: records.MicrosOf(created), UpdatedAt: records.MicrosOf(created),
		}
		if f.steps > 0 {
			i.UpdatedAt = records.MicrosOf(g.later(created, name+"/moved"))
		}
		s.Issues = append(s.Issues, i)
	}
	return s
}
