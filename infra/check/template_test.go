package check

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/infra/stack"
)

// The template, as it is deployed, against what is promised of it here by hand: roles_test.go,
// api_test.go, kept_test.go. checkTemplate runs them all.

// sawInTemplate is how much the guards looked at.
type sawInTemplate struct{ functions, statements, callers, routes, responses, tables, metrics, names, sealed, encrypted int }

func checkTemplate(s *stack.Stack, programs, settings []string, read func(string) string) (findings []string, saw sawInTemplate) {
	gather := func(found []string, seen int) int {
		findings = append(findings, found...)
		return seen
	}
	saw.functions = gather(checkFunctions(s, programs, settings))
	saw.statements = gather(checkRoles(s))
	saw.callers = gather(checkCallers(s))
	gather(checkTrust(s), 0)
	saw.routes = gather(checkRoutes(s))
	saw.responses = gather(checkResponses(s))
	saw.tables = gather(checkTables(s))
	gather(checkFrontDoor(s), 0)
	gather(checkChallenge(s), 0)
	gather(checkReadable(s), 0)
	gather(checkSignIn(s), 0)
	gather(checkOperation(s), 0)
	saw.metrics = gather(checkMetrics(s, read))
	gather(checkQueries(s, read), 0)
	gather(checkAlarms(s), 0)
	gather(checkArchive(s), 0)
	gather(checkParameters(s), 0)
	saw.names = gather(checkNames(s))
	saw.sealed = gather(checkSealed(s))
	saw.encrypted = gather(checkEncryption(s))
	return findings, saw
}

// signInEnvironment is how callers sign in: the same for all programs that speak of it.
const signInEnvironment = "AAC_CHALLENGE_ALL_SCOPES AAC_DOCUMENTATION_URL AAC_OAUTH_ALLOWED_CLIENTS AAC_OAUTH_AUDIENCE AAC_OAUTH_DENY_LIST " +
	"AAC_OAUTH_FACADE_CALLBACKS AAC_OAUTH_FACADE_CLIENT_ID AAC_OAUTH_FACADE_LOGIN_URL AAC_OAUTH_ISSUER AAC_OAUTH_JWKS_URI AAC_OAUTH_SCOPE_PREFIX " +
	"AAC_PUBLIC_BASE_URL"

// environments are the settings of each program, by hand, beside AAC_VERSION.
var environments = map[string]string{
	"authorizer":    "AAC_AUDIT_RETENTION_DAYS AAC_AUDIT_TABLE AAC_DATA_TABLE " + signInEnvironment,
	"mcp":           "AAC_ALLOWED_ORIGINS AAC_AUDIT_RETENTION_DAYS AAC_AUDIT_TABLE AAC_TOOL_FUNCTIONS " + signInEnvironment,
	"discovery":     signInEnvironment,
	"audit_query":   "AAC_AUDIT_RETENTION_DAYS AAC_AUDIT_TABLE",
	"audit_widget":  "AAC_AUDIT_RETENTION_DAYS AAC_AUDIT_TABLE AAC_DATA_TABLE",
	"audit_monitor": "AAC_AUDIT_RETENTION_DAYS AAC_AUDIT_TABLE AAC_DATA_TABLE AAC_FINDINGS_TOPIC AAC_METRIC_NAMESPACE",
}

const toolEnvironment = "AAC_AUDIT_RETENTION_DAYS AAC_AUDIT_TABLE AAC_DATA_TABLE"

// gatewayWaits is after how long API Gateway gives a function up, in seconds.
const gatewayWaits = 29

// checkFunctions holds that each program is one function, all set up alike. Programs are the
// directories of functions/, settings the names that lambdarun reads.
func checkFunctions(s *stack.Stack, programs, settings []string) (findings []string, seen int) {
	functions, err := s.Functions()
	if err != nil {
		return []string{err.Error()}, 0
	}
	for _, program := range programs {
		if _, ok := functions[program]; !ok {
			findings = append(findings, fmt.Sprintf("functions/%s is no function of the template", program))
		}
	}
	for program, f := range functions {
		seen++
		if !slices.Contains(programs, program) {
			findings = append(findings, fmt.Sprintf("%s: there is no functions/%s", f.LogicalID, program))
		}
		if want := camel(program) + "Function"; f.LogicalID != want {
			findings = append(findings, fmt.Sprintf("%s: must be called %s", f.LogicalID, want))
		}
		findings = append(findings, checkEnvironment(program, f, settings)...)
		findings = append(findings, checkSetUp(program, f)...)
	}
	return findings, seen
}

func checkEnvironment(program string, f stack.Function, settings []string) (findings []string) {
	variables, _ := stack.At(f.Properties, "Environment", "Variables").(map[string]any)
	want := environments[program]
	if _, isTool := promises[program]; isTool {
		want = toolEnvironment
	}
	got := slices.DeleteFunc(slices.Sorted(maps.Keys(variables)), func(name string) bool { return name == "AAC_VERSION" })
	if !slices.Equal(got, slices.Sorted(strings.FieldsSeq(want))) {
		findings = append(findings, fmt.Sprintf("%s: has the settings %v, want %s", program, got, want))
	}
	for _, name := range got {
		if !slices.Contains(settings, name) {
			findings = append(findings, fmt.Sprintf("%s: shared/lambdarun knows no setting %s", program, name))
		}
	}
	return findings
}

