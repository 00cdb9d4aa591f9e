package token_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

type members map[string]identity.Role // by user; absent: not a member

func (m members) Member(_ context.Context, workspaceID, userID string) (string, identity.Role, bool, error) {
	role, active := m[userID]
	if role == "broken" {
		return "", "", false, errors.New("no table")
	}
	return "Mira Okafor", role, active && workspaceID == "w1", nil
}

func verifier(r table.Reader, m token.Members, at time.Time) *token.Verifier {
	return &token.Verifier{Tokens: r, Members: m, Now: func() time.Time { return at }}
}

func TestVerify(t *testing.T) {
	w, ctx := openTable(t), context.Background()
	tok, record := issue(t, w, grant("t1"))
	revoked, _ := issue(t, w, grant("t2"))
	if _, err := token.Revoke(ctx, w, "w1", "t2", start); err != nil {
		t.Fatal(err)
	}
	stranger := newToken(t, nil)
	owner := members{"u1": identity.Owner}
	tests := []struct {
		name    string
		secret  string
		members members
		at      time.Time
		reason  fault.Reason // empty: accepted
		tokenID string       // attributed to
	}{
		{"fine", tok.Secret(), owner, start, "", "t1"},
		{"last moment", tok.Secret(), owner, record.ExpiresAt.Add(-1), "", "t1"},
		{"expired", tok.Secret(), owner, record.ExpiresAt, fault.TokenExpired, "t1"},
		{"revoked", revoked.Secret(), owner, start, fault.TokenRevoked, "t2"},
		{"revoked and expired", revoked.Secret(), owner, record.ExpiresAt, fault.TokenRevoked, "t2"},
		{"owner has left", tok.Secret(), members{}, start, fault.TokenRevoked, "t1"},
		{"no member table", tok.Secret(), members{"u1": "broken"}, start, fault.ReasonInternal, "t1"},
		{"unknown", stranger.Secret(), owner, start, fault.TokenUnknown, ""},
		{"malformed", tok.Secret() + "x", owner, start, fault.TokenMalformed, ""},
		{"none", "", owner, start, fault.TokenMalformed, ""},
		{"the hash", tok.Hash().String(), owner, start, fault.TokenMalformed, ""},
	}
	for _, tt := range tests {
		p, err := verifier(w, tt.members, tt.at).Verify(ctx, tt.secret)
		if p.TokenID != tt.tokenID {
			t.Errorf("%s: attributed to %q", tt.name, p.TokenID)
		}
		if tt.reason == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		if f := fault.Of(err); err == nil || f.Reason != tt.reason || p.Role != "" || p.Name != "" {
			t.Errorf("%s: %v, principal %+v", tt.name, err, p)
		}
		if attributable := p.WorkspaceID == "w1" && p.UserID == "u1" && len(p.Scopes) == 2; attributable != (tt.tokenID != "") {
			t.Errorf("%s: principal %+v", tt.name, p)
		}
	}
}

func TestVerifyReadsTheRoleAsItIs(t *testing.T) {
	w, ctx := openTable(t), context.Background()
	tok, _ := issue(t, w, grant("t1"))
	for _, role := range []identity.Role{identity.Owner, identity.Member, identity.Admin} {
		p, err := verifier(w, members{"u1": role}, start).Verify(ctx, tok.Secret())
		want := identity.Principal{
			WorkspaceID: "w1", UserID: "u1", TokenID: "t1", Name: "Mira Okafor", Role: role,
			Scopes: []identity.Scope{identity.IssuesRead, identity.IssuesWrite},
		}
		if diff := cmp.Diff(want, p); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

func TestVerifyStopsAtOnce(t *testing.T) {
	w, ctx := openTable(t), context.Background()
	tok, _ := issue(t, w, grant("t1"))
	v := verifier(w, members{"u1": identity.Member}, start)
	if _, err := v.Verify(ctx, tok.Secret()); err != nil {
		t.Fatal(err)
	}
	if _, err := token.Revoke(ctx, w, "w1", "t1", start); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(ctx, tok.Secret()); fault.Of(err).Reason != fault.TokenRevoked {
		t.Errorf("after the revocation: %v", err)
	}
}

// oneRow answers every Get with the same row, whatever was asked.
type oneRow struct {
	table.Reader
	item table.Item
	err  error
}

func (o oneRow) Get(context.Context, table.Key) (table.Item, bool, error) {
	return o.item, o.err == nil, o.err
}

func TestVerifyDoesNotTrustTheRow(t *testing.T) {
	tok := newToken(t, nil)
	key := table.Key{PK: "TOK#" + tok.Hash().String(), SK: "META"}
	row := func(key table.Key, doc string) oneRow {
		return oneRow{item: table.Item{Key: key, Doc: json.RawMessage(doc), Version: 1}}
	}
	const fine = `{"id":"t1","workspace_id":"w1","user_id":"u1","scopes":["issues:read","root"],"expires_at":1900000000000000}`
	tests := []struct {
		name   string
		rows   oneRow
		reason fault.Reason
	}{
		{"another's row", row(table.Key{PK: "TOK#" + newToken(t, nil).Hash().String(), SK: "META"}, fine), fault.TokenUnknown},
		{"no JSON", row(key, `[`), fault.ReasonInternal},
		{"an empty row", row(key, `{}`), fault.ReasonInternal},
		{"no owner", row(key, `{"id":"t1","workspace_id":"w1","expires_at":1900000000000000}`), fault.ReasonInternal},
		{"no end", row(key, `{"id":"t1","workspace_id":"w1","user_id":"u1"}`), fault.TokenExpired},
		{"no table", oneRow{err: errors.New("gone")}, fault.ReasonInternal},
	}
	for _, tt := range tests {
		if _, err := verifier(tt.rows, members{"u1": identity.Owner}, start).Verify(context.Background(), tok.Secret()); err == nil || fault.Of(err).Reason != tt.reason {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	p, err := verifier(row(key, fine), members{"u1": identity.Owner}, start).Verify(context.Background(), tok.Secret())
	if err != nil || identity.Join(p.Scopes) != "issues:read" {
		t.Errorf("a scope of another version: %v, %q", err, identity.Join(p.Scopes))
	}
}
