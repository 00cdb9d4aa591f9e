package stack

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Evaluate returns the text that a value has in a stack with these parameters; those that are
// left out have their defaults. A reference to anything else, such as a resource, is taken from
// parameters too, under Name or Name.Attribute.
func (s *Stack) Evaluate(v any, parameters map[string]string) (string, error) {
	e := evaluation{s, parameters}
	return e.text(v)
}

type evaluation struct {
	stack      *Stack
	parameters map[string]string
}

func (e evaluation) text(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case bool, float64:
		return fmt.Sprint(v), nil
	}
	m, ok := v.(map[string]any)
	if !ok || len(m) != 1 {
		return "", fmt.Errorf("%s is no text", Short(v))
	}
	if resource, attribute, ok := getAtt(v); ok {
		return e.reference(resource + "." + attribute)
	}
	for name, argument := range m {
		switch name {
		case "Ref":
			return e.reference(fmt.Sprint(argument))
		case "Fn::If":
			return e.choose(argument)
		case "Fn::Sub":
			return e.sub(argument)
		case "Fn::Join":
			return e.join(argument)
		}
	}
	return "", fmt.Errorf("%s is not understood", Short(v))
}

func (e evaluation) reference(name string) (string, error) {
	if value, ok := e.parameters[name]; ok {
		return value, nil
	}
	if name == "AWS::NoValue" {
		return "", nil
	}
	p, ok := e.stack.Parameters[name]
	if !ok {
		return "", fmt.Errorf("%s is not known", name)
	}
	return e.text(p.Default)
}

func (e evaluation) choose(v any) (string, error) {
	arguments := List(v)
	if len(arguments) != 3 {
		return "", fmt.Errorf("Fn::If %s needs three arguments", Short(v))
	}
	name, _ := arguments[0].(string)
	is, err := e.holds(map[string]any{"Condition": name})
	if err != nil {
		return "", err
	}
	if is {
		return e.text(arguments[1])
	}
	return e.text(arguments[2])
}

func (e evaluation) join(v any) (string, error) {
	arguments := List(v)
	if len(arguments) != 2 {
		return "", fmt.Errorf("Fn::Join %s needs two arguments", Short(v))
	}
	parts := make([]string, len(List(arguments[1])))
	for i, part := range List(arguments[1]) {
		var err error
		if parts[i], err = e.text(part); err != nil {
			return "", err
		}
	}
	separator, err := e.text(arguments[0])
	return strings.Join(parts, separator), err
}

var variable = regexp.MustCompile(`\$\{([^}!][^}]*)\}`)

func (e evaluation) sub(v any) (string, error) {
	text, ok := v.(string)
	inner := e
	if arguments := List(v); !ok && len(arguments) == 2 {
		text, _ = arguments[0].(string)
		own, _ := arguments[1].(map[string]any)
		inner.parameters = maps.Clone(e.parameters)
		if inner.parameters == nil {
			inner.parameters = map[string]string{}
		}
		for name, value := range own {
			var err error
			if inner.parameters[name], err = e.text(value); err != nil {
				return "", err
			}
		}
	}
	var failed error
	result := variable.ReplaceAllStringFunc(text, func(found string) string {
		value, err := inner.reference(strings.Trim(found, "${}"))
		if err != nil {
			failed = err
		}
		return value
	})
	return result, failed
}

// holds evaluates a condition.
func (e evaluation) holds(v any) (bool, error) {
	m, ok := v.(map[string]any)
	if !ok || len(m) != 1 {
		return false, fmt.Errorf("%s is no condition", Short(v))
	}
	for name, argument := range m {
		arguments := List(argument)
		switch {
		case name == "Condition":
			condition, ok := e.stack.Conditions[fmt.Sprint(argument)]
			if !ok {
				return false, fmt.Errorf("there is no condition %v", argument)
			}
			return e.holds(condition)
		case name == "Fn::Equals" && len(arguments) == 2:
			a, err := e.text(arguments[0])
			if err != nil {
				return false, err
			}
			b, err := e.text(arguments[1])
			return a == b, err
		case name == "Fn::Not" && len(arguments) == 1:
			is, err := e.holds(arguments[0])
			return !is, err
		case name == "Fn::Or" || name == "Fn::And":
			for _, argument := range arguments {
				is, err := e.holds(argument)
				if err != nil || is == (name == "Fn::Or") {
					return is, err
				}
			}
			return name == "Fn::And", nil
		}
	}
	return false, fmt.Errorf("%s is not understood", Short(v))
}

// Holds tells whether a condition of the stack, by its name, holds with these parameters.
func (s *Stack) Holds(condition string, parameters map[string]string) (bool, error) {
	return evaluation{s, parameters}.holds(map[string]any{"Condition": condition})
}

// Refuses tells by which rule these parameters are refused; empty if they are not.
func (s *Stack) Refuses(parameters map[string]string) (rule string, err error) {
	e := evaluation{s, parameters}
	for _, name := range slices.Sorted(maps.Keys(s.Rules)) {
		if r := s.Rules[name]; r.RuleCondition != nil {
			if applies, err := e.holds(r.RuleCondition); err != nil || !applies {
				if err != nil {
					return "", err
				}
				continue
			}
		}
		for _, a := range s.Rules[name].Assertions {
			if is, err := e.holds(a.Assert); err != nil || !is {
				return name, err
			}
		}
	}
	return "", nil
}
