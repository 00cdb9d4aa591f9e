package toolstest

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
)

// allCases reads the cases of every tool, by tool and name of the file.
func allCases(t testing.TB) map[string]map[string]*caseFile {
	t.Helper()
	all := map[string]map[string]*caseFile{}
	for _, d := range catalog.All() {
		all[d.Name] = map[string]*caseFile{}
		files, err := filepath.Glob(filepath.Join("..", "*", "testdata", d.Name, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			c, err := readCase(path)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			all[d.Name][filepath.Base(path)] = c
		}
		if len(files) == 0 {
			t.Errorf("%s has no cases", d.Name)
		}
	}
	return all
}

// good returns arguments that each tool accepts: those with which its scope is tested.
func good(t testing.TB) map[string]string {
	t.Helper()
	arguments := map[string]string{}
	for name, cases := range allCases(t) {
		c, ok := cases["refused_without_the_scope.txtar"]
		if !ok {
			t.Fatalf("%s has no case refused_without_the_scope", name)
		}
		arguments[name] = c.steps[0].call.arguments()
	}
	return arguments
}

func TestPreparationsAreUsed(t *testing.T) {
	used := map[string]bool{}
	for _, cases := range allCases(t) {
		for _, c := range cases {
			for _, line := range c.given {
				used[line] = true
			}
		}
	}
	for line := range preparations {
		if !used[line] {
			t.Errorf("no case is given that %s: remove the preparation", line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(used)) {
		if _, ok := preparations[line]; !ok {
			t.Errorf("a case is given that %s: add it to given.go", line)
		}
	}
}
