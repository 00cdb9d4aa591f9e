package lambdarun

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// The names that events of the authorizer carry instead of a tool's, where none is known: the
// request was none, or did not say which tool it is in a place that the authorizer can see.
const (
	namedMCP   = "_mcp"   // /mcp
	namedTools = "_tools" // GET /tools
	namedAudit = "_audit" // GET /audit
	namedOther = "_other" // any other route
)

// operation is what the authorizer can tell of a request.
type operation struct {
	name      string           // the tool, or one of the names above
	scopes    []identity.Scope // what it needs; none: the function decides
	transport audit.Transport
}

// operationOf reads the route, or for a modern MCP request its headers. A tool it does not know
// needs nothing here: the function refuses it, and says so better.
func (cfg AuthorizerConfig) operationOf(e *events.APIGatewayCustomAuthorizerRequestTypeRequest) operation {
	switch path := routeOf(e); {
	case path == "/mcp":
		return cfg.toolOperation(mcpToolOf(e), namedMCP, audit.MCP)
	case path == "/audit":
		return operation{name: namedAudit, scopes: []identity.Scope{identity.AuditRead}, transport: audit.REST}
	case path == "/tools":
		return operation{name: namedTools, transport: audit.REST}
	case strings.HasPrefix(path, "/tools/"):
		return cfg.toolOperation(strings.TrimPrefix(path, "/tools/"), namedOther, audit.REST)
	}
	return operation{name: namedOther, transport: audit.REST}
}

// toolOperation is a call of the named tool, which needs no scope if there is none of that name.
func (cfg AuthorizerConfig) toolOperation(name, otherwise string, transport audit.Transport) operation {
	scopes, _ := cfg.ScopesOf(name)
	return operation{name: cmp.Or(name, otherwise), scopes: scopes, transport: transport}
}

// routeOf returns the path of the route that API Gateway chose, its parameters filled in. The
// path of the request may have a stage or a base path before it.
func routeOf(e *events.APIGatewayCustomAuthorizerRequestTypeRequest) string {
	route := e.Resource
	if route == "" {
		return e.Path
	}
	for name, value := range e.PathParameters {
		route = strings.NewReplacer("{"+name+"}", value, "{"+name+"+}", value).Replace(route)
	}
	return route
}

// Headers that say which tool a request calls count from this version of MCP on: earlier ones
// do not compare them with the body. Source: MCP 2026-07-28, Streamable HTTP, request headers.
const firstWithHeaders = "2026-07-28"

var versionForm = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)

// mcpToolOf returns the tool that a modern tools/call names in its headers, or nothing.
// Whatever is missing, repeated or malformed is for the function to refuse.
func mcpToolOf(e *events.APIGatewayCustomAuthorizerRequestTypeRequest) string {
	header := func(name string) string {
		value, _ := headerValue(e.Headers, e.MultiValueHeaders, name)
		return strings.TrimSpace(value)
	}
	version := header("MCP-Protocol-Version")
	if e.HTTPMethod != http.MethodPost || !versionForm.MatchString(version) || version < firstWithHeaders || header("Mcp-Method") != "tools/call" {
		return ""
	}
	return decodeName(header("Mcp-Name"))
}

// decodeName reads a header value that may be written as =?base64?…?= (MCP 2026-07-28).
func decodeName(value string) string {
	rest, ok := strings.CutPrefix(value, "=?base64?")
	if !ok {
		return value
	}
	encoded, ok := strings.CutSuffix(rest, "?=")
	if !ok {
		return ""
	}
	name, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return ""
	}
	return string(name)
}
