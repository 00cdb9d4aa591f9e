package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

func TestRightsFitTheEffects(t *testing.T) {
	seen := 0
	for _, d := range catalog.All() {
		if _, err := rightOf(d); err != nil {
			t.Error(err)
		}
		seen++
		planted := *d
		if d.Effect == tool.Reads {
			planted.Effect = tool.Writes
		} else {
			planted.Effect = tool.Reads
		}
		if _, err := rightOf(&planted); err == nil {
			t.Errorf("%s has the right of another effect, and nobody said so", d.Name)
		}
	}
	if seen != len(rights) {
		t.Errorf("%d tools, %d rights", seen, len(rights))
	}
	unknown := *catalog.All()[0]
	unknown.Name = "archive_issue"
	if _, err := rightOf(&unknown); err == nil || !strings.Contains(err.Error(), "rights.go") {
		t.Errorf("a tool without a right: error %v", err)
	}
	if err := checkRights(catalog.All()[1:]); err == nil {
		t.Error("a right without a tool was passed over")
	}
}

// TestStaleFilesAreFound generates into a copy, then spoils it.
func TestStaleFilesAreFound(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{templateFile, "README.md", "docs/errors.md"} {
		raw, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}
		if err := write(filepath.Join(dir, file), raw); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(dir, false); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, true); err != nil {
		t.Errorf("what was generated is stale: %v", err)
	}
	spoil := func(file, old, new string) {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.Contains(string(raw), old) {
			t.Fatalf("%s holds no %q (%v)", file, old, err)
		}
		if err := write(filepath.Join(dir, file), []byte(strings.Replace(string(raw), old, new, 1))); err != nil {
			t.Fatal(err)
		}
	}
	spoil("functions/get_issue/main.go", "reader.Open", "writer.Open")
	spoil(templateFile, "- !GetAtt DeleteIssueFunction.Arn", "- '*'")
	err := run(dir, true)
	for _, want := range []string{"functions/get_issue/main.go is stale: run make generate", "template.yaml is stale: run make generate"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	spoil(templateFile, "# the tools: end", "# the end")
	if err := run(dir, true); err == nil || !strings.Contains(err.Error(), "markers") {
		t.Errorf("a marker that is gone: %v", err)
	}
}
