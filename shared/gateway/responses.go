package gateway

import (
	"net/http"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// ResponseType is API Gateway's name for a kind of answer that it gives by itself.
type ResponseType string

const (
	Unauthorized               ResponseType = "UNAUTHORIZED"                 // no token, or the authorizer says so
	AccessDenied               ResponseType = "ACCESS_DENIED"                // the policy does not allow it
	MissingAuthenticationToken ResponseType = "MISSING_AUTHENTICATION_TOKEN" // the name misleads: no such route
	RequestTooLarge            ResponseType = "REQUEST_TOO_LARGE"
	Throttled                  ResponseType = "THROTTLED" // never given here
	Default4XX                 ResponseType = "DEFAULT_4XX"
	Default5XX                 ResponseType = "DEFAULT_5XX"

	// Those below have no row of their own; the defaults answer for them.

	BadRequestParameters         ResponseType = "BAD_REQUEST_PARAMETERS"
	AuthorizerFailure            ResponseType = "AUTHORIZER_FAILURE"
	AuthorizerConfigurationError ResponseType = "AUTHORIZER_CONFIGURATION_ERROR"
	IntegrationFailure           ResponseType = "INTEGRATION_FAILURE"
	IntegrationTimedOut          ResponseType = "INTEGRATION_TIMEOUT"
)

// Response is one gateway response, in API Gateway's own terms.
type Response struct {
	Type    ResponseType
	Status  int // 0: that of the cause
	Headers []Header
	// Body is the template for application/json. Variables are replaced as they are, without
	// quoting.
	Body string
}

// Header is a header of a gateway response. Its value is one mapping expression: a text in
// single quotes, or a context variable. ${PublicBaseUrl} is put in when the API is made.
type Header struct{ Name, Value string }

// baselineScope is what the challenge of a 401 asks for unless API.ChallengeScope says otherwise.
// The deployment template has a parameter for it.
const baselineScope = "issues:read"

// PublicBaseURL is the placeholder in a Header for API.PublicBaseURL. It is written as the
// deployment template writes its parameter.
const PublicBaseURL = "${PublicBaseUrl}"

// Variables that the table uses.
const (
	requestIDVariable = "$context.requestId"
	bodyVariable      = "$context.authorizer.body"
	challengeVariable = "context.authorizer.wwwAuthenticate"
)

var noStore = Header{"Cache-Control", "'no-store'"}

// Responses is every gateway response that the API declares. The deployment template must
// declare the same.
//
// The challenge of a 401 is a fixed text without error=, for it also answers a request that
// had no token. Challenge and body of a 403 are composed by the authorizer: a header takes one
// expression, and the routes differ in their bodies.
var Responses = []Response{
	{Unauthorized, http.StatusUnauthorized, []Header{noStore, {"WWW-Authenticate",
		`'Bearer resource_metadata="` + PublicBaseURL + `/.well-known/oauth-protected-resource/mcp", scope="` + baselineScope + `"'`}},
		bodyTemplate("authentication required: send a valid token as Authorization: Bearer", fault.TokenMissing)},
	{AccessDenied, http.StatusForbidden, []Header{noStore, {"WWW-Authenticate", challengeVariable}},
		bodyVariable},
	{MissingAuthenticationToken, http.StatusNotFound, []Header{noStore},
		bodyTemplate("there is nothing under this path for this method: see GET /tools for what there is", fault.TargetNotFound)},
	{RequestTooLarge, http.StatusRequestEntityTooLarge, []Header{noStore},
		bodyTemplate("the request is too large: send less", fault.PayloadTooLarge)},
	{Throttled, http.StatusTooManyRequests, []Header{noStore, {"Retry-After", "'1'"}},
		bodyTemplate("too many calls: wait as Retry-After says, then try again", fault.ReasonRateLimited)},
	{Default4XX, 0, []Header{noStore},
		bodyTemplate("the request cannot be read as it was sent: check its address and headers", fault.InvalidRequest)},
	{Default5XX, 0, []Header{noStore},
		bodyTemplate(fault.InternalText, fault.ReasonInternal)},
}

// bodyTemplate is the error that every entry of the connector answers with.
func bodyTemplate(text string, reason fault.Reason) string {
	f := &fault.Fault{Reason: reason, Text: text}
	return string(f.PublicJSON(requestIDVariable))
}

// responseFor returns the row that answers for a type.
func responseFor(t ResponseType, status int) Response {
	byDefault := Default4XX
	if status >= http.StatusInternalServerError {
		byDefault = Default5XX
	}
	var fallback Response
	for _, r := range Responses {
		switch r.Type {
		case t:
			return r
		case byDefault:
			fallback = r
		}
	}
	return fallback
}

// failure is a request that ends in a gateway response.
type failure struct {
	kind   ResponseType
	status int               // of the cause; a row may have its own
	claims map[string]string // the authorizer's context, of a denial
	cause  error             // for the log
}

// render makes the answer of a failure.
func (g *gateway) render(f *failure, requestID string) reply {
	row := responseFor(f.kind, f.status)
	out := reply{status: f.status, header: http.Header{"Content-Type": {"application/json"}}}
	if row.Status != 0 {
		out.status = row.Status
	}
	for _, h := range row.Headers {
		if value := g.evaluate(h.Value, f.claims); value != "" {
			out.header.Set(h.Name, value)
		}
	}
	out.body = []byte(strings.NewReplacer(requestIDVariable, requestID, bodyVariable, f.claims["body"]).Replace(row.Body))
	return out
}

// evaluate computes a mapping expression.
func (g *gateway) evaluate(expression string, claims map[string]string) string {
	if text, isText := strings.CutPrefix(expression, "'"); isText {
		return strings.NewReplacer(PublicBaseURL, g.PublicBaseURL, `scope="`+baselineScope+`"`, `scope="`+g.ChallengeScope+`"`).
			Replace(strings.TrimSuffix(text, "'"))
	}
	return claims[strings.TrimPrefix(expression, "context.authorizer.")]
}
