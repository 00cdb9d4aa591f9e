package seed

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/reader"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/records"
)

// TestDemo holds that the file names everybody whom a walk needs, with tokens that are in force.
func TestDemo(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	conn := dynamotest.Start(t).Conn(t)
	access, err := Demo(t.Context(), conn, now)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "below", "local.json")
	for range 2 { // the second time over the first
		if err := access.WriteFile(path, "http://127.0.0.1:1"); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		MCPURL string `json:"mcp_url"`
		Tokens map[string]string
	}
	if err := json.Unmarshal(content, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.MCPURL != "http://127.0.0.1:1/mcp" {
		t.Errorf("mcp_url %q", doc.MCPURL)
	}
	tables := reader.Open(conn)
	verifier := token.Verifier{Tokens: tables, Members: records.Members(tables), Now: func() time.Time { return now }}
	for _, key := range []string{"reader", "editor", "owner", "outsider"} {
		if _, err := verifier.Verify(t.Context(), doc.Tokens[key]); err != nil {
			t.Errorf("the token of the %s: %v", key, err)
		}
	}
	var printed bytes.Buffer
	if err := access.Print(&printed); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(printed.String(), doc.Tokens["editor"]) {
		t.Error("the editor's token is not printed")
	}
}
