package tabletest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// wantConflict requires that the commit fails because of exactly these operations.
func wantConflict(t *testing.T, e Engine, failed []int, ops ...table.Op) {
	t.Helper()
	err := e.Commit(t.Context(), ops)
	var c *table.Conflict
	if !errors.As(err, &c) {
		t.Errorf("Commit: %v; want a *Conflict at %v", err, failed)
		return
	}
	if d := cmp.Diff(failed, c.Failed); d != "" {
		t.Errorf("failed operations (-want +got):\n%s", d)
	}
}

func wantTooLarge(t *testing.T, err error) {
	t.Helper()
	var tooLarge *table.TooLarge
	if !errors.As(err, &tooLarge) {
		t.Errorf("error %v; want a *TooLarge", err)
	}
}

func testGuards(t *testing.T, e Engine) {
	present := item(key("p", "present"), `{"was":"there"}`)
	present.Version = 7
	absent := item(key("p", "absent"), `{"is":"new"}`)
	tests := []struct {
		name            string
		guard           table.Guard
		present, absent bool // whether the guard holds
	}{
		{"none", table.Guard{}, true, true},
		{"IfAbsent", table.IfAbsent(), false, true},
		{"IfPresent", table.IfPresent(), true, false},
		{"IfVersion 7", table.IfVersion(7), true, false},
		{"IfVersion 6", table.IfVersion(6), false, false},
		{"IfVersion 0", table.IfVersion(0), false, false},
	}
	for _, tt := range tests {
		for _, target := range []table.Item{present, absent} {
			holds, isThere := tt.absent, target.SK == present.SK
			if isThere {
				holds = tt.present
			}
			changed := target
			changed.Doc, changed.Version = []byte(`{"changed":true}`), 8
			after := map[table.OpKind]*table.Item{table.OpPut: &changed}
			for _, op := range []table.Op{table.Put(changed, tt.guard), table.Delete(target.Key, tt.guard), table.Check(target.Key, tt.guard)} {
				if op.Kind == table.OpCheck && tt.guard == (table.Guard{}) {
					continue // refused: testCommitRefused
				}
				commit(t, e, table.Put(present, table.Guard{}), table.Delete(absent.Key, table.Guard{}))
				if isThere {
					after[table.OpCheck] = &present
				}
				want := after[op.Kind]
				if holds {
					commit(t, e, op)
				} else {
					wantConflict(t, e, []int{0}, op)
					want = nil
					if isThere {
						want = &present
					}
				}
				if want == nil {
					wantAbsent(t, e, target.Key)
				} else {
					wantItem(t, e, *want)
				}
				if t.Failed() {
					t.Fatalf("%s, operation %d, on an item that is there: %t", tt.name, op.Kind, isThere)
				}
			}
		}
	}
}

func testSeveralFail(t *testing.T, e Engine) {
	it := item(key("p", "0"), `{}`)
	put(t, e, it)
	ops := []table.Op{
		table.Check(it.Key, table.IfAbsent()),
		table.Put(item(key("p", "1"), `{}`), table.IfAbsent()),
		table.Put(item(key("p", "2"), `{}`), table.IfVersion(1)),
		table.Delete(key("p", "3"), table.Guard{}),
		table.Delete(key("p", "4"), table.IfPresent()),
		table.Put(item(auditKey("p", "5"), `{}`), table.IfAbsent()),
	}
	wantConflict(t, e, []int{0, 2, 4}, ops...)
	for _, op := range ops[1:] {
		wantAbsent(t, e, op.Item.Key)
	}
}

func testAllOrNothing(t *testing.T, e Engine) {
	changed, deleted := item(key("p", "changed"), `{"n":1}`), item(key("p", "deleted"), `{}`)
	changed.Index = map[table.Index]table.IndexKey{table.ByStatus: {PK: "x", SK: "before"}}
	put(t, e, changed, deleted)
	next := changed
	next.Doc, next.Version = []byte(`{"n":2}`), 2
	next.Index = map[table.Index]table.IndexKey{table.ByStatus: {PK: "x", SK: "after"}}
	event := item(auditKey("p", "event"), `{}`)
	ops := []table.Op{
		table.Put(next, table.IfVersion(1)),
		table.Delete(deleted.Key, table.IfPresent()),
		table.Put(event, table.IfAbsent()),
		table.Put(item(key("p", "new"), `{}`), table.Guard{}),
		table.Check(key("p", "missing"), table.IfPresent()),
	}
	wantConflict(t, e, []int{4}, ops...)
	wantItem(t, e, changed)
	wantItem(t, e, deleted)
	wantAbsent(t, e, event.Key)
	wantAbsent(t, e, key("p", "new"))
	if got := askAll(t, e, table.Query{Index: table.ByStatus, PK: "x", Limit: 5}); !slices.Equal(got, []string{"before"}) {
		t.Errorf("the index holds %q although nothing was committed", got)
	}

	commit(t, e, ops[:4]...)
	wantItem(t, e, next)
	wantAbsent(t, e, deleted.Key)
	wantItem(t, e, event)
}

