package main

import (
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/aacworkflow/mcp-connector/infra/yamledit"
)

// TestTemplate holds that the project's template is deployed whole but for alarms of metric
// math and saved queries, and that nothing in it is changed but what is added and written out.
func TestTemplate(t *testing.T) {
	original, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	changed, err := ministackTemplate(original)
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
	left, ids := 0, map[string]bool{}
	yamledit.Entries(yamledit.Member(before, "Resources"), func(id string, r *yaml.Node) {
		ids[id] = true
		got := yamledit.Member(after, "Resources", id)
		if got == nil {
			left++
			switch kind := yamledit.Member(r, "Type").Value; {
			case kind == "AWS::Logs::QueryDefinition":
			case kind == "AWS::CloudWatch::Alarm" && yamledit.Member(r, "Properties", "Metrics") != nil:
			default:
				t.Errorf("%s is left out", id)
			}
			return
		}
		if marshal(t, got) != marshal(t, r) && id != "McpFunction" {
			t.Errorf("%s is changed", id)
		}
	})
	if left == 0 {
		t.Error("nothing is left out: this test looks at the wrong thing")
	}
	added := 0
	yamledit.Entries(yamledit.Member(after, "Resources"), func(id string, r *yaml.Node) {
		if ids[id] {
			return
		}
		added++
		if kind := yamledit.Member(r, "Type").Value; kind != "AWS::ApiGateway::GatewayResponse" {
			t.Errorf("%s, a %s, is added", id, kind)
		}
	})
	responses := yamledit.Member(before, "Resources", "Api", "Properties", "GatewayResponses")
	if added == 0 || added != len(responses.Content)/2 {
		t.Errorf("%d gateway responses are added", added)
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

func TestTemplateInParts(t *testing.T) {
	changed, err := ministackTemplate([]byte(`
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      GatewayResponses:
        NOT_FOUND_AT_ALL:
          StatusCode: 404
          ResponseParameters: {Headers: {Cache-Control: "'no-store'"}}
          ResponseTemplates: {application/json: '{}'}
        AUTHORS_OWN:
          ResponseTemplates: {application/json: $context.authorizer.body}
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        One: {Type: Api, Properties: {RestApiId: !Ref Api, Method: GET, Path: /one}}
        All: {Type: Api, Properties: {RestApiId: !Ref Api, Method: ANY, Path: /all}}
`))
	if err != nil {
		t.Fatal(err)
	}
	root, err := yamledit.Root(changed)
	if err != nil {
		t.Fatal(err)
	}
	events := yamledit.Member(root, "Resources", "F", "Properties", "Events")
	if len(events.Content)/2 != 1+len(anyMethod) {
		t.Errorf("the events are\n%s", changed)
	}
	for _, method := range anyMethod {
		got := yamledit.Member(events, "All"+method, "Properties")
		if got == nil || yamledit.Member(got, "Method").Value != method || yamledit.Member(got, "Path").Value != "/all" || yamledit.Member(got, "RestApiId").Tag != "!Ref" {
			t.Errorf("%s is missing or not whole:\n%s", method, changed)
		}
	}
	own := yamledit.Member(root, "Resources", "GatewayResponseAUTHORSOWN", "Properties", "ResponseTemplates", "application/json")
	if own == nil || own.Value != `{"unfilled":"$context.authorizer.body"}` {
		t.Errorf("a body that is a variable is not JSON:\n%s", changed)
	}
	response := yamledit.Member(root, "Resources", "GatewayResponseNOTFOUNDATALL", "Properties")
	for path, want := range map[string]string{
		"ResponseType": "NOT_FOUND_AT_ALL", "StatusCode": "404", "ResponseParameters/gatewayresponse.header.Cache-Control": "'no-store'", "RestApiId/Ref": "Api",
		"ResponseTemplates/application/json": "{}",
	} {
		key, rest, _ := strings.Cut(path, "/")
		got := yamledit.Member(response, key)
		if rest != "" {
			got = yamledit.Member(got, rest)
		}
		if got == nil || got.Value != want {
			t.Errorf("%s is not %s:\n%s", path, want, changed)
		}
	}
}

func TestTemplateRefuses(t *testing.T) {
	for _, template := range []string{"", "a: [", "Resources: {}"} {
		if _, err := ministackTemplate([]byte(template)); err == nil {
			t.Errorf("%q: no error", template)
		}
	}
}
