package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/infra/stack"
)

// Who else than the programs may do something: who calls a function, and who takes a role.

// callable are the permissions to call a function, in the form that SAM gives them: one for each
// route, and one for the authorizer. Each is for our API in our account, and for that route alone.
func callable() []string {
	permission := func(function, source, names string) string {
		return `{"Action":"lambda:InvokeFunction","FunctionName":` + function + `,"Principal":"apigateway.amazonaws.com",` +
			`"SourceArn":{"Fn::Sub":["arn:aws:execute-api:${AWS::Region}:${AWS::AccountId}:${__ApiId__}/` + source + `",{"__ApiId__":{"Ref":"` + apiID + `"}` + names + `}]}}`
	}
	called := maps.Clone(routes)
	for tool := range promises {
		called["POST /tools/"+tool] = tool
	}
	// The authorizer is called under an id that AWS makes up.
	all := []string{permission(`{"Fn::GetAtt":"AuthorizerFunction.Arn"}`, "authorizers/*", "")}
	for route, program := range called {
		method, path, _ := strings.Cut(route, " ")
		if method == "ANY" {
			method = "*"
		}
		if start := strings.Index(path, "{"); start >= 0 {
			path = path[:start] + "*"
		}
		function := camel(strings.TrimSuffix(program, ", public")) + "Function"
		all = append(all, permission(`{"Ref":"`+function+`"}`, "${__Stage__}/"+method+path, `,"__Stage__":"*"`))
	}
	return all
}

// checkCallers compares the permissions to call a function with those of the routes.
func checkCallers(s *stack.Stack) (findings []string, seen int) {
	want := callable()
	for _, id := range s.Names("AWS::Lambda::Permission") {
		seen++
		got := stack.Short(s.Resources[id].Properties)
		at := slices.Index(want, got)
		if at < 0 {
			findings = append(findings, fmt.Sprintf("%s lets somebody call a function whom infra/check/callers_test.go does not know: %s", id, got))
			continue
		}
		want = slices.Delete(want, at, at+1)
	}
	for _, permission := range want {
		findings = append(findings, "a route lacks its permission: "+permission)
	}
	return findings, seen
}

// takenBy are those who take the roles that are no function's, by hand.
var takenBy = map[string]string{
	"ApiGatewayLogRole": `{"Statement":[{"Action":"sts:AssumeRole","Effect":"Allow","Principal":{"Service":"apigateway.amazonaws.com"}}],"Version":"2012-10-17"}`,
	"ArchiveRole": `{"Statement":[{"Action":"sts:AssumeRole","Condition":{"StringEquals":{"aws:SourceAccount":{"Ref":"AWS::AccountId"}}},` +
		`"Effect":"Allow","Principal":{"Service":"firehose.amazonaws.com"}}],"Version":"2012-10-17"}`,
}

// takenByLambda is who takes the role of a function.
const takenByLambda = `{"Statement":[{"Action":["sts:AssumeRole"],"Effect":"Allow","Principal":{"Service":["lambda.amazonaws.com"]}}],"Version":"2012-10-17"}`

// checkTrust compares whom each role trusts, to the letter: one more statement, or one more kind of
// principal beside the service, would let others take it.
func checkTrust(s *stack.Stack) (findings []string) {
	for _, id := range s.Names("AWS::IAM::Role") {
		want, ok := takenBy[id]
		if !ok {
			want = takenByLambda
		}
		if got := stack.Short(s.Resources[id].Properties["AssumeRolePolicyDocument"]); got != want {
			findings = append(findings, fmt.Sprintf("%s may be taken by others than its service:\n got %s\nwant %s", id, got, want))
		}
	}
	return findings
}
