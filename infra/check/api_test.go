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
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
)

// routes are the methods of the API that are not those of the tools, by hand: which program
// answers, and whether it needs a token.
var routes = map[string]string{
	"POST /mcp":                    "mcp",
	"GET /mcp":                     "mcp",
	"DELETE /mcp":                  "mcp",
	"ANY /tools/{name}":            "mcp",
	"GET /tools":                   "discovery",
	"GET /health":                  "discovery, public",
	"GET /.well-known/{document+}": "discovery, public",
	"POST /register":               "discovery, public",
	"GET /audit":                   "audit_query",
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
			if method == "options" {
				if err := checkPreflight(v); err != nil {
					return nil, fmt.Errorf("OPTIONS %s: %w", path, err)
				}
				continue
			}
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

// checkPreflight holds that API Gateway itself answers a preflight, and says no more than which
// headers and methods there are.
func checkPreflight(v any) error {
	answer := stack.Short(stack.At(v, "x-amazon-apigateway-integration", "responses", "default", "responseParameters"))
	const headers = `"method.response.header.Access-Control-Allow-Headers":"'Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name'"`
	if stack.At(v, "x-amazon-apigateway-integration", "type") != "mock" || !strings.Contains(answer, headers) || strings.Contains(answer, "Credentials") {
		return fmt.Errorf("it is not answered as shared/gateway/cors.go does: %s", stack.Short(v))
	}
	return nil
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
		"the API must refuse TLS below 1.2":                             api["SecurityPolicy"] == "SecurityPolicy_TLS13_1_2_2021_06" && api["EndpointAccessMode"] == "BASIC",
		"a custom domain must refuse TLS below 1.2":                     s.Resources["ApiDomain"].Properties["SecurityPolicy"] == "TLS_1_2" && len(s.Names("AWS::ApiGateway::DomainName")) == 1,
		"no body is binary":                                             api["BinaryMediaTypes"] == nil && stack.At(api, "Body", "x-amazon-apigateway-binary-media-types") == nil,
		"all methods must have limits":                                  stack.At(setting, "ResourcePath") == "/*" && stack.At(setting, "HttpMethod") == "*" && stack.Short(stack.At(setting, "ThrottlingRateLimit")) == "${ThrottleRate}" && stack.Short(stack.At(setting, "ThrottlingBurstLimit")) == "${ThrottleBurst}",
		"requests and answers must not be logged":                       stack.At(setting, "DataTraceEnabled") == false && stack.At(setting, "LoggingLevel") == "OFF",
		"nothing may be cached":                                         stack.At(setting, "CachingEnabled") == nil && stage["CacheClusterEnabled"] == nil,
		"the access log must tell what the authorizer said":             strings.Contains(fmt.Sprint(stack.At(stage, "AccessLogSetting", "Format")), "$context.authorizer.error") && strings.Contains(fmt.Sprint(stack.At(stage, "AccessLogSetting", "Format")), "$context.error.responseType"),
		"traces must be on":                                             stage["TracingEnabled"] == true,
		"a custom domain must lead to the root, with no path before it": s.Resources["ApiMapping"].Properties["BasePath"] == nil && s.Resources["ApiMapping"].Type == "AWS::ApiGateway::BasePathMapping",
	} {
		if !is {
			findings = append(findings, what)
		}
	}
	return append(findings, checkAccessLog(fmt.Sprint(stack.At(stage, "AccessLogSetting", "Format")))...)
}

// logged is all that the access log may tell, by hand. What a caller makes up is not in it (paths,
// query strings, headers, the name of the client), nor is a token.
const logged = "authorizer.error authorizer.latency authorizer.principalId authorizer.status authorizer.token_id authorizer.workspace_id error.responseType httpMethod " +
	"identity.sourceIp integration.error integration.status integrationLatency requestId requestTime resourcePath responseLatency responseLength status " +
	"waf.status xrayTraceId"

