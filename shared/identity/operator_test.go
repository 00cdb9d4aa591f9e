package identity_test

import (
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

func TestOperatorPassesNoScope(t *testing.T) {
	p, err := identity.Operator("w", "ops@example.com")
	if err != nil {
		t.Fatal(err)
	}
	if err := identity.Require(p); err != nil {
		t.Errorf("an operator is nobody: %v", err)
	}
	for _, s := range identity.Scopes() {
		if identity.Require(p, s) == nil {
			t.Errorf("an operator has the scope %s", s)
		}
	}
	if p.UserID != "operator:ops@example.com" || p.TokenID != "-" || p.Role.Manages() {
		t.Errorf("got %+v", p)
	}
}

func TestOperatorRefusesNames(t *testing.T) {
	for _, name := range []string{"", " ", "a b", "-x", "a\n", "é", "a:b", strings.Repeat("a", 65)} {
		if p, err := identity.Operator("w", name); p != nil || fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v, %v", name, p, err)
		}
	}
}
