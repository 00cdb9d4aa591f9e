package toolstest

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// What follows is for tests that make the calls of the cases through other doors, and compare
// what comes back with something else than the case files. What the cases expect, their clock
// and their preparations are not for them.

// Case is the calls of one case.
type Case struct {
	Name  string // directory and file: list_issues/unassigned
	Calls []Call
}

// Call is one call of a case.
type Call struct {
	Tool      string
	Who       string           // first name of a member of the demo data; empty: nobody
	Scopes    []identity.Scope // of the caller's token
	Arguments string           // with names in it, see Names; not always JSON
	Times     int              // how often it is made
}

// Cases reads the cases below dir, one directory a tool.
func Cases(dir string) ([]Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.txtar"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no cases below %s", dir)
	}
	var all []Case
	for _, path := range files {
		c, err := callsOf(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, c)
	}
	return all, nil
}

func callsOf(path string) (Case, error) {
	parsed, err := readCase(path)
	if err != nil {
		return Case{}, err
	}
	directory := filepath.Base(filepath.Dir(path))
	c := Case{Name: directory + "/" + strings.TrimSuffix(filepath.Base(path), ".txtar")}
	for _, s := range parsed.steps {
		out := Call{Tool: s.call.Tool, Who: s.call.Who, Arguments: s.call.arguments(), Times: max(s.call.Times, 1)}
		if out.Tool == "" {
			out.Tool = directory
		}
		d, ok := catalog.Find(out.Tool)
		if !ok {
			return c, fmt.Errorf("there is no tool %s", out.Tool)
		}
		out.Scopes = d.Scopes()
		if s.call.Scopes != nil {
			out.Scopes = identity.ParseScopes(strings.Join(s.call.Scopes, " "))
		}
		c.Calls = append(c.Calls, out)
	}
	return c, nil
}

// Names turns names into ids and back, as the case files write them: <Mira>, <AAC-42>,
// <new 1>, <cursor 1>. It is of one run of one case.
type Names struct{ names *names }

// NewNames knows the names of what is in the snapshots.
func NewNames(snapshots []records.Snapshot) Names { return Names{namesOf(snapshots)} }

// Read replaces the names in arguments by ids.
func (n Names) Read(arguments string) string { return n.names.read(arguments) }

// Write replaces ids and cursors in an answer by names. An id that it meets for the first time
// gets the next name, <new 1>, <new 2> and so on.
func (n Names) Write(answer string) string {
	for _, id := range uuidInText.FindAllString(answer, -1) {
		if _, known := n.names.names[id]; !known {
			n.names.made++
			n.names.add(tracker.ID(id), fmt.Sprintf("new %d", n.names.made))
		}
	}
	return n.names.write(answer)
}
