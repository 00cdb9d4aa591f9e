package records

import (
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// issueFilter is an IssueQuery with its references resolved. The zero filter matches all issues
// that are not deleted.
type issueFilter struct {
	statuses   []tracker.Status
	priorities []tracker.Priority
	assignee   tracker.ID
	unassigned bool
	creator    tracker.ID
	labels     []tracker.ID // any of them
	parent     tracker.ID
	number     int      // the query was an identifier of this workspace
	words      []string // each in the title; lower case
}

// filter resolves the references of a query, but for the parent.
//   - fault.Invalid: unknown_reference, ambiguous_reference
func (d *directory) filter(q tracker.IssueQuery) (f issueFilter, err error) {
	f = issueFilter{statuses: q.Statuses, priorities: q.Priorities, unassigned: q.Unassigned}
	if q.Assignee != "" {
		if f.assignee, err = d.assignee("assignee_id", q.Assignee); err != nil {
			return f, err
		}
	}
	if q.Creator != "" {
		if f.creator, err = d.assignee("creator_id", q.Creator); err != nil {
			return f, err
		}
	}
	if f.labels, err = d.labelIDs("label_ids", q.Labels); err != nil {
		return f, err
	}
	if prefix, number, ok := tracker.IssueRef(q.Query).Identifier(); ok && prefix == d.Workspace.IssuePrefix {
		f.number = number
	} else {
		f.words = strings.Fields(strings.ToLower(string(q.Query)))
	}
	return f, nil
}

func (f issueFilter) matches(r issueRow) bool {
	return !r.deleted() &&
		oneOf(f.statuses, r.Status) &&
		oneOf(f.priorities, r.Priority) &&
		(f.assignee == "" || r.AssigneeID == f.assignee) &&
		(!f.unassigned || r.AssigneeID == "") &&
		(f.creator == "" || r.CreatorID == f.creator) &&
		(len(f.labels) == 0 || slices.ContainsFunc(r.LabelIDs, func(id tracker.ID) bool { return slices.Contains(f.labels, id) })) &&
		(f.parent == "" || r.ParentID == f.parent) &&
		(f.number == 0 || r.Number == f.number) &&
		f.inTitle(r.Title)
}

// oneOf is true of everything if there is no choice.
func oneOf[T comparable](choice []T, v T) bool { return len(choice) == 0 || slices.Contains(choice, v) }

func (f issueFilter) inTitle(title string) bool {
	if len(f.words) == 0 {
		return true
	}
	title = strings.ToLower(title)
	return !slices.ContainsFunc(f.words, func(w string) bool { return !strings.Contains(title, w) })
}
