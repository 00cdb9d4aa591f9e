package records

import (
	"context"
	"fmt"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// CreateIssue implements tracker.Store.
func (s *store) CreateIssue(ctx context.Context, in tracker.NewIssue) (tracker.CreatedIssue, error) {
	c, err := s.claim()
	if err != nil {
		return tracker.CreatedIssue{}, err
	}
	id, number := s.newID(), 0
	return act(ctx, s, c, func() (out tracker.CreatedIssue, p *plan, err error) {
		parent, err := s.readParent(ctx, c, in.Parent)
		if err != nil {
			return out, nil, err
		}
		if done, err := s.replay(c, parent.with, &out); done || err != nil {
			out.Replayed = done
			s.targetIfKnown("issue", out.Issue.ID)
			return out, nil, err
		}
		r, err := s.newIssue(parent, in)
		if err != nil {
			return out, nil, err
		}
		if number == 0 { // once for all attempts, and only for an issue that can be made
			if number, err = s.nextNumber(ctx); err != nil {
				return out, nil, err
			}
		}
		r.ID, r.Number = id, number
		out.Issue = parent.dir.summary(r)
		return out, s.planIssue(parent, r, string(in.Description), filled(in)), nil
	})
}

// readParent reads the directory and, if one is named, the parent to be.
func (s *store) readParent(ctx context.Context, c *claim, ref tracker.IssueRef) (found, error) {
	if ref == "" {
		dir, rows, err := s.readDirectory(ctx, c)
		return found{dir: dir, with: rows}, err
	}
	parent, err := s.find(ctx, search{ref: ref, with: c.keys()})
	s.call.Event.Target = "" // the call is about the issue to be made
	return parent, err
}

// readDirectory reads the directory and the claim's row.
func (s *store) readDirectory(ctx context.Context, c *claim) (*directory, batch, error) {
	key := directoryKey(s.workspace())
	rows, err := getBatch(ctx, s.t, append(c.keys(), key)...)
	if err != nil {
		return nil, nil, err
	}
	from, err := pick[directoryRow](rows, key)
	if err != nil {
		return nil, nil, err
	}
	dir, err := s.openDirectory(from)
	return dir, rows, err
}

// checkParent tells whether what was found can be the parent that the reference names.
//   - fault.Invalid: unknown_reference
//   - fault.Conflict: limit_reached
func checkParent(ref tracker.IssueRef, parent found) error {
	switch {
	case ref == "":
		return nil
	case !parent.live():
		return noSuchReference("parent_issue_id", "issue")
	case len(parent.issue.Doc.SubIssues) >= tracker.MaxSubIssues:
		return limitReached("parent_issue_id: this issue has all the sub-issues that it can have; take another parent, or none", tracker.MaxSubIssues)
	default:
		return nil
	}
}

func limitReached(text string, limit int) *fault.Fault {
	return fault.New(fault.Conflict, fault.LimitReached, text).With("limit", limit)
}

// newIssue is the row to be, but for id and number.
//   - fault.Invalid: unknown_reference, ambiguous_reference, invalid_arguments
//   - fault.Conflict: limit_reached
func (s *store) newIssue(parent found, in tracker.NewIssue) (issueRow, error) {
	if err := checkParent(in.Parent, parent); err != nil {
		return issueRow{}, err
	}
	now := s.now()
	r := issueRow{
		Title: string(in.Title), Status: in.Status, Priority: in.Priority,
		CreatorType: tracker.MemberActor, CreatorID: s.userID(),
		StartDate: in.StartDate, DueDate: in.DueDate, Revision: 1, CreatedAt: now, UpdatedAt: now,
	}
	if r.Status == "" {
		r.Status = tracker.Todo
	}
	if r.Priority == "" {
		r.Priority = tracker.NoPriority
	}
	if in.Assignee != "" {
		m, err := parent.dir.member("assignee_id", in.Assignee)
		if err != nil {
			return r, err
		}
		r.AssigneeType, r.AssigneeID = tracker.MemberActor, m.UserID
	}
	if parent.issue.found() {
		r.ParentID, r.ParentNumber = parent.issue.Doc.ID, parent.issue.Doc.Number
	}
	labels, err := parent.dir.labelIDs("label_ids", in.Labels)
	r.LabelIDs = labels
	return r, err
}

// nextNumber takes a number. One that is not used in the end is a gap; none is used twice.
func (s *store) nextNumber(ctx context.Context) (int, error) {
	n, err := s.w.Next(ctx, counterKey(s.workspace()))
	if err != nil {
		return 0, engineError("take an issue number", err)
	}
	if n > tracker.MaxIssueNumber {
		return 0, fmt.Errorf("issue number %d is over the limit of %d", n, tracker.MaxIssueNumber)
	}
	return int(n), nil
}

// planIssue makes the issue, and a sub-issue of its parent if there is one. The parent's own
// fields stay, so its revision does.
func (s *store) planIssue(parent found, r issueRow, description string, changed []string) *plan {
	w := s.workspace()
	p := &plan{changed: changed, made: r.ID}
	if description != "" {
		r.BodyVersion = 1
		p.put(bodyKey(w, r.Number), 0, bodyRow{Description: description}, nil)
	}
	p.putIssue(w, 0, r)
	p.put(issuePointerKey(w, r.ID), 0, pointerRow{Number: r.Number}, nil)
	if parent.issue.found() {
		above := parent.issue.Doc
		above.SubIssues = append(above.SubIssues[:len(above.SubIssues):len(above.SubIssues)], subIssue{ID: r.ID, Number: r.Number})
		p.putIssue(w, parent.issue.Version, above)
	}
	return p
}

// filled names the fields that a new issue has a value for.
func filled(in tracker.NewIssue) []string {
	names := []string{"title", "status", "priority"}
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"description", in.Description != ""},
		{"assignee_id", in.Assignee != ""},
		{"parent_issue_id", in.Parent != ""},
		{"label_ids", len(in.Labels) > 0},
		{"start_date", in.StartDate != ""},
		{"due_date", in.DueDate != ""},
	} {
		if f.has {
			names = append(names, f.name)
		}
	}
	return names
}

// targetIfKnown notes what a replayed call was about.
func (s *store) targetIfKnown(kind string, id tracker.ID) {
	if id != "" {
		s.call.Target(kind, string(id))
	}
}
