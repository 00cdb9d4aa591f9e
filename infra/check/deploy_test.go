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

	"github.com/aacworkflow/mcp-connector/infra/stack"
)

// From source to functions: sam build finds the target of each function, and samconfig.toml
// deploys what was built.

// checkTargets compares what make would build for each function with its program.
func checkTargets(dir string, functions map[string]string) (findings []string) {
	for program, logicalID := range functions {
		cmd := exec.Command("make", "--no-print-directory", "--dry-run", "build-"+logicalID, "ARTIFACTS_DIR=/artifacts", "ARCH=x86_64")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		switch {
		case err != nil:
			findings = append(findings, fmt.Sprintf("make build-%s: %v: %s", logicalID, err, out))
		case !strings.HasSuffix(strings.TrimSpace(string(out)), "./functions/"+program):
			findings = append(findings, fmt.Sprintf("make build-%s does not build functions/%s", logicalID, program))
		}
		for _, flag := range []string{"CGO_ENABLED=0", "GOARCH=amd64", "-trimpath", "-tags lambda.norpc", "-o /artifacts/bootstrap"} {
			if !strings.Contains(string(out), flag) {
				findings = append(findings, fmt.Sprintf("make build-%s builds without %s", logicalID, flag))
			}
		}
	}
	return findings
}

func TestSamBuildFindsEveryFunction(t *testing.T) {
	s, err := stack.Load(root(t))
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Functions()
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]string{}
	for program, f := range found {
		functions[program] = f.LogicalID
	}
	for _, f := range checkTargets(root(t), functions) {
		t.Error(f)
	}
	if len(functions) < len(promises)+4 {
		t.Errorf("saw %d functions only", len(functions))
	}
	wantFinding(t, checkTargets(root(t), map[string]string{"list_issues": "ListIssueFunction"}), "does not build functions/list_issues")
	makefile := filepath.Join(t.TempDir(), "Makefile")
	if err := os.WriteFile(makefile, []byte("build-%Function:\n\tgo build ./functions/mcp\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantFinding(t, checkTargets(filepath.Dir(makefile), map[string]string{"mcp": "McpFunction"}), "builds without -tags lambda.norpc")
}

var (
	override  = regexp.MustCompile(`(\w+)=(\S*)`)
	overrides = regexp.MustCompile(`(?m)^parameter_overrides = "(.*)"$`)
	account   = regexp.MustCompile(`\b[0-9]{12}\b|arn:aws`)
)

// checkConfig reads samconfig.toml.
func checkConfig(text string, s *stack.Stack) (findings []string, seen int) {
	for _, env := range []string{"default", "dev", "prod"} {
		for _, section := range []string{"global", "build", "deploy"} {
			if !strings.Contains(text, fmt.Sprintf("[%s.%s.parameters]", env, section)) {
				findings = append(findings, fmt.Sprintf("samconfig.toml has no [%s.%s.parameters]", env, section))
			}
		}
	}
	if strings.Count(text, "build_in_source = true") != strings.Count(text, ".build.parameters]") {
		findings = append(findings, "samconfig.toml builds in copies of the repository: set build_in_source")
	}
	if found := account.FindString(text); found != "" {
		findings = append(findings, "samconfig.toml names an account: leave it to the profile")
	}
	for _, line := range overrides.FindAllStringSubmatch(text, -1) {
		for _, m := range override.FindAllStringSubmatch(line[1], -1) {
			seen++
			if _, ok := s.Parameters[m[1]]; !ok {
				findings = append(findings, fmt.Sprintf("samconfig.toml sets %s, which is no parameter; there are %v", m[1], slices.Sorted(maps.Keys(s.Parameters))))
			}
		}
	}
	return findings, seen
}

func TestConfig(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root(t), "samconfig.toml"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := stack.Load(root(t))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	findings, seen := checkConfig(text, s)
	for _, f := range findings {
		t.Error(f)
	}
	if seen < 10 {
		t.Errorf("saw %d overrides", seen)
	}
	planted, _ := checkConfig(strings.NewReplacer("ThrottleRate=", "Throttle=", "[prod.deploy", "[production.deploy", "resolve_s3 = true",
		`s3_bucket = "artifacts-123456789012"`).Replace(strings.Replace(text, "build_in_source = true", "", 1)), s)
	for _, want := range []string{"sets Throttle,", "no [prod.deploy.parameters]", "names an account", "builds in copies"} {
		wantFinding(t, planted, want)
	}
}

// arch asks for which processor an environment is built.
func arch(t *testing.T, config, env string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "samconfig.toml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(root(t), "infra/arch.sh"), file, env).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestBuiltForWhatIsDeployed: one place says the processor, in whichever way sam writes it there.
func TestBuiltForWhatIsDeployed(t *testing.T) {
	s, err := stack.Load(root(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := arch(t, "", "default"); got != s.Parameters["Architecture"].Default {
		t.Errorf("built for %s, but the template's default is %v", got, s.Parameters["Architecture"].Default)
	}
	const config = `
[default.deploy.parameters]
parameter_overrides = "MemorySize=\"512\" Architecture=\"x86_64\" ThrottleRate=\"5\""
[dev.deploy.parameters]
parameter_overrides = "Architecture=arm64"
[list.deploy.parameters]
parameter_overrides = ["MemorySize=512", "Architecture=x86_64"]
[silent.deploy.parameters]
stack_name = "x"
[last.deploy.parameters]
parameter_overrides = "Architecture=x86_64"
`
	for env, want := range map[string]string{"default": "x86_64", "dev": "arm64", "list": "x86_64", "silent": "arm64", "last": "x86_64", "none": "arm64"} {
		if got := arch(t, config, env); got != want {
			t.Errorf("%s is built for %s, want %s", env, got, want)
		}
	}
}
