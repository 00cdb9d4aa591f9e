package audit_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

func exported(t *testing.T, r table.Reader, f audit.Filter) (ids []string) {
	t.Helper()
	x := audit.Export{Workspace: "w1", Filter: f, Now: now, Retention: retention}
	err := x.Each(context.Background(), r, func(e audit.Event) error {
		ids = append(ids, e.EventID)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestExportIsTheQueryBackwards compares two ways through the same log, with pages cut short.
func TestExportIsTheQueryBackwards(t *testing.T) {
	b := newLogbook(t)
	denied := fault.New(fault.Forbidden, fault.NotPermitted, "no")
	for i := range 1300 { // more than one chunk a day
		at := now.Add(-time.Duration(i) * 3 * time.Minute)
		if i%7 == 0 {
			b.add("w1", "delete_issue", "u2", at, denied)
		} else {
			b.add("w1", "list_issues", "u1", at, nil)
		}
		if i%100 == 0 {
			b.add("w2", "list_issues", "u1", at, nil)
		}
	}
	b.add("w1", "list_issues", "u1", now.Add(-retention), nil) // expires this very second
	b.add("w1", "list_issues", "u1", now.AddDate(0, 0, -399), nil)
	for _, f := range []audit.Filter{
		{}, {Tool: "delete_issue"}, {Outcome: fault.Denied, Actor: "u2"},
		{Since: now.Add(-30 * time.Hour), Until: now.Add(-time.Minute)},
		{Since: now, Until: now},
	} {
		want, _ := walkAll(t, b, query(audit.Query{Filter: f}), nil)
		slices.Reverse(want)
		for _, r := range []table.Reader{b, &counting{Reader: b, cut: 3}} {
			if diff := cmp.Diff(want, exported(t, r, f)); diff != "" {
				t.Errorf("%+v: -query backwards +export\n%s", f, diff)
			}
		}
	}
	if n := len(exported(t, b, audit.Filter{})); n != 1301 {
		t.Errorf("%d events, want 1301", n)
	}
}

func TestExportStopsAtTheFirstError(t *testing.T) {
	b := newLogbook(t)
	for range 3 {
		b.add("w1", "x", "u", now, nil)
	}
	full, calls := errors.New("full"), 0
	x := audit.Export{Workspace: "w1", Now: now, Retention: retention}
	err := x.Each(context.Background(), b, func(audit.Event) error { calls++; return full })
	if !errors.Is(err, full) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	if err := x.Each(context.Background(), broken{}, nil); fault.KindOf(err) != fault.Internal {
		t.Errorf("got %v, want an internal error", err)
	}
}
