package embedded

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

func TestOpenMakesAPrivateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "data.db")
	db := mustOpen(t, path)
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("mode of %s is %v, want %v", filepath.Base(name), info.Mode(), want)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Next(t.Context(), table.Key{PK: "p", SK: "s"}); err == nil {
		t.Error("a closed file still counts")
	}
}

func TestOpenTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.db")
	db := mustOpen(t, path)
	_, err := Open(path)
	wantError(t, err, "another connector is using "+path+"; stop it or set DATA to another directory")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := mustOpen(t, path).Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenRefusesWhatIsNotOurs(t *testing.T) {
	tests := []struct {
		name, want string
		make       func(t *testing.T, path string)
	}{
		{"text", "is not a data file", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("not a database\n", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"newer format", `its format is "aac-tables-99"`, func(t *testing.T, path string) {
			change(t, path, func(tx *bolt.Tx) error {
				b, err := tx.CreateBucket(metaBucket)
				if err != nil {
					return err
				}
				return b.Put(formatKey, []byte("aac-tables-99"))
			})
		}},
		{"foreign buckets", "it holds other data", func(t *testing.T, path string) {
			change(t, path, func(tx *bolt.Tx) error {
				_, err := tx.CreateBucket([]byte("somebody else's"))
				return err
			})
		}},
		{"a directory", "set DATA to another directory", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data.db")
			tt.make(t, path)
			_, err := Open(path)
			wantError(t, err, tt.want)
		})
	}
	t.Run("below a file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(filepath.Join(path, "data.db"))
		wantError(t, err, "set DATA to a directory you may write to")
	})
	t.Run("an empty file becomes ours", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "data.db")
		change(t, path, func(*bolt.Tx) error { return nil })
		if err := mustOpen(t, path).Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestKeepsDataWhenOpenedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.db")
	want := table.Item{Key: table.Key{PK: "p", SK: "s"}, Doc: json.RawMessage(`{"a":1}`), Version: 3}
	db := mustOpen(t, path)
	if err := db.Commit(t.Context(), []table.Op{table.Put(want, table.IfAbsent())}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = mustOpen(t, path)
	defer db.Close()
	got, found, err := db.Get(t.Context(), want.Key)
	if err != nil || !found || string(got.Doc) != string(want.Doc) || got.Version != want.Version {
		t.Errorf("got %+v, found %t, error %v; want %+v", got, found, err, want)
	}
}

func TestRefusesAnIndexPlaceTwice(t *testing.T) {
	db := mustOpen(t, filepath.Join(t.TempDir(), "data.db"))
	defer db.Close()
	a := table.Item{Key: table.Key{PK: "p", SK: "a"}, Doc: json.RawMessage(`{}`), Version: 1}
	a.Index = map[table.Index]table.IndexKey{table.ByStatus: {PK: "open", SK: "1"}}
	b := a
	b.SK = "b"
	err := db.Commit(t.Context(), []table.Op{table.Put(a, table.Guard{}), table.Put(b, table.Guard{})})
	wantError(t, err, "another item has the same index key")
	if _, found, err := db.Get(t.Context(), a.Key); found || err != nil {
		t.Errorf("half of the commit stayed (error %v)", err)
	}
}

func TestRemoveExpired(t *testing.T) {
	db := mustOpen(t, filepath.Join(t.TempDir(), "data.db"))
	defer db.Close()
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	var ops []table.Op
	for sk, expires := range map[string]time.Time{"past": now.Add(-time.Second), "now": now, "never": {}} {
		for _, name := range []table.Name{table.Data, table.Audit} {
			it := table.Item{Key: table.Key{Table: name, PK: "p", SK: sk}, Doc: json.RawMessage(`{}`), Version: 1, ExpiresAt: expires}
			it.Index = map[table.Index]table.IndexKey{table.Indexes(name)[0]: {PK: "i", SK: sk}}
			ops = append(ops, table.Put(it, table.Guard{}))
		}
	}
	if err := db.Commit(t.Context(), ops); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{2, 0} {
		if got, err := db.RemoveExpired(t.Context(), now); err != nil || got != want {
			t.Errorf("removed %d, error %v; want %d", got, err, want)
		}
	}
	for _, name := range []table.Name{table.Data, table.Audit} {
		for _, index := range []table.Index{table.Primary, table.Indexes(name)[0]} {
			q := table.Query{Table: name, Index: index, PK: "p", Limit: 10}
			if index != table.Primary {
				q.PK = "i"
			}
			page, err := db.Query(t.Context(), q)
			if err != nil || len(page.Items) != 2 || page.Items[0].SK != "never" || page.Items[1].SK != "now" {
				t.Errorf("%s %q holds %v, error %v", name, index, page.Items, err)
			}
		}
	}
}

// TestReportsDamage reads what no commit has written.
func TestReportsDamage(t *testing.T) {
	good, err := encode(table.Item{Doc: json.RawMessage(`{}`), Version: 1})
	if err != nil {
		t.Fatal(err)
	}
	key := storedKey("p", "s")
	for name, kv := range map[string][2][]byte{
		"no value":  {key, {}},
		"short":     {key, good[:3]},
		"no head":   {key, {0}},
		"long head": {key, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}},
		"no key":    {{0}, good},
		"short key": {{9, 9, 'p'}, good},
	} {
		if _, err := decode(table.Data, kv[0], kv[1]); err == nil || !strings.HasPrefix(err.Error(), "data file:") {
			t.Errorf("%s: error %v, want one that blames the data file", name, err)
		}
	}
	if _, err := decode(table.Data, key, good); err != nil {
		t.Error(err)
	}
}

func mustOpen(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v; want %q in it", err, part)
	}
}

// change writes the file with bbolt alone.
func change(t *testing.T, path string, f func(*bolt.Tx) error) {
	t.Helper()
	b, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Update(f); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}
