package embedded

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Commit implements table.Writer. Commits happen one after another, so a *Conflict always names
// the guards that failed.
func (db *DB) Commit(ctx context.Context, ops []table.Op) error {
	if err := errors.Join(ctx.Err(), table.CheckCommit(ops)); err != nil {
		return err
	}
	err := db.update(ctx, func(tx *bolt.Tx) error {
		old, err := checkGuards(tx, ops)
		if err != nil {
			return err
		}
		return apply(tx, ops, old)
	})
	if err == nil {
		db.tell(ops)
	}
	return err
}

// Next implements table.Writer.
func (db *DB) Next(ctx context.Context, key table.Key) (int64, error) {
	if err := errors.Join(ctx.Err(), table.CheckKey(key)); err != nil {
		return 0, err
	}
	var n int64
	err := db.update(ctx, func(tx *bolt.Tx) error {
		it, found, err := get(tx, key)
		if err != nil {
			return err
		}
		if !found {
			it = table.Item{Key: key, Doc: json.RawMessage("{}")}
		}
		it.Version++
		n = it.Version
		return putValue(tx, it)
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// Append implements table.Log.
func (db *DB) Append(ctx context.Context, it table.Item) error {
	if err := errors.Join(ctx.Err(), table.CheckAppend(it)); err != nil {
		return err
	}
	put, repeated := []table.Op{table.Put(it, table.Guard{})}, false
	err := db.update(ctx, func(tx *bolt.Tx) error {
		stored, found, err := get(tx, it.Key)
		if err != nil {
			return err
		}
		if repeated = found; found {
			return compare(stored, it)
		}
		return apply(tx, put, []*table.Item{nil})
	})
	if err == nil && !repeated {
		db.tell(put)
	}
	return err
}

// compare tells a repeated append from one that would overwrite.
func compare(stored, given table.Item) error {
	a, err := encode(stored)
	if err != nil {
		return err
	}
	b, err := encode(given)
	if err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return &table.Conflict{Failed: []int{0}}
	}
	return nil
}

// update runs a change alone. A caller who gave up while waiting for its turn changes nothing.
func (db *DB) update(ctx context.Context, change func(*bolt.Tx) error) error {
	return db.bolt.Update(func(tx *bolt.Tx) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return change(tx)
	})
}

// checkGuards returns the items under the operations' keys as they are (nil for none), or a
// *Conflict with every guard that does not hold.
func checkGuards(tx *bolt.Tx, ops []table.Op) ([]*table.Item, error) {
	old := make([]*table.Item, len(ops))
	var failed []int
	for i, op := range ops {
		it, found, err := get(tx, op.Item.Key)
		if err != nil {
			return nil, err
		}
		if found {
			old[i] = &it
		}
		if !holds(op.Guard, old[i]) {
			failed = append(failed, i)
		}
	}
	if failed != nil {
		return nil, &table.Conflict{Failed: failed}
	}
	return old, nil
}

func holds(g table.Guard, old *table.Item) bool {
	return table.Match(g,
		func() bool { return true },
		func() bool { return old == nil },
		func() bool { return old != nil },
		func(v int64) bool { return old != nil && old.Version == v })
}

// apply makes the changes. All old index entries go before any new one comes: within a commit
// an item may take the place that another leaves.
func apply(tx *bolt.Tx, ops []table.Op, old []*table.Item) error {
	for i, op := range ops {
		if op.Kind == table.OpCheck || old[i] == nil {
			continue
		}
		if err := remove(tx, *old[i]); err != nil {
			return err
		}
	}
	for _, op := range ops {
		if op.Kind != table.OpPut {
			continue
		}
		if err := putValue(tx, op.Item); err != nil {
			return err
		}
		if err := putIndexes(tx, op.Item); err != nil {
			return err
		}
	}
	return nil
}

// remove takes the item out of its table and its indexes.
func remove(tx *bolt.Tx, it table.Item) error {
	for index, key := range it.Index {
		if err := bucket(tx, it.Table, index).Delete(storedKey(key.PK, key.SK)); err != nil {
			return err
		}
	}
	return bucket(tx, it.Table, table.Primary).Delete(storedKey(it.PK, it.SK))
}

func putValue(tx *bolt.Tx, it table.Item) error {
	value, err := encode(it)
	if err != nil {
		return err
	}
	return bucket(tx, it.Table, table.Primary).Put(storedKey(it.PK, it.SK), value)
}

// putIndexes refuses a place that another item holds: the contract forbids it, and without
// saying so here a paging caller would one day miss an item.
func putIndexes(tx *bolt.Tx, it table.Item) error {
	for index, key := range it.Index {
		b, place := bucket(tx, it.Table, index), storedKey(key.PK, key.SK)
		if b.Get(place) != nil {
			return fmt.Errorf("index %s of table %s: another item has the same index key; make sort keys unique", index, it.Table)
		}
		if err := b.Put(place, storedKey(it.PK, it.SK)); err != nil {
			return err
		}
	}
	return nil
}
