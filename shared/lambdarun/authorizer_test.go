package lambdarun_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
)

// tokens is a verifier with one token for each outcome.
type tokens struct{ asked []string }

func (v *tokens) Verify(_ context.Context, secret string) (identity.Principal, error) {
	v.asked = append(v.asked, secret)
	owner := identity.Principal{WorkspaceID: "w1", UserID: "u1", TokenID: "t1", Scopes: []identity.Scope{identity.IssuesRead}}
	refused := func(r fault.Reason) error { return fault.New(fault.Unauthenticated, r, "no") }
	switch secret {
	case "good":
		owner.Name, owner.Role = "Ada", identity.Member
		return owner, nil
	case "expired":
		return owner, refused(fault.TokenExpired)
	case "revoked":
		return owner, refused(fault.TokenRevoked)
	case "down":
		return owner, errors.New("secret of the storage")
	case "nobody":
		return identity.Principal{}, nil
	case "panic":
		panic("secret of the verifier")
	case "dark":
		return identity.Principal{}, errors.New("secret of the storage")
	}
	return identity.Principal{}, fault.New(fault.Unauthenticated, fault.TokenUnknown, "no").Because(errors.New("its audience is another one"))
}

type authorizerWorld struct {
	*world
	tokens
	signIn    signin.Config
	logsAll   bool // no counter is set
	anonymous []fault.Reason
}

func newAuthorizerWorld(t *testing.T) *authorizerWorld {
	return &authorizerWorld{world: newWorld(t), signIn: signin.Config{BaseURL: "https://mcp.example.com"}}
}

// count is the counter of anonymous refusals.
func (w *authorizerWorld) count() func(context.Context, fault.Reason) {
	if w.logsAll {
		return nil
	}
	return func(_ context.Context, r fault.Reason) { w.anonymous = append(w.anonymous, r) }
}

func (w *authorizerWorld) handler() lambdarun.Handler {
	return lambdarun.Authorizer(lambdarun.AuthorizerConfig{
		Verifier: &w.tokens, SignIn: w.signIn,
		ScopesOf: func(tool string) ([]identity.Scope, bool) {
			scopes, ok := map[string][]identity.Scope{
				"list_issues": {identity.IssuesRead}, "delete_issue": {identity.IssuesWrite},
			}[tool]
			return scopes, ok
		},
		Audit: w.settings(), Log: w, Logger: w.logger(),
		Anonymous: w.count(),
	})
}

const arn = "arn:aws:execute-api:eu-west-1:1:api/v1/POST/tools/list_issues"

type authorizerEvent = events.APIGatewayCustomAuthorizerRequestTypeRequest

func request(method, path string, headers ...string) authorizerEvent {
	e := authorizerEvent{Type: "REQUEST", MethodArn: arn, Resource: path, Path: "/v1" + path, HTTPMethod: method,
		Headers: map[string]string{}, MultiValueHeaders: map[string][]string{}}
	if rest, ok := strings.CutPrefix(path, "/tools/"); ok {
		e.Resource, e.PathParameters = "/tools/{name}", map[string]string{"name": rest}
	}
	e.RequestContext.RequestID, e.RequestContext.Identity.SourceIP = "call-1", "192.0.2.7"
	for i := 0; i < len(headers); i += 2 {
		e.Headers[headers[i]] = headers[i+1]
		e.MultiValueHeaders[headers[i]] = append(e.MultiValueHeaders[headers[i]], headers[i+1])
	}
	return e
}

func (w *authorizerWorld) authorize(e authorizerEvent) (events.APIGatewayCustomAuthorizerResponse, error) {
	w.t.Helper()
	payload, err := json.Marshal(e)
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := w.handler().Invoke(context.Background(), payload)
	var response events.APIGatewayCustomAuthorizerResponse
	if err == nil {
		if err := json.Unmarshal(answer, &response); err != nil {
			w.t.Fatalf("answer %s", answer)
		}
	}
	return response, err
}

