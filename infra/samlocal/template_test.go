package main

import (
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/aacworkflow/mcp-connector/infra/yamledit"
)

// TestLocalTemplate holds that the project's template is changed as sam local needs it, and not
// otherwise.
func TestLocalTemplate(t *testing.T) {
	original, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	changed, err := localTemplate(original, map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": "http://here:1"})
	if err != nil {
		t.Fatal(err)
	}
	before, err := yamledit.Root(original)
	if err != nil {
		t.Fatal(err)
	}
	after, err := yamledit.Root(changed)
	if err != nil {
		t.Fatal(err)
	}
	endpoint := yamledit.Member(after, "Globals", "Function", "Environment", "Variables", "AWS_ENDPOINT_URL_DYNAMODB")
	if endpoint == nil || endpoint.Value != "http://here:1" {
		t.Errorf("the endpoint is %v", endpoint)
	}
	functions := 0
	yamledit.Entries(yamledit.Member(before, "Resources"), func(id string, left *yaml.Node) {
		right := yamledit.Member(after, "Resources", id)
		if yamledit.Member(left, "Type").Value == "AWS::Serverless::Function" {
			functions++
			if yamledit.Member(right, "Properties", "FunctionName") != nil {
				t.Errorf("%s still has a name", id)
			}
			yamledit.Remove(yamledit.Member(left, "Properties"), "FunctionName")
		}
		if got, want := marshal(t, right), marshal(t, left); got != want {
			t.Errorf("%s has become\n%s", id, got)
		}
	})
	if functions < 15 {
		t.Errorf("saw only %d functions", functions)
	}
}

func marshal(t *testing.T, n *yaml.Node) string {
	t.Helper()
	b, err := yaml.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestLocalTemplateRefuses(t *testing.T) {
	const globals = "Globals: {Function: {Environment: {Variables: {A: b}}}}\n"
	for name, tt := range map[string]struct{ template, want string }{
		"nothing":              {"", "no mapping"},
		"no YAML":              {"a: [", "read the template"},
		"no Globals":           {"Resources: {}", "Globals"},
		"no Resources":         {globals, "Resources"},
		"functions unnamed":    {globals + "Resources: {F: {Type: AWS::Serverless::Function, Properties: {}}}", "leave this change out"},
		"nothing but a string": {"text", "no mapping"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := localTemplate([]byte(tt.template), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}
