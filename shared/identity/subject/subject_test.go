package subject_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity/subject"
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

func link(sub, client, workspace, user string) subject.Link {
	return subject.Link{Issuer: "https://login.example.com", Subject: sub, ClientID: client, WorkspaceID: workspace, UserID: user, LinkedAt: start}
}

func mustMake(t *testing.T, w table.Writer, l subject.Link) {
	t.Helper()
	if err := subject.Make(t.Context(), w, l); err != nil {
		t.Fatal(err)
	}
}

func presented(sub, client string) subject.Presented {
	return subject.Presented{Issuer: "https://login.example.com", Subject: sub, ClientID: client}
}

func find(t *testing.T, r table.Reader, p subject.Presented) subject.Found {
	t.Helper()
	found, err := subject.Find(t.Context(), r, p)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// note is an operation like the audit event that goes with an act.
func note(sk string) table.Op {
	return table.Put(table.Item{Key: table.Key{Table: table.Audit, PK: "note", SK: sk}, Doc: json.RawMessage(`{}`), Version: 1}, table.IfAbsent())
}

func TestTheLinkOfTheClientWins(t *testing.T) {
	w := openTable(t)
	general, own := link("s1", "", "w1", "u1"), link("s1", "c1", "w2", "u1")
	mustMake(t, w, general)
	mustMake(t, w, own)
	for client, want := range map[string]subject.Link{"": general, "c2": general, "c1": own} {
		got := find(t, w, presented("s1", client))
		if diff := cmp.Diff(subject.Found{Link: want, Linked: true}, got); diff != "" {
			t.Errorf("client %q (-want +got):\n%s", client, diff)
		}
	}
	for _, p := range []subject.Presented{
		presented("s2", "c1"), presented("S1", "c1"), presented("", ""), {Issuer: "https://login.example.com/", Subject: "s1"},
		{Issuer: "https://login.example.coms", Subject: "1"},
	} {
		if got := find(t, w, p); got.Linked || got.Revoked {
			t.Errorf("%+v: found %+v", p, got)
		}
	}
}

func TestOnlyOneClientIsLinked(t *testing.T) {
	w := openTable(t)
	mustMake(t, w, link("s1", "c1", "w1", "u1"))
	if find(t, w, presented("s1", "c2")).Linked || find(t, w, presented("s1", "")).Linked {
		t.Error("the link of one client holds for others")
	}
}

func TestMakeReplaces(t *testing.T) {
	w := openTable(t)
	mustMake(t, w, link("s1", "", "w1", "u1"))
	mustMake(t, w, link("s1", "", "w1", "u1"))
	mustMake(t, w, link("s1", "", "w2", "u2"))
	if got := find(t, w, presented("s1", "")); got.Link.WorkspaceID != "w2" || got.Link.UserID != "u2" {
		t.Errorf("found %+v", got.Link)
	}
	for workspace, want := range map[string]int{"w1": 0, "w2": 1} {
		links, err := subject.List(t.Context(), w, workspace)
		if err != nil || len(links) != want {
			t.Errorf("%s: %+v, %v", workspace, links, err)
		}
	}
}

func TestRemove(t *testing.T) {
	w := openTable(t)
	general, own := link("s1", "", "w1", "u1"), link("s1", "c1", "w1", "u1")
	mustMake(t, w, general)
	mustMake(t, w, own)
	remove := func(workspace, sub, client string, with ...table.Op) error {
		_, err := subject.Remove(t.Context(), w, workspace, "https://login.example.com", sub, client, with...)
		return err
	}
	for _, args := range [][3]string{{"w2", "s1", ""}, {"w1", "s2", ""}, {"w1", "s1", "c2"}, {"", "s1", ""}} {
		if err := remove(args[0], args[1], args[2]); fault.Of(err).Reason != fault.TargetNotFound {
			t.Errorf("%v: %v", args, err)
		}
	}
	if err := remove("w1", "s1", "c1", note("a")); err != nil {
		t.Fatal(err)
	}
	if got := find(t, w, presented("s1", "c1")); !got.Linked || got.Link.ClientID != "" {
		t.Errorf("after the client's link is gone: %+v", got)
	}
	if err := remove("w1", "s1", "", note("a")); err == nil {
		t.Error("the act was recorded twice under one key")
	}
	if !find(t, w, presented("s1", "")).Linked {
		t.Error("a commit that failed removed the link")
	}
	if err := remove("w1", "s1", ""); err != nil || find(t, w, presented("s1", "c1")).Linked {
		t.Errorf("still linked, %v", err)
	}
	if links, err := subject.List(t.Context(), w, "w1"); err != nil || links != nil {
		t.Errorf("%+v, %v", links, err)
	}
}

func TestList(t *testing.T) {
	w := openTable(t)
	first, second, third := link("s2", "", "w1", "u2"), link("s1", "", "w1", "u1"), link("s1", "c1", "w1", "u1")
	second.LinkedAt, third.LinkedAt = start.Add(time.Hour), start.Add(time.Hour)
	for _, l := range []subject.Link{third, second, first, link("s3", "", "w2", "u3")} {
		mustMake(t, w, l)
	}
	got, err := subject.List(t.Context(), w, "w1")
	if diff := cmp.Diff([]subject.Link{first, second, third}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestManyLinks(t *testing.T) {
	w := openTable(t)
	for i := range 120 {
		mustMake(t, w, link(strings.Repeat("s", i+1), "", "w1", "u1"))
	}
	if links, err := subject.List(t.Context(), w, "w1"); err != nil || len(links) != 120 {
		t.Errorf("%d links, %v", len(links), err)
	}
}

func TestRevoke(t *testing.T) {
	w := openTable(t)
	mustMake(t, w, link("s1", "", "w1", "u1"))
	p := presented("s1", "c1")
	p.TokenID = "jti-1"
	if find(t, w, p).Revoked {
		t.Error("revoked from the start")
	}
	if err := subject.Revoke(t.Context(), w, p.Issuer, "jti-1", start, note("a")); err != nil {
		t.Fatal(err)
	}
	if got := find(t, w, p); !got.Revoked || !got.Linked {
		t.Errorf("found %+v", got)
	}
	for _, other := range []subject.Presented{
		presented("s1", "c1"), {Issuer: p.Issuer, Subject: "s1", TokenID: "jti-2"}, {Issuer: "https://other.example.com", Subject: "s1", TokenID: "jti-1"},
	} {
		if find(t, w, other).Revoked {
			t.Errorf("%+v is revoked", other)
		}
	}
	if err := subject.Revoke(t.Context(), w, p.Issuer, "jti-1", start.Add(time.Hour)); err != nil {
		t.Errorf("again: %v", err)
	}
	for _, err := range []error{
		subject.Revoke(t.Context(), w, "", "jti-1", start), subject.Revoke(t.Context(), w, p.Issuer, "", start),
		subject.Revoke(t.Context(), w, p.Issuer, "jti-1", time.Time{}),
	} {
		if fault.Of(err).Reason != fault.InvalidArguments {
			t.Errorf("accepted: %v", err)
		}
	}
}

func TestLinksThatAreRefused(t *testing.T) {
	w := openTable(t)
	with := func(change func(*subject.Link)) subject.Link { l := link("s1", "c1", "w1", "u1"); change(&l); return l }
	for field, l := range map[string]subject.Link{
		"issuer":    with(func(l *subject.Link) { l.Issuer = "" }),
		"subject":   with(func(l *subject.Link) { l.Subject = strings.Repeat("s", 2049) }),
		"client_id": with(func(l *subject.Link) { l.ClientID = "\xff" }),
	} {
		err := subject.Make(t.Context(), w, l)
		if f := fault.Of(err); f.Reason != fault.InvalidArguments || f.Member("field") != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for name, l := range map[string]subject.Link{
		"workspace": with(func(l *subject.Link) { l.WorkspaceID = "" }),
		"user":      with(func(l *subject.Link) { l.UserID = "" }),
		"time":      with(func(l *subject.Link) { l.LinkedAt = time.Time{} }),
	} {
		if err := subject.Make(t.Context(), w, l); err == nil || fault.KindOf(err) != fault.Internal {
			t.Errorf("no %s: %v", name, err)
		}
	}
	if find(t, w, presented("s1", "c1")).Linked {
		t.Error("a refused link was stored")
	}
}

// rows answers every BatchGet with the same rows, whatever was asked.
type rows struct {
	table.Reader
	items []table.Item
	err   error
}

func (r rows) BatchGet(context.Context, []table.Key) ([]table.Item, error) { return r.items, r.err }

func TestFindDoesNotTrustTheRow(t *testing.T) {
	key := table.Key{PK: "SUB#" + subject.ID("https://login.example.com", "s1"), SK: "META"}
	row := func(key table.Key, doc string) rows {
		return rows{items: []table.Item{{Key: key, Doc: json.RawMessage(doc), Version: 1}}}
	}
	for name, r := range map[string]rows{
		"no table":          {err: errors.New("gone")},
		"no JSON":           row(key, `[`),
		"no member":         row(key, `{"issuer":"https://login.example.com","subject":"s1"}`),
		"another's subject": row(key, `{"issuer":"https://login.example.com","subject":"s2","workspace_id":"w1","user_id":"u1"}`),
		"another's issuer":  row(key, `{"issuer":"https://other.example.com","subject":"s1","workspace_id":"w1","user_id":"u1"}`),
	} {
		if found, err := subject.Find(t.Context(), r, presented("s1", "")); err == nil || found.Linked || fault.KindOf(err) != fault.Internal {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	stranger := row(table.Key{PK: "SUB#x", SK: "META"}, `{"issuer":"https://login.example.com","subject":"s1","workspace_id":"w1","user_id":"u1"}`)
	if found, err := subject.Find(t.Context(), stranger, presented("s1", "")); err != nil || found.Linked {
		t.Errorf("a row that nobody asked for: %+v, %v", found, err)
	}
}

func TestIDsTellPartsApart(t *testing.T) {
	if subject.ID("ab", "c") == subject.ID("a", "bc") || subject.ID("1:a", "") == subject.ID("", "1:a") || len(subject.ID("a", "b")) != 64 {
		t.Error("two subjects share an id")
	}
}
