package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

func tokenCommands() []command {
	return []command{
		{name: "token issue", about: "issue a personal token; it is shown once", needs: []string{"member", "name", "scopes"}, setup: issueToken},
		{name: "token list", about: "list the tokens, without their secrets", setup: listTokens},
		{name: "token revoke", about: "end a token at once", needs: []string{"id"},
			confirm: "a revoked token stays revoked", setup: revokeToken},
	}
}

type tokenOut struct {
	// Token is the secret, of a token that was just issued. It is nowhere else.
	Token     string           `json:"token,omitempty"`
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Prefix    string           `json:"token_prefix"`
	UserID    string           `json:"user_id"`
	Holder    string           `json:"holder,omitempty"`
	Scopes    []identity.Scope `json:"scopes"`
	Status    string           `json:"status"` // active, expired, revoked or left
	CreatedAt tracker.Time     `json:"created_at"`
	ExpiresAt tracker.Time     `json:"expires_at"`
	RevokedAt *tracker.Time    `json:"revoked_at,omitempty"`
}

func outOfToken(r token.Record, holder string, left bool, now time.Time) tokenOut {
	out := tokenOut{
		ID: r.ID, Name: r.Name, Prefix: r.Prefix, UserID: r.UserID, Holder: holder, Scopes: r.Scopes, Status: "active",
		CreatedAt: tracker.At(r.CreatedAt), ExpiresAt: tracker.At(r.ExpiresAt),
	}
	switch {
	case !r.RevokedAt.IsZero():
		at := tracker.At(r.RevokedAt)
		out.Status, out.RevokedAt = "revoked", &at
	case !r.Usable(now):
		out.Status = "expired"
	case left:
		out.Status = "left"
	}
	return out
}

// writeText shows the secret last, on a line of its own.
func (o tokenOut) writeText(w io.Writer) error {
	err := writePairs(w, "id", o.ID, "name", o.Name, "holder", o.Holder, "scopes", identity.Join(o.Scopes),
		"status", o.Status, "expires", o.ExpiresAt.Format(time.RFC3339))
	if err == nil && o.Token != "" {
		_, err = fmt.Fprintf(w, "The token follows. It is shown this once and kept nowhere: give it to its holder.\n%s\n", o.Token)
	}
	return err
}

// unshown says what to do about a secret that nobody has read.
func unshown(out result) string {
	if t, ok := out.(tokenOut); ok && t.Token != "" {
		return "; revoke the token that nobody has seen: token revoke -id " + t.ID
	}
	return ""
}

const maxDays = int(token.MaxLifetime / (24 * time.Hour))

func issueToken(f *flag.FlagSet) act {
	member := memberFlag(f)
	name := f.String("name", "", "what it is for, a `name` of 1 to 100 characters")
	scopes := f.String("scopes", "", "what it allows, a `list` among "+identity.Join(identity.Scopes())+"; or all")
	days := f.Int("days", int(token.DefaultLifetime/(24*time.Hour)), fmt.Sprintf("how many `days` it lives, 1 to %d", maxDays))
	return func(ctx context.Context, s *session) (result, error) {
		return record(ctx, s, "issue_token", func(call *audit.Call) (tokenOut, error) {
			if *days < 1 || *days > maxDays {
				return tokenOut{}, fault.New(fault.Invalid, fault.InvalidArguments, fmt.Sprintf("days: must be 1 to %d", maxDays)).With("field", "days")
			}
			return s.issue(ctx, call, tracker.MemberRef(*member), token.Grant{
				ID: string(newID()), WorkspaceID: string(s.workspace), Name: *name, Scopes: scopesIn(*scopes),
				Lifetime: time.Duration(*days) * 24 * time.Hour, At: call.Now(),
			})
		})
	}
}

// scopesIn reads a list, separated by spaces or commas. What is no scope stays in, to be refused.
func scopesIn(list string) []identity.Scope {
	if list == "all" {
		return identity.Scopes()
	}
	var scopes []identity.Scope
	for _, word := range strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' }) {
		scopes = append(scopes, identity.Scope(word))
	}
	return scopes
}

