package check

import (
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// promise is what a tool is held to. The table is written by hand, on purpose: changing what a
// tool may do takes two edits, here and at its declaration, and a reviewer who sees both.
type promise struct {
	readOnly, destructive, idempotent, openWorld bool
	scope                                        identity.Scope
}

var promises = map[string]promise{
	"list_issues":           {readOnly: true, idempotent: true, scope: "issues:read"},
	"get_issue":             {readOnly: true, idempotent: true, scope: "issues:read"},
	"list_comments":         {readOnly: true, idempotent: true, scope: "comments:read"},
	"dashboard_usage_daily": {readOnly: true, idempotent: true, scope: "dashboard:read"},
	"create_issue":          {scope: "issues:write"},
	"update_issue":          {idempotent: true, scope: "issues:write"},
	"comment_issue":         {scope: "comments:write"},
	"assign_issue_to_agent": {idempotent: true, scope: "agents:write"},
	"trigger_autopilot":     {scope: "autopilot:run"},
	"delete_issue":          {destructive: true, idempotent: true, scope: "issues:write"},
	"delete_comment":        {destructive: true, idempotent: true, scope: "comments:write"},
}

// TestTheCatalogueKeepsItsPromises compares every declared tool with its promise.
func TestTheCatalogueKeepsItsPromises(t *testing.T) {
	seen := 0
	for _, d := range catalog.All() {
		want, ok := promises[d.Name]
		if !ok {
			t.Errorf("%s is declared, but promised nowhere: add a row to infra/check/promises_test.go", d.Name)
			continue
		}
		seen++
		a := d.Annotations()
		got := promise{a.ReadOnlyHint, a.DestructiveHint, a.IdempotentHint, a.OpenWorldHint, d.Scope}
		if got != want || len(d.Scopes()) != 1 {
			t.Errorf("%s is declared as %+v, but promised as %+v", d.Name, got, want)
		}
		if (d.Confirm() == "required") != want.destructive {
			t.Errorf("%s: confirm is %s", d.Name, d.Confirm())
		}
	}
	if seen != len(promises) {
		t.Errorf("saw %d tools of %d: a tool that is gone takes its promise with it", seen, len(promises))
	}
}

// TestReadersAreTheReadOnlyTools ties the typed list, by which handlers get their power, to the
// promises.
func TestReadersAreTheReadOnlyTools(t *testing.T) {
	readers := map[string]bool{}
	for _, r := range catalog.Readers() {
		readers[r.Name] = true
	}
	for name, p := range promises {
		if p.readOnly != readers[name] {
			t.Errorf("%s: promised read-only %v, but among the readers %v", name, p.readOnly, readers[name])
		}
	}
}
