package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/gateway"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
)

const challenge401 = `Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", scope="issues:read"`

func TestWithoutATokenNobodyIsAsked(t *testing.T) {
	for name, change := range map[string]func(http.Header){
		"none":          func(h http.Header) { h.Del("Authorization") },
		"empty":         func(h http.Header) { h["Authorization"] = []string{""} },
		"last is empty": func(h http.Header) { h["Authorization"] = []string{"Bearer secret", ""} },
		"elsewhere":     func(h http.Header) { h.Del("Authorization"); h.Set("Cookie", "Authorization=Bearer secret") },
	} {
		auth, fn := &seen{answer: allow}, &seen{answer: answers(fine)}
		r := request("POST", "/tools/x?authorization=Bearer", "")
		change(r.Header)
		res := do(serve(t, api(auth, fn)), r)
		wantProblem(t, name, res, http.StatusUnauthorized, "unauthenticated")
		if got := res.Header.Get("WWW-Authenticate"); got != challenge401 {
			t.Errorf("%s: challenge %q", name, got)
		}
		if len(auth.events) != 0 || len(fn.events) != 0 {
			t.Errorf("%s: %d and %d invocations", name, len(auth.events), len(fn.events))
		}
	}
}

func TestTheNameOfTheHeaderHasNoCase(t *testing.T) {
	r := httptest.NewRequest("POST", "/tools/x", nil)
	r.Header["authorization"] = []string{"Bearer secret"}
	if res := do(serve(t, api(allow, answers(fine))), r); res.StatusCode != 200 {
		t.Errorf("status %d", res.StatusCode)
	}
}

// arn is that of POST /tools/x.
const arn = "arn:aws:execute-api:local-1:000000000000:local/local/POST/tools/x"

