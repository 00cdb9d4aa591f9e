package embedded_test

import (
	"path/filepath"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/table/tabletest"
)

func TestContract(t *testing.T) {
	tabletest.Run(t, func(t *testing.T) tabletest.Engine {
		db, err := embedded.OpenUnsynced(filepath.Join(t.TempDir(), "data.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return db
	})
}
