package embedded

import (
	"context"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// RemoveExpired removes the items whose ExpiresAt is before now, and returns how many. It reads
// the whole file: call it once, at start.
func (db *DB) RemoveExpired(ctx context.Context, now time.Time) (int, error) {
	removed := 0
	err := db.update(ctx, func(tx *bolt.Tx) error {
		for _, name := range []table.Name{table.Data, table.Audit} {
			old, err := expired(tx, name, now)
			if err != nil {
				return err
			}
			for _, it := range old {
				if err := remove(tx, it); err != nil {
					return err
				}
			}
			removed += len(old)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// expired only collects: a bucket must not change while ForEach walks it.
func expired(tx *bolt.Tx, name table.Name, now time.Time) ([]table.Item, error) {
	var old []table.Item
	err := bucket(tx, name, table.Primary).ForEach(func(key, value []byte) error {
		it, err := decode(name, key, value)
		if err == nil && !it.ExpiresAt.IsZero() && it.ExpiresAt.Before(now) {
			it.Doc = nil // only the keys are needed
			old = append(old, it)
		}
		return err
	})
	return old, err
}
