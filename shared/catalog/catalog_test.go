package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// The order is what people and clients see; it follows from nothing, so it is said here again.
func TestOrder(t *testing.T) {
	want := []string{
		"list_issues", "get_issue", "list_comments", "dashboard_usage_daily",
		"create_issue", "update_issue", "comment_issue", "assign_issue_to_agent", "trigger_autopilot",
		"delete_issue", "delete_comment",
	}
	var got []string
	for _, d := range All() {
		got = append(got, d.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestReadersReadAndWritersDoNot(t *testing.T) {
	for _, r := range Readers() {
		if r.Effect != tool.Reads {
			t.Errorf("%s is among the readers and does %s", r.Name, r.Effect)
		}
	}
	for _, w := range Writers() {
		if w.Effect == tool.Reads {
			t.Errorf("%s is among the writers and only reads", w.Name)
		}
	}
}

func TestFind(t *testing.T) {
	for _, d := range All() {
		if got, ok := Find(d.Name); !ok || got != d {
			t.Errorf("Find(%s) = %v, %t", d.Name, got, ok)
		}
	}
	for _, name := range []string{"", "drop_issue", "List_Issues", "list_issues ", "list_issues/"} {
		if _, ok := Find(name); ok {
			t.Errorf("Find(%q) found something", name)
		}
		if scopes, ok := ScopesOf(name); ok || scopes != nil {
			t.Errorf("ScopesOf(%q) = %v, %t; want nothing", name, scopes, ok)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range All() {
		if seen[d.Name] {
			t.Errorf("%s is there twice", d.Name)
		}
		seen[d.Name] = true
	}
}
