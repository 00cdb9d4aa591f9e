package records

import (
	"context"
	"slices"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// changedTasks is the word of the audit event for tasks that a change made or touched.
const changedTasks = "tasks"

// UpdateIssue implements tracker.Store.
func (s *store) UpdateIssue(ctx context.Context, ref tracker.IssueRef, change tracker.IssueChange) (tracker.UpdatedIssue, error) {
	return act(ctx, s, nil, func() (out tracker.UpdatedIssue, p *plan, err error) {
		f, err := liveOnly(s.find(ctx, search{ref: ref, body: change.Description.Set}))
		if err != nil {
			return out, nil, err
		}
		u, err := f.dir.edit(f.issue.Doc, f.body.Doc.Description, change)
		if err != nil {
			return out, nil, err
		}
		out.Changed, out.TriggerOutcomes = u.changed, []tracker.TriggerOutcome{}
		if len(u.changed) == 0 {
			out.Issue = f.dir.summary(f.issue.Doc)
			return out, nil, nil
		}
		if err := checkRevision(change.ExpectedRevision, f.issue.Doc.Revision); err != nil {
			return out, nil, err
		}
		u.row.touch(s.now())
		st := &starter{store: s, dir: f.dir, issue: &u.row, at: u.row.UpdatedAt, suppress: change.SuppressRun}
		if startsOnStatus(f.issue.Doc.Status, u.row.Status) && u.row.AssigneeType == tracker.AgentActor {
			out.TriggerOutcomes = append(out.TriggerOutcomes, st.start(u.row.AssigneeID, taskOrigin{Source: sourceStatus}))
		}
		p, err = s.planUpdate(ctx, f, u, st.tasks)
		out.Issue = f.dir.summary(u.row)
		return out, p, err
	})
}

// touch notes a visible change.
func (r *issueRow) touch(now micros) {
	r.Revision++
	r.UpdatedAt = later(now, r.UpdatedAt)
}

// checkRevision compares what the caller last saw with what is. 0 is not compared.
//   - fault.Conflict: revision_conflict
func checkRevision(expected, actual tracker.Revision) error {
	if expected == 0 || expected == actual {
		return nil
	}
	return fault.New(fault.Conflict, fault.RevisionConflict,
		"expected_revision: the issue has changed since; read it again, then decide").
		With("expected_revision", expected).With("actual_revision", actual)
}

// edited is an issue with a change applied, in memory.
type edited struct {
	row         issueRow
	description string
	changed     []string // names of the arguments that made a difference; never nil
}

// edit applies what is set and what is cleared, and notes what differs.
//   - fault.Invalid: unknown_reference, ambiguous_reference, invalid_arguments
func (d *directory) edit(r issueRow, description string, c tracker.IssueChange) (edited, error) {
	u := &edited{row: r, description: description, changed: []string{}}
	u.row.Tasks = slices.Clone(r.Tasks)
	set(u, "title", &u.row.Title, tracker.Opt[string]{Set: c.Title.Set, Value: string(c.Title.Value)})
	set(u, "description", &u.description, tracker.Opt[string]{Set: c.Description.Set, Value: string(c.Description.Value)})
	set(u, "status", &u.row.Status, c.Status)
	set(u, "priority", &u.row.Priority, c.Priority)
	if c.Assignee.Set {
		m, err := d.member("assignee_id", c.Assignee.Value)
		if err != nil {
			return edited{}, err
		}
		u.assign(tracker.MemberActor, m.UserID)
	}
	if c.Labels.Set {
		ids, err := d.labelIDs("label_ids", c.Labels.Value)
		if err != nil {
			return edited{}, err
		}
		if !sameSet(ids, r.LabelIDs) {
			u.row.LabelIDs = ids
			u.changed = append(u.changed, "label_ids")
		}
	}
	set(u, "start_date", &u.row.StartDate, c.StartDate)
	set(u, "due_date", &u.row.DueDate, c.DueDate)
	for _, field := range c.Clear {
		u.empty(field)
	}
	return *u, nil
}

func set[T comparable](u *edited, field string, to *T, value tracker.Opt[T]) {
	if value.Set && *to != value.Value {
		*to = value.Value
		u.changed = append(u.changed, field)
	}
}

// assign gives the issue to a member, or to nobody. Tasks of an agent that had it go on.
func (u *edited) assign(kind tracker.ActorType, id tracker.ID) {
	if u.row.AssigneeID == id {
		return
	}
	u.row.AssigneeType, u.row.AssigneeID, u.row.Parked = kind, id, false
	u.changed = append(u.changed, string(tracker.ClearAssignee))
}

func (u *edited) empty(field tracker.Clearable) {
	switch field {
	case tracker.ClearAssignee:
		u.assign("", "")
	case tracker.ClearParent:
		if u.row.ParentID != "" {
			u.row.ParentNumber = 0
			set(u, string(field), &u.row.ParentID, tracker.Some(tracker.ID("")))
		}
	case tracker.ClearStartDate:
		set(u, string(field), &u.row.StartDate, tracker.Some(tracker.Day("")))
	case tracker.ClearDueDate:
		set(u, string(field), &u.row.DueDate, tracker.Some(tracker.Day("")))
	}
}

func sameSet(a, b []tracker.ID) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(id tracker.ID) bool { return !slices.Contains(b, id) })
}

func (s *store) planUpdate(ctx context.Context, f found, u edited, tasks []Task) (*plan, error) {
	w := s.workspace()
	p := &plan{changed: u.changed}
	if slices.Contains(u.changed, "description") {
		p.putDescription(w, f.issue.Version, &u.row, u.description)
	}
	p.putIssue(w, f.issue.Version, u.row)
	if before := f.issue.Doc; before.ParentID != "" && u.row.ParentID == "" {
		above, err := get[issueRow](ctx, s.t, issueKey(w, before.ParentNumber))
		if err != nil {
			return nil, err
		}
		p.removeSubIssue(w, above, before.ID)
	}
	p.putTasks(w, f.issue.Version, tasks)
	if len(tasks) > 0 {
		p.changed = append(slices.Clone(p.changed), changedTasks)
	}
	return p, nil
}

// putDescription writes the description of the issue, or removes it if it is empty. The row
// gets to know which version belongs to it.
func (p *plan) putDescription(w tracker.ID, issueVersion int64, r *issueRow, description string) {
	key := bodyKey(w, r.Number)
	if description == "" {
		r.BodyVersion = 0
		p.ops = append(p.ops, table.Delete(key, table.Guard{}))
		return
	}
	r.BodyVersion = issueVersion + 1
	p.overwrite(key, r.BodyVersion, bodyRow{Description: description})
}

// removeSubIssue takes an issue off its parent's list. The parent's own fields stay, so its
// revision does.
func (p *plan) removeSubIssue(w tracker.ID, parent row[issueRow], id tracker.ID) {
	if !parent.found() || parent.Doc.deleted() {
		return
	}
	above := parent.Doc
	above.SubIssues = slices.DeleteFunc(slices.Clone(above.SubIssues), func(s subIssue) bool { return s.ID == id })
	p.putIssue(w, parent.Version, above)
}
