package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/gateway"
)

func TestResponses(t *testing.T) {
	statuses := map[gateway.ResponseType]int{}
	for _, r := range gateway.Responses {
		if _, twice := statuses[r.Type]; twice {
			t.Errorf("%s is declared twice", r.Type)
		}
		statuses[r.Type] = r.Status
		if r.Type == gateway.AccessDenied {
			if r.Body != "$context.authorizer.body" {
				t.Errorf("the body of a denial is the authorizer's, not %s", r.Body)
			}
			checkHeaders(t, r)
			continue
		}
		var body map[string]string
		if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
			t.Errorf("%s: %v", r.Type, err)
		}
		kind, known := fault.KindOfReason(fault.Reason(body["reason"]))
		if !known || body["error"] == "" || body["call_id"] != "$context.requestId" {
			t.Errorf("%s: body %s", r.Type, r.Body)
		}
		// 413 is the one status that the table of failures does not have.
		if r.Status != 0 && r.Status != kind.Status() && r.Status != 413 {
			t.Errorf("%s: status %d, but %s means %d elsewhere", r.Type, r.Status, body["reason"], kind.Status())
		}
		checkHeaders(t, r)
	}
	want := map[gateway.ResponseType]int{
		"UNAUTHORIZED": 401, "ACCESS_DENIED": 403, "MISSING_AUTHENTICATION_TOKEN": 404, "REQUEST_TOO_LARGE": 413,
		"THROTTLED": 429, "DEFAULT_4XX": 0, "DEFAULT_5XX": 0,
	}
	for kind, status := range want {
		if got, there := statuses[kind]; !there || got != status {
			t.Errorf("%s: status %d, declared %v", kind, got, there)
		}
	}
	if len(statuses) != len(want) {
		t.Errorf("%d responses, want %d", len(statuses), len(want))
	}
}

// checkHeaders looks at the mapping expressions of a response.
func checkHeaders(t *testing.T, r gateway.Response) {
	t.Helper()
	names := map[string]string{}
	for _, h := range r.Headers {
		names[h.Name] = h.Value
		static := strings.HasPrefix(h.Value, "'") && strings.HasSuffix(h.Value, "'") && strings.Count(h.Value, "'") == 2
		if !static && !strings.HasPrefix(h.Value, "context.authorizer.") {
			t.Errorf("%s: the value of %s is no mapping expression", r.Type, h.Name)
		}
	}
	if names["Cache-Control"] != "'no-store'" {
		t.Errorf("%s may be stored", r.Type)
	}
	if _, there := names["WWW-Authenticate"]; there != (r.Status == 401 || r.Status == 403) {
		t.Errorf("%s: challenge %v", r.Type, there)
	}
	if r.Status == 401 && strings.Contains(names["WWW-Authenticate"], "error=") {
		t.Error("a 401 without a token must not name an error")
	}
	if _, there := names["Retry-After"]; there != (r.Status == 429) {
		t.Errorf("%s: Retry-After %v", r.Type, there)
	}
}