func testHundred(t *testing.T, e Engine) {
	var ops []table.Op
	for i := range table.MaxCommitOps {
		it := item(key(fmt.Sprint("p", i%7), fmt.Sprint(i)), fmt.Sprintf(`{"i":%d}`, i))
		if i%2 == 1 {
			it.Key.Table = table.Audit
		}
		ops = append(ops, table.Put(it, table.IfAbsent()))
	}
	commit(t, e, ops...)
	var all []int
	for i, op := range ops {
		wantItem(t, e, op.Item)
		all = append(all, i)
	}
	wantConflict(t, e, all, ops...)
}

func testCommitRefused(t *testing.T, e Engine) {
	it := item(key("p", "s"), `{}`)
	with := func(change func(*table.Item)) []table.Op {
		changed := it
		change(&changed)
		return []table.Op{table.Put(item(key("p", "t"), `{}`), table.Guard{}), table.Put(changed, table.Guard{})}
	}
	tests := map[string][]table.Op{
		"no operations":         nil,
		"the same key twice":    {table.Put(it, table.IfAbsent()), table.Delete(it.Key, table.Guard{})},
		"check without a guard": {table.Check(it.Key, table.Guard{})},
		"empty partition key":   with(func(it *table.Item) { it.PK = "" }),
		"empty sort key":        with(func(it *table.Item) { it.SK = "" }),
		"foreign index":         with(func(it *table.Item) { it.Index = map[table.Index]table.IndexKey{table.ByWorkspace: {PK: "p", SK: "s"}} }),
		"no version":            with(func(it *table.Item) { it.Version = 0 }),
		"not an object":         with(func(it *table.Item) { it.Doc = []byte(`[]`) }),
		"reserved member":       with(func(it *table.Item) { it.Doc = []byte(`{"pk":"p"}`) }),
		"number out of range":   with(func(it *table.Item) { it.Doc = []byte(`{"n":1e200}`) }),
	}
	for name, ops := range tests {
		if err := e.Commit(t.Context(), ops); err == nil || table.IsConflict(err) {
			t.Errorf("%s: error %v; want it refused", name, err)
		}
	}
	wantAbsent(t, e, key("p", "s"))
	wantAbsent(t, e, key("p", "t"))
}

func testTooLarge(t *testing.T, e Engine) {
	text := func(n int) string { return `{"text":"` + strings.Repeat("x", n) + `"}` }
	var many, heavy []table.Op
	for i := range table.MaxCommitOps + 1 {
		many = append(many, table.Put(item(key("p", fmt.Sprint(i)), `{}`), table.Guard{}))
	}
	for i := range 11 {
		heavy = append(heavy, table.Put(item(key("p", fmt.Sprint(i)), text(399<<10)), table.Guard{}))
	}
	wantTooLarge(t, e.Commit(t.Context(), many))
	wantTooLarge(t, e.Commit(t.Context(), heavy))
	wantTooLarge(t, e.Commit(t.Context(), []table.Op{many[0], table.Put(item(key("p", "1"), text(400<<10)), table.Guard{})}))
	wantTooLarge(t, e.Commit(t.Context(), []table.Op{table.Put(item(key("p", strings.Repeat("s", 1025)), `{}`), table.Guard{})}))
	wantTooLarge(t, e.Append(t.Context(), item(auditKey("p", "1"), text(400<<10))))
	wantAbsent(t, e, key("p", "0"))
	commit(t, e, heavy[:10]...)
	wantItem(t, e, heavy[9].Item)
}

// testIncrements lets many callers raise one number, each by reading it and writing one more.
// A lost update would leave it too small.
func testIncrements(t *testing.T, e Engine) {
	const callers, times = 8, 5
	counter := item(key("p", "counter"), `{"n":1}`)
	put(t, e, counter)
	together(t, callers, func(ctx context.Context) error {
		for done := 0; done < times; {
			it, found, err := e.Get(ctx, counter.Key)
			if err != nil || !found {
				return fmt.Errorf("found %t: %w", found, err)
			}
			it.Doc = fmt.Appendf(nil, `{"n":%d}`, it.Version+1)
			guard := table.IfVersion(it.Version)
			it.Version++
			err = e.Commit(ctx, []table.Op{table.Put(it, guard)})
			if err != nil && !table.IsConflict(err) {
				return err
			}
			if err == nil {
				done++
			}
		}
		return nil
	})
	counter.Version = 1 + callers*times
	counter.Doc = fmt.Appendf(nil, `{"n":%d}`, counter.Version)
	wantItem(t, e, counter)
}

// testOneWinner lets many callers create the same item.
func testOneWinner(t *testing.T, e Engine) {
	won := make(chan bool, 10)
	together(t, 10, func(ctx context.Context) error {
		for {
			err := e.Commit(ctx, []table.Op{
				table.Put(item(key("p", "s"), `{}`), table.IfAbsent()),
				table.Put(item(auditKey("p", "s"), `{}`), table.Guard{}),
			})
			switch {
			case err == nil:
				won <- true
				return nil
			case table.FailedAt(err, 0):
				return nil
			case !table.IsConflict(err):
				return err
			}
		}
	})
	if len(won) != 1 {
		t.Errorf("%d callers created the item", len(won))
	}
}

// together runs f n times at once and fails the test with their errors.
func together(t *testing.T, n int, f func(context.Context) error) {
	t.Helper()
	errs := make(chan error, n)
	for range n {
		go func() { errs <- f(t.Context()) }()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}
