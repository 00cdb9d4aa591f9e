package stack

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const repository = "../.."

func TestParseKeepsWhatIsAReference(t *testing.T) {
	got, err := parse(`
Globals: {Function: {CodeUri: ., Timeout: 3}}
A: !Ref X
B: X
C: !GetAtt X.Arn
D: !Sub '${X}-y'
E: !If [Yes, {F: 1}, !Ref AWS::NoValue]
G: !Condition Yes
H: 'true'
I: 2012
J: 'off'
`)
	want := map[string]any{
		"Globals": map[string]any{"Function": map[string]any{"CodeUri": "s3://bucket/code", "Timeout": 3}},
		"A":       map[string]any{"Ref": "X"},
		"B":       "X",
		"C":       map[string]any{"Fn::GetAtt": "X.Arn"},
		"D":       map[string]any{"Fn::Sub": "${X}-y"},
		"E":       map[string]any{"Fn::If": []any{"Yes", map[string]any{"F": 1}, map[string]any{"Ref": "AWS::NoValue"}}},
		"G":       map[string]any{"Condition": "Yes"},
		"H":       "true", "I": 2012, "J": "off",
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, d)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "a list": "[1]", "a name twice": "A: 1\nA: 2", "an alias": "A: &x 1\nB: *x", "no YAML": "A: [",
	} {
		if _, err := parse(text); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

const small = `
Transform: AWS::Serverless-2016-10-31
Globals: {Function: {Runtime: provided.al2023, Handler: bootstrap, CodeUri: .}}
Resources:
  Table: {Type: 'AWS::DynamoDB::Table', Properties: {}}
  F:
    Type: AWS::Serverless::Function
    Properties:
      FunctionName: !Sub '${AWS::StackName}-f'
      Policies:
        - Statement:
            - Effect: Allow
              Action: [dynamodb:Query, dynamodb:GetItem]
              Resource: [!Sub '${Table.Arn}/index/i', !GetAtt Table.Arn]
              Condition: {StringLike: {'dynamodb:LeadingKeys': [b, a]}}
`

func TestTranslate(t *testing.T) {
	stacks, err := Translate(repository, small, strings.ReplaceAll(small, "-f'", "-g'"))
	if err != nil {
		t.Fatal(err)
	}
	functions, err := stacks[0].Functions()
	if err != nil {
		t.Fatal(err)
	}
	role, err := stacks[0].RoleOf(functions["f"].Role)
	if err != nil {
		t.Fatal(err)
	}
	want := Role{
		Managed: []string{"arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"},
		Statements: []Statement{{
			Effect: "Allow", Actions: []string{"dynamodb:GetItem", "dynamodb:Query"},
			Resources: []string{"${Table.Arn}", "${Table.Arn}/index/i"},
			Condition: map[string]map[string][]string{"StringLike": {"dynamodb:LeadingKeys": {"a", "b"}}},
		}},
	}
	if d := cmp.Diff(want, role); d != "" {
		t.Errorf("role (-want +got):\n%s", d)
	}
	if got := role.Statements[0].String(); got != "Allow dynamodb:GetItem dynamodb:Query on ${Table.Arn} ${Table.Arn}/index/i if StringLike dynamodb:LeadingKeys a b" {
		t.Errorf("in one line: %s", got)
	}
	if other, err := stacks[1].Functions(); err != nil || other["g"].LogicalID != "F" {
		t.Errorf("the second template: %v, error %v", other, err)
	}
}

func TestTranslateReportsWhatIsWrong(t *testing.T) {
	_, err := Translate(repository, strings.Replace(small, "Runtime: provided.al2023, ", "", 1))
	if err == nil || !strings.Contains(err.Error(), "Runtime") {
		t.Errorf("error %v", err)
	}
}

func TestTranslateSaysHowToInstall(t *testing.T) {
	t.Setenv("PYTHONPATH", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := Translate(t.TempDir(), small); err == nil || !strings.Contains(err.Error(), "make tools") {
		t.Errorf("error %v", err)
	}
}

func TestFunctionsRefuses(t *testing.T) {
	texts := map[string]string{
		"a name of its own":  strings.Replace(small, "!Sub '${AWS::StackName}-f'", "f", 1),
		"a role from beyond": strings.Replace(small, "      Policies:", "      Role: arn:aws:iam::123456789012:role/x\n      Policies:", 1),
	}
	for name, text := range texts {
		stacks, err := Translate(repository, text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stacks[0].Functions(); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestStatementsRefusesWhatItCannotRead(t *testing.T) {
	for name, document := range map[string]map[string]any{
		"none":         {},
		"NotAction":    {"Statement": map[string]any{"Effect": "Allow", "NotAction": "x", "Resource": "y"}},
		"NotResource":  {"Statement": []any{map[string]any{"Effect": "Allow", "Action": "x", "NotResource": "y"}}},
		"a text":       {"Statement": "x"},
		"a condition":  {"Statement": map[string]any{"Effect": "Allow", "Condition": "x"}},
		"an If inside": {"Statement": map[string]any{"Fn::If": []any{"C", "x", "y"}}},
	} {
		if got, err := Statements(document); err == nil {
			t.Errorf("%s was taken: %v", name, got)
		}
	}
}

func TestShort(t *testing.T) {
	for want, v := range map[string]any{
		"x": "x", "true": true, "3": 3.0, "": nil,
		"${A}":             map[string]any{"Ref": "A"},
		"${A.Arn}":         map[string]any{"Fn::GetAtt": []any{"A", "Arn"}},
		"${A.B.C}":         map[string]any{"Fn::GetAtt": "A.B.C"},
		"${A}/x":           map[string]any{"Fn::Sub": "${A}/x"},
		`{"Fn::If":["C"]}`: map[string]any{"Fn::If": []any{"C"}},
	} {
		if got := Short(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}
