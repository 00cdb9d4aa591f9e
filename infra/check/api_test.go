package check

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/infra/stack"
	"github.com/aacworkflow/mcp-connector/shared/gateway"
)

// routes are the methods of the API that are not those of the tools, by hand: which program
// answers, and whether it needs a token.
var routes = map[string]string{
	"POST /mcp":         "mcp",
	"GET /mcp":          "mcp",
	"DELETE /mcp":       "mcp",
	"ANY /tools/{name}": "mcp",
	"GET /tools":        "discovery",
	"GET /health":       "discovery, public",
	"GET /audit":        "audit_query",
}

const apiID, stageID = "Api", "Apiv1Stage"

var functionInURI = regexp.MustCompile(`functions/\$\{(\w+)\.Arn\}/invocations$`)

// checkRoutes compares the API's methods with the table and the promised tools.
func checkRoutes(s *stack.Stack) (findings []string, seen int) {
	want := maps.Clone(routes)
	for tool := range promises {
		want["POST /tools/"+tool] = tool
	}
	got, err := routesOf(s)
	if err != nil {
		return []string{err.Error()}, 0
	}
	for _, route := range slices.Sorted(maps.Keys(got)) {
		if want[route] != got[route] {
			findings = append(findings, fmt.Sprintf("%s is answered by %s, want %q", route, got[route], want[route]))
		}
	}
	for route, program := range want {
		if got[route] == "" {
			findings = append(findings, fmt.Sprintf("%s is missing; it leads to %s", route, program))
		}
	}
	return findings, len(got)
}

func routesOf(s *stack.Stack) (map[string]string, error) {
	functions, err := s.Functions()
	if err != nil {
		return nil, err
	}
	programs := map[string]string{}
	for program, f := range functions {
		programs[f.LogicalID] = program
	}
	paths, _ := stack.At(s.Resources[apiID].Properties, "Body", "paths").(map[string]any)
	found := map[string]string{}
	for path, methods := range paths {
		for method, v := range methods.(map[string]any) {
			name := strings.ToUpper(method)
			if method == "x-amazon-apigateway-any-method" {
				name = "ANY"
			}
			uri := functionInURI.FindStringSubmatch(stack.Short(stack.At(v, "x-amazon-apigateway-integration", "uri")))
			if uri == nil || programs[uri[1]] == "" {
				return nil, fmt.Errorf("%s %s does not lead to a function", name, path)
			}
			program := programs[uri[1]]
			switch security := stack.Short(stack.At(v, "security")); security {
			case `[{"Token":[]}]`:
			case `[{"NONE":[]}]`:
				program += ", public"
			default:
				return nil, fmt.Errorf("%s %s has the security %s", name, path, security)
			}
			found[name+" "+path] = program
		}
	}
	return found, nil
}

// checkFrontDoor holds what the code relies on API Gateway for.
func checkFrontDoor(s *stack.Stack) (findings []string) {
	api, stage := s.Resources[apiID].Properties, s.Resources[stageID].Properties
	authorizer := stack.At(api, "Body", "components", "securitySchemes", "Token", "x-amazon-apigateway-authorizer")
	schemes, _ := stack.At(api, "Body", "components", "securitySchemes").(map[string]any)
	settings, _ := stage["MethodSettings"].([]any)
	var setting any
	if len(settings) == 1 {
		setting = settings[0]
	}
	for what, is := range map[string]bool{
		"the authorizer must get the request, not only a token":         stack.At(authorizer, "type") == "request",
		"the authorizer must be asked for every request (TTL 0)":        fmt.Sprint(stack.At(authorizer, "authorizerResultTtlInSeconds")) == "0",
		"a request without Authorization must be refused":               stack.At(authorizer, "identitySource") == "method.request.header.Authorization",
		"the authorizer is functions/authorizer":                        strings.Contains(stack.Short(stack.At(authorizer, "authorizerUri")), "AuthorizerFunction.Arn"),
		"there must be one authorizer":                                  len(schemes) == 1,
		"there must be one stage":                                       len(s.Names("AWS::ApiGateway::Stage")) == 1 && stage["StageName"] == "v1",
		"the API must be a regional one":                                stack.Short(stack.At(api, "EndpointConfiguration", "Types")) == `["REGIONAL"]`,
		"the default address must be off when there is a domain":        strings.Contains(stack.Short(stack.At(api, "Body", "servers")), `"disableExecuteApiEndpoint":{"Fn::If":["HasDomain",true,false]}`),
		"no body is binary":                                             api["BinaryMediaTypes"] == nil && stack.At(api, "Body", "x-amazon-apigateway-binary-media-types") == nil,
		"all methods must have limits":                                  stack.At(setting, "ResourcePath") == "/*" && stack.At(setting, "HttpMethod") == "*" && stack.Short(stack.At(setting, "ThrottlingRateLimit")) == "${ThrottleRate}" && stack.Short(stack.At(setting, "ThrottlingBurstLimit")) == "${ThrottleBurst}",
		"requests and answers must not be logged":                       stack.At(setting, "DataTraceEnabled") == false && stack.At(setting, "LoggingLevel") == "OFF",
		"nothing may be cached":                                         stack.At(setting, "CachingEnabled") == nil && stage["CacheClusterEnabled"] == nil,
		"the access log must tell what the authorizer said":             strings.Contains(fmt.Sprint(stack.At(stage, "AccessLogSetting", "Format")), "$context.authorizer.error") && strings.Contains(fmt.Sprint(stack.At(stage, "AccessLogSetting", "Format")), "$context.error.responseType"),
		"the access log must not hold paths, which callers make up":     !regexp.MustCompile(`\$context\.(path|customDomain)\b`).MatchString(fmt.Sprint(stack.At(stage, "AccessLogSetting", "Format"))),
		"traces must be on":                                             stage["TracingEnabled"] == true,
		"a custom domain must lead to the root, with no path before it": s.Resources["ApiMapping"].Properties["BasePath"] == nil && s.Resources["ApiMapping"].Type == "AWS::ApiGateway::BasePathMapping",
	} {
		if !is {
			findings = append(findings, what)
		}
	}
	return findings
}

