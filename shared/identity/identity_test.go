package identity_test

import (
	"context"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

func principal(scopes ...identity.Scope) *identity.Principal {
	return &identity.Principal{WorkspaceID: "w", UserID: "u", TokenID: "t", Scopes: scopes}
}

func TestNoScopeImpliesAnother(t *testing.T) {
	pairs := 0
	for _, held := range identity.Scopes() {
		for _, needed := range identity.Scopes() {
			pairs++
			err := identity.Require(principal(held), needed)
			if (err == nil) != (held == needed) {
				t.Errorf("holding %s, needing %s: %v", held, needed, err)
			}
		}
	}
	if pairs != 64 {
		t.Errorf("saw %d pairs", pairs)
	}
}

func TestNoPrincipalNoService(t *testing.T) {
	for name, p := range map[string]*identity.Principal{
		"nil": nil, "empty": {}, "no workspace": {UserID: "u", TokenID: "t"},
		"no user": {WorkspaceID: "w", TokenID: "t"}, "no token": {WorkspaceID: "w", UserID: "u"},
	} {
		if got := fault.KindOf(identity.Require(p)); got != fault.Unauthenticated {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTheFaultNamesAllScopes(t *testing.T) {
	f := fault.Of(identity.Require(principal(identity.IssuesRead), identity.IssuesRead, identity.IssuesWrite))
	if f.Reason != fault.InsufficientScope || len(f.Member("scopes").([]string)) != 2 {
		t.Errorf("%+v", f)
	}
}

func TestParseScopesDropsTheUnknown(t *testing.T) {
	got := identity.Join(identity.ParseScopes("issues:read admin issues:read ISSUES:WRITE audit:read"))
	if got != "issues:read audit:read" {
		t.Errorf("got %q", got)
	}
}

func TestContext(t *testing.T) {
	if identity.FromContext(context.Background()) != nil {
		t.Error("a bare context has a principal")
	}
	p := principal()
	if identity.FromContext(identity.NewContext(context.Background(), p)) != p {
		t.Error("lost the principal")
	}
}
