package lambdarun

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// What is believed of an event. The request context is API Gateway's and the authorizer's word;
// all else (path, query, headers, body) is the client's. Who calls is therefore taken from
// requestContext.authorizer alone, and where a value is missing there is nobody.

// The keys of the authorizer's context. All values are strings: API Gateway makes strings of
// all of them anyway, and other hosts do not.
const (
	keyWorkspaceID = "workspace_id"
	keyUserID      = "user_id"
	keyTokenID     = "token_id"
	keyName        = "name"
	keyRole        = "role"
	keyScopes      = "scopes" // space-separated
	keyCanStepUp   = "can_step_up"
)

// contextOf writes a principal into an authorizer context.
func contextOf(p *identity.Principal) map[string]any {
	return map[string]any{
		keyWorkspaceID: p.WorkspaceID, keyUserID: p.UserID, keyTokenID: p.TokenID,
		keyName: p.Name, keyRole: string(p.Role), keyScopes: identity.Join(p.Scopes),
		keyCanStepUp: fmt.Sprint(p.CanStepUp),
	}
}

// principalOf reads what contextOf wrote; nil if anything that matters is missing, empty or no
// string.
func principalOf(authorizer map[string]any) *identity.Principal {
	text := func(key string) string { s, _ := authorizer[key].(string); return s }
	if _, ok := authorizer[keyScopes].(string); !ok {
		return nil
	}
	p := &identity.Principal{
		WorkspaceID: text(keyWorkspaceID), UserID: text(keyUserID), TokenID: text(keyTokenID),
		Name: text(keyName), Role: identity.Role(text(keyRole)), Scopes: identity.ParseScopes(text(keyScopes)),
		CanStepUp: text(keyCanStepUp) == "true",
	}
	switch p.Role {
	case identity.Owner, identity.Admin, identity.Member:
	default:
		return nil
	}
	if identity.Require(p) != nil {
		return nil
	}
	return p
}

// isHTTP tells an API Gateway event from the envelope of functions/mcp. Who calls through the
// gateway cannot reach the other branch: whatever they send arrives inside an event, their body
// as a string in it.
func isHTTP(payload []byte) (bool, error) {
	var probe struct {
		RequestContext json.RawMessage `json:"requestContext"`
	}
	if err := json.Unmarshal(payload, &probe); err != nil {
		return false, fmt.Errorf("the payload is neither an API Gateway event nor a tool request: %w", err)
	}
	return probe.RequestContext != nil, nil
}

// headerValues returns all values of a header, whatever its case and in whichever of the two
// maps the event has it.
func headerValues(single map[string]string, multi map[string][]string, name string) []string {
	var values []string
	for key, found := range multi {
		if strings.EqualFold(key, name) {
			values = append(values, found...)
		}
	}
	if len(multi) > 0 {
		return values
	}
	for key, found := range single {
		if strings.EqualFold(key, name) {
			values = append(values, found)
		}
	}
	return values
}

// headerValue returns the value of a header that is there exactly once.
func headerValue(single map[string]string, multi map[string][]string, name string) (string, bool) {
	values := headerValues(single, multi, name)
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
}

// originOf says how the call came; client software is named by its User-Agent.
func originOf(callID, sourceIP string, single map[string]string, multi map[string][]string) audit.Origin {
	userAgent, _ := headerValue(single, multi, "User-Agent")
	traceparent, _ := headerValue(single, multi, "traceparent")
	amzn, _ := headerValue(single, multi, "X-Amzn-Trace-Id")
	return audit.Origin{
		CallID: callID, SourceIP: sourceIP,
		Client: audit.ClientOf(userAgent), TraceID: audit.TraceIDOf(traceparent, amzn),
	}
}

func originOfEvent(e *events.APIGatewayProxyRequest) audit.Origin {
	return originOf(e.RequestContext.RequestID, e.RequestContext.Identity.SourceIP, e.Headers, e.MultiValueHeaders)
}

// bodyOf returns the bytes that the client sent.
func bodyOf(e *events.APIGatewayProxyRequest) ([]byte, error) {
	if !e.IsBase64Encoded {
		return []byte(e.Body), nil
	}
	return base64.StdEncoding.DecodeString(e.Body)
}
