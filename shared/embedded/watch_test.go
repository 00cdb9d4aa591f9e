package embedded

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// TestWatch tells of what is put into the audit table, once, and of nothing that did not happen.
func TestWatch(t *testing.T) {
	db, err := OpenUnsynced(filepath.Join(t.TempDir(), "t.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var told []string
	db.Watch(func(items []table.Item) {
		for _, it := range items {
			told = append(told, it.SK)
			if _, found, err := db.Get(t.Context(), it.Key); !found || err != nil {
				t.Errorf("told of %s, which is not there: %v", it.SK, err)
			}
		}
	})
	item := func(name table.Name, sk string) table.Item {
		return table.Item{Key: table.Key{Table: name, PK: "p", SK: sk}, Doc: json.RawMessage(`{"a":1}`), Version: 1}
	}
	other := item(table.Audit, "appended")
	other.Doc = json.RawMessage(`{"a":2}`)
	for _, tt := range []struct {
		do func() error
		ok bool
	}{
		{func() error { return db.Append(t.Context(), item(table.Audit, "appended")) }, true},
		{func() error { return db.Append(t.Context(), item(table.Audit, "appended")) }, true}, // the very same
		{func() error { return db.Append(t.Context(), other) }, false},
		{func() error {
			return db.Commit(t.Context(), []table.Op{
				table.Put(item(table.Data, "data"), table.IfAbsent()), table.Put(item(table.Audit, "committed"), table.IfAbsent()),
			})
		}, true},
		{func() error {
			return db.Commit(t.Context(), []table.Op{table.Put(item(table.Data, "data"), table.Guard{})})
		}, true},
		{func() error {
			return db.Commit(t.Context(), []table.Op{
				table.Put(item(table.Data, "data"), table.IfAbsent()), table.Put(item(table.Audit, "refused"), table.IfAbsent()),
			})
		}, false},
		{func() error {
			return db.Commit(t.Context(), []table.Op{table.Delete(item(table.Audit, "committed").Key, table.Guard{})})
		}, true},
	} {
		if err := tt.do(); (err == nil) != tt.ok {
			t.Errorf("%v, want success %v", err, tt.ok)
		}
	}
	if diff := cmp.Diff([]string{"appended", "committed"}, told); diff != "" {
		t.Errorf("-want +told\n%s", diff)
	}
}
