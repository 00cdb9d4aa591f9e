package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/rest"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

var now = time.Date(2025, 6, 22, 15, 30, 0, 0, time.UTC)

func owner(scopes ...identity.Scope) *identity.Principal {
	return &identity.Principal{WorkspaceID: "w1", UserID: "u1", TokenID: "t1", Role: identity.Owner, Scopes: scopes}
}

// get sends a request as lambdarun would hand it on.
func get(h http.Handler, p *identity.Principal, method, target string) *httptest.ResponseRecorder {
	ctx := audit.WithOrigin(context.Background(), audit.Origin{
		CallID: "call-1", SourceIP: "192.0.2.7", TraceID: "trace", Client: audit.Client{Name: "curl"},
	})
	if p != nil {
		ctx = identity.NewContext(ctx, p)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, target, nil))
	return w
}

func decode[T any](t *testing.T, w *httptest.ResponseRecorder) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("not what was expected: %v in %s", err, w.Body)
	}
	if got := w.Header(); got.Get("Content-Type") != "application/json" || got.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", got)
	}
	return v
}

type refusal struct {
	Error  string `json:"error"`
	Reason string `json:"reason"`
	Field  string `json:"field"`
	CallID string `json:"call_id"`
}

func TestToolsForEverySubsetOfScopes(t *testing.T) {
	h := rest.Discovery(catalog.Entries, "1.2.3")
	entries := catalog.Entries()
	all := identity.Scopes()
	for set := range 1 << len(all) {
		var scopes []identity.Scope
		for i, s := range all {
			if set&(1<<i) != 0 {
				scopes = append(scopes, s)
			}
		}
		p := owner(scopes...)
		w := get(h, p, "GET", "/tools")
		got := decode[struct {
			Tools []struct {
				Name    string `json:"name"`
				Granted *bool  `json:"granted"`
			} `json:"tools"`
		}](t, w)
		if w.Code != 200 || len(got.Tools) != len(entries) || len(entries) == 0 {
			t.Fatalf("%d, %d tools of %d", w.Code, len(got.Tools), len(entries))
		}
		for i, e := range entries {
			want := identity.Require(p, e.Scopes...) == nil
			if g := got.Tools[i]; g.Name != e.Name || g.Granted == nil || *g.Granted != want {
				t.Errorf("scopes %v: %+v, want %s granted %t", scopes, g, e.Name, want)
			}
		}
	}
}

// The answer is the entries of the catalogue, and granted.
func TestToolsAreTheEntries(t *testing.T) {
	w := get(rest.Discovery(catalog.Entries, "1.2.3"), owner(), "GET", "/tools")
	got := decode[map[string][]map[string]any](t, w)
	encoded, err := json.Marshal(catalog.Entries())
	if err != nil {
		t.Fatal(err)
	}
	var want []map[string]any
	if err := json.Unmarshal(encoded, &want); err != nil {
		t.Fatal(err)
	}
	for _, e := range want {
		e["granted"] = false
		if hints, _ := e["annotations"].(map[string]any); len(hints) != 4 {
			t.Errorf("%s has the hints %v, want all four", e["name"], hints)
		}
	}
	if diff := cmp.Diff(map[string][]map[string]any{"tools": want}, got); diff != "" {
		t.Error(diff)
	}
}

func TestDiscoveryRoutes(t *testing.T) {
	h := rest.Discovery(catalog.Entries, "1.2.3")
	if w := get(h, nil, "GET", "/health"); w.Code != 200 || w.Body.String() != `{"status":"ok","version":"1.2.3"}` {
		t.Errorf("health: %d %s", w.Code, w.Body)
	}
	tests := []struct {
		method, path string
		p            *identity.Principal
		status       int
		reason       string
	}{
		{"GET", "/tools", nil, 401, "unauthenticated"},
		{"POST", "/tools", owner(), 405, "invalid_request"},
		{"HEAD", "/health", nil, 405, "invalid_request"},
		{"GET", "/", owner(), 404, "not_found"},
		{"GET", "/tools/", owner(), 404, "not_found"},
		{"GET", "/.well-known/oauth-authorization-server", nil, 404, "not_found"},
	}
	for _, tt := range tests {
		w := get(h, tt.p, tt.method, tt.path)
		if got := decode[refusal](t, w); w.Code != tt.status || got.Reason != tt.reason || got.CallID != "call-1" {
			t.Errorf("%s %s: %d %+v", tt.method, tt.path, w.Code, got)
		}
	}
}

