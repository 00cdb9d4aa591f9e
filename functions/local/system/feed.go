package system

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// The feed stands for the stream from the audit table to functions/audit_monitor, and for the
// event source mapping between them. What is recorded comes to it from the engine after each
// commit; it hands batches to the very handler that is deployed, as the bytes of a Kinesis event.
// A process that is killed may have recorded what the monitor has not seen: the next start reads
// the log from where the feed is known to have been. The monitor does not mind to see things
// twice.

// feed is a queue and the one goroutine that empties it.
type feed struct {
	tables  *embedded.DB
	monitor lambdarun.Handler
	log     *slog.Logger
	now     func() time.Time

	mu      sync.Mutex
	changed *sync.Cond // waiting, busy or closed
	waiting []recorded
	busy    bool
	closed  bool
	number  int       // of the last record; the feed's goroutine alone uses it
	saved   time.Time // when the position was written
	lost    bool      // records were set aside: the position must stay behind them
	ended   chan struct{}
	told    func() // after each batch: there may be findings
	once    sync.Once
}

// recorded is what waits to be handed over: an item of the audit table, or a record of one that
// was read from the log.
type recorded struct {
	item   table.Item
	replay []byte
}

// Limits of the feed, those of the deployed event source mapping where it has them.
const (
	feedBatch  = 500
	feedTries  = 10
	feedFor    = 28 * time.Second // the time-out of the function
	savePeriod = time.Minute      // how often the position is written while there is work
	// feedOverlap is how far before the position a start reads again: an event lies at the time
	// at which its call began.
	feedOverlap = time.Minute
)

// startFeed reads what the monitor has missed, and starts the feed.
func (s *System) startFeed(ctx context.Context, cfg Config) error {
	m := monitor.New(monitor.Config{
		Tables: s.Tables, Tools: catalog.Destroying(), Metrics: io.Discard, Logger: cfg.Log, Now: cfg.Now,
	})
	f := &feed{tables: s.Tables, monitor: lambdarun.Feed(m, cfg.Log), log: cfg.Log, now: cfg.Now, ended: make(chan struct{}), told: s.changes.tell}
	f.changed = sync.NewCond(&f.mu)
	if err := f.catchUp(ctx); err != nil {
		return fmt.Errorf("read what the monitor has missed: %w", err)
	}
	s.Tables.Watch(func(items []table.Item) {
		f.offer(items)
		s.changes.tell()
	})
	s.feed = f
	go f.run()
	return nil
}

// positionKey is where the feed notes how far it is: all events that were recorded before that
// time have been handed over.
var positionKey = table.Key{Table: table.Data, PK: "MON#feed", SK: "POSITION"}

type position struct {
	Until time.Time `json:"until"`
}

// catchUp queues the events since the position.
func (f *feed) catchUp(ctx context.Context) error {
	var at position
	item, found, err := f.tables.Get(ctx, positionKey)
	if err != nil {
		return err
	}
	if found {
		if err := json.Unmarshal(item.Doc, &at); err != nil {
			return err
		}
		at.Until = at.Until.Add(-feedOverlap)
	}
	workspaces := map[string]bool{}
	for _, g := range demo.Grants() {
		workspaces[string(g.WorkspaceID)] = true
	}
	for w := range workspaces {
		missed := audit.Export{Workspace: w, Filter: audit.Filter{Since: at.Until}, Now: f.now(), Retention: audit.DefaultRetention}
		err := missed.Each(ctx, f.tables, func(e audit.Event) error {
			data, err := monitor.ReplayOf(e, f.now())
			f.waiting = append(f.waiting, recorded{replay: data})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// offer queues what was recorded. The engine calls it before a caller has the answer, so it does
// no more than that.
func (f *feed) offer(items []table.Item) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, item := range items {
		f.waiting = append(f.waiting, recorded{item: item})
	}
	f.changed.Broadcast()
}

// records makes the records of a batch.
func (f *feed) records(batch []recorded) (records []monitor.Record) {
	for _, r := range batch {
		data := r.replay
		if data == nil {
			var err error
			if data, err = monitor.RecordOf(r.item, f.now(), false); err != nil {
				f.log.Error("an event does not reach the monitor", "error", err.Error())
				continue
			}
		}
		f.number++
		records = append(records, monitor.Record{Sequence: fmt.Sprintf("%020d", f.number), Data: data})
	}
	return records
}

// run hands over until the feed is closed and empty.
func (f *feed) run() {
	defer close(f.ended)
	for {
		next, since := f.next()
		if next == nil {
			return
		}
		batch := f.records(next)
		for tries := 0; len(batch) > 0 && tries < feedTries; tries++ {
			batch = f.deliver(batch)
		}
		if len(batch) > 0 {
			f.lost = true
			f.log.Error("events are set aside: the monitor cannot take them; the next start hands them over again", "events", len(batch))
		}
		f.delivered(since)
	}
}

// next waits for records. It returns nil when there will be none.
func (f *feed) next() (batch []recorded, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.waiting) == 0 && !f.closed {
		f.changed.Wait()
	}
	n := min(len(f.waiting), feedBatch)
	if n == 0 {
		return nil, time.Time{}
	}
	batch, f.waiting, f.busy = f.waiting[:n:n], f.waiting[n:], true
	return batch, f.now()
}

// delivered notes that the queue is shorter, and now and then how far it is.
func (f *feed) delivered(since time.Time) {
	f.mu.Lock()
	f.busy = false
	save := len(f.waiting) == 0 && since.Sub(f.saved) >= savePeriod
	f.changed.Broadcast()
	f.mu.Unlock()
	f.told()
	if save {
		f.save(since)
	}
}

// deliver hands a batch to the monitor, and returns what is to be delivered again: as an event
// source mapping does, all from the first record that failed.
func (f *feed) deliver(batch []monitor.Record) []monitor.Record {
	ctx, cancel := context.WithTimeout(context.Background(), feedFor)
	defer cancel()
	answer, err := f.monitor.Invoke(ctx, lambdarun.FeedEvent(batch, f.now()))
	if err != nil {
		return batch // the handler has said why
	}
	var failed struct {
		BatchItemFailures []struct {
			ItemIdentifier string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if err := json.Unmarshal(answer, &failed); err != nil {
		return batch
	}
	for i, r := range batch {
		for _, item := range failed.BatchItemFailures {
			if item.ItemIdentifier == r.Sequence {
				return batch[i:]
			}
		}
	}
	return nil
}

func (f *feed) save(until time.Time) {
	if f.lost {
		return
	}
	doc, err := json.Marshal(position{until.UTC()})
	if err == nil {
		err = f.tables.Commit(context.Background(), []table.Op{table.Put(table.Item{Key: positionKey, Doc: doc, Version: 1}, table.Guard{})})
	}
	if err != nil {
		f.log.Error("the monitor's position is not written: the next start hands events over again", "error", err.Error())
	}
	f.saved = until
}

// settle waits until all that was recorded has been handed over.
func (f *feed) settle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.waiting) > 0 || f.busy {
		f.changed.Wait()
	}
}

// close hands over what is left. Nothing may be recorded any more. Closing again does nothing.
func (f *feed) close() {
	f.once.Do(func() {
		f.mu.Lock()
		f.closed = true
		f.changed.Broadcast()
		f.mu.Unlock()
		<-f.ended
		f.save(f.now())
	})
}
