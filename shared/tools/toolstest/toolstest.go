// Package toolstest runs the behaviour cases of the tools: files that say what is called, what
// comes back, what is on record, and whether the data moved. It runs the real pipeline over the
// real records and the embedded engine, filled with the demo data.
//
// It is for tests only. It does not test the pipeline, records or an engine by themselves;
// their own tests do. A case is described in casefile.go; what every case must keep besides its
// own words is in invariants.go; which refusals must have a case is in coverage.go.
package toolstest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

var update = flag.Bool("update", false, "rewrite what the cases expect")

// Run runs the cases under dir, one directory for each tool that belongs says is the caller's.
// A tool without cases, a directory without a tool, and a refusal without a case fail.
func Run(t *testing.T, dir string, belongs func(*tool.Definition) bool) {
	t.Helper()
	var defs []*tool.Definition
	for _, d := range catalog.All() {
		if belongs(d) {
			defs = append(defs, d)
		}
	}
	for _, problem := range checkDirectories(dir, defs) {
		t.Error(problem)
	}
	for _, d := range defs {
		files, err := filepath.Glob(filepath.Join(dir, d.Name, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		seen := &coverage{tool: d.Name}
		t.Run(d.Name, func(t *testing.T) {
			t.Run("cases", func(t *testing.T) {
				for _, path := range files {
					name := strings.TrimSuffix(filepath.Base(path), ".txtar")
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						runFile(t, path, d, seen)
					})
				}
			})
			for _, problem := range seen.problems() {
				t.Error(problem)
			}
		})
	}
}

// checkDirectories compares the directories with the tools. Everything in them must be a case:
// a file with another name would never run.
func checkDirectories(dir string, defs []*tool.Definition) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return []string{err.Error()}
	}
	tools := map[string]bool{}
	for _, d := range defs {
		tools[d.Name] = true
	}
	var problems []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() || !tools[e.Name()] {
			problems = append(problems, path+" is no directory of a tool: remove it, or move it to that of its effect")
			continue
		}
		files, err := os.ReadDir(path)
		if err != nil {
			problems = append(problems, err.Error())
		}
		for _, f := range files {
			if filepath.Ext(f.Name()) != ".txtar" {
				problems = append(problems, filepath.Join(path, f.Name())+" is no case: a case ends in .txtar")
			}
		}
	}
	return problems
}

// runFile runs one case, and for a tool that reads once more over a tracker whose writes fail
// the test.
func runFile(t *testing.T, path string, d *tool.Definition, seen *coverage) {
	c, err := readCase(path)
	if err != nil {
		t.Fatal(err)
	}
	runCase(t, c, d, openWorld(t, c.given, false), seen)
	if t.Failed() {
		return
	}
	if *update {
		if err := c.write(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d.Effect == tool.Reads {
		runCase(t, c, d, openWorld(t, c.given, true), nil)
	}
}

func runCase(t *testing.T, c *caseFile, d *tool.Definition, w *world, seen *coverage) {
	t.Helper()
	for i := range c.steps {
		s := &c.steps[i]
		got, err := w.run(t, s.call, d)
		if err != nil {
			t.Fatalf("call %d: %v", i+1, err)
		}
		if seen != nil && got.tool == d.Name {
			seen.add(got, s.call.Quiet)
		}
		if s.call.Quiet {
			if got.status != 200 {
				t.Fatalf("call %d is quiet, so it must succeed; it got %s", i+1, got.reply)
			}
			continue
		}
		if *update {
			s.reply, s.audit, s.data = got.reply, got.audit, got.data
			continue
		}
		compare(t, i, "reply", s.reply, got.reply)
		compare(t, i, "audit", s.audit, got.audit)
		compare(t, i, "data", s.data, got.data)
	}
}
