package toolstest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Engine is what a deployment gives a tool: all that it may need of storage.
type Engine interface {
	table.Writer
	table.Log
}

// engine is an engine under watch, as a rule the embedded one: it keeps the events that were
// recorded, counts the uses of the data table, and can misbehave.
type engine struct {
	Engine
	path string
	// journal is what was written to an engine that has no file, in the form of contents; nil for
	// one that has.
	journal map[string]map[string]string

	mu     sync.Mutex
	events []table.Item
	trace  []string // the uses of the data table, in order

	busy      bool // every commit meets another one
	throttled bool // the data table asks for a pause
	forgetful bool // what is written is checked, and dropped

	lastRaw      []byte // the file when contents last read it
	lastContents map[string]map[string]string
}

var _ table.Writer = (*engine)(nil)

func (e *engine) note(use string, name table.Name) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if name != table.Data {
		return nil
	}
	e.trace = append(e.trace, use)
	if e.throttled {
		return &table.Throttled{RetryAfter: 2 * time.Second}
	}
	return nil
}

func (e *engine) Get(ctx context.Context, key table.Key) (table.Item, bool, error) {
	if err := e.note("get", key.Table); err != nil {
		return table.Item{}, false, err
	}
	return e.Engine.Get(ctx, key)
}

func (e *engine) BatchGet(ctx context.Context, keys []table.Key) ([]table.Item, error) {
	if len(keys) > 0 {
		if err := e.note("batch get", keys[0].Table); err != nil {
			return nil, err
		}
	}
	return e.Engine.BatchGet(ctx, keys)
}

func (e *engine) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if err := e.note("query", q.Table); err != nil {
		return table.Page{}, err
	}
	return e.Engine.Query(ctx, q)
}

func (e *engine) Next(ctx context.Context, key table.Key) (int64, error) {
	if err := e.note("next", key.Table); err != nil {
		return 0, err
	}
	if e.forgetful {
		return demo.NextNumber, nil
	}
	return e.Engine.Next(ctx, key)
}

func (e *engine) Commit(ctx context.Context, ops []table.Op) error {
	if err := e.note("commit", table.Data); err != nil {
		return err
	}
	if e.busy {
		return &table.Conflict{}
	}
	commit := e.Engine.Commit
	if e.forgetful {
		commit = func(_ context.Context, ops []table.Op) error { return table.CheckCommit(ops) }
	}
	if err := commit(ctx, ops); err != nil {
		return err
	}
	for _, op := range ops {
		if op.Kind != table.OpCheck {
			e.enter(op.Item.Key, fmt.Sprintf("%v %s", op.Kind, op.Item.Doc))
		}
		if op.Kind == table.OpPut && op.Item.Table == table.Audit {
			e.record(op.Item)
		}
	}
	return nil
}

func (e *engine) Append(ctx context.Context, item table.Item) error {
	if e.forgetful {
		if err := table.CheckAppend(item); err != nil {
			return err
		}
	} else if err := e.Engine.Append(ctx, item); err != nil {
		return err
	}
	e.enter(item.Key, string(item.Doc))
	e.record(item)
	return nil
}

// enter notes in the journal that a row was written.
func (e *engine) enter(key table.Key, what string) {
	if e.journal == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.journal[key.Table.String()][key.PK+" "+key.SK] = what
}

func (e *engine) record(item table.Item) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, item)
}

// forget begins a new call.
func (e *engine) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events, e.trace = nil, nil
}

// contents returns all that lies in the file, row by row, indexes included, straight from the
// file and past all of our code: "data", "data/byStatus", … and "audit", each with its rows.
func (e *engine) contents(t *testing.T) map[string]map[string]string {
	t.Helper()
	if e.journal != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		return map[string]map[string]string{"data": maps.Clone(e.journal["data"]), "audit": maps.Clone(e.journal["audit"])}
	}
	raw, err := os.ReadFile(e.path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(raw, e.lastRaw) {
		return e.lastContents
	}
	path := filepath.Join(t.TempDir(), "copy")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := map[string]map[string]string{}
	err = db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			rows := map[string]string{}
			all[string(name)] = rows
			return b.ForEach(func(k, v []byte) error {
				rows[string(k)] = string(v)
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all["data"]) == 0 {
		t.Fatal("the data table is empty: nothing would be compared")
	}
	e.lastRaw, e.lastContents = raw, all
	return all
}

// changedRows names the rows of the data table and its indexes that differ.
func changedRows(before, after map[string]map[string]string) []string {
	var changed []string
	for bucket, rows := range after {
		if !strings.HasPrefix(bucket, "data") {
			continue
		}
		for key, value := range rows {
			if old, ok := before[bucket][key]; !ok || old != value {
				changed = append(changed, fmt.Sprintf("%s %q", bucket, key))
			}
		}
		for key := range before[bucket] {
			if _, ok := rows[key]; !ok {
				changed = append(changed, fmt.Sprintf("%s %q", bucket, key))
			}
		}
	}
	return changed
}