func TestWhatTheAuthorizerSays(t *testing.T) {
	panics := function(func(context.Context, []byte) ([]byte, error) { panic("nil map") })
	wrapped := function(func(context.Context, []byte) ([]byte, error) {
		return nil, fmt.Errorf("verify: %w", errors.New("Unauthorized"))
	})
	raw := func(document string) function {
		return answers(`{"principalId":"u1","context":` + denied + `,"policyDocument":` + document + `}`)
	}
	tests := []struct {
		name   string
		answer function
		status int
		reason string // empty: the function is reached
	}{
		{"Unauthorized", fails("Unauthorized"), 401, "unauthenticated"},
		{"lower case", fails("unauthorized"), 500, "internal"},
		{"wrapped", wrapped, 500, "internal"},
		{"another error", fails("no table"), 500, "internal"},
		{"panic", panics, 500, "internal"},
		{"allow", allow, 200, ""},
		{"allow this", policy(`{}`, "Allow", arn), 200, ""},
		{"allow, null context", policy(`null`, "Allow", arn), 200, ""},
		{"allow another", policy(denied, "Allow", arn+"y"), 403, "insufficient_scope"},
		{"deny", policy(denied, "Deny", arn), 403, "insufficient_scope"},
		{"allow all, deny this", policy(denied, "Allow", "*", "Deny", arn), 403, "insufficient_scope"},
		{"deny this, allow all", policy(denied, "Deny", arn, "Allow", "*"), 403, "insufficient_scope"},
		{"allow all, deny another", policy(`{}`, "Allow", "*", "Deny", arn+"y"), 200, ""},
		{"context of scalars", policy(`{"a":"b","n":1.5,"t":false}`, "Allow", "*"), 200, ""},
		{"context with an object", policy(`{"a":{}}`, "Allow", "*"), 500, "internal"},
		{"context with a list", policy(`{"a":[]}`, "Allow", "*"), 500, "internal"},
		{"context with null", policy(`{"a":null}`, "Allow", "*"), 500, "internal"},
		{"context with an object, denied", policy(`{"a":{}}`, "Deny", "*"), 500, "internal"},
		{"context is a list", policy(`["a"]`, "Allow", "*"), 500, "internal"},
		{"nothing", answers(``), 500, "internal"},
		{"null", answers(`null`), 500, "internal"},
		{"not JSON", answers(`Allow`), 500, "internal"},
		{"no principal", answers(`{"policyDocument":{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}}`), 500, "internal"},
		{"no policy", answers(`{"principalId":"u1"}`), 500, "internal"},
		{"null policy", raw(`null`), 500, "internal"},
		{"empty policy", raw(`{}`), 500, "internal"},
		{"no statements", raw(`{"Version":"2012-10-17","Statement":[]}`), 500, "internal"},
		{"no version", raw(`{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`), 500, "internal"},
		{"single values", raw(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"execute-api:Invoke","Resource":"*"}}`), 200, ""},
		{"lists", raw(`{"Version":"2012-10-17","Id":"x","Statement":[{"Sid":"s","Effect":"Allow","Action":["a:b","EXECUTE-API:*"],"Resource":["x","*"]}]}`), 200, ""},
		{"another action", raw(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"execute-api:Manage*","Resource":"*"}]}`), 403, "insufficient_scope"},
		{"no effect", raw(`{"Version":"2012-10-17","Statement":[{"Action":"*","Resource":"*"}]}`), 500, "internal"},
		{"effect misspelt", raw(`{"Version":"2012-10-17","Statement":[{"Effect":"allow","Action":"*","Resource":"*"}]}`), 500, "internal"},
		{"no action", raw(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Resource":"*"}]}`), 500, "internal"},
		{"no resource", raw(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*"}]}`), 500, "internal"},
		{"null resource", raw(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":null}]}`), 403, "insufficient_scope"},
		{"condition", raw(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*","Condition":{}}]}`), 500, "internal"},
		{"a long resource", policy(`{}`, "Allow", strings.Repeat("*", gateway.MaxResourceBytes)), 200, ""},
		{"a resource too long", policy(`{}`, "Allow", strings.Repeat("*", gateway.MaxResourceBytes+1)), 500, "internal"},
		{"all resources but", raw(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","NotResource":"x"}]}`), 500, "internal"},
	}
	for _, tt := range tests {
		fn := &seen{answer: answers(fine)}
		res := do(serve(t, api(tt.answer, fn)), request("POST", "/tools/x", "{}"))
		if tt.reason != "" {
			wantProblem(t, tt.name, res, tt.status, tt.reason)
		} else if res.StatusCode != tt.status {
			t.Errorf("%s: %d, want %d", tt.name, res.StatusCode, tt.status)
		}
		if reached := len(fn.events) == 1; reached != (tt.reason == "") {
			t.Errorf("%s: the function ran %d times", tt.name, len(fn.events))
		}
		if got := res.Header.Get("WWW-Authenticate"); (got == challenge401) != (tt.status == 401) {
			t.Errorf("%s: challenge %q", tt.name, got)
		}
	}
}

func TestResourcesOfAPolicy(t *testing.T) {
	for pattern, want := range map[string]bool{
		"*": true, "**": true, arn: true, arn + "*": true, "arn:*": true, "arn:aws:execute-api:*:*:local/local/POST/tools/x": true,
		"arn:aws:execute-api:local-1:000000000000:local/*/POST/*": true, "arn:aws:execute-api:local-1:000000000000:local/local/*/x": true,
		"*x": true, "*/tools/?": true, strings.Replace(arn, "x", "?", 1): true, strings.ReplaceAll(arn, "-", "?"): true,
		"": false, "?": false, arn + "?": false, arn[:len(arn)-1]: false, "*y": false, strings.ToUpper(arn): false,
		"arn:aws:execute-api:local-1:000000000000:local/local/GET/*": false, strings.Repeat("*a", 50): false,
		"*tools*tools*": false, "*o*l*/x": true,
	} {
		res := do(serve(t, api(policy(`{}`, "Allow", pattern), answers(fine))), request("POST", "/tools/x", ""))
		if got := res.StatusCode == 200; got != want {
			t.Errorf("%s: %d", pattern, res.StatusCode)
		}
	}
}

// denied is the context of a Deny: the answer is the authorizer's.
const denied = `{"wwwAuthenticate":"Bearer error=\"insufficient_scope\", scope=\"issues:write\"",` +
	`"body":"{\"error\":\"missing\",\"reason\":\"insufficient_scope\",\"call_id\":\"id-1\"}"}`

func TestADenialSaysWhatIsMissing(t *testing.T) {
	res := do(serve(t, api(policy(denied, "Deny", arn), answers(fine))), request("POST", "/tools/x", ""))
	wantProblem(t, "denied", res, http.StatusForbidden, "insufficient_scope")
	if got := res.Header.Get("WWW-Authenticate"); got != `Bearer error="insufficient_scope", scope="issues:write"` {
		t.Errorf("challenge %q", got)
	}
	res = do(serve(t, api(policy(`{}`, "Deny", arn), answers(fine))), request("POST", "/tools/x", ""))
	if _, there := res.Header["Www-Authenticate"]; there || res.StatusCode != 403 {
		t.Errorf("without context: %d, %v", res.StatusCode, res.Header)
	}
}

func TestTheAuthorizerIsAskedEveryTime(t *testing.T) {
	answer := allow
	auth := &seen{answer: func(ctx context.Context, p []byte) ([]byte, error) { return answer(ctx, p) }}
	h := serve(t, api(auth, answers(fine)))
	for i, want := range []struct {
		answer function
		status int
	}{{allow, 200}, {fails("Unauthorized"), 401}, {allow, 200}, {policy(`{}`, "Deny", "*"), 403}} {
		answer = want.answer
		if res := do(h, request("POST", "/tools/x", "")); res.StatusCode != want.status || len(auth.events) != i+1 {
			t.Errorf("call %d: %d after %d questions", i, res.StatusCode, len(auth.events))
		}
	}
}

func TestTheAuthorizerCannotBeTalkedInto(t *testing.T) {
	// What a client sends never becomes a claim, and a claim cannot replace the principal.
	fn := &seen{answer: answers(fine)}
	do(serve(t, api(policy(`{"principalId":"other"}`, "Allow", "*"), fn)), request("POST", "/tools/x?principalId=u2", `{"requestContext":{"authorizer":{"principalId":"u2"}}}`))
	if len(fn.events) != 1 {
		t.Fatalf("%d events", len(fn.events))
	}
	authorizer := decode(t, fn.events[0])["requestContext"].(map[string]any)["authorizer"].(map[string]any)
	if authorizer["principalId"] != "u1" {
		t.Errorf("authorizer: %v", authorizer)
	}
}

func TestLongPaths(t *testing.T) {
	auth := &seen{answer: allow}
	h := serve(t, api(auth, answers(fine)))
	longest := strings.Repeat("x", gateway.MaxMethodARNBytes-len(arn)+1)
	if res := do(h, request("POST", "/tools/"+longest, "")); res.StatusCode != 200 {
		t.Errorf("longest path: %d", res.StatusCode)
	}
	wantProblem(t, "longer path", do(h, request("POST", "/tools/"+longest+"x", "")), http.StatusRequestURITooLong, "invalid_request")
	if len(auth.events) != 1 {
		t.Errorf("the authorizer was asked %d times", len(auth.events))
	}
}

func TestTheScopeOfTheFirstChallenge(t *testing.T) {
	for name, c := range map[string]signin.Config{
		"baseline":    {BaseURL: "https://mcp.example.com"},
		"all at once": {BaseURL: "https://mcp.example.com", AllScopes: true},
		"prefix":      {BaseURL: "https://mcp.example.com", Issuer: signin.Issuer{ScopePrefix: "https://mcp.example.com/mcp/"}},
	} {
		a := api(allow, answers(fine))
		a.ChallengeScope = c.FirstScope()
		res := do(serve(t, a), httptest.NewRequest("POST", "/tools/x", nil))
		if got := res.Header.Get("WWW-Authenticate"); got != c.Challenge() || res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %d %s, want %s", name, res.StatusCode, got, c.Challenge())
		}
	}
}
