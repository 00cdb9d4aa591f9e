package budget

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// needed says which classes of rows a tool must have.
func needed(d *tool.Definition) []class {
	classes := []class{success, notScoped, invalid, refusedBy}
	switch {
	case d.Effect == tool.Destroys:
		classes = append(classes, unasked, preview, replay)
	case d.Effect == tool.Writes && d.Idempotent:
		classes = append(classes, noOp)
	case d.Effect == tool.Writes:
		classes = append(classes, replay)
	}
	return classes
}

// uncovered lists what has no row, and rows of what is no tool.
func uncovered(tools []*tool.Definition, all map[string][]row) (problems []string) {
	known := map[string]bool{}
	for _, d := range tools {
		known[d.Name] = true
		for _, c := range needed(d) {
			if !slices.ContainsFunc(all[d.Name], func(r row) bool { return r.of == c }) {
				problems = append(problems, fmt.Sprintf("%s has no row for %s: add one to rows_test.go", d.Name, c))
			}
		}
	}
	for name := range all {
		if !known[name] {
			problems = append(problems, name+" is no tool: remove its rows")
		}
	}
	return problems
}

func TestEveryToolHasItsRows(t *testing.T) {
	for _, p := range uncovered(catalog.All(), rows) {
		t.Error(p)
	}
	planted := map[string][]row{"no_such_tool": nil, "delete_issue": rows["create_issue"]}
	got := strings.Join(uncovered(catalog.All(), planted), "\n")
	for _, want := range []string{"no_such_tool is no tool", "delete_issue has no row for dry run", "get_issue has no row for success"} {
		if !strings.Contains(got, want) {
			t.Errorf("a planted gap went unseen: want %q in\n%s", want, got)
		}
	}
}