func TestAuthorizerAllows(t *testing.T) {
	w := newAuthorizerWorld(t)
	got, err := w.authorize(request("POST", "/tools/list_issues", "Authorization", "Bearer good"))
	if err != nil {
		t.Fatal(err)
	}
	want := events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: "u1",
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{Version: "2012-10-17", Statement: []events.IAMPolicyStatement{
			{Action: []string{"execute-api:Invoke"}, Effect: "Allow", Resource: []string{arn}},
		}},
		Context: map[string]any{"workspace_id": "w1", "user_id": "u1", "token_id": "t1", "name": "Ada", "role": "member",
			"scopes": "issues:read", "can_step_up": "false"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(w.events) != 0 {
		t.Errorf("what is allowed is for the function to record: %+v", w.events)
	}
}

// The function reads what the authorizer wrote.
func TestAuthorizerContextReachesTheFunction(t *testing.T) {
	w := newAuthorizerWorld(t)
	got, err := w.authorize(request("POST", "/tools/list_issues", "Authorization", "Bearer good"))
	if err != nil {
		t.Fatal(err)
	}
	e := event(nil, `{}`)
	e.RequestContext.Authorizer = got.Context
	if reply := send(t, lambdarun.Tool(w.bound(), w.logger()), e); reply.StatusCode != 403 || w.oneEvent().TokenID != "t1" {
		t.Errorf("%d %s", reply.StatusCode, reply.Body)
	}
}

func TestAuthorizerUnauthorized(t *testing.T) {
	tests := []struct {
		name    string
		headers []string
		event   fault.Reason // recorded
		counted fault.Reason // not recorded
	}{
		{"none", nil, "", fault.TokenMalformed},
		{"empty", []string{"Authorization", ""}, "", fault.TokenMalformed},
		{"no token", []string{"Authorization", "Bearer"}, "", fault.TokenMalformed},
		{"only spaces", []string{"Authorization", "Bearer   "}, "", fault.TokenMalformed},
		{"other scheme", []string{"Authorization", "Basic good"}, "", fault.TokenMalformed},
		{"no scheme", []string{"Authorization", "good"}, "", fault.TokenMalformed},
		{"two tokens", []string{"Authorization", "Bearer good good"}, "", fault.TokenMalformed},
		{"a list", []string{"Authorization", "Bearer good, Bearer good"}, "", fault.TokenMalformed},
		{"two headers", []string{"Authorization", "Bearer good", "Authorization", "Bearer good"}, "", fault.TokenMalformed},
		{"two spellings", []string{"Authorization", "Bearer good", "authorization", "Bearer other"}, "", fault.TokenMalformed},
		{"other headers", []string{"X-Authorization", "Bearer good", "Cookie", "token=good"}, "", fault.TokenMalformed},
		{"unknown", []string{"Authorization", "Bearer stranger"}, "", fault.TokenUnknown},
		{"expired", []string{"Authorization", "Bearer expired"}, fault.TokenExpired, ""},
		{"revoked", []string{"Authorization", "Bearer revoked"}, fault.TokenRevoked, ""},
	}
	for _, tt := range tests {
		w := newAuthorizerWorld(t)
		e := request("POST", "/tools/delete_issue", tt.headers...)
		e.QueryStringParameters = map[string]string{"access_token": "good", "authorization": "Bearer good"}
		_, err := w.authorize(e)
		if err == nil || err.Error() != "Unauthorized" {
			t.Errorf("%s: error %v, want exactly Unauthorized", tt.name, err)
		}
		if tt.counted != "" && (len(w.events) != 0 || len(w.anonymous) != 1 || w.anonymous[0] != tt.counted) {
			t.Errorf("%s: events %v, counted %v; want %s counted", tt.name, w.events, w.anonymous, tt.counted)
		}
		if tt.event == "" {
			continue
		}
		want := audit.Event{
			Tool: "delete_issue", Outcome: fault.Denied, Reason: tt.event, ScopesProvided: []string{"issues:read"}, Timestamp: now,
			EventID: "E1", CallID: "call-1", WorkspaceID: "w1", Actor: "u1", TokenID: "t1", Transport: audit.REST,
			Recorder: audit.RecorderAuthorizer, ScopesRequired: []string{"issues:write"}, SourceIP: "192.0.2.7",
		}
		if diff := cmp.Diff(want, w.oneEvent()); diff != "" || len(w.anonymous) != 0 {
			t.Errorf("%s: %s, counted %v", tt.name, diff, w.anonymous)
		}
	}
}

func TestAuthorizerReadsTheHeaderInAnyCase(t *testing.T) {
	for _, header := range [][2]string{{"authorization", "bearer good"}, {"AUTHORIZATION", "BEARER  good"}, {"Authorization", " Bearer good "}} {
		w := newAuthorizerWorld(t)
		if _, err := w.authorize(request("POST", "/tools/list_issues", header[0], header[1])); err != nil {
			t.Errorf("%q: %v", header, err)
		}
		e := request("POST", "/tools/list_issues", header[0], header[1])
		e.MultiValueHeaders = nil
		if _, err := w.authorize(e); err != nil {
			t.Errorf("%q as a single value: %v", header, err)
		}
	}
}

// What is denied early, for which tool, and what is left to the function.
func TestAuthorizerScopes(t *testing.T) {
	modern := func(name string, more ...string) authorizerEvent {
		return request("POST", "/mcp", append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", name}, more...)...)
	}
	withHeader := func(e authorizerEvent, name string, values ...string) authorizerEvent {
		e.MultiValueHeaders[name] = values
		return e
	}
	plain := request("POST", "/tools/delete_issue")
	plain.Resource, plain.PathParameters = "/tools/delete_issue", nil
	bare := request("POST", "/tools/delete_issue")
	bare.Resource, bare.PathParameters, bare.Path = "", nil, "/tools/delete_issue"
	tests := []struct {
		name  string
		event authorizerEvent
		tool  string // of the denial; empty: allowed
		scope string
	}{
		{"tool by path parameter", request("POST", "/tools/delete_issue"), "delete_issue", "issues:write"},
		{"tool by resource", plain, "delete_issue", "issues:write"},
		{"tool by path", bare, "delete_issue", "issues:write"},
		{"own scope", request("POST", "/tools/list_issues"), "", ""},
		{"unknown tool", request("POST", "/tools/drop_all"), "", ""},
		{"tool in other case", request("POST", "/tools/Delete_Issue"), "", ""},
		{"list of tools", request("GET", "/tools"), "", ""},
		{"audit", request("GET", "/audit"), "_audit", "audit:read"},
		{"elsewhere", request("GET", "/elsewhere"), "", ""},
		{"modern call", modern("delete_issue"), "delete_issue", "issues:write"},
		{"modern call, later version", withHeader(modern("delete_issue"), "MCP-Protocol-Version", "2027-01-01"), "delete_issue", "issues:write"},
		{"modern call, other case of headers", request("POST", "/mcp", "mcp-protocol-version", "2026-07-28", "MCP-METHOD", "tools/call", "mcp-name", " delete_issue "), "delete_issue", "issues:write"},
		{"modern call, encoded name", modern("=?base64?ZGVsZXRlX2lzc3Vl?="), "delete_issue", "issues:write"},
		{"modern call, badly encoded name", modern("=?base64?ZGVsZXRlX2lzc3V?="), "", ""},
		{"modern call, half encoded name", modern("=?base64?ZGVsZXRlX2lzc3Vl"), "", ""},
		{"modern call, own scope", modern("list_issues"), "", ""},
		{"modern call, unknown tool", modern("drop_all"), "", ""},
		{"modern call, two names", withHeader(modern("list_issues"), "Mcp-Name", "delete_issue", "delete_issue"), "", ""},
		{"modern, not a call", withHeader(modern("delete_issue"), "Mcp-Method", "tools/list"), "", ""},
		{"legacy", withHeader(modern("delete_issue"), "MCP-Protocol-Version", "2025-11-25"), "", ""},
		{"no version", withHeader(modern("delete_issue"), "MCP-Protocol-Version"), "", ""},
		{"version that is none", withHeader(modern("delete_issue"), "MCP-Protocol-Version", "latest"), "", ""},
		{"two versions", withHeader(modern("delete_issue"), "MCP-Protocol-Version", "2026-07-28", "2025-11-25"), "", ""},
	}
	denied := 0
	for _, tt := range tests {
		w := newAuthorizerWorld(t)
		tt.event.MultiValueHeaders["Authorization"] = []string{"Bearer good"}
		got, err := w.authorize(tt.event)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if tt.tool == "" {
			if got.PolicyDocument.Statement[0].Effect != "Allow" || len(w.events) != 0 {
				t.Errorf("%s: %+v, events %v", tt.name, got, w.events)
			}
			continue
		}
		denied++
		want := map[string]any{
			"wwwAuthenticate": fmt.Sprintf(`Bearer error="insufficient_scope", scope="%s", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", error_description="this call needs a scope that the token lacks"`, tt.scope),
			"body":            denialBody(tt.event.Resource, tt.scope, tt.scope),
		}
		if diff := cmp.Diff(want, got.Context); diff != "" || got.PolicyDocument.Statement[0].Effect != "Deny" || got.PrincipalID != "u1" {
			t.Errorf("%s: %+v %s", tt.name, got.PolicyDocument, diff)
		}
		e := w.oneEvent()
		transport := audit.REST
		if strings.HasPrefix(tt.event.Resource, "/mcp") {
			transport = audit.MCP
		}
		if e.Tool != tt.tool || e.Reason != fault.InsufficientScope || e.Recorder != "_authorizer" || e.Transport != transport || e.ScopesRequired[0] != tt.scope {
			t.Errorf("%s: event %+v", tt.name, e)
		}
	}
	if denied != 8 {
		t.Errorf("%d cases were denied; 8 are meant to be", denied)
	}
}

// denialBody is a 403 as a client reads it: JSON-RPC at /mcp, plain elsewhere.
func denialBody(route, scope, asIssued string) string {
	data := fmt.Sprintf(`"reason":"insufficient_scope","scope":%q,"scopes":[%q],"call_id":"call-1"}`, asIssued, scope)
	if strings.HasPrefix(route, "/mcp") {
		return `{"jsonrpc":"2.0","error":{"code":403,"message":"this call needs a scope that the token lacks: ask for a token that has it",` +
			`"data":{"error":"insufficient_scope",` + data + `}}`
	}
	return fmt.Sprintf(`{"error":"this call needs the scope %s: ask for a token that has it",`, scope) + data
}

func TestAuthorizerNamesWhatIsNoTool(t *testing.T) {
	for path, want := range map[string]string{
		"/mcp": "_mcp", "/tools": "_tools", "/audit": "_audit", "/elsewhere": "_other", "/tools/drop all": "drop all", "/tools/": "_other",
	} {
		w := newAuthorizerWorld(t)
		if _, err := w.authorize(request("POST", path, "Authorization", "Bearer expired")); err == nil || w.oneEvent().Tool != want {
			t.Errorf("%s: %v, event of %s, want %s", path, err, w.oneEvent().Tool, want)
		}
	}
}

// A resource of a policy has a limit of its own, which a path may pass.
func TestPolicyOfALongPath(t *testing.T) {
	w := newAuthorizerWorld(t)
	for length, want := range map[int]string{512: "x", 513: "*", 1600: "*"} {
		event := request("POST", "/tools/x", "Authorization", "Bearer good")
		event.MethodArn = strings.Repeat("x", length)
		got, err := w.authorize(event)
		if err != nil {
			t.Fatal(err)
		}
		if r := got.PolicyDocument.Statement[0].Resource[0]; len(r) != 512 || !strings.HasSuffix(r, want) || !strings.HasPrefix(event.MethodArn, r[:511]) {
			t.Errorf("%d characters: %d, ending in %s", length, len(r), r[len(r)-1:])
		}
	}
}

// A failure of ours is 500: neither a denial nor silence.
func TestAuthorizerFails(t *testing.T) {
	tests := []struct {
		name, token string
		logErr      error
		events      int
	}{
		{"token cannot be checked", "dark", nil, 0},
		{"owner cannot be checked", "down", nil, 1}, // the attempt is known to be somebody's
		{"verifier names nobody", "nobody", nil, 0},
		{"panic", "panic", nil, 0},
		{"denial cannot be recorded", "good", errors.New("log down"), 0},
		{"expiry cannot be recorded", "expired", errors.New("log down"), 0},
	}
	for _, tt := range tests {
		w := newAuthorizerWorld(t)
		w.logErr = tt.logErr
		got, err := w.authorize(request("POST", "/tools/delete_issue", "Authorization", "Bearer "+tt.token))
		if err == nil || err.Error() == "Unauthorized" || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
		if len(w.events) != tt.events || tt.events == 1 && w.events[0].Outcome != fault.Failed {
			t.Errorf("%s: events %+v", tt.name, w.events)
		}
		if w.log.Len() == 0 {
			t.Errorf("%s: nothing was logged", tt.name)
		}
		if counts := strings.Contains(w.log.String(), `error="record the call: `); counts != (tt.logErr != nil) {
			t.Errorf("%s: the alarm for calls that are not recorded sees %v in %s", tt.name, counts, &w.log)
		}
		if len(w.anonymous) != 0 {
			t.Errorf("%s was counted as anonymous", tt.name)
		}
	}
}

func TestAuthorizerRefusesOtherEvents(t *testing.T) {
	w := newAuthorizerWorld(t)
	for _, payload := range []string{"", "x", "{}", `{"type":"TOKEN","authorizationToken":"Bearer good"}`} {
		if answer, err := w.handler().Invoke(context.Background(), []byte(payload)); err == nil || err.Error() == "Unauthorized" {
			t.Errorf("%q: %s, %v", payload, answer, err)
		}
	}
}

// Who sets an issuer up finds in the log what the client does not get to know.
func TestAuthorizerLogsWhyNobodyIsKnown(t *testing.T) {
	w := newAuthorizerWorld(t)
	w.logsAll = true
	for token, want := range map[string]string{
		"Bearer stranger": `reason=token_unknown cause="its audience is another one"`, "stranger": "reason=token_malformed",
	} {
		w.log.Reset()
		if _, err := w.authorize(request("POST", "/mcp", "Authorization", token)); err == nil || err.Error() != "Unauthorized" {
			t.Errorf("%s: %v", token, err)
		}
		if got := strings.TrimSpace(w.log.String()); !strings.HasSuffix(got, want) || strings.Count(got, "\n") != 0 {
			t.Errorf("%s: log %s", token, got)
		}
	}
}

// An authorization server that has our scopes under a prefix gets them under it.
func TestAuthorizerNamesScopesAsTheIssuerDoes(t *testing.T) {
	w := newAuthorizerWorld(t)
	w.signIn.Issuer.ScopePrefix = "https://mcp.example.com/mcp/"
	got, err := w.authorize(request("POST", "/tools/delete_issue", "Authorization", "Bearer good"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"wwwAuthenticate": `Bearer error="insufficient_scope", scope="https://mcp.example.com/mcp/issues:write", ` +
			`resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", error_description="this call needs a scope that the token lacks"`,
		"body": denialBody("/tools/delete_issue", "issues:write", "https://mcp.example.com/mcp/issues:write"),
	}
	if diff := cmp.Diff(want, got.Context); diff != "" {
		t.Error(diff)
	}
	if e := w.oneEvent(); e.ScopesRequired[0] != "issues:write" {
		t.Errorf("recorded %v", e.ScopesRequired)
	}
}

func TestAuthorizerNeverLogsTokens(t *testing.T) {
	w := newAuthorizerWorld(t)
	for _, token := range []string{"dark", "down", "panic", "nobody", "stranger"} {
		_, _ = w.authorize(request("POST", "/mcp", "Authorization", "Bearer "+token))
		if strings.Contains(w.log.String(), "Bearer") {
			t.Errorf("%s: %s", token, w.log.String())
		}
	}
}
