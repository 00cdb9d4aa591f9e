package toolstest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// Deployment is the storage of one case, as a deployment hands it out.
type Deployment struct {
	// Load fills it. The snapshots of two cases are the same if their keys are.
	Load     func(t testing.TB, key string, snapshots []records.Snapshot)
	EngineOf func(tool string) Engine // what the function of a tool is given
}

// Replay runs the cases of all tools over another deployment than the one that they were written
// with, each over its own from open, and returns how many there were. Dir is shared/tools.
// Whether data changed is judged by what the engines were told to write.
func Replay(t *testing.T, dir string, open func(testing.TB) Deployment) (cases int) {
	t.Helper()
	for _, d := range catalog.All() {
		effect := "write"
		if d.Effect == tool.Reads {
			effect = "read"
		}
		files, err := filepath.Glob(filepath.Join(dir, effect, "testdata", d.Name, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no cases in %s (%v)", d.Name, dir, err)
		}
		cases += len(files)
		for _, path := range files {
			t.Run(d.Name+"/"+strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
				t.Parallel()
				c, err := readCase(path)
				if err != nil {
					t.Fatal(err)
				}
				runCase(t, c, d, deployedWorld(t, c.given, open(t)), nil)
			})
		}
	}
	return cases
}

// deployedWorld is openWorld over a deployment.
func deployedWorld(t testing.TB, given []string, d Deployment) *world {
	t.Helper()
	prepared, snapshots := prepare(t, given)
	d.Load(t, strings.Join(given, "\n"), snapshots)
	w := &world{
		engine: &engine{journal: map[string]map[string]string{"data": {}, "audit": {}}}, engineOf: d.EngineOf,
		names: namesOf(snapshots), people: peopleOf(demo.Snapshots(anchor)), logged: new(strings.Builder), now: start,
	}
	for _, p := range prepared {
		if p.engine != nil {
			p.engine(w.engine)
		}
	}
	w.bind(t, false)
	return w
}
