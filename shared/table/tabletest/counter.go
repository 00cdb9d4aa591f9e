package tabletest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

func testNext(t *testing.T, e Engine) {
	a, b := key("counters", "a"), key("counters", "b")
	for want := int64(1); want <= 3; want++ {
		wantNext(t, e, a, want)
	}
	wantNext(t, e, b, 1)
	wantNext(t, e, auditKey("counters", "a"), 1)
	it := item(a, `{}`)
	it.Version = 3
	wantItem(t, e, it)

	it.Version = 41
	put(t, e, it)
	wantNext(t, e, a, 42)
	if _, err := e.Next(t.Context(), key("counters", "")); err == nil {
		t.Error("an empty sort key was accepted")
	}
}

func wantNext(t *testing.T, e Engine, k table.Key, want int64) {
	t.Helper()
	if got, err := e.Next(t.Context(), k); err != nil || got != want {
		t.Errorf("Next: %d, %v; want %d", got, err, want)
	}
}

func testNextMany(t *testing.T, e Engine) {
	const callers = 40
	numbers := make(chan int64, callers)
	together(t, callers, func(ctx context.Context) error {
		n, err := e.Next(ctx, key("counters", "many"))
		numbers <- n
		return err
	})
	got := map[int64]bool{}
	for range callers {
		got[<-numbers] = true
	}
	for n := int64(1); n <= callers; n++ {
		if !got[n] {
			t.Errorf("number %d was not given out", n)
		}
	}
}

func testAppend(t *testing.T, e Engine) {
	event := item(auditKey("p", "1"), `{"tool":"list_issues","outcome":"success"}`)
	event.Index = map[table.Index]table.IndexKey{table.ByWorkspace: {PK: "w", SK: "1"}}
	if err := e.Append(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	wantItem(t, e, event)

	forged := item(event.Key, `{"tool":"list_issues","outcome":"denied"}`)
	err := e.Append(t.Context(), forged)
	if d := cmp.Diff([]int{0}, failedOf(err)); d != "" {
		t.Errorf("append over an event: %v (-want +got):\n%s", err, d)
	}
	moved := event
	moved.Index = map[table.Index]table.IndexKey{table.ByWorkspace: {PK: "elsewhere", SK: "1"}}
	if err := e.Append(t.Context(), moved); !table.IsConflict(err) {
		t.Errorf("append that moves an event: %v; want a *Conflict", err)
	}
	if err := e.Append(t.Context(), event); err != nil {
		t.Errorf("the same event again, as after a lost answer: %v", err)
	}
	wantItem(t, e, event)
	if got := askAll(t, e, table.Query{Table: table.Audit, Index: table.ByWorkspace, PK: "w", Limit: 5}); len(got) != 1 {
		t.Errorf("byWorkspace holds %q, want the event once", got)
	}

	if err := e.Append(t.Context(), item(key("p", "1"), `{}`)); err == nil {
		t.Error("append to the data table was accepted")
	}
	wantAbsent(t, e, key("p", "1"))
}

func failedOf(err error) []int {
	var c *table.Conflict
	if !errors.As(err, &c) {
		return nil
	}
	return c.Failed
}

func testAppendOneWinner(t *testing.T, e Engine) {
	const callers = 10
	won := make(chan string, callers)
	docs := make(chan string, callers)
	for i := range callers {
		docs <- `{"by":` + string(rune('0'+i)) + `}`
	}
	together(t, callers, func(ctx context.Context) error {
		doc := <-docs
		for {
			err := e.Append(ctx, item(auditKey("p", "s"), doc))
			switch {
			case err == nil:
				won <- doc
				return nil
			case table.FailedAt(err, 0):
				return nil
			case !table.IsConflict(err):
				return err
			}
		}
	})
	if len(won) != 1 {
		t.Fatalf("%d callers appended under one key", len(won))
	}
	wantItem(t, e, item(auditKey("p", "s"), <-won))
}

func testCancelled(t *testing.T, e Engine) {
	put(t, e, item(key("p", "s"), `{}`))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	calls := map[string]func() error{
		"Get":      func() error { _, _, err := e.Get(ctx, key("p", "s")); return err },
		"BatchGet": func() error { _, err := e.BatchGet(ctx, []table.Key{key("p", "s")}); return err },
		"Query":    func() error { _, err := e.Query(ctx, table.Query{PK: "p", Limit: 1}); return err },
		"Commit":   func() error { return e.Commit(ctx, []table.Op{table.Put(item(key("p", "t"), `{}`), table.Guard{})}) },
		"Next":     func() error { _, err := e.Next(ctx, key("p", "u")); return err },
		"Append":   func() error { return e.Append(ctx, item(auditKey("p", "v"), `{}`)) },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v; want it to be context.Canceled", name, err)
		}
	}
	for _, k := range []table.Key{key("p", "t"), key("p", "u"), auditKey("p", "v")} {
		wantAbsent(t, e, k)
	}
}
