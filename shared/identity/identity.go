// Package identity says who calls and what they may do: principals, scopes, roles, and the one
// check, Require.
//
// It does not find out who calls; identity/token does that, inside the authorizer alone.
package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// Scope is a permission that a token carries. Each stands alone: none implies another.
type Scope string

const (
	IssuesRead    Scope = "issues:read"
	IssuesWrite   Scope = "issues:write"
	CommentsRead  Scope = "comments:read"
	CommentsWrite Scope = "comments:write"
	DashboardRead Scope = "dashboard:read"
	AgentsWrite   Scope = "agents:write"
	AutopilotRun  Scope = "autopilot:run"
	AuditRead     Scope = "audit:read"
)

// Scopes lists every scope there is, in a fixed order.
func Scopes() []Scope {
	return []Scope{IssuesRead, CommentsRead, DashboardRead, IssuesWrite, CommentsWrite, AgentsWrite, AutopilotRun, AuditRead}
}

// Known tells whether s is a scope of ours.
func (s Scope) Known() bool { return slices.Contains(Scopes(), s) }

// Role is a member's role in the workspace.
type Role string

const (
	Owner  Role = "owner"
	Admin  Role = "admin"
	Member Role = "member"
)

// Manages tells whether the role may act on what others own.
func (r Role) Manages() bool { return r == Owner || r == Admin }

// Principal is who calls: a member of one workspace, through one token.
type Principal struct {
	WorkspaceID string  `json:"workspace_id"`
	UserID      string  `json:"user_id"`
	TokenID     string  `json:"token_id"`
	Name        string  `json:"name"` // display name, for people
	Role        Role    `json:"role"` // as read when this request was authorised
	Scopes      []Scope `json:"scopes"`
	// CanStepUp tells whether the caller can get a token with more scopes by itself. A
	// personal token cannot.
	CanStepUp bool `json:"can_step_up,omitempty"`
}

// Has tells whether the principal carries the scope.
func (p *Principal) Has(s Scope) bool { return p != nil && slices.Contains(p.Scopes, s) }

// ScopeNames returns the scopes the principal carries, as strings.
func (p *Principal) ScopeNames() []string { return Names(p.Scopes) }

// Names turns scopes into strings; never nil.
func Names(scopes []Scope) []string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return names
}

// ParseScopes reads a space-separated list (RFC 6749, section 3.3), dropping what is unknown
// and what is repeated.
func ParseScopes(list string) []Scope {
	var scopes []Scope
	for _, word := range strings.Fields(list) {
		if s := Scope(word); s.Known() && !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// Join writes scopes as a space-separated list.
func Join(scopes []Scope) string { return strings.Join(Names(scopes), " ") }

// Require is the check that every caller passes, wherever it is made: in the authorizer, so
// that a client gets a challenge early, and again in tool.Bind, which decides. Its fault is
// Unauthenticated without a principal, Forbidden with insufficient_scope and all the scopes of
// the operation if one is missing.
func Require(p *Principal, scopes ...Scope) error {
	if p == nil || p.WorkspaceID == "" || p.UserID == "" || p.TokenID == "" {
		return fault.New(fault.Unauthenticated, fault.TokenMissing,
			"authentication required: send a valid token as Authorization: Bearer")
	}
	for _, s := range scopes {
		if !p.Has(s) {
			return MissingScope(scopes...)
		}
	}
	return nil
}

// MissingScope is the fault for an operation that needs scopes the token lacks.
func MissingScope(scopes ...Scope) *fault.Fault {
	return fault.New(fault.Forbidden, fault.InsufficientScope,
		fmt.Sprintf("this call needs the scope %s: ask for a token that has it", Join(scopes))).
		With("scopes", Names(scopes))
}

type contextKey struct{}

// NewContext carries the principal through code that is not ours, such as the MCP SDK. Only
// lambdarun calls it, with what the authorizer said.
func NewContext(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// FromContext returns the principal, or nil.
func FromContext(ctx context.Context) *Principal {
	p, _ := ctx.Value(contextKey{}).(*Principal)
	return p
}