func checkSetUp(program string, f stack.Function) (findings []string) {
	timeout, _ := f.Properties["Timeout"].(float64)
	for what, is := range map[string]bool{
		"must run on provided.al2023":                         f.Properties["Runtime"] == "provided.al2023" && f.Properties["Handler"] == "bootstrap",
		"must be built for the parameter Architecture":        stack.Short(f.Properties["Architectures"]) == `[{"Ref":"Architecture"}]`,
		"must end before API Gateway gives it up":             timeout > 0 && timeout < gatewayWaits,
		"must be traced":                                      stack.At(f.Properties, "TracingConfig", "Mode") == "Active",
		"must log as JSON to the group that has a retention":  stack.Short(stack.At(f.Properties, "LoggingConfig", "LogGroup")) == "${FunctionLog}" && stack.At(f.Properties, "LoggingConfig", "LogFormat") == "JSON",
		"must not be reachable from a network of the account": f.Properties["VpcConfig"] == nil,
		"must run our program alone, without layers or disks": f.Properties["Layers"] == nil && f.Properties["FileSystemConfigs"] == nil,
	} {
		if !is {
			findings = append(findings, program+" "+what)
		}
	}
	return findings
}

// checkOperation holds what people need who run the stack.
func checkOperation(s *stack.Stack) (findings []string) {
	for _, id := range s.Names("AWS::Logs::LogGroup") {
		if stack.Short(s.Resources[id].Properties["RetentionInDays"]) != "${LogRetentionDays}" {
			findings = append(findings, id+" must have the retention of the parameter")
		}
	}
	for tool := range promises {
		if s.Resources[camel(tool)+"Alarm"].Type != "AWS::CloudWatch::Alarm" {
			findings = append(findings, tool+" has no alarm")
		}
	}
	for _, id := range s.Names("AWS::CloudWatch::Alarm") {
		p := s.Resources[id].Properties
		if strings.Contains(stack.Short(p), "AuthorizerFunction") && p["MetricName"] == "Errors" {
			findings = append(findings, id+": each 401 is an error of the authorizer, and no alarm")
		}
		if stack.Short(p["AlarmActions"]) != `{"Fn::If":["HasAlarmTopic",[{"Ref":"AlarmTopicArn"}],{"Ref":"AWS::NoValue"}]}` {
			findings = append(findings, id+" must tell the topic of the parameter")
		}
	}
	grouped := stack.Short(stack.At(s.Metadata, "AWS::CloudFormation::Interface", "ParameterGroups"))
	for name, p := range s.Parameters {
		if len(p.Description) < 20 || !strings.Contains(grouped, `"`+name+`"`) || stack.At(s.Metadata, "AWS::CloudFormation::Interface", "ParameterLabels", name) == nil {
			findings = append(findings, fmt.Sprintf("the parameter %s needs a description that says what to put in, a group and a label", name))
		}
		if p.Default == nil {
			findings = append(findings, fmt.Sprintf("the parameter %s has no default: a first deployment must need no answers", name))
		}
	}
	for _, name := range []string{"McpUrl", "ClaudeCode", "ApiUrl", "DataTableName", "AuditTableName"} {
		if s.Outputs[name].Value == nil || s.Outputs[name].Description == "" {
			findings = append(findings, "the output "+name+" is missing")
		}
	}
	return findings
}

// programsIn lists the programs that are deployed.
func programsIn(t *testing.T) []string {
	t.Helper()
	mains, err := filepath.Glob(filepath.Join(root(t), "functions", "*", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	var programs []string
	for _, main := range mains {
		if name := filepath.Base(filepath.Dir(main)); name != "local" {
			programs = append(programs, name)
		}
	}
	return programs
}

// settingsOf lists the settings that the programs read.
func settingsOf(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, file := range []string{"settings.go", "signin.go"} {
		source, err := os.ReadFile(filepath.Join(root(t), "shared/lambdarun", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`"(AAC_[A-Z_]+)"`).FindAllStringSubmatch(string(source), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

func templateText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), stack.File))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTemplate(t *testing.T) {
	s, err := stack.Load(root(t))
	if err != nil {
		t.Fatal(err)
	}
	findings, saw := checkTemplate(s, programsIn(t), settingsOf(t), fileOf(root(t)))
	for _, f := range findings {
		t.Error(f)
	}
	want := sawInTemplate{functions: len(promises) + 6, statements: 53, callers: len(promises) + len(routes) + 1, routes: len(promises) + len(routes), responses: 7, tables: 2, metrics: 8*len(promises) + 41, names: len(promises) + 6 + 14, sealed: len(sealed), encrypted: 2 + 1 + 2 + 2 + 1}
	if saw != want {
		t.Errorf("saw %+v, want %+v: a guard looks at the wrong thing, or a number here is old", saw, want)
	}
}
