package system

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// TestStartCutShort begins on what each possible break of a first start leaves.
func TestStartCutShort(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, dir string){
		"nothing but a directory": func(*testing.T, string) {},
		"an empty file": func(t *testing.T, dir string) {
			withTables(t, dir, func(*embedded.DB) error { return nil })
		},
		"half a workspace": func(t *testing.T, dir string) {
			withTables(t, dir, func(db *embedded.DB) error {
				err := records.Load(t.Context(), &breaking{DB: db, commits: 4}, demo.Snapshots(anchor)[0])
				if !errors.Is(err, errBroken) {
					t.Errorf("the load did not break: %v", err)
				}
				return nil
			})
		},
		"one workspace of two": func(t *testing.T, dir string) {
			withTables(t, dir, func(db *embedded.DB) error { return records.Load(t.Context(), db, demo.Snapshots(anchor)[0]) })
		},
		"all data, no tokens": func(t *testing.T, dir string) {
			withTables(t, dir, func(db *embedded.DB) error {
				snapshots := demo.Snapshots(anchor)
				return errors.Join(records.Load(t.Context(), db, snapshots[0]), records.Load(t.Context(), db, snapshots[1]))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			leave(t, dir)
			w := startIn(t, dir)
			for _, key := range []string{"reader", "editor", "owner", "outsider"} {
				if a := w.rest("list_issues", w.Tokens[key], `{"limit":1}`); a.status != http.StatusOK {
					t.Errorf("%s: %d %s", key, a.status, a.body)
				}
			}
			if a := w.rest("get_issue", w.Tokens["reader"], `{"issue_id":"AAC-62"}`); a.status != http.StatusOK {
				t.Errorf("AAC-62: %d %s", a.status, a.body)
			}
		})
	}
}

// TestTokenFileIsReplacedWhole: nobody who reads it meanwhile sees a part, and nothing is left
// beside it.
func TestTokenFileIsReplacedWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), tokenFile)
	for _, content := range []string{"first", "second, and longer"} {
		if err := replaceFile(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := replaceFile(filepath.Join(path, "below"), nil); err == nil {
		t.Error("a file below a file was written")
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v beside it, %v", entries, err)
	}
}

func withTables(t *testing.T, dir string, do func(*embedded.DB) error) {
	t.Helper()
	db, err := embedded.OpenUnsynced(filepath.Join(dir, dataFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(do(db), db.Close()); err != nil {
		t.Fatal(err)
	}
}

var errBroken = errors.New("broken off")

// breaking is a table that stops to commit after some commits.
type breaking struct {
	*embedded.DB
	commits int
}

func (b *breaking) Commit(ctx context.Context, ops []table.Op) error {
	if b.commits--; b.commits < 0 {
		return errBroken
	}
	return b.DB.Commit(ctx, ops)
}
