package signintest

import (
	"net/url"
	"testing"
)

// TestScopesAreInOneOrder, in whatever order the client names them.
func TestScopesAreInOneOrder(t *testing.T) {
	for scope, want := range map[string]string{
		"":                             "",
		"issues:read":                  "issues:read",
		"issues:read issues:write":     "issues:read issues:write",
		"issues:write  issues:read":    "issues:read issues:write",
		"issues:write audit:read a:b ": "a:b audit:read issues:write",
	} {
		u := &url.URL{RawQuery: url.Values{"scope": {scope}}.Encode()}
		if got := Scopes(u); got != want {
			t.Errorf("%q: got %q, want %q", scope, got, want)
		}
	}
}
