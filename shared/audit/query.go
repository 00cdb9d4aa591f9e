package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Reading the log goes through the index byWorkspace, which has one partition a day, from the
// newest day back. A query is one page of that walk. It starts at the place in its cursor and
// moves only towards older events, so what arrives at the head meanwhile neither shifts nor
// repeats anything. One thing it cannot see: an event is placed at the time its call began, so
// a call that ends after the walk went past that time is found by the next walk.

// MaxQueryLimit is the most events on one page.
const MaxQueryLimit = 100

// Bounds of the work for one page. A page that reaches one ends early, with a cursor.
const (
	maxPartitionReads = 64   // queries of the table, one after the other
	maxExamined       = 2000 // events looked at, matching or not
	filteredChunk     = 250  // events per query while a filter is set
)

// headStart is how far ahead of the reader's clock the walk begins: the clocks of two functions
// differ.
const headStart = 5 * time.Minute

// Filter chooses events. Empty members choose all.
type Filter struct {
	Tool    string
	Outcome fault.Outcome
	Reason  fault.Reason
	Actor   string
	Since   time.Time // events at or after it
	Until   time.Time // events before it
}

// Query asks for one page of a workspace's events.
type Query struct {
	Workspace string // whose events: from the principal, never from the request
	Filter    Filter
	Cursor    string // empty, or Next of the page before, with the same workspace and filter
	Limit     int    // 1 to MaxQueryLimit
	Now       time.Time
	Retention time.Duration // how far back events can lie
}

// Page is a part of the log, newest first. It may be short or empty although there is more:
// the walk is over when Next is empty.
type Page struct {
	Events []Event
	Next   string
}

// Run reads the page. Its fault is Invalid: invalid_arguments for a limit out of range,
// invalid_cursor for a cursor that is not of this workspace and filter.
func (q Query) Run(ctx context.Context, r table.Reader) (Page, error) {
	if q.Limit < 1 || q.Limit > MaxQueryLimit {
		return Page{}, fault.New(fault.Invalid, fault.InvalidArguments,
			fmt.Sprintf("limit must be between 1 and %d", MaxQueryLimit)).With("field", "limit")
	}
	at, err := q.place()
	if err != nil {
		return Page{}, err
	}
	w := walk{Query: q, reader: r, first: q.oldest(), last: q.newest(), page: Page{Events: []Event{}}}
	if !w.first.Before(w.last) {
		return w.page, nil
	}
	if err := w.run(ctx, at); err != nil {
		return Page{}, fmt.Errorf("read the audit log: %w", err)
	}
	return w.page, nil
}

// oldest is the first instant that can matter.
func (q Query) oldest() time.Time {
	kept := q.Now.Add(-q.Retention)
	if q.Filter.Since.After(kept) {
		kept = q.Filter.Since
	}
	return ceilMicrosecond(kept)
}

// newest is the first instant that cannot matter any more.
func (q Query) newest() time.Time {
	end := q.Now.Add(headStart)
	if !q.Filter.Until.IsZero() && q.Filter.Until.Before(end) {
		end = q.Filter.Until
	}
	return ceilMicrosecond(end)
}

// ceilMicrosecond rounds up. Events have whole microseconds, so comparing them with the result
// is comparing them with t.
func ceilMicrosecond(t time.Time) time.Time {
	if whole := t.UTC().Truncate(time.Microsecond); whole.Equal(t) {
		return whole
	}
	return t.UTC().Truncate(time.Microsecond).Add(time.Microsecond)
}

// walk is one page being made.
type walk struct {
	Query
	reader      table.Reader
	first, last time.Time // events in [first, last)
	page        Page
	reads       int
	examined    int
}

// place is where a walk stands: behind the sort key after, in the partition of day. An empty
// after is the head of the day.
type place struct {
	day   time.Time // midnight UTC; zero: the newest day of the walk
	after string
}

func (w *walk) run(ctx context.Context, at place) error {
	oldestDay, newestDay := midnight(w.first), midnight(w.last.Add(-time.Microsecond))
	if at.day.IsZero() || at.day.After(newestDay) {
		at = place{day: newestDay}
	}
	for !at.day.Before(oldestDay) {
		if w.exhausted() {
			w.page.Next = w.cursor(at)
			return nil
		}
		next, err := w.step(ctx, at)
		if err != nil {
			return err
		}
		at = next
	}
	return nil
}

func (w *walk) exhausted() bool {
	return len(w.page.Events) == w.Limit || w.reads == maxPartitionReads || w.examined >= maxExamined
}

// step makes one query and returns where to go on.
func (w *walk) step(ctx context.Context, at place) (place, error) {
	w.reads++
	found, err := w.reader.Query(ctx, table.Query{
		Table: table.Audit, Index: table.ByWorkspace, PK: workspaceDay(w.Workspace, dayOf(at.day)),
		// No sort key is a bare time, so the inclusive bounds are [first, last).
		From: timeKey(w.first), To: timeKey(w.last), After: at.after, Desc: true, Limit: w.chunk(),
	})
	if err != nil {
		return at, err
	}
	for i, item := range found.Items {
		at.after = item.Index[table.ByWorkspace].SK
		w.examined++
		if err := w.take(item); err != nil {
			return at, err
		}
		if len(w.page.Events) == w.Limit && (i+1 < len(found.Items) || found.More) {
			return at, nil
		}
	}
	if found.More {
		return at, nil
	}
	return place{day: at.day.AddDate(0, 0, -1)}, nil
}

// chunk is how many events to ask for: without a filter each of them goes on the page.
func (w *walk) chunk() int {
	f := w.Filter
	f.Since, f.Until = time.Time{}, time.Time{}
	if f == (Filter{}) {
		return w.Limit - len(w.page.Events)
	}
	return min(filteredChunk, maxExamined-w.examined)
}

// take puts the event on the page if it is one that was asked for. The engine may keep an item
// some days beyond its time; that one is gone for readers.
func (w *walk) take(item table.Item) error {
	if !item.ExpiresAt.IsZero() && !item.ExpiresAt.After(w.Now) {
		return nil
	}
	var e Event
	if err := json.Unmarshal(item.Doc, &e); err != nil {
		return fmt.Errorf("decode the event at %s: %w", item.SK, err)
	}
	if w.Filter.matches(e) {
		w.page.Events = append(w.page.Events, e)
	}
	return nil
}

// matches leaves the times to the range of the query.
func (f Filter) matches(e Event) bool {
	return (f.Tool == "" || f.Tool == e.Tool) &&
		(f.Outcome == "" || f.Outcome == e.Outcome) &&
		(f.Reason == "" || f.Reason == e.Reason) &&
		(f.Actor == "" || f.Actor == e.Actor)
}

func midnight(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
