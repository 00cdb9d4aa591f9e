package token

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// How long a token lives.
const (
	DefaultLifetime = 90 * 24 * time.Hour
	MaxLifetime     = 365 * 24 * time.Hour
	MinLifetime     = time.Second
)

// MaxNameLength is how long the name of a token may be, in characters.
const MaxNameLength = 100

// Grant says what token to issue.
type Grant struct {
	ID          string // of the token; new, and unique in the workspace
	WorkspaceID string
	UserID      string // a member of the workspace; the caller knows that
	Name        string // 1 to MaxNameLength printable characters
	Scopes      []identity.Scope
	Lifetime    time.Duration // zero: DefaultLifetime; at most MaxLifetime
	At          time.Time     // now
	Random      io.Reader     // nil: the system's source
}

// Issue makes a token and stores its hash, in one commit with the further operations (the
// audit event of the act; a check that the member is still one). The returned Token is the
// only place that ever holds the secret.
//
// A grant that is not allowed is an invalid fault with the member field. If a guard fails the
// error wraps a *table.Conflict, in which the further operations count from 0.
func Issue(ctx context.Context, w table.Writer, g Grant, with ...table.Op) (Token, Record, error) {
	record, err := g.record()
	if err != nil {
		return Token{}, Record{}, err
	}
	t, err := New(g.Random)
	if err != nil {
		return Token{}, Record{}, err
	}
	record.Prefix = t.Prefix()
	item, err := record.item(t.Hash().String(), 1)
	if err != nil {
		return Token{}, Record{}, err
	}
	pointer, err := record.pointer(t.Hash().String())
	if err != nil {
		return Token{}, Record{}, err
	}
	ops := append(slices.Clone(with), table.Put(item, table.IfAbsent()), table.Put(pointer, table.IfAbsent()))
	if err := w.Commit(ctx, ops); err != nil {
		return Token{}, Record{}, fmt.Errorf("store a token: %w", err)
	}
	return t, record, nil
}

// record checks the grant and says what it gives.
func (g Grant) record() (Record, error) {
	if g.ID == "" || g.WorkspaceID == "" || g.UserID == "" || g.At.IsZero() {
		return Record{}, fmt.Errorf("a grant needs a token id, a workspace, a user and the time")
	}
	scopes, err := checkScopes(g.Scopes)
	if err != nil {
		return Record{}, err
	}
	if err := checkName(g.Name); err != nil {
		return Record{}, err
	}
	lifetime := g.Lifetime
	if lifetime == 0 {
		lifetime = DefaultLifetime
	}
	if lifetime < MinLifetime || lifetime > MaxLifetime {
		return Record{}, refuse("lifetime", "a token lives at least a second and at most 365 days: choose a time between")
	}
	at := g.At.UTC().Truncate(time.Microsecond)
	return Record{
		ID: g.ID, WorkspaceID: g.WorkspaceID, UserID: g.UserID, Name: g.Name, Scopes: scopes,
		CreatedAt: at, ExpiresAt: at.Add(lifetime),
	}, nil
}

// checkScopes puts the scopes into their fixed order. None is implied, so none is no grant.
func checkScopes(asked []identity.Scope) ([]identity.Scope, error) {
	if len(asked) == 0 {
		return nil, refuse("scopes", "a token needs at least one scope: name those it is for")
	}
	for _, s := range asked {
		if !s.Known() {
			return nil, refuse("scopes", "there is no such scope: choose among "+identity.Join(identity.Scopes()))
		}
	}
	scopes := identity.Scopes()
	return slices.DeleteFunc(scopes, func(s identity.Scope) bool { return !slices.Contains(asked, s) }), nil
}

func checkName(name string) error {
	n := utf8.RuneCountInString(name)
	printable := strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
	if n < 1 || n > MaxNameLength || !printable || !utf8.ValidString(name) || strings.TrimSpace(name) != name {
		return refuse("name", fmt.Sprintf("a token needs a name of 1 to %d printable characters, "+
			"without space at either end", MaxNameLength))
	}
	return nil
}

func refuse(field, text string) error {
	return fault.New(fault.Invalid, fault.InvalidArguments, text).With("field", field)
}
