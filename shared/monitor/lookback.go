package monitor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// What is missing cannot be seen in a stream that reorders: the read before a removal may be
// under way still. So for every removal the audit log itself is asked, which has the read before
// the caller has its answer. Removals are rare; this is the one place that reads the log.

// removals are those of one actor in a batch.
type removals struct {
	workspace, actor string
	facts            []*fact
}

// Bounds of looking back.
const (
	maxLookBackPages = 20 // of audit.MaxQueryLimit events, or 2,000 examined
)

// lookBack finds out, for each removal, what its actor did before. known are the actor's events
// in the batch, which the index of the log may not have yet.
func (m *Monitor) lookBack(ctx context.Context, r removals, known []audit.Event) error {
	first, last := r.facts[0].Timestamp, r.facts[0].Timestamp
	for _, d := range r.facts {
		if d.Timestamp.Before(first) {
			first = d.Timestamp
		}
		if d.Timestamp.After(last) {
			last = d.Timestamp
		}
	}
	for _, e := range known {
		m.explain(r.facts, e)
	}
	q := audit.Query{
		Workspace: r.workspace, Limit: audit.MaxQueryLimit, Now: m.now(), Retention: m.retention,
		Filter: audit.Filter{Actor: r.actor, Since: first.Add(-readWithin), Until: last.Add(time.Microsecond)},
	}
	for range maxLookBackPages {
		page, err := q.Run(ctx, m.tables)
		if err != nil {
			return fmt.Errorf("look for what came before a removal: %w", err)
		}
		at := last
		for _, e := range page.Events {
			at = e.Timestamp
			m.explain(r.facts, e)
		}
		if q.Cursor = page.Next; q.Cursor == "" || explained(r.facts, at) {
			break
		}
	}
	for _, d := range r.facts {
		d.lookedFor = true
	}
	return nil
}

// explained tells whether nothing before at can change what is known of the removals.
func explained(facts []*fact, at time.Time) bool {
	for _, d := range facts {
		if !d.read || !d.prepared && d.Timestamp.Sub(at) <= previewWithin {
			return false
		}
	}
	return true
}

// explain takes one event of the actor into account.
func (m *Monitor) explain(facts []*fact, e audit.Event) {
	if e.Outcome != fault.Success {
		return
	}
	gone := m.removed(e)
	for _, d := range facts {
		ago := d.Timestamp.Sub(e.Timestamp)
		if e.EventID == d.EventID || ago < 0 || ago > readWithin {
			continue
		}
		if !gone && shows(e, d.Target) {
			d.read = true
		}
		if holder(e.TokenID) == holder(d.TokenID) && ago <= previewWithin && (gone || e.DryRun && e.Target == d.Target) {
			d.prepared = true
		}
	}
}

// Tools that show or add comments. Their events name the issue, not the comments, so that any of
// them counts for any comment.
const (
	toolListComments = "list_comments"
	toolCommentIssue = "comment_issue"
)

// shows tells whether the caller of e has seen the target, or made it.
func shows(e audit.Event, target string) bool {
	if e.Target == target {
		return true
	}
	return strings.HasPrefix(target, "comment/") && (e.Tool == toolListComments || e.Tool == toolCommentIssue)
}

// removed tells whether the call removed something: previews, repetitions and calls that found
// it removed have changed nothing.
func (m *Monitor) removed(e audit.Event) bool {
	return m.tools[e.Tool] && e.Outcome == fault.Success && !e.DryRun && !e.Replayed && len(e.Changed) > 0
}

// lookBackAll looks back for every removal in the batch. Those that it fails for are dropped
// from the batch and reported.
func (m *Monitor) lookBackAll(ctx context.Context, b *batch) {
	byActor := map[[2]string]*removals{}
	var order [][2]string
	for _, f := range b.facts {
		if !f.destroys {
			continue
		}
		key := [2]string{f.WorkspaceID, f.Actor}
		if byActor[key] == nil {
			byActor[key] = &removals{workspace: f.WorkspaceID, actor: f.Actor}
			order = append(order, key)
		}
		byActor[key].facts = append(byActor[key].facts, &f.fact)
	}
	for _, key := range order {
		r := byActor[key]
		err := ctx.Err()
		if err == nil {
			err = m.lookBack(ctx, *r, b.eventsOf(r.workspace, r.actor))
		}
		if err != nil {
			b.drop(errors.Join(errors.New("a removal could not be judged"), err), r.facts)
		}
	}
}