// issue commits the token with the event, while the holder is a member.
func (s *session) issue(ctx context.Context, call *audit.Call, ref tracker.MemberRef, g token.Grant) (out tokenOut, err error) {
	about := func(holder records.Member) {
		g.UserID = string(holder.UserID)
		call.Target("token", g.ID)
	}
	err = s.forHolder(ctx, call, ref, "tokens", about, func(holder records.Member, with ...table.Op) error {
		t, r, err := token.Issue(ctx, s.tables, g, with...)
		if err == nil {
			out = outOfToken(r, holder.Name, false, call.Now())
			out.Token = t.Secret()
		}
		return err
	})
	if errors.Is(err, errAnswerLost) {
		err = fmt.Errorf("%w, and the secret with it: revoke the token and issue another (token list)", err)
	}
	return out, err
}

type tokensOut struct {
	Tokens []tokenOut `json:"tokens"`
}

func (o tokensOut) writeText(w io.Writer) error {
	return writeTable(w, []string{"ID", "PREFIX", "NAME", "HOLDER", "STATUS", "EXPIRES", "SCOPES"}, o.Tokens, func(t tokenOut) []any {
		return []any{t.ID, t.Prefix, t.Name, t.Holder, t.Status, t.ExpiresAt.Format(time.DateOnly), identity.Join(t.Scopes)}
	})
}

func listTokens(*flag.FlagSet) act {
	return func(ctx context.Context, s *session) (result, error) {
		return record(ctx, s, "list_tokens", func(call *audit.Call) (tokensOut, error) {
			call.Target("workspace", string(s.workspace))
			d, err := s.admin.Directory(ctx, call)
			if err != nil {
				return tokensOut{}, err
			}
			all, err := token.List(ctx, s.tables, string(s.workspace))
			out := tokensOut{[]tokenOut{}}
			for _, r := range all {
				name, left := "", true
				for _, m := range d.Members {
					if string(m.UserID) == r.UserID {
						name, left = m.Name, m.LeftAt != 0
					}
				}
				out.Tokens = append(out.Tokens, outOfToken(r, name, left, call.Now()))
			}
			return out, err
		})
	}
}

func revokeToken(f *flag.FlagSet) act {
	id := f.String("id", "", "the `id` of the token, see token list")
	return func(ctx context.Context, s *session) (result, error) {
		return record(ctx, s, "revoke_token", func(call *audit.Call) (tokenOut, error) {
			for range maxAttempts {
				out, err := s.revoke(ctx, call, *id)
				if !table.IsConflict(err) {
					return out, err
				}
			}
			return tokenOut{}, busy()
		})
	}
}

// revoke tries once. A token that is revoked already stays as it is; the event then names no
// change.
func (s *session) revoke(ctx context.Context, call *audit.Call, id string) (tokenOut, error) {
	call.Event.Target = ""
	before, err := s.tokenByID(ctx, id)
	if err != nil {
		return tokenOut{}, err
	}
	call.Target("token", before.ID)
	if !before.RevokedAt.IsZero() {
		return outOfToken(before, "", false, call.Now()), nil
	}
	event, err := call.CommitOp([]string{"revoked_at"})
	if err != nil {
		return tokenOut{}, err
	}
	r, err := token.Revoke(ctx, s.tables, string(s.workspace), id, call.Now(), event)
	if table.FailedAt(err, 0) {
		return tokenOut{}, errAnswerLost
	}
	if err == nil {
		call.Committed()
	}
	return outOfToken(r, "", false, call.Now()), err
}

// tokenByID finds one of the workspace's tokens.
func (s *session) tokenByID(ctx context.Context, id string) (token.Record, error) {
	all, err := token.List(ctx, s.tables, string(s.workspace))
	if err != nil {
		return token.Record{}, err
	}
	for _, r := range all {
		if r.ID == strings.ToLower(id) {
			return r, nil
		}
	}
	return token.Record{}, fault.New(fault.NotFound, fault.TargetNotFound, "id: the workspace has no token with this id: list its tokens").With("field", "id")
}
