package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// rule says what a package may import. A name that ends in /... stands for all below it.
type rule struct {
	pkg   string
	may   []string          // of our packages, directly; others only if allowed here
	never map[string]string // at any distance: path (or path/...) and why not
}

const (
	dynamo   = "github.com/aws/aws-sdk-go-v2/..."
	awsRun   = "github.com/aws/aws-lambda-go/..."
	awsProxy = "github.com/awslabs/aws-lambda-go-api-proxy/..."
	signIns  = "github.com/zitadel/oidc/..."
)

// Reasons, so that a failure explains itself.
const (
	pure     = "the domain does not know how it is hosted or kept"
	noWrite  = "a reading program holds no code that writes to the tracker"
	noEngine = "the engine is handed in"
	noHost   = "only lambdarun and functions/local know how a program is hosted"
	noSignIn = "people sign in at an issuer: its code is for local mode and tests"
	noNet    = "a handler reaches nothing that it was not handed"
	keepsAll = "it makes the linker keep every DynamoDB operation, and the proof by symbols worthless"
)

var domainNever = map[string]string{
	"net/http": pure, dynamo: pure, awsRun: noHost, awsProxy: noHost, "go.etcd.io/bbolt": noEngine,
}

func also(base map[string]string, more map[string]string) map[string]string {
	all := map[string]string{}
	for k, v := range base {
		all[k] = v
	}
	for k, v := range more {
		all[k] = v
	}
	return all
}

var (
	toolNever = also(domainNever, map[string]string{"os/exec": noNet, "net": noNet})
	readNever = also(toolNever, map[string]string{
		"shared/dynamo/...": noEngine, "shared/embedded": noEngine, "shared/tools/write": noWrite, "shared/records": noEngine,
	})
)

// check tells, for each package, what breaks its rule, and which rules no package is under.
func checkImports(pkgs []pkg, rules []rule) (findings []string) {
	used := map[string]bool{}
	for _, p := range pkgs {
		r, ok := ruleFor(p.name(), rules)
		if !ok {
			findings = append(findings, fmt.Sprintf("%s has no rule: add one to infra/check/imports_test.go", p.name()))
			continue
		}
		used[r.pkg] = true
		for _, imp := range p.Imports {
			if own, ok := strings.CutPrefix(imp, module); ok && !matchesAny(own, r.may) {
				findings = append(findings, fmt.Sprintf("%s may not import %s", p.name(), own))
			}
		}
		for _, dep := range append(slices.Clone(p.Deps), p.Imports...) {
			for path, why := range r.never {
				if matches(strings.TrimPrefix(dep, module), path) && !findingSaid(findings, p.name(), dep) {
					findings = append(findings, fmt.Sprintf("%s must never reach %s: %s", p.name(), strings.TrimPrefix(dep, module), why))
				}
			}
		}
	}
	for i, r := range rules {
		if slices.ContainsFunc(rules[:i], func(other rule) bool { return other.pkg == r.pkg }) {
			findings = append(findings, fmt.Sprintf("there are two rules for %s: the second is never looked at", r.pkg))
		}
		if !used[r.pkg] {
			findings = append(findings, fmt.Sprintf("the rule for %s is about no package: remove it", r.pkg))
		}
	}
	return findings
}

func findingSaid(findings []string, pkg, dep string) bool {
	return slices.ContainsFunc(findings, func(f string) bool {
		return strings.HasPrefix(f, pkg+" must never reach "+strings.TrimPrefix(dep, module)+":")
	})
}

// ruleFor returns the most exact rule.
func ruleFor(name string, rules []rule) (rule, bool) {
	var best rule
	found := false
	for _, r := range rules {
		if r.pkg == name {
			return r, true
		}
		if matches(name, r.pkg) && (!found || len(r.pkg) > len(best.pkg)) {
			best, found = r, true
		}
	}
	return best, found
}

func matches(name, pattern string) bool {
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == below || strings.HasPrefix(name, below+"/")
	}
	return name == pattern
}

func matchesAny(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(name, p) })
}

