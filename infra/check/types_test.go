package check

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	tracked "github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// checkReadersValue tells which methods the value behind a reader has besides those that read. A
// handler can ask a value for them, whatever the type is by which it was handed over.
func checkReadersValue(r tracker.Reader) (findings []string, seen int) {
	asks := reflect.TypeFor[tracker.Reader]()
	value := reflect.TypeOf(r)
	for i := range value.NumMethod() {
		name := value.Method(i).Name
		if _, ok := asks.MethodByName(name); !ok {
			findings = append(findings, fmt.Sprintf("%s has the method %s, which tracker.Reader has not", value, name))
			continue
		}
		seen++
	}
	return findings, seen
}

// noTable is a table that nobody uses.
type noTable struct{ table.Reader }

func (noTable) Commit(context.Context, []table.Op) error       { return nil }
func (noTable) Next(context.Context, table.Key) (int64, error) { return 0, nil }

func TestReadersHaveNoMethodThatWrites(t *testing.T) {
	call := &audit.Call{Principal: &identity.Principal{WorkspaceID: "w", UserID: "u", TokenID: "t"}}
	stores := tracked.NewStores(noTable{}, func() tracker.ID { return "id" })
	for name, r := range map[string]tracker.Reader{
		"a tool that reads": tracked.NewReaders(noTable{}).Reader(call),
		"a preview":         stores.Reader(call),
	} {
		findings, seen := checkReadersValue(r)
		for _, f := range findings {
			t.Errorf("%s: %s", name, f)
		}
		if seen < 6 {
			t.Errorf("%s: saw only %d methods", name, seen)
		}
	}
	planted, _ := checkReadersValue(stores.Store(call))
	wantFinding(t, planted, "DeleteIssue")
}
