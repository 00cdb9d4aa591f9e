package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// exportChunk is how many events one query of an export asks for.
const exportChunk = 500

// Export is a walk over a workspace's whole log, oldest event first, for those who copy it. Its
// work is not bounded, unlike that of a Query.
type Export struct {
	Workspace string
	Filter    Filter
	Now       time.Time
	Retention time.Duration // how far back events can lie
}

// Each hands over the events one by one, in the order of their times, and stops at the first
// error of f. Events that arrive while it walks are handed over if their time is still ahead of
// the walk; the last moments before Now can still be under way to the index.
func (x Export) Each(ctx context.Context, r table.Reader, f func(Event) error) error {
	q := Query{Workspace: x.Workspace, Filter: x.Filter, Now: x.Now, Retention: x.Retention}
	first, last := q.oldest(), q.newest()
	for day := midnight(first); day.Before(last); day = day.AddDate(0, 0, 1) {
		if err := x.eachOf(ctx, r, day, first, last, f); err != nil {
			return err
		}
	}
	return nil
}

// eachOf walks over one day, within [first, last).
func (x Export) eachOf(ctx context.Context, r table.Reader, day, first, last time.Time, f func(Event) error) error {
	q := table.Query{
		Table: table.Audit, Index: table.ByWorkspace, PK: workspaceDay(x.Workspace, dayOf(day)),
		From: timeKey(first), To: timeKey(last), Limit: exportChunk, // no sort key is a bare time
	}
	for {
		page, err := r.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("read the audit log: %w", err)
		}
		for _, item := range page.Items {
			q.After = item.Index[table.ByWorkspace].SK
			if err := x.hand(item, f); err != nil {
				return err
			}
		}
		if !page.More {
			return nil
		}
	}
}

// hand gives the event to f if it is one that was asked for and not past its time.
func (x Export) hand(item table.Item, f func(Event) error) error {
	if !item.ExpiresAt.IsZero() && !item.ExpiresAt.After(x.Now) {
		return nil
	}
	var e Event
	if err := json.Unmarshal(item.Doc, &e); err != nil {
		return fmt.Errorf("decode the event at %s: %w", item.SK, err)
	}
	if !x.Filter.matches(e) {
		return nil
	}
	return f(e)
}