func TestImports(t *testing.T) {
	pkgs, err := list(root(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) < 20 {
		t.Fatalf("saw only %d packages", len(pkgs))
	}
	for _, f := range checkImports(pkgs, importRules) {
		t.Error(f)
	}
}

// importedOnce are modules that one package of ours alone imports, and why.
var importedOnce = map[string]struct{ by, why string }{
	awsRun: {"shared/lambdarun", noHost}, awsProxy: {"shared/lambdarun", noHost}, signIns: {"shared/authserver", noSignIn},
}

// TestImportedOnce holds that what knows Lambda is imported in one place, and what signs people in.
func TestImportedOnce(t *testing.T) {
	pkgs, err := list(root(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for module, only := range importedOnce {
		seen := false
		for _, p := range pkgs {
			if !slices.ContainsFunc(p.Imports, func(imp string) bool { return matches(imp, module) }) {
				continue
			}
			if p.name() != only.by {
				t.Errorf("%s imports %s: %s", p.name(), module, only.why)
			}
			seen = true
		}
		if !seen {
			t.Errorf("nobody imports %s: this test looks at the wrong thing", module)
		}
	}
}

func TestImportsCatchWhatIsPlanted(t *testing.T) {
	planted := map[string]struct{ path, source, finding string }{
		"network below a read tool": {"shared/tools/read/planted.go", `package read; import _ "net/http"`, "shared/tools/read must never reach net/http"},
		"a write tool below a read": {"shared/tools/read/planted.go", `package read; import _ "` + module + `shared/tools/write"`, "shared/tools/read must never reach shared/tools/write"},
		"a program in a handler":    {"shared/tools/write/planted.go", `package write; import _ "os/exec"`, "shared/tools/write must never reach os/exec"},
		"an engine in the domain":   {"shared/records/planted.go", `package records; import _ "` + module + `shared/embedded"`, "shared/records may not import shared/embedded"},
		"a deployed sign-in":        {"functions/mcp/planted.go", `package main; import _ "github.com/zitadel/oidc/v3/pkg/op"`, "functions/mcp must never reach github.com/zitadel/oidc/v3/pkg/op"},
		"a package without a rule":  {"shared/planted/planted.go", `package planted`, "shared/planted has no rule"},
	}
	for name, p := range planted {
		t.Run(name, func(t *testing.T) {
			pkgs, err := list(root(t), plant(t, p.path, p.source))
			if err != nil {
				t.Fatal(err)
			}
			wantFinding(t, checkImports(pkgs, importRules), p.finding)
		})
	}
	t.Run("a second rule", func(t *testing.T) {
		wantFinding(t, checkImports(nil, []rule{{pkg: "shared/x"}, {pkg: "shared/x"}}), "two rules for shared/x")
	})
	t.Run("a rule without a package", func(t *testing.T) {
		wantFinding(t, checkImports(nil, []rule{{pkg: "shared/gone"}}), "shared/gone is about no package")
	})
}

// handlersNever are imported by no handler.
var handlersNever = map[string]string{
	"reflect": hidesCalls, "unsafe": hidesCalls, "plugin": hidesCalls, "text/template": hidesCalls, "html/template": hidesCalls,
	"os": noNet, "syscall": noNet,
}

const hidesCalls = "it hides calls from the call graph"

func checkHandlers(pkgs []pkg) (findings []string, seen int) {
	for _, p := range pkgs {
		if p.name() != "shared/tools/read" && p.name() != "shared/tools/write" {
			continue
		}
		seen++
		for imp, why := range handlersNever {
			if slices.Contains(p.Imports, imp) {
				findings = append(findings, fmt.Sprintf("%s imports %s: %s", p.name(), imp, why))
			}
		}
	}
	return findings, seen
}

func TestHandlersHideNoCalls(t *testing.T) {
	pkgs, err := list(root(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	findings, seen := checkHandlers(pkgs)
	for _, f := range findings {
		t.Error(f)
	}
	if seen != 2 {
		t.Errorf("saw %d packages of handlers, want 2", seen)
	}
	pkgs, err = list(root(t), plant(t, "shared/tools/read/planted.go", `package read; import (_ "reflect"; _ "os")`))
	if err != nil {
		t.Fatal(err)
	}
	planted, _ := checkHandlers(pkgs)
	wantFinding(t, planted, "shared/tools/read imports reflect")
	wantFinding(t, planted, "shared/tools/read imports os")
}
