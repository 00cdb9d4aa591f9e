package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// TestLayout is the layout by hand: to change it is to migrate every deployed table.
func TestLayout(t *testing.T) {
	want := []Table{
		{Name: table.Data, PK: "pk", SK: "sk", TTL: "ttl", Indexes: []Index{
			{Name: "byStatus", PK: "byStatus_pk", SK: "byStatus_sk"},
			{Name: "byAssignee", PK: "byAssignee_pk", SK: "byAssignee_sk"},
			{Name: "byUpdated", PK: "byUpdated_pk", SK: "byUpdated_sk"},
		}},
		{Name: table.Audit, PK: "pk", SK: "sk", TTL: "ttl", Indexes: []Index{
			{Name: "byWorkspace", PK: "byWorkspace_pk", SK: "byWorkspace_sk"},
		}},
	}
	if d := cmp.Diff(want, []Table{For(table.Data), For(table.Audit)}); d != "" {
		t.Errorf("layout (-want +got):\n%s", d)
	}
	if pk, sk := KeysOf(table.Primary); pk != PK || sk != SK {
		t.Errorf("the table's own keys are %s and %s", pk, sk)
	}
}
