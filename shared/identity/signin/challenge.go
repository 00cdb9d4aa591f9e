package signin

import (
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// Baseline is what the first challenge asks for: enough to be of use, and nothing that changes
// anything. A client asks for more when a tool needs it.
func Baseline() []identity.Scope { return []identity.Scope{identity.IssuesRead} }

// The sentences that go with a missing scope: what is wrong, and what to do about it.
const (
	MissingScope = "this call needs a scope that the token lacks"
	AskForScope  = MissingScope + ": ask for a token that has it"
)

// InsufficientScope is the fault of a call at /mcp whose token lacks a scope of the operation,
// whoever finds out. Its text is the code of the challenge (RFC 6750, section 3.1), because API
// Gateway renames that header when a function sends it. scope is what to ask the authorization
// server for, scopes is what it is called here.
func (c Config) InsufficientScope(scopes []identity.Scope) *fault.Fault {
	return fault.New(fault.Forbidden, fault.InsufficientScope, string(fault.InsufficientScope)).
		With("scope", strings.Join(c.Scopes(scopes), " ")).With("scopes", identity.Names(scopes))
}

// FirstScope is the scope of the first challenge, space-separated.
func (c Config) FirstScope() string {
	scopes := Baseline()
	if c.AllScopes {
		scopes = offered()
	}
	return strings.Join(c.Scopes(scopes), " ")
}

// Challenge is the header WWW-Authenticate of a 401 (RFC 9728, section 5.1). It has no error,
// because the one text also answers requests that had no token (RFC 6750, section 3.1).
func (c Config) Challenge() string {
	return bearer("resource_metadata", c.ResourceMetadata(), "scope", c.FirstScope())
}

// ScopeChallenge is the header WWW-Authenticate of a 403: it names all scopes of the operation
// and no others (RFC 6750, section 3.1). A client adds those it has.
func (c Config) ScopeChallenge(scopes []identity.Scope) string {
	return bearer("error", "insufficient_scope", "scope", strings.Join(c.Scopes(scopes), " "),
		"resource_metadata", c.ResourceMetadata(), "error_description", MissingScope)
}

// bearer writes names and values; what is empty is left out. Values hold neither quotes nor
// backslashes (Check).
func bearer(pairs ...string) string {
	var params []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			params = append(params, pairs[i]+`="`+pairs[i+1]+`"`)
		}
	}
	return "Bearer " + strings.Join(params, ", ")
}
