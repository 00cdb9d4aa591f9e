package audit_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

var now = time.Date(2025, 6, 22, 15, 30, 0, 0, time.UTC)

const retention = 400 * 24 * time.Hour

// logbook is an audit log that events can be written to at any time.
type logbook struct {
	*embedded.DB
	t     *testing.T
	count int
}

func newLogbook(t *testing.T) *logbook {
	db, err := embedded.OpenUnsynced(filepath.Join(t.TempDir(), "log.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &logbook{DB: db, t: t}
}

// add records one call at this time and returns its event id.
func (b *logbook) add(workspace, tool, actor string, at time.Time, err error) string {
	b.t.Helper()
	b.count++
	id := fmt.Sprintf("E%05d", b.count)
	set := audit.Settings{Now: func() time.Time { return at }, NewID: func() string { return id }, Retention: retention}
	call := set.Begin(audit.Start{
		Principal: &identity.Principal{WorkspaceID: workspace, UserID: actor, TokenID: "t"},
		Tool:      tool, Recorder: tool, Transport: audit.REST, CallID: "c",
	})
	if err := call.Record(context.Background(), b.DB, err); err != nil {
		b.t.Fatal(err)
	}
	return id
}

func query(q audit.Query) audit.Query {
	q.Workspace, q.Now, q.Retention = "w1", now, retention
	if q.Limit == 0 {
		q.Limit = audit.MaxQueryLimit
	}
	return q
}

// walkAll follows the cursors to the end and returns the event ids and the number of pages.
func walkAll(t *testing.T, r table.Reader, q audit.Query, between func()) (ids []string, pages int) {
	t.Helper()
	for {
		page, err := q.Run(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		if pages++; pages > 1000 {
			t.Fatal("the walk does not end")
		}
		for _, e := range page.Events {
			ids = append(ids, e.EventID)
		}
		if page.Next == "" {
			return ids, pages
		}
		q.Cursor = page.Next
		if between != nil {
			between()
		}
	}
}

func TestQueryWalksNewestFirstOverDaysAndPages(t *testing.T) {
	b := newLogbook(t)
	var want []string
	for _, at := range []time.Time{
		now.AddDate(0, 0, -399), // the oldest day still kept
		now.AddDate(0, 0, -40),
		now.AddDate(0, 0, -1), now.AddDate(0, 0, -1), // same time: the ids decide
		now.Add(-time.Hour), now,
	} {
		want = append(want, b.add("w1", "list_issues", "u1", at, nil))
		b.add("w2", "list_issues", "u1", at, nil)
	}
	slices.Reverse(want)
	for limit := 1; limit <= 7; limit++ {
		got, _ := walkAll(t, b, query(audit.Query{Limit: limit}), nil)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("limit %d: -want +got\n%s", limit, diff)
		}
	}
}

func TestQueryIsExactAtDayBorders(t *testing.T) {
	b := newLogbook(t)
	midnight := time.Date(2025, 6, 21, 0, 0, 0, 0, time.UTC)
	last := b.add("w1", "x", "u", midnight.Add(-time.Microsecond), nil)
	first := b.add("w1", "x", "u", midnight, nil)
	next := b.add("w1", "x", "u", midnight.Add(24*time.Hour), nil)
	tests := []struct {
		name         string
		since, until time.Time
		want         []string
	}{
		{"all", time.Time{}, time.Time{}, []string{next, first, last}},
		{"since is inclusive", midnight, time.Time{}, []string{next, first}},
		{"until is exclusive", time.Time{}, midnight, []string{last}},
		{"one whole day", midnight, midnight.Add(24 * time.Hour), []string{first}},
		{"one microsecond", midnight.Add(-time.Microsecond), midnight, []string{last}},
		{"parts of a microsecond", midnight.Add(-time.Microsecond / 2), midnight.Add(1), []string{first}},
		{"other zone", midnight.In(time.FixedZone("", -5*3600)), midnight.Add(24 * time.Hour), []string{first}},
		{"empty", midnight, midnight, nil},
		{"after now", now.AddDate(1, 0, 0), time.Time{}, nil},
		{"before all", time.Time{}, now.AddDate(-5, 0, 0), nil},
	}
	for _, tt := range tests {
		got, _ := walkAll(t, b, query(audit.Query{Limit: 1, Filter: audit.Filter{Since: tt.since, Until: tt.until}}), nil)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}

func TestQueryFilters(t *testing.T) {
	b := newLogbook(t)
	denied := fault.New(fault.Forbidden, fault.NotPermitted, "no")
	var want []string
	for i := range 600 { // more than one chunk of the table
		at := now.Add(-time.Duration(i) * time.Minute)
		if i%100 == 7 {
			want = append(want, b.add("w1", "delete_issue", "u2", at, denied))
		} else {
			b.add("w1", "list_issues", "u1", at, nil)
		}
	}
	for _, f := range []audit.Filter{
		{Tool: "delete_issue"}, {Outcome: fault.Denied}, {Reason: fault.NotPermitted}, {Actor: "u2"},
		{Tool: "delete_issue", Outcome: fault.Denied, Actor: "u2", Since: now.AddDate(0, 0, -2), Until: now},
	} {
		for _, limit := range []int{1, 4, 100} {
			got, _ := walkAll(t, b, query(audit.Query{Limit: limit, Filter: f}), nil)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%+v, limit %d: -want +got\n%s", f, limit, diff)
			}
		}
	}
	if got, _ := walkAll(t, b, query(audit.Query{Filter: audit.Filter{Tool: "delete_issue", Actor: "u1"}}), nil); got != nil {
		t.Errorf("filters are not joined by and: %v", got)
	}
}

func TestQueryIsSteadyWhileEventsArrive(t *testing.T) {
	b := newLogbook(t)
	var want []string
	for i := range 25 {
		want = append(want, b.add("w1", "x", "u", now.Add(-time.Duration(i)*9*time.Hour), nil))
	}
	arrived := now
	got, _ := walkAll(t, b, query(audit.Query{Limit: 3}), func() {
		arrived = arrived.Add(time.Second)
		b.add("w1", "x", "u", arrived, nil)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// counting counts the queries of the table, and can cut pages short.
type counting struct {
	table.Reader
	queries int
	cut     int
}

func (c *counting) Query(ctx context.Context, q table.Query) (table.Page, error) {
	c.queries++
	if c.cut > 0 {
		q.Limit = min(q.Limit, c.cut)
	}
	return c.Reader.Query(ctx, q)
}

func TestQueryDoesBoundedWork(t *testing.T) {
	b := newLogbook(t)
	old := b.add("w1", "x", "u", now.AddDate(0, 0, -300), nil)
	c := &counting{Reader: b}
	page, err := query(audit.Query{}).Run(context.Background(), c)
	if err != nil || len(page.Events) != 0 || page.Next == "" || c.queries > 64 {
		t.Errorf("300 empty days: %d queries, %d events, next %q, err %v", c.queries, len(page.Events), page.Next, err)
	}
	if got, pages := walkAll(t, b, query(audit.Query{}), nil); !slices.Equal(got, []string{old}) || pages < 5 {
		t.Errorf("got %v in %d pages", got, pages)
	}
	short := &counting{Reader: b, cut: 2}
	for i := range 9 {
		b.add("w1", "x", "u", now.Add(-time.Duration(i)*time.Second), nil)
	}
	if got, _ := walkAll(t, short, query(audit.Query{Filter: audit.Filter{Tool: "x"}, Limit: 5}), nil); len(got) != 10 {
		t.Errorf("short pages of the engine: %d events, want 10", len(got))
	}
}

func TestQueryForgetsWhatHasExpired(t *testing.T) {
	b := newLogbook(t)
	b.add("w1", "x", "u", now.Add(-retention).Add(-time.Second), nil)
	b.add("w1", "x", "u", now.Add(-retention), nil) // expires this very second
	kept := b.add("w1", "x", "u", now.Add(-retention).Add(2*time.Second), nil)
	if got, _ := walkAll(t, b, query(audit.Query{}), nil); !slices.Equal(got, []string{kept}) {
		t.Errorf("got %v, want only %s", got, kept)
	}
}

func TestQueryRefuses(t *testing.T) {
	b := newLogbook(t)
	for range 3 {
		b.add("w1", "x", "u", now, nil)
	}
	mine, err := query(audit.Query{Limit: 1, Filter: audit.Filter{Tool: "x"}}).Run(context.Background(), b)
	if err != nil || mine.Next == "" {
		t.Fatalf("no cursor to test with: %v", err)
	}
	forged := func(day, after string) string {
		raw, err := base64.RawURLEncoding.DecodeString(mine.Next)
		if err != nil {
			t.Fatal(err)
		}
		doc := string(raw)
		start := strings.Index(doc, `"f":`)
		return base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprintf(`{"d":%q,"k":%q,%s`, day, after, doc[start:])))
	}
	foreign := query(audit.Query{Filter: audit.Filter{Tool: "x"}, Cursor: mine.Next})
	foreign.Workspace = "w2"
	tests := []struct {
		name   string
		q      audit.Query
		reason fault.Reason
	}{
		{"no limit", audit.Query{Workspace: "w1", Now: now}, fault.InvalidArguments},
		{"too many", query(audit.Query{Limit: 101}), fault.InvalidArguments},
		{"not base64", query(audit.Query{Cursor: "%"}), fault.InvalidCursor},
		{"not JSON", query(audit.Query{Cursor: "AAAA"}), fault.InvalidCursor},
		{"other filter", query(audit.Query{Cursor: mine.Next, Filter: audit.Filter{Tool: "y"}}), fault.InvalidCursor},
		{"other range", query(audit.Query{Cursor: mine.Next, Filter: audit.Filter{Tool: "x", Since: now}}), fault.InvalidCursor},
		{"other workspace", foreign, fault.InvalidCursor},
		{"day with a separator", query(audit.Query{Filter: audit.Filter{Tool: "x"}, Cursor: forged("2025-06-22#x", "")}), fault.InvalidCursor},
		{"key of another day", query(audit.Query{Filter: audit.Filter{Tool: "x"}, Cursor: forged("2025-06-22", "2025-06-21T")}), fault.InvalidCursor},
	}
	for _, tt := range tests {
		_, err := tt.q.Run(context.Background(), b)
		if f := fault.Of(err); err == nil || f.Kind != fault.Invalid || f.Reason != tt.reason {
			t.Errorf("%s: %v, want reason %s", tt.name, err, tt.reason)
		}
	}
	far := query(audit.Query{Filter: audit.Filter{Tool: "x"}, Cursor: forged("2999-01-01", "")})
	if page, err := far.Run(context.Background(), b); err != nil || len(page.Events) != 3 {
		t.Errorf("a cursor from the future starts at the head: %d events, %v", len(page.Events), err)
	}
}

type broken struct{ table.Reader }

func (broken) Query(context.Context, table.Query) (table.Page, error) {
	return table.Page{}, errors.New("down")
}

func TestQueryPassesFailuresOn(t *testing.T) {
	if _, err := query(audit.Query{}).Run(context.Background(), broken{}); fault.KindOf(err) != fault.Internal {
		t.Errorf("got %v, want an internal error", err)
	}
}
