package system

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

func TestGuard(t *testing.T) {
	tests := []struct {
		name    string
		host    string
		origins []string
		exposed bool
		reason  string // empty: let through
	}{
		{"the printed address", "127.0.0.1:3000", nil, false, ""},
		{"another port", "127.0.0.1:8080", nil, false, ""},
		{"localhost", "localhost:3000", nil, false, ""},
		{"localhost in another case", "LOCALHOST:3000", nil, false, ""},
		{"another loopback address", "127.0.0.2:3000", nil, false, ""},
		{"no port", "localhost", nil, false, ""},
		{"version 6", "[::1]:3000", nil, false, ""},
		{"version 6 without port", "[::1]", nil, false, ""},
		{"a rebound name", "evil.example:3000", nil, false, "host_not_allowed"},
		{"a name that begins like ours", "localhost.evil.example", nil, false, "host_not_allowed"},
		{"an address elsewhere", "192.0.2.1:3000", nil, false, "host_not_allowed"},
		{"no host", "", nil, false, "host_not_allowed"},
		{"an address elsewhere, exposed", "192.0.2.1:3000", nil, true, ""},
		{"a name, exposed", "evil.example", nil, true, "host_not_allowed"},
		{"a page of this machine", "localhost:3000", []string{"http://localhost:6274"}, false, ""},
		{"a page of this machine by address", "localhost:3000", []string{"https://127.0.0.1"}, false, ""},
		{"a page of version 6", "localhost:3000", []string{"http://[::1]:6274"}, false, ""},
		{"a page elsewhere", "localhost:3000", []string{"https://evil.example"}, false, "origin_not_allowed"},
		{"a page elsewhere, exposed", "192.0.2.1:3000", []string{"https://evil.example"}, true, "origin_not_allowed"},
		{"a page without an origin", "localhost:3000", []string{"null"}, false, "origin_not_allowed"},
		{"an empty origin", "localhost:3000", []string{""}, false, "origin_not_allowed"},
		{"two origins", "localhost:3000", []string{"http://localhost", "https://evil.example"}, false, "origin_not_allowed"},
		{"another scheme", "localhost:3000", []string{"file://localhost"}, false, "origin_not_allowed"},
		{"a user in front", "localhost:3000", []string{"http://localhost@evil.example"}, false, "origin_not_allowed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			passed := false
			h := guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true }), test.exposed)
			r := httptest.NewRequest(http.MethodGet, "/audit", nil)
			r.Host = test.host
			r.Header["Origin"] = test.origins
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			var body struct{ Error, Reason string }
			if test.reason != "" {
				if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
					t.Fatal(err)
				}
			}
			if body.Reason != test.reason || passed != (test.reason == "") || (!passed && w.Code != http.StatusForbidden) {
				t.Errorf("status %d, reason %q, passed %v; want the reason %q", w.Code, body.Reason, passed, test.reason)
			}
		})
	}
}

// Whatever address the program prints, the MCP front answers there.
func TestTheFrontKnowsItsOwnAddress(t *testing.T) {
	for address, want := range map[string]string{
		"http://127.0.0.1:3000": "127.0.0.1:*", "http://127.0.0.2:3000": "127.0.0.2:*", "http://[::1]:3000": "[::1]:*",
	} {
		if got := hosts(false, address); !slices.Contains(got, want) {
			t.Errorf("%s: hosts %q lack %q", address, got, want)
		}
	}
}
