package check

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a program can do to AWS is what it links: an operation that is not in the
// binary cannot be called, whatever else goes wrong. The symbols are those of a build that is
// not stripped, with the tags of the one that is deployed: without lambda.norpc, or with a
// package that calls methods by name, the linker keeps all operations.

// operations are what each kind of program links, by hand.
var (
	linksReads  = []string{"dynamodb BatchGetItem", "dynamodb GetItem", "dynamodb PutItem", "dynamodb Query"} // PutItem: events of the audit log
	linksWrites = []string{"dynamodb BatchGetItem", "dynamodb GetItem", "dynamodb PutItem", "dynamodb Query", "dynamodb TransactWriteItems", "dynamodb UpdateItem"}
)

// linkedBy returns what a program may link, and must.
func linkedBy(program string) ([]string, bool) {
	if p, ok := promises[program]; ok {
		if p.readOnly {
			return linksReads, true
		}
		return linksWrites, true
	}
	others := map[string][]string{
		"authorizer":    {"dynamodb BatchGetItem", "dynamodb GetItem", "dynamodb PutItem"},
		"audit_query":   {"dynamodb PutItem", "dynamodb Query"},
		"audit_widget":  {"dynamodb Query"},
		"audit_monitor": {"dynamodb BatchGetItem", "dynamodb GetItem", "dynamodb Query", "dynamodb TransactWriteItems", "sns Publish"},
		"mcp":           {"dynamodb PutItem", "lambda Invoke"},
		"discovery":     nil,
	}
	links, ok := others[program]
	return links, ok
}

// withEveryClient comes with any DynamoDB client: it finds endpoints.
const withEveryClient = "dynamodb DescribeEndpoints"

// operationSymbols are the ways in which an operation shows: the method, the list of its steps,
// and the code that writes its request.
var operationSymbols = regexp.MustCompile(`aws-sdk-go-v2/service/(dynamodb|kinesis|lambda|s3|sns)\.` +
	`(?:\(\*Client\)\.addOperation(\w+)Middlewares|\(\*awsAwsjson10_serializeOp(\w+)\)\.HandleSerialize|\(\*awsRestjson1_serializeOp(\w+)\)\.HandleSerialize)`)

// operationsIn lists the operations in the output of go tool nm.
func operationsIn(symbols string) []string {
	found := map[string]bool{}
	for _, m := range operationSymbols.FindAllStringSubmatch(symbols, -1) {
		if operation := m[1] + " " + m[2] + m[3] + m[4]; operation != withEveryClient {
			found[operation] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func checkLinked(program string, operations []string) (findings []string) {
	want, ok := linkedBy(program)
	if !ok {
		return []string{fmt.Sprintf("%s: say in infra/check/binary_test.go which operations it links", program)}
	}
	for _, operation := range operations {
		if !slices.Contains(want, operation) {
			findings = append(findings, fmt.Sprintf("%s links %s, which it must not be able to call", program, operation))
		}
	}
	for _, operation := range want {
		if !slices.Contains(operations, operation) {
			findings = append(findings, fmt.Sprintf("%s does not link %s: this test looks at the wrong thing, or the table is old", program, operation))
		}
	}
	return findings
}

// link builds programs as they are deployed, but with symbols, and returns their symbols.
func link(t *testing.T, overlay map[string]string, programs ...string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	args := []string{"build", "-tags", "lambda.norpc", "-o", dir + "/"}
	if overlay != nil {
		file, err := writeOverlay(overlay)
		if err != nil {
			t.Fatal(err)
		}
		defer os.Remove(file)
		args = append(args, "-overlay", file)
	}
	for _, program := range programs {
		args = append(args, "./functions/"+program)
	}
	build := exec.Command("go", args...)
	build.Dir = root(t)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	symbols := map[string]string{}
	for _, program := range programs {
		out, err := exec.Command("go", "tool", "nm", filepath.Join(dir, program)).Output()
		if err != nil {
			t.Fatalf("symbols of %s: %v", program, err)
		}
		symbols[program] = string(out)
	}
	return symbols
}

func TestProgramsLinkWhatTheyNeed(t *testing.T) {
	programs := programsIn(t)
	for program, symbols := range link(t, nil, programs...) {
		if !strings.Contains(symbols, "main.main") {
			t.Errorf("%s has no symbols", program)
		}
		for _, f := range checkLinked(program, operationsIn(symbols)) {
			t.Error(f)
		}
	}
	if len(programs) < len(promises)+4 {
		t.Errorf("saw %d programs only", len(programs))
	}
}

func TestLinkedWritesAreCaught(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"context\"\n\n\t\"github.com/aws/aws-sdk-go-v2/service/dynamodb\"\n)\n\n"
	for name, p := range map[string]struct{ program, source, finding string }{
		"a call": {"list_issues", head + "func init() {\n\tvar c *dynamodb.Client\n\tif c != nil {\n\t\t_, _ = c.DeleteItem(context.Background(), nil)\n\t}\n\tuse(c)\n}\n\n//go:noinline\nfunc use(c *dynamodb.Client) {\n\tif c != nil {\n\t\t_, _ = c.DeleteItem(context.Background(), nil)\n\t}\n}\n",
			"list_issues links dynamodb DeleteItem"},
		"methods by name": {"get_issue", "package main\n\nimport (\n\t\"io\"\n\t\"text/template\"\n)\n\nfunc init() { _ = template.Must(template.New(\"x\").Parse(\"{{.X}}\")).Execute(io.Discard, nil) }\n",
			"get_issue links dynamodb BatchWriteItem"},
	} {
		t.Run(name, func(t *testing.T) {
			symbols := link(t, plant(t, "functions/"+p.program+"/planted.go", p.source), p.program)
			wantFinding(t, checkLinked(p.program, operationsIn(symbols[p.program])), p.finding)
		})
	}
	t.Run("a program without a row", func(t *testing.T) {
		wantFinding(t, checkLinked("archive_issue", nil), "say in infra/check/binary_test.go")
	})
	t.Run("a stripped binary", func(t *testing.T) {
		wantFinding(t, checkLinked("list_issues", operationsIn("")), "does not link dynamodb GetItem")
	})
}
