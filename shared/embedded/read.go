package embedded

import (
	"bytes"
	"context"
	"errors"

	bolt "go.etcd.io/bbolt"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// pageBytes bounds a page as DynamoDB does, so that callers meet short pages in local mode too.
const pageBytes = 1 << 20

// Get implements table.Reader.
func (db *DB) Get(ctx context.Context, key table.Key) (table.Item, bool, error) {
	if err := errors.Join(ctx.Err(), table.CheckKey(key)); err != nil {
		return table.Item{}, false, err
	}
	var it table.Item
	var found bool
	err := db.bolt.View(func(tx *bolt.Tx) (err error) {
		it, found, err = get(tx, key)
		return err
	})
	return it, found, err
}

// BatchGet implements table.Reader. Beyond the contract, it is a snapshot.
func (db *DB) BatchGet(ctx context.Context, keys []table.Key) ([]table.Item, error) {
	if err := errors.Join(ctx.Err(), table.CheckKeys(keys)); err != nil {
		return nil, err
	}
	var items []table.Item
	err := db.bolt.View(func(tx *bolt.Tx) error {
		for _, key := range keys {
			it, found, err := get(tx, key)
			if err != nil {
				return err
			}
			if found {
				items = append(items, it)
			}
		}
		return nil
	})
	return items, err
}

// Query implements table.Reader.
func (db *DB) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if err := errors.Join(ctx.Err(), table.CheckQuery(q)); err != nil {
		return table.Page{}, err
	}
	var page table.Page
	err := db.bolt.View(func(tx *bolt.Tx) (err error) {
		page, err = query(tx, q)
		return err
	})
	return page, err
}

func get(tx *bolt.Tx, key table.Key) (table.Item, bool, error) {
	stored := storedKey(key.PK, key.SK)
	value := bucket(tx, key.Table, table.Primary).Get(stored)
	if value == nil {
		return table.Item{}, false, nil
	}
	it, err := decode(key.Table, stored, value)
	return it, err == nil, err
}

func query(tx *bolt.Tx, q table.Query) (table.Page, error) {
	var page table.Page
	size := 0
	w := newWalk(bucket(tx, q.Table, q.Index), q)
	for key, value := w.first(); key != nil; key, value = w.next() {
		if len(page.Items) == q.Limit || size >= pageBytes {
			page.More = true
			break
		}
		if q.Index != table.Primary { // the value is the place of the item
			key = value
			value = bucket(tx, q.Table, table.Primary).Get(key)
		}
		it, err := decode(q.Table, key, value)
		if err != nil {
			return table.Page{}, err
		}
		size += it.Size()
		page.Items = append(page.Items, it)
	}
	return page, nil
}

// walk goes through the keys of one partition that lie in the query's range.
type walk struct {
	cursor *bolt.Cursor
	prefix []byte // of all keys of the partition
	q      table.Query
}

func newWalk(b *bolt.Bucket, q table.Query) walk {
	return walk{cursor: b.Cursor(), prefix: storedKey(q.PK, ""), q: q}
}

// first goes to the first key in the direction of the query.
func (w walk) first() (key, value []byte) {
	if w.q.Desc {
		return w.last()
	}
	from := max(w.q.From, w.q.After)
	key, value = w.cursor.Seek(storedKey(w.q.PK, from))
	if w.is(key, w.q.After) {
		key, value = w.cursor.Next()
	}
	return w.inRange(key, value)
}

// last goes to the greatest key at or below To and below After. It seeks the first key behind
// that and steps back.
func (w walk) last() (key, value []byte) {
	to := w.q.To
	if to == "" || w.q.After != "" && w.q.After < to {
		to = w.q.After
	}
	start := storedKey(w.q.PK, to)
	if to == "" {
		start = afterPrefix(w.prefix)
	}
	key, value = w.cursor.Seek(start)
	switch {
	case key == nil: // no key at or behind it in the bucket
		key, value = w.cursor.Last()
	case to == "" || !w.is(key, to) || to == w.q.After:
		key, value = w.cursor.Prev()
	}
	return w.inRange(key, value)
}

func (w walk) next() (key, value []byte) {
	if w.q.Desc {
		return w.inRange(w.cursor.Prev())
	}
	return w.inRange(w.cursor.Next())
}

// is tells whether the key is that of this sort key in the query's partition.
func (w walk) is(key []byte, sk string) bool {
	return sk != "" && bytes.Equal(key, storedKey(w.q.PK, sk))
}

// inRange returns nil for a key outside the partition or the range, where the walk ends.
func (w walk) inRange(key, value []byte) ([]byte, []byte) {
	sk, inside := bytes.CutPrefix(key, w.prefix)
	switch {
	case key == nil || !inside,
		w.q.From != "" && string(sk) < w.q.From,
		w.q.To != "" && string(sk) > w.q.To:
		return nil, nil
	}
	return key, value
}

// afterPrefix is the smallest key greater than all that begin with the prefix. The prefix
// begins with a length of at most 2048, so a byte that can be raised is always there.
func afterPrefix(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; ; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
}
