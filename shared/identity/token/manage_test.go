package token_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

var start = time.Date(2025, 6, 22, 15, 30, 0, 0, time.UTC)

func openTable(t *testing.T) table.Writer {
	t.Helper()
	db, err := embedded.OpenUnsynced(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func grant(id string) token.Grant {
	return token.Grant{
		ID: id, WorkspaceID: "w1", UserID: "u1", Name: "laptop", At: start,
		Scopes: []identity.Scope{identity.IssuesWrite, identity.IssuesRead, identity.IssuesWrite},
	}
}

func issue(t *testing.T, w table.Writer, g token.Grant) (token.Token, token.Record) {
	t.Helper()
	tok, record, err := token.Issue(context.Background(), w, g)
	if err != nil {
		t.Fatal(err)
	}
	return tok, record
}

// note is an operation like the audit event that goes with an act.
func note(sk string) table.Op {
	return table.Put(table.Item{Key: table.Key{Table: table.Audit, PK: "note", SK: sk}, Doc: json.RawMessage(`{}`), Version: 1}, table.IfAbsent())
}

func notes(t *testing.T, r table.Reader) int {
	t.Helper()
	page, err := r.Query(context.Background(), table.Query{Table: table.Audit, PK: "note", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return len(page.Items)
}

func TestIssue(t *testing.T) {
	w := openTable(t)
	tok, record := issue(t, w, grant("t1"))
	want := token.Record{
		ID: "t1", WorkspaceID: "w1", UserID: "u1", Name: "laptop", Prefix: tok.Prefix(),
		Scopes:    []identity.Scope{identity.IssuesRead, identity.IssuesWrite},
		CreatedAt: start, ExpiresAt: start.Add(90 * 24 * time.Hour),
	}
	if diff := cmp.Diff(want, record); diff != "" {
		t.Errorf("issued (-want +got):\n%s", diff)
	}
	listed, err := token.List(context.Background(), w, "w1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]token.Record{want}, listed); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
}

func TestTheTableHoldsNoSecret(t *testing.T) {
	w := openTable(t)
	tok, _ := issue(t, w, grant("t1"))
	rows := 0
	for _, key := range []table.Key{
		{PK: "TOK#" + tok.Hash().String(), SK: "META"}, {PK: "WS#w1", SK: "PAT#t1"},
	} {
		item, found, err := w.Get(context.Background(), key)
		if err != nil || !found {
			t.Fatalf("no row where one belongs: %v", err)
		}
		rows++
		if strings.Contains(string(item.Doc), tok.Secret()[token.PrefixLength:]) {
			t.Error("the secret is in the table")
		}
	}
	if rows != 2 {
		t.Errorf("looked at %d rows", rows)
	}
}

func TestIssueRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*token.Grant)
		field  string
	}{
		{"no scope", func(g *token.Grant) { g.Scopes = nil }, "scopes"},
		{"unknown scope", func(g *token.Grant) { g.Scopes = append(g.Scopes, "issues:*") }, "scopes"},
		{"no name", func(g *token.Grant) { g.Name = "" }, "name"},
		{"blank name", func(g *token.Grant) { g.Name = "  " }, "name"},
		{"long name", func(g *token.Grant) { g.Name = strings.Repeat("é", 101) }, "name"},
		{"name with a line break", func(g *token.Grant) { g.Name = "a\nb" }, "name"},
		{"name of bytes", func(g *token.Grant) { g.Name = "a\xff" }, "name"},
		{"past", func(g *token.Grant) { g.Lifetime = -time.Hour }, "lifetime"},
		{"no time at all", func(g *token.Grant) { g.Lifetime = time.Nanosecond }, "lifetime"},
		{"over a year", func(g *token.Grant) { g.Lifetime = 365*24*time.Hour + 1 }, "lifetime"},
	}
	w := openTable(t)
	for _, tt := range tests {
		g := grant("t1")
		tt.change(&g)
		tok, _, err := token.Issue(context.Background(), w, g, note(tt.name))
		f := fault.Of(err)
		if f.Reason != fault.InvalidArguments || f.Member("field") != tt.field || tok.Secret() != "" {
			t.Errorf("%s: %v, field %v", tt.name, err, f.Member("field"))
		}
	}
	for name, change := range map[string]func(*token.Grant){
		"id": func(g *token.Grant) { g.ID = "" }, "workspace": func(g *token.Grant) { g.WorkspaceID = "" },
		"user": func(g *token.Grant) { g.UserID = "" }, "time": func(g *token.Grant) { g.At = time.Time{} },
		"randomness": func(g *token.Grant) { g.Random = strings.NewReader("dry") },
	} {
		g := grant("t1")
		change(&g)
		if _, _, err := token.Issue(context.Background(), w, g, note(name)); fault.KindOf(err) != fault.Internal {
			t.Errorf("without %s: %v", name, err)
		}
	}
	if list, _ := token.List(context.Background(), w, "w1"); len(list) != 0 || notes(t, w) != 0 {
		t.Error("a refused grant left something")
	}
}

func TestIssueGoesWithItsNoteOrNotAtAll(t *testing.T) {
	w, ctx := openTable(t), context.Background()
	if _, _, err := token.Issue(ctx, w, grant("t1"), note("1")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := token.Issue(ctx, w, grant("t2"), note("1")); !table.FailedAt(err, 0) {
		t.Errorf("a note that cannot be made: %v", err)
	}
	if _, _, err := token.Issue(ctx, w, grant("t1"), note("2")); !table.FailedAt(err, 2) {
		t.Errorf("an id that is taken: %v", err)
	}
	if list, err := token.List(ctx, w, "w1"); err != nil || len(list) != 1 || notes(t, w) != 1 {
		t.Errorf("%d tokens, %d notes, %v", len(list), notes(t, w), err)
	}
}

func TestLongestLife(t *testing.T) {
	g := grant("t1")
	g.Lifetime = token.MaxLifetime
	if _, record := issue(t, openTable(t), g); record.ExpiresAt != start.Add(365*24*time.Hour) {
		t.Errorf("expires %v", record.ExpiresAt)
	}
}

func TestRevoke(t *testing.T) {
	w, ctx := openTable(t), context.Background()
	issue(t, w, grant("t1"))
	later := start.Add(time.Hour)
	first, err := token.Revoke(ctx, w, "w1", "t1", later, note("1"))
	if err != nil || first.RevokedAt != later || first.Usable(start) {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := token.Revoke(ctx, w, "w1", "t1", later.Add(time.Hour), note("2"))
	if err != nil || again.RevokedAt != later {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	if _, err := token.Revoke(ctx, w, "w1", "t1", later); err != nil {
		t.Errorf("without operations: %v", err)
	}
	if notes(t, w) != 2 {
		t.Errorf("%d notes, want one for each act", notes(t, w))
	}
}

func TestRevokeKnowsOneWorkspace(t *testing.T) {
	w, ctx := openTable(t), context.Background()
	issue(t, w, grant("t1"))
	for _, id := range [][2]string{{"w2", "t1"}, {"w1", "t2"}, {"", "t1"}, {"w1", ""}} {
		if _, err := token.Revoke(ctx, w, id[0], id[1], start, note("1")); fault.Of(err).Reason != fault.TargetNotFound {
			t.Errorf("%q: %v", id, err)
		}
	}
	list, err := token.List(ctx, w, "w1")
	if err != nil || !list[0].RevokedAt.IsZero() || notes(t, w) != 0 {
		t.Errorf("something changed: %+v, %v", list, err)
	}
}

func TestListPages(t *testing.T) {
	w, ctx := openTable(t), context.Background()
	const n = 230
	for i := range n {
		g := grant(fmt.Sprintf("t%03d", i))
		g.At = start.Add(-time.Duration(i) * time.Minute)
		issue(t, w, g)
	}
	other := grant("t000")
	other.WorkspaceID = "w2"
	issue(t, w, other)
	neighbour := table.Item{Key: table.Key{PK: "WS#w1", SK: "PAU"}, Doc: json.RawMessage(`{}`), Version: 1}
	if err := w.Commit(ctx, []table.Op{table.Put(neighbour, table.IfAbsent())}); err != nil {
		t.Fatal(err)
	}
	list, err := token.List(ctx, w, "w1")
	if err != nil || len(list) != n || list[0].ID != "t229" || list[n-1].ID != "t000" || list[0].WorkspaceID != "w1" {
		t.Errorf("%d tokens, %v", len(list), err)
	}
	if list, err := token.List(ctx, w, "w3"); err != nil || len(list) != 0 {
		t.Errorf("an empty workspace: %d tokens, %v", len(list), err)
	}
}
