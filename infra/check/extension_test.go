package check

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

const (
	extended     = "shared/mcpserver"
	mayBeServed  = "infra/conformance" // by hand: the one program that may offer more than our tools
	whyNotServed = "what it adds has no scope, no confirmation and no tool.Bind"
)

// unguarded are the names of shared/mcpserver by which a server offers more than our tools.
var unguarded = []string{"NewExtended", "Extension", "ExtensionTool"}

// checkExtension tells which packages name them; seen counts those that may.
func checkExtension(pkgs []pkg, overlay map[string]string) (findings []string, seen int) {
	for _, p := range pkgs {
		if !slices.Contains(p.Imports, module+extended) {
			continue
		}
		for _, file := range p.GoFiles {
			path := filepath.Join(p.Dir, file)
			if planted, ok := overlay[path]; ok {
				path = planted
			}
			names, err := namesOf(path, module+extended)
			if err != nil {
				findings = append(findings, err.Error())
			}
			for _, name := range names {
				switch {
				case !slices.Contains(unguarded, name):
				case p.name() == mayBeServed:
					seen++
				default:
					findings = append(findings, fmt.Sprintf("%s names mcpserver.%s, which only %s may: %s", p.name(), name, mayBeServed, whyNotServed))
				}
			}
		}
	}
	return findings, seen
}

// namesOf returns what a file names of a package. A dot import would hide it, and is an error.
func namesOf(path, of string) (names []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	local := ""
	for _, imp := range file.Imports {
		if p, _ := strconv.Unquote(imp.Path.Value); p == of {
			local = filepath.Base(of)
			if imp.Name != nil {
				local = imp.Name.Name
			}
		}
	}
	if local == "." {
		return nil, fmt.Errorf("%s imports %s with a dot: give it a name", path, of)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && local != "" && x.Name == local {
				names = append(names, s.Sel.Name)
			}
		}
		return true
	})
	return names, nil
}

func TestOnlyTheSuiteIsServedMore(t *testing.T) {
	pkgs, err := list(root(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	findings, seen := checkExtension(pkgs, nil)
	for _, f := range findings {
		t.Error(f)
	}
	if seen == 0 {
		t.Errorf("%s does not use it: this test looks at the wrong names", mayBeServed)
	}
	for name, source := range map[string]string{
		"by name":    `package main; import "` + module + extended + `"; var _ = mcpserver.NewExtended`,
		"renamed":    `package main; import m "` + module + extended + `"; var _ m.Extension`,
		"with a dot": `package main; import . "` + module + extended + `"; var _ Extension`,
	} {
		planted := plant(t, "functions/mcp/planted.go", source)
		pkgs, err := list(root(t), planted)
		if err != nil {
			t.Fatal(err)
		}
		findings, _ := checkExtension(pkgs, planted)
		if len(findings) == 0 {
			t.Errorf("%s: a planted use went unseen", name)
		}
	}
}
