package check

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/callgraph/cha"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// The call graph of a program that hands the full store to every read tool (testdata/worstcase):
// from the handlers in tools/read no function that writes may be reachable. VTA follows which
// values reach which call, so a handler that asks its reader whether it can write is seen too.

// writesTo says why calling a function counts as a write, "" if it does not: a DynamoDB
// operation that is not known to read, a method by which an engine writes, or a name that says
// so. What bbolt does inside embedded's methods is not looked at: the graph takes all functions
// ever given to a sync.Once for one another, and import rules keep bbolt out of everything else.
func writesTo(f *ssa.Function) string {
	recv := receiver(f)
	switch {
	case strings.HasSuffix(recv, "aws-sdk-go-v2/service/dynamodb.Client") && ast.IsExported(f.Name()) && !dynamoReads[f.Name()]:
		return "DynamoDB " + f.Name()
	case strings.HasPrefix(recv, module+"shared/") && (f.Name() == "Commit" || f.Name() == "Next" || f.Name() == "Append") && isEngine(recv):
		return "engine " + f.Name()
	case strings.HasPrefix(recv, module+"shared/") && namedAsWrite.MatchString(f.Name()):
		return "a method named " + f.Name()
	}
	return ""
}

var (
	dynamoReads = map[string]bool{"GetItem": true, "BatchGetItem": true, "Query": true, "Options": true, "DescribeEndpoints": true} // the last comes with any client
	// The rule of the seed: read-only handlers never call Update* or Delete*.
	namedAsWrite = regexp.MustCompile(`^(Update|Delete|Create|Assign|Trigger)[A-Z]`)
)

func isEngine(recv string) bool {
	return strings.HasPrefix(recv, module+"shared/embedded.") || strings.HasPrefix(recv, module+"shared/dynamo/")
}

// receiver returns the path of the type whose method f is, "" for a plain function.
func receiver(f *ssa.Function) string {
	if f.Signature.Recv() == nil {
		return ""
	}
	t := f.Signature.Recv().Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.TypeString(t, nil)
}

// graph builds the call graph of the worst-case program, with planted code.
func graph(t *testing.T, overlay map[string][]byte) *callgraph.Graph {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax, Dir: filepath.Join(root(t), "infra", "check"), Overlay: overlay,
	}, "./testdata/worstcase")
	if err != nil {
		t.Fatal(err)
	}
	if packages.PrintErrors(pkgs) > 0 {
		t.Fatal("the worst-case program does not compile")
	}
	prog, _ := ssautil.AllPackages(pkgs, ssa.InstantiateGenerics)
	prog.Build()
	all := ssautil.AllFunctions(prog)
	return vta.CallGraph(all, cha.CallGraph(prog))
}

// reach walks from the functions of a package and returns what writes, with the way there, and
// how many functions it started from.
func reach(g *callgraph.Graph, from string) (findings []string, starts int) {
	type step struct {
		node *callgraph.Node
		way  string
	}
	var queue []step
	seen := map[*callgraph.Node]bool{}
	for f, n := range g.Nodes {
		if f != nil && f.Pkg != nil && f.Pkg.Pkg.Path() == module+from && f.Name() != "init" && f.Parent() == nil && f.Synthetic == "" {
			queue, starts = append(queue, step{n, f.Name()}), starts+1
			seen[n] = true
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, e := range s.node.Out {
			if seen[e.Callee] {
				continue
			}
			seen[e.Callee] = true
			way := s.way + " → " + e.Callee.Func.RelString(nil)
			if why := writesTo(e.Callee.Func); why != "" {
				findings = append(findings, fmt.Sprintf("%s reaches %s: %s", from, why, way))
				continue
			}
			queue = append(queue, step{e.Callee, way})
		}
	}
	return findings, starts
}

func TestReadToolsReachNoWrite(t *testing.T) {
	g := graph(t, nil)
	findings, starts := reach(g, "shared/tools/read")
	if starts < 4 {
		t.Fatalf("started from %d functions only", starts)
	}
	for _, f := range findings {
		t.Error(f)
	}
	// The control: from the writing tools a write must be in reach, or the graph has a hole.
	control, _ := reach(g, "shared/tools/write")
	wantFinding(t, control, "a method named DeleteIssue")
	wantFinding(t, control, "a method named UpdateIssue")
	// And below the names: what the store's methods themselves reach.
	below, _ := reach(g, "shared/records")
	wantFinding(t, below, "engine Commit")
}

func TestReadToolsThatWriteAreCaught(t *testing.T) {
	const head = "package read\n\nimport (\n\t\"context\"\n\n\t\"" + module + "shared/identity\"\n\t\"" + module + "shared/tool\"\n\t\"" + module + "shared/tracker\"\n)\n"
	const declared = `
var _ = identity.IssuesRead
var planted = tool.Read(tool.Spec{Name: "planted", Title: "P", Doc: "P", Scope: identity.IssuesRead}, plantedHandler)

type plantedIn struct{}
type plantedOut struct{}
`
	for name, handler := range map[string]string{
		"asks whether the reader can delete": `
func plantedHandler(ctx context.Context, r tracker.Reader, in plantedIn) (plantedOut, error) {
	if d, ok := r.(interface{ DeleteIssue(context.Context, tracker.IssueRef) (tracker.IssueDeletion, error) }); ok {
		_, err := d.DeleteIssue(ctx, "")
		return plantedOut{}, err
	}
	return plantedOut{}, nil
}`,
		"through a function value": `
func plantedHandler(ctx context.Context, r tracker.Reader, in plantedIn) (plantedOut, error) {
	s, _ := r.(tracker.Store)
	act := s.UpdateIssue
	_, err := act(ctx, "", tracker.IssueChange{})
	return plantedOut{}, err
}`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(root(t), "shared/tools/read/planted.go")
			g := graph(t, map[string][]byte{file: []byte(head + declared + handler + "\n")})
			findings, _ := reach(g, "shared/tools/read")
			wantFinding(t, findings, "plantedHandler")
		})
	}
}
