package stack

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Statement is one statement of a policy, its lists sorted.
type Statement struct {
	Sid       string
	Effect    string
	Actions   []string
	Resources []string                       // in short form, see Short
	Condition map[string]map[string][]string // operator, key, values
}

// Role is what a function may do.
type Role struct {
	Managed    []string // in short form
	Statements []Statement
}

// RoleOf reads a role of the template. It fails on anything that it does not know to read, for
// what is passed over is not judged.
func (s *Stack) RoleOf(logicalID string) (Role, error) {
	r, ok := s.Resources[logicalID]
	if !ok || r.Type != "AWS::IAM::Role" {
		return Role{}, fmt.Errorf("%s is no role", logicalID)
	}
	var role Role
	for _, arn := range List(r.Properties["ManagedPolicyArns"]) {
		role.Managed = append(role.Managed, Short(arn))
	}
	slices.Sort(role.Managed)
	for _, p := range List(r.Properties["Policies"]) {
		document, _ := At(p, "PolicyDocument").(map[string]any)
		statements, err := Statements(document)
		if err != nil {
			return Role{}, fmt.Errorf("%s: %w", logicalID, err)
		}
		role.Statements = append(role.Statements, statements...)
	}
	return role, nil
}

// Statements reads a policy document.
func Statements(document map[string]any) ([]Statement, error) {
	found := List(document["Statement"])
	if len(found) == 0 {
		return nil, fmt.Errorf("a policy without statements")
	}
	statements := make([]Statement, len(found))
	for i, v := range found {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("statement %d is no mapping", i)
		}
		for key := range m {
			if !slices.Contains([]string{"Sid", "Effect", "Action", "Resource", "Condition", "Principal"}, key) {
				return nil, fmt.Errorf("statement %d has %s, which is not understood here", i, key)
			}
		}
		s := Statement{Sid: Short(m["Sid"]), Effect: Short(m["Effect"]), Condition: map[string]map[string][]string{}}
		for _, a := range List(m["Action"]) {
			s.Actions = append(s.Actions, Short(a))
		}
		for _, r := range List(m["Resource"]) {
			s.Resources = append(s.Resources, Short(r))
		}
		slices.Sort(s.Actions)
		slices.Sort(s.Resources)
		if conditions, ok := m["Condition"].(map[string]any); ok {
			for operator, keys := range conditions {
				byKey, ok := keys.(map[string]any)
				if !ok {
					return nil, fmt.Errorf("statement %d: condition %s is no mapping", i, operator)
				}
				s.Condition[operator] = map[string][]string{}
				for key, values := range byKey {
					for _, value := range List(values) {
						s.Condition[operator][key] = append(s.Condition[operator][key], Short(value))
					}
					slices.Sort(s.Condition[operator][key])
				}
			}
		} else if m["Condition"] != nil {
			return nil, fmt.Errorf("statement %d: the condition is no mapping", i)
		}
		statements[i] = s
	}
	return statements, nil
}

// String is the statement in one line, without its Sid.
func (s Statement) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s on %s", s.Effect, strings.Join(s.Actions, " "), strings.Join(s.Resources, " "))
	for _, operator := range slices.Sorted(maps.Keys(s.Condition)) {
		for _, key := range slices.Sorted(maps.Keys(s.Condition[operator])) {
			fmt.Fprintf(&b, " if %s %s %s", operator, key, strings.Join(s.Condition[operator][key], " "))
		}
	}
	return b.String()
}

// Short writes a value in one word: a text as it is, a reference as ${Name} or ${Name.Attribute},
// an Fn::Sub as its text; else as JSON.
func Short(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool, float64:
		return fmt.Sprint(v)
	}
	if text, ok := sub(v); ok {
		return text
	}
	if resource, attribute, ok := getAtt(v); ok {
		return "${" + resource + "." + attribute + "}"
	}
	if m, ok := v.(map[string]any); ok && len(m) == 1 {
		if name, ok := m["Ref"].(string); ok {
			return "${" + name + "}"
		}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%#v", v)
	}
	return string(raw)
}

// List makes a list of a value that may stand alone.
func List(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		return []any{v}
	}
}

// At returns what lies at a path of names below a value, nil if it is not there.
func At(v any, path ...string) any {
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}
