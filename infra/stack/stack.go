// Package stack reads template.yaml as CloudFormation will get it: translated by the official
// SAM translator, with the roles, permissions and routes that SAM adds.
//
// It is for checks and tests, and never deployed. It judges nothing: infra/check says what must
// be in the template, infra/policy what its roles allow. Start with Load; translate.go is the
// way through the translator, statement.go the form of a role's statements.
package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is the template's path in the repository.
const File = "template.yaml"

// Stack is a translated template.
type Stack struct {
	Metadata   map[string]any
	Parameters map[string]Parameter
	Rules      map[string]Rule
	Conditions map[string]any
	Resources  map[string]Resource
	Outputs    map[string]Output
}

// Parameter is one of the template's parameters.
type Parameter struct {
	Type           string
	Default        any
	AllowedPattern string
	Description    string
}

// Rule is what must hold of the parameters before anything is deployed.
type Rule struct {
	RuleCondition any // nil: always
	Assertions    []struct{ Assert any }
}

// Output is one of the template's outputs.
type Output struct {
	Description string
	Value       any
	Export      any
}

// Resource is one of the template's resources. Values hold intrinsic functions as
// {"Ref": …} and {"Fn::…": …}.
type Resource struct {
	Type                string
	Condition           string
	DeletionPolicy      string
	UpdateReplacePolicy string
	Properties          map[string]any
}

// Load translates the template of the repository at root.
func Load(root string) (*Stack, error) {
	text, err := os.ReadFile(filepath.Join(root, File))
	if err != nil {
		return nil, err
	}
	stacks, err := Translate(root, string(text))
	if err != nil {
		return nil, err
	}
	return stacks[0], nil
}

// Names lists the logical ids of the resources of a type, sorted.
func (s *Stack) Names(kind string) []string {
	var names []string
	for name, r := range s.Resources {
		if r.Type == kind {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Function is a Lambda function and its role.
type Function struct {
	LogicalID  string
	Role       string // logical id
	Properties map[string]any
}

// namePrefix is how the name of a function begins, before that of its program.
const namePrefix = "${AWS::StackName}-"

// Functions are the Lambda functions by the name of their program. It fails if a function has
// no name of ours or no role of its own.
func (s *Stack) Functions() (map[string]Function, error) {
	functions, roles := map[string]Function{}, map[string]string{}
	for _, id := range s.Names("AWS::Lambda::Function") {
		properties := s.Resources[id].Properties
		text, _ := sub(properties["FunctionName"])
		name, ours := strings.CutPrefix(text, namePrefix)
		if !ours {
			return nil, fmt.Errorf("%s: its name must be %sPROGRAM", id, namePrefix)
		}
		role, attribute, ok := getAtt(properties["Role"])
		if !ok || attribute != "Arn" || s.Resources[role].Type != "AWS::IAM::Role" {
			return nil, fmt.Errorf("%s has no role in the template", id)
		}
		if other := roles[role]; other != "" {
			return nil, fmt.Errorf("%s and %s share the role %s", other, id, role)
		}
		roles[role] = id
		functions[name] = Function{LogicalID: id, Role: role, Properties: properties}
	}
	return functions, nil
}

// sub returns the text of an Fn::Sub without a map.
func sub(v any) (string, bool) {
	m, ok := v.(map[string]any)
	if !ok || len(m) != 1 {
		return "", false
	}
	text, ok := m["Fn::Sub"].(string)
	return text, ok
}

// getAtt takes an Fn::GetAtt apart.
func getAtt(v any) (resource, attribute string, ok bool) {
	m, isMap := v.(map[string]any)
	if !isMap || len(m) != 1 {
		return "", "", false
	}
	switch at := m["Fn::GetAtt"].(type) {
	case string:
		return strings.Cut(at, ".")
	case []any:
		if len(at) == 2 {
			resource, ok1 := at[0].(string)
			attribute, ok2 := at[1].(string)
			return resource, attribute, ok1 && ok2
		}
	}
	return "", "", false
}
