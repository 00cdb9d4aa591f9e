package records

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// A write decides from one set of reads what has to happen, as a plan, and the plan is committed
// whole: the change, the result under the call's idempotency key if it has one, and the call's
// audit event. Each row that the decision rests on is guarded by the version read, so a plan
// that is out of date fails as a whole, and the write decides anew from new reads.

// maxAttempts is how often a write decides before it gives up, with nothing done.
const maxAttempts = 5

// longestPause bounds the first pause between two attempts; each further one may take twice as
// long. The real length is random, so that calls which collided do not collide again.
const longestPause = 10 * time.Millisecond

// plan is a change that is decided, not yet made.
type plan struct {
	ops     []table.Op
	changed []string   // field names, for the audit event
	made    tracker.ID // the issue that the call is about, if the plan makes it
	err     error      // the first operation that could not be encoded
}

// put writes a document if its row is as it was read, and raises its version.
func (p *plan) put(key table.Key, old int64, doc any, index map[table.Index]table.IndexKey) {
	it, err := item(key, old+1, doc, index)
	if err != nil && p.err == nil {
		p.err = err
	}
	guard := table.IfVersion(old)
	if old == 0 {
		guard = table.IfAbsent()
	}
	p.ops = append(p.ops, table.Put(it, guard))
}

// putIssue writes an issue with its place in the lists.
func (p *plan) putIssue(w tracker.ID, old int64, r issueRow) {
	p.put(issueKey(w, r.Number), old, r, issueIndex(w, r))
}

// putTasks writes tasks whose guard is the version of their issue's row.
func (p *plan) putTasks(w tracker.ID, issueVersion int64, tasks []Task) {
	for _, t := range tasks {
		p.overwrite(taskKey(w, t.ID), issueVersion, t)
	}
}

// overwrite writes a row that no one writes without raising the version of its issue's row too,
// so that the guard there stands for this row as well.
func (p *plan) overwrite(key table.Key, version int64, doc any) {
	it, err := item(key, version, doc, nil)
	if err != nil && p.err == nil {
		p.err = err
	}
	p.ops = append(p.ops, table.Put(it, table.Guard{}))
}

// requireDirectory makes the plan depend on the rights of its caller, as they were read.
func (p *plan) requireDirectory(d *directory) {
	p.ops = append(p.ops, table.Check(directoryKey(d.Workspace.ID), table.IfVersion(d.version)))
}

// act decides and commits until that succeeds, is refused, or others have got in the way
// maxAttempts times. A decision without a plan is an answer to which nothing has to be done; one
// that fails with a *table.Conflict has read rows that do not fit together.
//
// After a plain error of the engine the change may or may not have been made. It is not tried
// again: the call's event has the key that the change would have given it, so that the log
// holds the truth either way.
func act[T any](ctx context.Context, s *store, c *claim, decide func() (T, *plan, error)) (T, error) {
	var none T
	for attempt := range maxAttempts {
		if attempt > 0 {
			if err := s.pause(ctx, jitter(attempt)); err != nil {
				return none, err
			}
		}
		result, p, err := decide()
		if table.IsConflict(err) {
			continue
		}
		if err != nil || p == nil {
			return result, err
		}
		err = s.commit(ctx, c, p, result)
		if err == nil {
			return result, nil
		}
		if !table.IsConflict(err) {
			return none, engineError("commit a change", err)
		}
	}
	return none, contention()
}

// commit makes the change and records the call, or does neither.
func (s *store) commit(ctx context.Context, c *claim, p *plan, result any) error {
	if p.err != nil {
		return p.err
	}
	if p.made != "" {
		s.call.Target("issue", string(p.made))
	}
	event, err := s.call.CommitOp(p.changed)
	if err != nil {
		return err
	}
	ops := append(p.ops, event)
	if c != nil {
		op, err := c.keep(s.call.Now(), result)
		if err != nil {
			return err
		}
		ops = append(ops, op)
	}
	err = s.w.Commit(ctx, ops)
	switch {
	case err == nil:
		s.call.Committed()
	case table.FailedAt(err, len(p.ops)):
		// Only this call writes under its event's key: the engine has tried twice, and what the
		// second try met is the first.
		return fmt.Errorf("the change was made, but its answer was lost: %v", err)
	case table.IsConflict(err):
		s.call.Event.Changed = nil
		if p.made != "" {
			s.call.Event.Target = ""
		}
	}
	return err
}

// jitter is how long to wait before this attempt.
func jitter(attempt int) time.Duration {
	return rand.N(longestPause << (attempt - 1))
}

// sleep waits, unless the context ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// later returns the time of a change to what last changed at last: now, but always after it, so
// that clocks which disagree cannot reorder the comments of an issue.
func later(now, last micros) micros { return max(now, last+1) }
