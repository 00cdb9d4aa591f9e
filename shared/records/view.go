package records

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// What is stored, as a caller sees it.

func (d *directory) identifier(number int) string {
	return fmt.Sprintf("%s-%d", d.Workspace.IssuePrefix, number)
}

func (d *directory) ref(r issueRow) tracker.Ref {
	return tracker.Ref{ID: r.ID, Identifier: d.identifier(r.Number), Title: r.Title, Status: r.Status}
}

func (d *directory) issueName(r issueRow) tracker.IssueName {
	return tracker.IssueName{ID: r.ID, Identifier: d.identifier(r.Number)}
}

func (d *directory) summary(r issueRow) tracker.Summary {
	s := tracker.Summary{
		ID: r.ID, Number: r.Number, Identifier: d.identifier(r.Number),
		Title: r.Title, Status: r.Status, Priority: r.Priority,
		CreatorType: r.CreatorType, CreatorID: r.CreatorID, CreatorName: d.name(r.CreatorType, r.CreatorID),
		AssigneeType: r.AssigneeType, AssigneeID: r.AssigneeID, AssigneeName: d.name(r.AssigneeType, r.AssigneeID),
		ParentIssueID: r.ParentID, Labels: d.labels(r.LabelIDs),
		StartDate: r.StartDate, DueDate: r.DueDate, CommentCount: r.CommentCount,
		Revision: r.Revision, CreatedAt: r.CreatedAt.wire(), UpdatedAt: r.UpdatedAt.wire(),
	}
	if r.ParentID != "" {
		s.ParentIdentifier = d.identifier(r.ParentNumber)
	}
	return s
}

func (d *directory) issue(r issueRow, description string) tracker.Issue {
	return tracker.Issue{Summary: d.summary(r), WorkspaceID: d.Workspace.ID, Description: description}
}

// labels are those of the ids that still exist, by name.
func (d *directory) labels(ids []tracker.ID) []tracker.Label {
	out := make([]tracker.Label, 0, len(ids))
	for _, id := range ids {
		if l, ok := d.labelByID(id); ok {
			out = append(out, tracker.Label{ID: l.ID, Name: l.Name, Color: l.Color})
		}
	}
	slices.SortFunc(out, func(a, b tracker.Label) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func (d *directory) comment(issue tracker.ID, r commentRow) tracker.Comment {
	return tracker.Comment{CommentHead: d.commentHead(issue, r), Content: r.Content}
}

func (d *directory) commentHead(issue tracker.ID, r commentRow) tracker.CommentHead {
	return tracker.CommentHead{
		ID: r.ID, IssueID: issue,
		AuthorType: r.AuthorType, AuthorID: r.AuthorID, AuthorName: d.name(r.AuthorType, r.AuthorID),
		Type: r.Type, ParentID: r.ParentID, CreatedAt: r.CreatedAt.wire(), UpdatedAt: r.UpdatedAt.wire(),
	}
}

// openTasks are those that still take input, oldest first; never nil.
func (d *directory) openTasks(tasks []Task) []tracker.OpenTask {
	out := make([]tracker.OpenTask, 0, len(tasks))
	for _, t := range tasks {
		if t.open() {
			out = append(out, tracker.OpenTask{
				ID: t.ID, AgentID: t.AgentID, AgentName: d.name(tracker.AgentActor, t.AgentID),
				Status: t.Status, CreatedAt: t.CreatedAt.wire(),
			})
		}
	}
	slices.SortStableFunc(out, func(a, b tracker.OpenTask) int { return a.CreatedAt.Compare(b.CreatedAt.Time) })
	return out
}