var contextVariable = regexp.MustCompile(`\$([\w.]+)`)

func checkAccessLog(format string) (findings []string) {
	allowed := strings.Fields(logged)
	for _, m := range contextVariable.FindAllStringSubmatch(format, -1) {
		if name, ok := strings.CutPrefix(m[1], "context."); !ok || !slices.Contains(allowed, name) {
			findings = append(findings, fmt.Sprintf("the access log must not hold $%s: say in infra/check/api_test.go that it may", m[1]))
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
		got, err := responseOf(s, want.Type, v, map[string]string{"PublicBaseUrl": gateway.PublicBaseURL})
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

func responseOf(s *stack.Stack, kind gateway.ResponseType, v any, parameters map[string]string) (gateway.Response, error) {
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
		text, err := s.Evaluate(value, parameters)
		if err != nil {
			return r, fmt.Errorf("%s: %w", header, err)
		}
		if text != "" {
			r.Headers = append(r.Headers, gateway.Header{Name: header, Value: text})
		}
	}
	templates, _ := stack.At(v, "responseTemplates").(map[string]any)
	if len(templates) != 1 {
		return r, fmt.Errorf("it must have one template, for application/json")
	}
	r.Body, _ = templates["application/json"].(string)
	return r, nil
}

// checkChallenge compares the challenge of a 401 with that of the programs, for each way in which
// callers may sign in.
func checkChallenge(s *stack.Stack) (findings []string) {
	v := stack.At(s.Resources[apiID].Properties, "Body", "x-amazon-apigateway-gateway-responses", "UNAUTHORIZED")
	for name, tt := range map[string]struct {
		parameters map[string]string
		config     signin.Config
	}{
		"nothing known": {nil, signin.Config{}},
		"an address":    {map[string]string{"PublicBaseUrl": "https://a.example/v1"}, signin.Config{BaseURL: "https://a.example/v1"}},
		"a domain":      {map[string]string{"DomainName": "mcp.example.com"}, signin.Config{BaseURL: "https://mcp.example.com"}},
		"a prefix": {map[string]string{"PublicBaseUrl": "https://a.example", "OAuthScopePrefix": "api/"},
			signin.Config{BaseURL: "https://a.example", Issuer: signin.Issuer{ScopePrefix: "api/"}}},
		"all scopes": {map[string]string{"ChallengeAllScopes": "true", "OAuthScopePrefix": "api/"},
			signin.Config{AllScopes: true, Issuer: signin.Issuer{ScopePrefix: "api/"}}},
	} {
		r, err := responseOf(s, gateway.Unauthorized, v, tt.parameters)
		if err != nil {
			findings = append(findings, err.Error())
			continue
		}
		want := gateway.Header{Name: "WWW-Authenticate", Value: "'" + tt.config.Challenge() + "'"}
		if !slices.Contains(r.Headers, want) {
			findings = append(findings, fmt.Sprintf("the challenge of a 401, with %s: %v, want %v", name, r.Headers, want))
		}
	}
	return findings
}

// checkReadable holds that pages that may call can read what API Gateway answers by itself.
func checkReadable(s *stack.Stack) (findings []string) {
	responses, _ := stack.At(s.Resources[apiID].Properties, "Body", "x-amazon-apigateway-gateway-responses").(map[string]any)
	for kind, v := range responses {
		r, err := responseOf(s, gateway.ResponseType(kind), v, map[string]string{"AllowedOrigins": "https://app.example.com"})
		for name, value := range map[string]string{"Access-Control-Allow-Origin": "'*'", "Access-Control-Expose-Headers": "'WWW-Authenticate'"} {
			if err != nil || !slices.Contains(r.Headers, gateway.Header{Name: name, Value: value}) {
				findings = append(findings, fmt.Sprintf("pages that may call must be able to read %s: it lacks %s: %v", kind, name, err))
			}
		}
	}
	return findings
}
