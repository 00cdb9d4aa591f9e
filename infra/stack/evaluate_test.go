package stack

import "testing"

func TestEvaluate(t *testing.T) {
	ref := func(name string) any { return map[string]any{"Ref": name} }
	fn := func(name string, arguments ...any) any { return map[string]any{"Fn::" + name: arguments} }
	is := func(name string) any { return map[string]any{"Condition": name} }
	s := &Stack{
		Parameters: map[string]Parameter{"A": {Default: ""}, "B": {Default: "b"}, "N": {Default: 5.0}},
		Conditions: map[string]any{
			"HasA":   fn("Not", fn("Equals", ref("A"), "")),
			"Either": fn("Or", is("HasA"), fn("Equals", ref("B"), "x")),
			"Both":   fn("And", is("HasA"), fn("Equals", ref("B"), "b")),
		},
	}
	for _, tt := range []struct {
		v    any
		a    string
		want string
	}{
		{"text", "", "text"}, {true, "", "true"}, {nil, "", ""}, {ref("N"), "", "5"}, {ref("B"), "", "b"}, {ref("A"), "given", "given"},
		{fn("If", "HasA", "yes", ref("AWS::NoValue")), "", ""}, {fn("If", "HasA", "yes", "no"), "a", "yes"},
		{fn("If", "Either", "yes", "no"), "", "no"}, {fn("If", "Either", "yes", "no"), "a", "yes"},
		{fn("If", "Both", "yes", "no"), "", "no"}, {fn("If", "Both", "yes", "no"), "a", "yes"},
		{map[string]any{"Fn::Sub": "${A}-${B}"}, "1", "1-b"},
		{fn("Sub", "${A}-${C}", map[string]any{"C": fn("If", "HasA", ref("A"), "none")}), "1", "1-1"},
		{map[string]any{"Fn::GetAtt": []any{"T", "Arn"}}, "", "arn"},
		{fn("Join", ",", []any{"x", ref("B"), ref("N")}), "", "x,b,5"}, {fn("Join", "", []any{}), "", ""},
	} {
		got, err := s.Evaluate(tt.v, map[string]string{"A": tt.a, "T.Arn": "arn"})
		if got != tt.want || err != nil {
			t.Errorf("%v with %q: %q, error %v; want %q", tt.v, tt.a, got, err, tt.want)
		}
	}
	for _, v := range []any{
		ref("Unknown"), fn("If", "Unknown", "a", "b"), fn("If", "HasA"), fn("Split", "a", "b"), fn("Join", ","), fn("Join", ",", []any{ref("Unknown")}), []any{"a"}, map[string]any{"Fn::Sub": "${Unknown}"},
	} {
		if got, err := s.Evaluate(v, nil); err == nil {
			t.Errorf("%v was taken: %q", v, got)
		}
	}
}

func TestRefuses(t *testing.T) {
	equals := func(name, value string) any {
		return map[string]any{"Fn::Equals": []any{map[string]any{"Ref": name}, value}}
	}
	s := &Stack{Parameters: map[string]Parameter{"A": {Default: ""}, "B": {Default: "b"}}, Rules: map[string]Rule{
		"Always":  {Assertions: []struct{ Assert any }{{equals("B", "b")}}},
		"IfThere": {RuleCondition: equals("A", "a"), Assertions: []struct{ Assert any }{{equals("A", "a")}, {equals("A", "x")}}},
	}}
	for parameters, want := range map[[2]string]string{{"", "b"}: "", {"", "c"}: "Always", {"a", "b"}: "IfThere"} {
		if got, err := s.Refuses(map[string]string{"A": parameters[0], "B": parameters[1]}); got != want || err != nil {
			t.Errorf("%v: refused by %q, error %v; want %q", parameters, got, err, want)
		}
	}
	s.Rules = map[string]Rule{"Odd": {RuleCondition: equals("Unknown", "")}}
	if rule, err := s.Refuses(nil); err == nil {
		t.Errorf("a rule that is not understood was taken: %q", rule)
	}
}