// checkResponses compares the gateway responses with those of the emulation, which local mode
// and the tests live with.
func checkResponses(s *stack.Stack) (findings []string, seen int) {
	declared, _ := stack.At(s.Resources[apiID].Properties, "Body", "x-amazon-apigateway-gateway-responses").(map[string]any)
	for kind := range declared {
		if !slices.ContainsFunc(gateway.Responses, func(r gateway.Response) bool { return string(r.Type) == kind }) {
			findings = append(findings, fmt.Sprintf("the gateway response %s is not in shared/gateway/responses.go", kind))
		}
	}
	for _, want := range gateway.Responses {
		v, ok := declared[string(want.Type)]
		if !ok {
			findings = append(findings, fmt.Sprintf("the gateway response %s is missing", want.Type))
			continue
		}
		seen++
		got, err := responseOf(want.Type, v)
		if err != nil {
			findings = append(findings, fmt.Sprintf("the gateway response %s: %v", want.Type, err))
			continue
		}
		slices.SortFunc(got.Headers, byName)
		want.Headers = slices.Clone(want.Headers)
		slices.SortFunc(want.Headers, byName)
		if d := cmp.Diff(want, got); d != "" {
			findings = append(findings, fmt.Sprintf("the gateway response %s differs from shared/gateway/responses.go (-there +template):\n%s", want.Type, d))
		}
	}
	return findings, seen
}

func byName(a, b gateway.Header) int { return strings.Compare(a.Name, b.Name) }

func responseOf(kind gateway.ResponseType, v any) (gateway.Response, error) {
	r := gateway.Response{Type: kind}
	if status, ok := stack.At(v, "statusCode").(string); ok {
		var err error
		if r.Status, err = strconv.Atoi(status); err != nil {
			return r, err
		}
	}
	headers, _ := stack.At(v, "responseParameters").(map[string]any)
	for name, value := range headers {
		header, ok := strings.CutPrefix(name, "gatewayresponse.header.")
		if !ok {
			return r, fmt.Errorf("%s is no header", name)
		}
		text, err := headerText(value)
		if err != nil {
			return r, fmt.Errorf("%s: %w", header, err)
		}
		r.Headers = append(r.Headers, gateway.Header{Name: header, Value: text})
	}
	templates, _ := stack.At(v, "responseTemplates").(map[string]any)
	if len(templates) != 1 {
		return r, fmt.Errorf("it must have one template, for application/json")
	}
	r.Body, _ = templates["application/json"].(string)
	return r, nil
}

// headerText reads a header that is a text, or is one with the address of the API in it and,
// where there is no address, the same without that part.
func headerText(v any) (string, error) {
	if text, ok := v.(string); ok {
		return text, nil
	}
	choice, _ := stack.At(v, "Fn::If").([]any)
	if len(choice) != 3 || choice[0] != "HasPublicBaseUrl" {
		return "", fmt.Errorf("it depends on something else than the address: %s", stack.Short(v))
	}
	with, _ := stack.At(choice[1], "Fn::Sub").([]any)
	if len(with) != 2 {
		return "", fmt.Errorf("the address is not put in: %s", stack.Short(choice[1]))
	}
	text, _ := with[0].(string)
	without := regexp.MustCompile(`resource_metadata="[^"]*", `).ReplaceAllString(text, "")
	if choice[2] != without || stack.Short(with[1]) != `{"PublicBaseUrl":{"Fn::If":["HasDomain",{"Fn::Sub":"https://${DomainName}"},{"Ref":"PublicBaseUrl"}]}}` {
		return "", fmt.Errorf("without an address it must be %s", without)
	}
	return text, nil
}
