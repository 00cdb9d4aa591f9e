package records

import (
	"cmp"
	"slices"

	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// items are all rows of a snapshot but those that make it visible. Rows on which others hang
// come first (see clear).
func (s Snapshot) items() ([]table.Item, error) {
	b := &builder{w: s.Workspace.ID}
	if s.NextNumber > 1 {
		b.items = append(b.items, counterItem(b.w, s.NextNumber))
	}
	b.autopilots(s)
	issues := slices.Clone(s.Issues)
	slices.SortFunc(issues, func(a, b IssueSnapshot) int { return cmp.Compare(a.Number, b.Number) })
	for _, i := range issues {
		b.issue(s, i)
	}
	for _, i := range issues {
		b.comments(i)
	}
	for _, t := range s.Tasks {
		b.put(taskKey(b.w, t.ID), t, nil)
	}
	for _, r := range s.Runs {
		b.put(runKey(b.w, r.AutopilotID, r.TriggeredAt.time(), r.ID), runRow(r), nil)
	}
	for _, u := range s.Usage {
		b.put(usageKey(b.w, u), u, nil)
	}
	return b.items, b.err
}

// builder collects rows, and the first error.
type builder struct {
	w     tracker.ID
	items []table.Item
	err   error
}

func (b *builder) put(key table.Key, doc any, index map[table.Index]table.IndexKey) {
	it, err := item(key, 1, doc, index)
	b.items = append(b.items, it)
	b.err = cmp.Or(b.err, err)
}

// autopilots writes a state for each, also for one that never ran.
func (b *builder) autopilots(s Snapshot) {
	for _, a := range s.Autopilots {
		var state autopilotState
		for _, r := range s.Runs {
			if r.AutopilotID != a.ID {
				continue
			}
			state.LastRunAt = max(state.LastRunAt, r.TriggeredAt)
			if r.started() {
				state.LastStartedAt = max(state.LastStartedAt, r.TriggeredAt)
			}
		}
		b.put(autopilotKey(b.w, a.ID), state, nil)
	}
}

func (r RunSnapshot) started() bool {
	return r.Status == "issue_created" || r.Status == "running" || r.Status == "completed"
}

func (b *builder) issue(s Snapshot, i IssueSnapshot) {
	row := issueRow{
		ID: i.ID, Number: i.Number, Title: i.Title, Status: i.Status, Priority: i.Priority,
		CreatorType: i.CreatorType, CreatorID: i.CreatorID, AssigneeType: i.AssigneeType, AssigneeID: i.AssigneeID,
		LabelIDs: i.LabelIDs, StartDate: i.StartDate, DueDate: i.DueDate, Revision: i.Revision,
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, Parked: i.Parked,
	}
	for _, c := range i.Comments {
		if c.Deleted == nil {
			row.CommentCount++
		}
	}
	if i.OriginRunID != "" {
		run, _ := lookup(s.Runs, func(r RunSnapshot) bool { return r.ID == i.OriginRunID })
		row.OriginRun = &runRef{AutopilotID: run.AutopilotID, RunID: run.ID, TriggeredAt: run.TriggeredAt}
	}
	if i.Description != "" {
		row.BodyVersion = 1
	}
	if i.ParentID != "" {
		parent, _ := lookup(s.Issues, func(p IssueSnapshot) bool { return p.ID == i.ParentID })
		row.ParentID, row.ParentNumber = parent.ID, parent.Number
	}
	row.SubIssues, row.Tasks = s.hanging(i)
	if d := i.Deleted; d != nil {
		row.DeletedAt, row.DeletedBy, row.RestorableUntil, row.Removed = d.At, d.By, d.RestorableUntil, &d.Removed
	}
	b.put(issueKey(b.w, i.Number), row, issueIndex(b.w, row))
	b.put(issuePointerKey(b.w, i.ID), pointerRow{Number: i.Number}, nil)
	if row.BodyVersion != 0 {
		b.put(bodyKey(b.w, i.Number), bodyRow{i.Description}, nil)
	}
}

// hanging lists the live sub-issues of an issue, by number, and its active tasks, by time.
func (s Snapshot) hanging(i IssueSnapshot) (children []subIssue, tasks []Task) {
	for _, c := range s.Issues {
		if c.ParentID == i.ID && c.Deleted == nil {
			children = append(children, subIssue{c.ID, c.Number})
		}
	}
	for _, t := range s.Tasks {
		if t.IssueID == i.ID && t.active() {
			tasks = append(tasks, t)
		}
	}
	slices.SortFunc(children, func(a, b subIssue) int { return cmp.Compare(a.Number, b.Number) })
	slices.SortStableFunc(tasks, func(a, b Task) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	return children, tasks
}

func (b *builder) comments(i IssueSnapshot) {
	threads := i.threads()
	for _, c := range i.Comments {
		row := commentRow{
			ID: c.ID, AuthorType: c.AuthorType, AuthorID: c.AuthorID, Content: c.Content, Type: cmp.Or(c.Type, "comment"),
			ParentID: c.ParentID, RootID: i.rootOf(c), CreatedAt: c.CreatedAt, UpdatedAt: cmp.Or(c.UpdatedAt, c.CreatedAt),
		}
		if d := c.Deleted; d != nil {
			row.DeletedAt, row.DeletedBy, row.RestorableUntil = d.At, d.By, d.RestorableUntil
			row.RemovedWith, row.Removed = d.RemovedWith, d.Removed
		}
		key := commentKey(b.w, i.Number, c.CreatedAt.time(), c.ID)
		b.put(key, row, nil)
		b.put(commentPointerKey(b.w, c.ID), pointerRow{Number: i.Number, SK: key.SK, RootID: row.RootID}, nil)
	}
	for _, root := range i.Comments {
		if live := threads[root.ID]; len(live) > 1 {
			b.put(threadKey(b.w, i.Number, root.ID), threadRow{live}, nil)
		}
	}
}

// rootOf is the id of the top-level comment that the comment answers, at any depth.
func (i IssueSnapshot) rootOf(c CommentSnapshot) tracker.ID {
	for c.ParentID != "" {
		c, _ = lookup(i.Comments, func(p CommentSnapshot) bool { return p.ID == c.ParentID })
	}
	return c.ID
}

// threads lists the live comments under each root, the root included, in order of time.
func (i IssueSnapshot) threads() map[tracker.ID][]threadEntry {
	threads := map[tracker.ID][]threadEntry{}
	for _, c := range i.Comments {
		if c.Deleted != nil {
			continue
		}
		root := i.rootOf(c)
		threads[root] = append(threads[root], threadEntry{
			ID: c.ID, ParentID: c.ParentID, AuthorType: c.AuthorType, AuthorID: c.AuthorID, CreatedAt: c.CreatedAt,
		})
	}
	for _, live := range threads {
		slices.SortStableFunc(live, func(a, b threadEntry) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	}
	return threads
}
