// Package embedded keeps the connector's tables in one file on disk, over bbolt. It is the
// storage engine of local mode and of tests.
//
// It is not for a deployed connector: one process at a time may open the file. A commit is on
// disk when it returns, and a process killed in the middle of one leaves all of it or nothing.
// Start with DB.Commit in write.go; record.go says how an item lies in the file.
package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// formatVersion names the layout of the file. Raise it when record.go or the buckets change in
// a way that older programs cannot read.
const formatVersion = "aac-tables-1"

// lockWait is how long Open waits for another process to let go of the file: long enough for
// one that is stopping, short enough that a person at a terminal sees the reason at once.
const lockWait = 500 * time.Millisecond

var (
	metaBucket = []byte("meta")
	formatKey  = []byte("format")
)

// DB is an open file. It implements table.Writer and table.Log, and is safe for concurrent use.
type DB struct {
	bolt    *bolt.DB
	watcher func([]table.Item) // nil for none
}

var (
	_ table.Writer = (*DB)(nil)
	_ table.Log    = (*DB)(nil)
)

// Open opens the file, or makes it (mode 0600) and its directory (mode 0700).
func Open(path string) (*DB, error) { return open(path, false) }

// OpenUnsynced opens the file without waiting for the disk at each commit. It is for tests,
// which are about ten times faster so: what it writes survives the end of the process, however
// sudden, but not the end of the machine.
func OpenUnsynced(path string) (*DB, error) { return open(path, true) }

func open(path string, unsynced bool) (*DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w; set DATA to a directory you may write to", err)
	}
	b, err := bolt.Open(path, 0o600, &bolt.Options{
		Timeout:      lockWait,
		NoSync:       unsynced,
		NoGrowSync:   unsynced,
		FreelistType: bolt.FreelistMapType, // the array type slows down as the file grows
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("another connector is using %s; stop it or set DATA to another directory", path)
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		return nil, notOurs(path, err.Error())
	case err != nil:
		return nil, fmt.Errorf("open data file: %w; make it readable and writable, or set DATA to another directory", err)
	}
	if err := b.Update(func(tx *bolt.Tx) error { return prepare(tx, path) }); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return &DB{bolt: b}, nil
}

// Close releases the file. It waits for calls under way.
func (db *DB) Close() error { return db.bolt.Close() }

// prepare makes the buckets of a new file, and refuses a file that holds something else.
func prepare(tx *bolt.Tx, path string) error {
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		if first, _ := tx.Cursor().First(); first != nil {
			return notOurs(path, "it holds other data")
		}
		return create(tx)
	}
	if got := meta.Get(formatKey); !bytes.Equal(got, []byte(formatVersion)) {
		return notOurs(path, fmt.Sprintf("its format is %q, this program reads %q", got, formatVersion))
	}
	return nil
}

func create(tx *bolt.Tx) error {
	meta, err := tx.CreateBucket(metaBucket)
	if err != nil {
		return err
	}
	for _, name := range []table.Name{table.Data, table.Audit} {
		for _, index := range append([]table.Index{table.Primary}, table.Indexes(name)...) {
			if _, err := tx.CreateBucket(bucketName(name, index)); err != nil {
				return err
			}
		}
	}
	return meta.Put(formatKey, []byte(formatVersion))
}

func notOurs(path, why string) error {
	return fmt.Errorf("%s is not a data file of this connector version (%s); "+
		"set DATA to another directory, or use the version that wrote it", path, why)
}

// bucketName is "data", "data/byStatus", …
func bucketName(name table.Name, index table.Index) []byte {
	if index == table.Primary {
		return []byte(name.String())
	}
	return []byte(name.String() + "/" + string(index))
}

func bucket(tx *bolt.Tx, name table.Name, index table.Index) *bolt.Bucket {
	return tx.Bucket(bucketName(name, index))
}
