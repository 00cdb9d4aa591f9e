package check

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// One name finds the whole of a tool: its file, handler, types, variable, function, golden wire
// file, cases and docs row are named by rule.

// camel turns list_issues into ListIssues.
func camel(name string) string {
	var b strings.Builder
	for _, word := range strings.Split(name, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// checkToolFiles tells which names of a tool are not where the rule says.
func checkToolFiles(dir, tool string, p promise) (findings []string) {
	effect := "write"
	if p.readOnly {
		effect = "read"
	}
	for _, path := range []string{
		filepath.Join("shared/tools", effect, tool+".go"),
		filepath.Join("shared/tools", effect, "testdata", tool),
		filepath.Join("shared/catalog/testdata", tool+".json"),
		filepath.Join("functions", tool, "main.go"),
	} {
		if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
			findings = append(findings, fmt.Sprintf("%s: there is no %s", tool, path))
		}
	}
	if docs, err := os.ReadFile(filepath.Join(dir, "docs/tools.md")); err != nil || !strings.Contains(string(docs), "`"+tool+"`") {
		findings = append(findings, fmt.Sprintf("%s: no row in docs/tools.md: run make generate", tool))
	}
	names := declared(filepath.Join(dir, "shared/tools", effect, tool+".go"))
	for _, want := range []string{camel(tool), lowerFirst(camel(tool)), lowerFirst(camel(tool)) + "In"} {
		if !names[want] {
			findings = append(findings, fmt.Sprintf("%s: its file declares no %s", tool, want))
		}
	}
	for name := range names {
		if ast.IsExported(name) && name != camel(tool) {
			findings = append(findings, fmt.Sprintf("%s: only %s may be exported, so that no handler runs unrecorded; found %s", tool, camel(tool), name))
		}
	}
	return findings
}

// declared lists the top-level names of a file.
func declared(file string) map[string]bool {
	names := map[string]bool{}
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return names
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names[n.Name] = true
					}
				}
			}
		}
	}
	return names
}

func TestToolNames(t *testing.T) {
	for tool, p := range promises {
		for _, f := range checkToolFiles(root(t), tool, p) {
			t.Error(f)
		}
	}
	if len(promises) == 0 {
		t.Error("saw no tools")
	}
}

func TestToolNamesCatchWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	findings := checkToolFiles(dir, "archive_issue", promise{})
	for _, want := range []string{"shared/tools/write/archive_issue.go", "functions/archive_issue/main.go", "archive_issue.json", "declares no ArchiveIssue", "docs/tools.md"} {
		wantFinding(t, findings, want)
	}
	file := filepath.Join(dir, "shared/tools/write/archive_issue.go")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("package write\n\nvar ArchiveIssue int\n\nfunc RunUnaudited() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantFinding(t, checkToolFiles(dir, "archive_issue", promise{}), "found RunUnaudited")
}

// checkNoStrayTools finds files among the tools that belong to no promise.
func checkNoStrayTools(dir string) (findings []string, seen int) {
	for _, effect := range []string{"read", "write"} {
		files, _ := filepath.Glob(filepath.Join(dir, "shared/tools", effect, "*.go"))
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".go")
			if strings.HasSuffix(name, "_test") || name == "doc" {
				continue
			}
			seen++
			if p, ok := promises[name]; !ok || p.readOnly != (effect == "read") {
				findings = append(findings, fmt.Sprintf("shared/tools/%s/%s.go is no tool of that effect: shared code belongs elsewhere", effect, name))
			}
		}
	}
	return findings, seen
}

func TestNoStrayTools(t *testing.T) {
	findings, seen := checkNoStrayTools(root(t))
	for _, f := range findings {
		t.Error(f)
	}
	if seen != len(promises) {
		t.Errorf("saw %d tool files, want %d", seen, len(promises))
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "shared/tools/read"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "shared/tools/read/delete_issue.go"), []byte("package read\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	planted, _ := checkNoStrayTools(dir)
	wantFinding(t, planted, "shared/tools/read/delete_issue.go")
}

// checkPackageComments holds that each package says once what it is for.
func checkPackageComments(pkgs []pkg) (findings []string) {
	for _, p := range pkgs {
		count := 0
		for _, file := range p.GoFiles {
			path := file
			if !filepath.IsAbs(path) {
				path = filepath.Join(p.Dir, file)
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.PackageClauseOnly)
			if err == nil && f.Doc != nil {
				count++
			}
		}
		if count != 1 && len(p.GoFiles) > 0 {
			findings = append(findings, fmt.Sprintf("%s has %d package comments, want exactly one", p.name(), count))
		}
	}
	return findings
}

func TestPackageComments(t *testing.T) {
	pkgs, err := list(root(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) < 20 {
		t.Fatalf("saw only %d packages", len(pkgs))
	}
	for _, f := range checkPackageComments(pkgs) {
		t.Error(f)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mute.go"), []byte("package mute\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantFinding(t, checkPackageComments([]pkg{{ImportPath: module + "shared/mute", Dir: dir, GoFiles: []string{"mute.go"}}}), "shared/mute has 0")
}

// askingVerbs are how methods of tracker.Reader may begin. Anything else is a discussion.
var askingVerbs = []string{"List", "Get", "Preview"}

func checkAsking(file string) (findings []string, seen int) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}, 0
	}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != "Reader" {
			return true
		}
		for _, m := range spec.Type.(*ast.InterfaceType).Methods.List {
			seen++
			asks := false
			for _, verb := range askingVerbs {
				asks = asks || len(m.Names) == 1 && strings.HasPrefix(m.Names[0].Name, verb)
			}
			if !asks {
				findings = append(findings, fmt.Sprintf("tracker.Reader has a method that does not ask: %v", m.Names))
			}
		}
		return false
	})
	return findings, seen
}

func TestReaderOnlyAsks(t *testing.T) {
	findings, seen := checkAsking(filepath.Join(root(t), "shared/tracker/tracker.go"))
	for _, f := range findings {
		t.Error(f)
	}
	if seen < 6 {
		t.Errorf("saw %d methods", seen)
	}
	file := filepath.Join(t.TempDir(), "x.go")
	if err := os.WriteFile(file, []byte("package x\ntype Reader interface { MarkSeen() }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	planted, _ := checkAsking(file)
	wantFinding(t, planted, "MarkSeen")
}