// auditWorld is GET /audit over a log that the test can look into.
type auditWorld struct {
	*embedded.DB
	t       *testing.T
	n       int
	log     strings.Builder
	readErr error
	logErr  error
	panics  bool
}

func newAuditWorld(t *testing.T) *auditWorld {
	db, err := embedded.OpenUnsynced(filepath.Join(t.TempDir(), "log.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &auditWorld{DB: db, t: t}
}

func (w *auditWorld) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if w.panics {
		panic("secret of the engine")
	}
	if w.readErr != nil {
		return table.Page{}, w.readErr
	}
	return w.DB.Query(ctx, q)
}

func (w *auditWorld) Append(ctx context.Context, item table.Item) error {
	if w.logErr != nil {
		return w.logErr
	}
	return w.DB.Append(ctx, item)
}

func (w *auditWorld) settings(at time.Time) audit.Settings {
	return audit.Settings{Now: func() time.Time { return at }, Retention: audit.DefaultRetention,
		NewID: func() string { w.n++; return fmt.Sprintf("E%03d", w.n) }}
}

// add records a call of some tool.
func (w *auditWorld) add(p *identity.Principal, tool string, at time.Time, outcome error) {
	w.t.Helper()
	call := w.settings(at).Begin(audit.Start{Principal: p, Tool: tool, Recorder: tool, Transport: audit.REST, CallID: "c"})
	if err := call.Record(context.Background(), w.DB, outcome); err != nil {
		w.t.Fatal(err)
	}
}

func (w *auditWorld) handler() http.Handler {
	return rest.Audit(rest.AuditConfig{Reader: w, Settings: w.settings(now), Log: w, Logger: slog.New(slog.NewTextHandler(&w.log, nil))})
}

// own returns the events that reading the log has left.
func (w *auditWorld) own() []audit.Event {
	w.t.Helper()
	page, err := audit.Query{Workspace: "w1", Filter: audit.Filter{Tool: "_audit"}, Limit: 100, Now: now, Retention: audit.DefaultRetention}.Run(context.Background(), w.DB)
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Events
}

type page struct {
	Events []audit.Event `json:"events"`
	Next   *string       `json:"next_cursor"`
}

func TestAuditShowsTheOwnWorkspaceAndRecordsItself(t *testing.T) {
	w := newAuditWorld(t)
	w.add(owner(), "list_issues", now.Add(-time.Hour), nil)
	w.add(owner(), "delete_issue", now.Add(-time.Minute), fault.New(fault.Invalid, fault.ConfirmMissing, "no"))
	w.add(&identity.Principal{WorkspaceID: "w2", UserID: "u1", TokenID: "t1"}, "get_issue", now, nil)
	answer := get(w.handler(), owner(identity.AuditRead), "GET", "/audit")
	got := decode[page](t, answer)
	if answer.Code != 200 || len(got.Events) != 2 || got.Events[0].Tool != "delete_issue" || got.Events[1].Tool != "list_issues" {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	want := []audit.Event{{
		Tool: "_audit", Outcome: fault.Success, ScopesProvided: []string{"audit:read"}, Timestamp: now, EventID: "E004", CallID: "call-1",
		WorkspaceID: "w1", Actor: "u1", TokenID: "t1", Client: audit.Client{Name: "curl"}, Transport: audit.REST, Recorder: "_audit",
		ScopesRequired: []string{"audit:read"}, SourceIP: "192.0.2.7", TraceID: "trace",
	}}
	if diff := cmp.Diff(want, w.own()); diff != "" {
		t.Error(diff)
	}
}

func TestAuditFiltersAndPages(t *testing.T) {
	w := newAuditWorld(t)
	for i := range 7 {
		w.add(owner(), "list_issues", now.Add(-time.Duration(i)*20*time.Hour), nil)
		w.add(owner(), "delete_issue", now.Add(-time.Duration(i)*20*time.Hour), fault.New(fault.Invalid, fault.ConfirmMissing, "no"))
	}
	h := w.handler()
	query := url.Values{"tool": {"delete_issue"}, "outcome": {"denied"}, "reason": {"destructive_flag_missing"}, "actor": {"u1"},
		"since": {now.Add(-100 * time.Hour).Format(time.RFC3339)}, "until": {"2025-06-22T17:30:00+02:00"}, "limit": {"2"}}
	var times []time.Time
	for pages := 0; ; pages++ {
		answer := get(h, owner(identity.AuditRead), "GET", "/audit?"+query.Encode())
		if answer.Code != 200 || pages > 20 {
			t.Fatalf("page %d: %d %s", pages, answer.Code, answer.Body)
		}
		got := decode[page](t, answer)
		for _, e := range got.Events {
			times = append(times, e.Timestamp)
		}
		if got.Next == nil {
			break
		}
		query.Set("cursor", *got.Next)
	}
	var want []time.Time // until is now, exclusive; since 100 hours before it
	for i := 1; i <= 5; i++ {
		want = append(want, now.Add(-time.Duration(i)*20*time.Hour))
	}
	if diff := cmp.Diff(want, times); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(get(h, owner(identity.AuditRead), "GET", "/audit?until=2001-01-01T00:00:00Z").Body.String(), "null") {
		t.Error("no events are an empty list")
	}
}

func TestAuditRefuses(t *testing.T) {
	member := owner(identity.AuditRead)
	member.Role = identity.Member
	ok := owner(identity.AuditRead)
	tests := []struct {
		name, query string
		p           *identity.Principal
		status      int
		reason      fault.Reason
		field       string
	}{
		{"nobody", "", nil, 401, fault.TokenMissing, ""},
		{"no scope", "", owner(identity.IssuesRead), 403, fault.InsufficientScope, ""},
		{"no scope and a bad query", "nonsense=1", owner(), 403, fault.InsufficientScope, ""},
		{"member", "", member, 403, fault.NotPermitted, ""},
		{"unknown parameter", "outcom=denied", ok, 400, fault.InvalidArguments, ""},
		{"other case", "Tool=x", ok, 400, fault.InvalidArguments, ""},
		{"workspace", "workspace_id=w2", ok, 400, fault.InvalidArguments, ""},
		{"repeated", "tool=a&tool=b", ok, 400, fault.InvalidArguments, "tool"},
		{"malformed", "tool=%zz", ok, 400, fault.InvalidArguments, ""},
		{"empty tool", "tool=", ok, 400, fault.InvalidArguments, "tool"},
		{"long actor", "actor=" + strings.Repeat("x", 129), ok, 400, fault.InvalidArguments, "actor"},
		{"actor that is no text", "actor=%ff", ok, 400, fault.InvalidArguments, "actor"},
		{"outcome", "outcome=refused", ok, 400, fault.InvalidArguments, "outcome"},
		{"reason", "reason=because", ok, 400, fault.InvalidArguments, "reason"},
		{"since", "since=yesterday", ok, 400, fault.InvalidArguments, "since"},
		{"a plus that is a space", "since=2025-06-22T15:30:00+02:00", ok, 400, fault.InvalidArguments, "since"},
		{"until", "until=0001-01-01T00:00:00Z", ok, 400, fault.InvalidArguments, "until"},
		{"since behind until", "since=2025-06-22T15:30:00Z&until=2025-06-22T15:30:00Z", ok, 400, fault.InvalidArguments, "since"},
		{"limit 0", "limit=0", ok, 400, fault.InvalidArguments, "limit"},
		{"limit 101", "limit=101", ok, 400, fault.InvalidArguments, "limit"},
		{"limit +5", "limit=%2B5", ok, 400, fault.InvalidArguments, "limit"},
		{"limit huge", "limit=99999999999999999999", ok, 400, fault.InvalidArguments, "limit"},
		{"cursor", "cursor=abc", ok, 400, fault.InvalidCursor, "cursor"},
		{"empty cursor", "cursor=", ok, 400, fault.InvalidArguments, "cursor"},
	}
	for _, tt := range tests {
		w := newAuditWorld(t)
		answer := get(w.handler(), tt.p, "GET", "/audit?"+tt.query)
		got := decode[refusal](t, answer)
		if answer.Code != tt.status || got.Reason != string(tt.reason) || got.Field != tt.field || got.CallID != "call-1" {
			t.Errorf("%s: %d %s", tt.name, answer.Code, answer.Body)
		}
		events := w.own()
		if tt.p == nil {
			if len(events) != 0 {
				t.Errorf("%s left an event", tt.name)
			}
			continue
		}
		if len(events) != 1 || events[0].Outcome != fault.Denied || events[0].Reason != tt.reason {
			t.Errorf("%s: events %+v", tt.name, events)
		}
	}
}

func TestAuditFails(t *testing.T) {
	tests := []struct {
		name    string
		break_  func(*auditWorld)
		status  int
		outcome fault.Outcome // empty: nothing could be recorded
		retry   string
	}{
		{"read", func(w *auditWorld) { w.readErr = errors.New("secret of the engine") }, 500, fault.Failed, ""},
		{"throttled", func(w *auditWorld) { w.readErr = &table.Throttled{RetryAfter: 3 * time.Second} }, 429, fault.Denied, "3"},
		{"panic", func(w *auditWorld) { w.panics = true }, 500, fault.Failed, ""},
		{"record", func(w *auditWorld) { w.logErr = errors.New("secret of the log") }, 500, "", ""},
		{"read and record", func(w *auditWorld) { w.readErr = errors.New("x"); w.logErr = errors.New("secret") }, 500, "", ""},
	}
	for _, tt := range tests {
		w := newAuditWorld(t)
		w.add(owner(), "list_issues", now, nil)
		tt.break_(w)
		answer := get(w.handler(), owner(identity.AuditRead), "GET", "/audit")
		if answer.Code != tt.status || strings.Contains(answer.Body.String(), "secret") || strings.Contains(answer.Body.String(), "list_issues") || answer.Header().Get("Retry-After") != tt.retry {
			t.Errorf("%s: %d %v %s", tt.name, answer.Code, answer.Header(), answer.Body)
		}
		if tt.status == 500 && w.log.Len() == 0 {
			t.Errorf("%s: nothing was logged", tt.name)
		}
		events := w.own()
		if tt.outcome == "" && len(events) != 0 || tt.outcome != "" && (len(events) != 1 || events[0].Outcome != tt.outcome) {
			t.Errorf("%s: events %+v", tt.name, events)
		}
	}
}

func TestAuditLeavesTimeToRecord(t *testing.T) {
	w := newAuditWorld(t)
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second)) // out of time from the start
	defer cancel()
	r := httptest.NewRequestWithContext(identity.NewContext(ctx, owner(identity.AuditRead)), "GET", "/audit", nil)
	rec := httptest.NewRecorder()
	w.handler().ServeHTTP(rec, r)
	if events := w.own(); rec.Code != 500 || len(events) != 1 || events[0].Outcome != fault.Failed {
		t.Errorf("%d, events %+v", rec.Code, events)
	}
}

func FuzzAuditQuery(f *testing.F) {
	for _, seed := range []string{"", "tool=a&limit=5", "since=2025-06-22T15:30:00Z", "cursor=eyJkIjoi", "a=%", "limit=1&limit=2", "until=9999-12-31T23:59:59-23:59"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		w := newAuditWorld(t)
		r := httptest.NewRequestWithContext(identity.NewContext(context.Background(), owner(identity.AuditRead)), "GET", "/audit", nil)
		r.URL.RawQuery = query
		rec := httptest.NewRecorder()
		w.handler().ServeHTTP(rec, r)
		if rec.Code != 200 && rec.Code != 400 || len(w.own()) != 1 {
			t.Errorf("%d %s, events %v", rec.Code, rec.Body, w.own())
		}
	})
}
