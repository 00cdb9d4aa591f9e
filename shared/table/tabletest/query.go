package tabletest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// indexes are the orders a query can go by, with the table they belong to.
var indexes = []struct {
	table table.Name
	index table.Index
}{
	{table.Data, table.Primary},
	{table.Data, table.ByStatus},
	{table.Data, table.ByAssignee},
	{table.Data, table.ByUpdated},
	{table.Audit, table.Primary},
	{table.Audit, table.ByWorkspace},
}

// placed makes an item whose sort key in the index is sk, and in the table too.
func placed(name table.Name, index table.Index, pk, sk string) table.Item {
	it := item(table.Key{Table: name, PK: pk, SK: sk}, fmt.Sprintf(`{"place":%q}`, index))
	if index != table.Primary {
		it.PK = "in " + string(index)
		it.Index = map[table.Index]table.IndexKey{index: {PK: pk, SK: sk}}
	}
	return it
}

// placeOf is the opposite: the sort key by which the query has ordered the item.
func placeOf(it table.Item, index table.Index) string {
	if index == table.Primary {
		return it.SK
	}
	return it.Index[index].SK
}

// ask queries once and returns the sort keys.
func ask(t *testing.T, e Engine, q table.Query) ([]string, bool) {
	t.Helper()
	page, err := e.Query(t.Context(), q)
	if err != nil {
		t.Fatalf("Query: %v", err)
	}
	if page.More && len(page.Items) == 0 {
		t.Fatal("an empty page says there is more")
	}
	if len(page.Items) > q.Limit {
		t.Fatalf("%d items, more than the limit", len(page.Items))
	}
	var got []string
	for _, it := range page.Items {
		got = append(got, placeOf(it, q.Index))
	}
	return got, page.More
}

// askAll follows the pages.
func askAll(t *testing.T, e Engine, q table.Query) []string {
	t.Helper()
	var all []string
	for {
		got, more := ask(t, e, q)
		all = append(all, got...)
		if !more {
			return all
		}
		if len(all) > 1000 {
			t.Fatalf("%+v never ends: it has come to %q", q, got)
		}
		q.After = got[len(got)-1]
	}
}

func testRanges(t *testing.T, e Engine) {
	stored := []string{"a", "b", "b#1", "b#2", "c", "d"}
	bounds := []string{"", "0", "a", "b#", "b#1", "d", "e"}
	for _, in := range indexes {
		var items []table.Item
		for _, sk := range stored {
			items = append(items, placed(in.table, in.index, "p", sk))
		}
		// Neighbours that no range may touch.
		items = append(items, placed(in.table, in.index, "o", "b"), placed(in.table, in.index, "pp", "b"))
		items[len(items)-1].SK, items[len(items)-2].SK = "b-of-pp", "b-of-o"
		put(t, e, items...)
	}
	for i, in := range indexes {
		for _, desc := range []bool{false, true} {
			forAll(bounds, func(from, to, after string) {
				if i > 1 && after != "" && after != "b#1" {
					return // one table and one index take every combination, the others a part
				}
				q := table.Query{Table: in.table, Index: in.index, PK: "p", From: from, To: to, After: after, Desc: desc, Limit: 100}
				want := selected(stored, q)
				if got, more := ask(t, e, q); !slices.Equal(got, want) || more {
					t.Errorf("%+v: %q, more %t; want %q", q, got, more, want)
				}
				if i > 1 {
					return
				}
				q.Limit = 2
				got, more := ask(t, e, q)
				if !slices.Equal(got, want[:min(2, len(want))]) || more != (len(want) > 2) {
					t.Errorf("%+v: %q, more %t; all are %q", q, got, more, want)
				}
				if got := askAll(t, e, q); !slices.Equal(got, want) {
					t.Errorf("%+v, page by page: %q; want %q", q, got, want)
				}
			})
		}
	}
}

// forAll calls f with every combination of bounds.
func forAll(bounds []string, f func(from, to, after string)) {
	for _, from := range bounds {
		for _, to := range bounds {
			for _, after := range bounds {
				f(from, to, after)
			}
		}
	}
}

// selected says what a query means, as simply as it can be said.
func selected(sorted []string, q table.Query) []string {
	var out []string
	for _, sk := range sorted {
		if sk < q.From || q.To != "" && sk > q.To {
			continue
		}
		if q.After != "" && (q.Desc && sk >= q.After || !q.Desc && sk <= q.After) {
			continue
		}
		out = append(out, sk)
	}
	if q.Desc {
		slices.Reverse(out)
	}
	return out
}

func testPartitionsApart(t *testing.T, e Engine) {
	// The same characters, divided differently between the two parts of the key.
	parts := []table.Key{
		key("a", "bc"), key("ab", "c"), key("a#", "b"), key("a", "#b"), key("a\x00", "b"), key("a", "\x00b"),
		key("A", "bc"), key("\u00e9", "b"), key("e\u0301", "b"),
	}
	for _, k := range parts {
		put(t, e, item(k, `{}`))
	}
	for _, k := range parts {
		var want []string
		for _, other := range parts {
			if other.PK == k.PK {
				want = append(want, other.SK)
			}
		}
		slices.Sort(want)
		if got := askAll(t, e, table.Query{PK: k.PK, Limit: 10}); !slices.Equal(got, want) {
			t.Errorf("partition %q: %q, want %q", k.PK, got, want)
		}
	}
	if got := askAll(t, e, table.Query{PK: "nobody", Limit: 10}); got != nil {
		t.Errorf("an absent partition has %q", got)
	}
}

func testKeyBytes(t *testing.T, e Engine) {
	keys := []string{
		"\x00", "\x00\x00", "\x01", "\t", "\n", " ", "!", "\"", "#", "##", "'", "0", "00", "9", "A", "Z", "\\", "_", "a", "a#", "a#b",
		"a/", "aa", "z", "~", "\x7f", "\u0080", "é", "e\u0301", "ż", "Ω", "߿", "ࠀ", "日本", "日本語", "\ud7ff", "\ue000", "\ufffd",
		"\uffff", "\U00010000", "🦊", "🦊🦊", "\U0010ffff", strings.Repeat("é", 512),
	}
	for _, in := range []table.Index{table.Primary, table.ByUpdated} {
		var items []table.Item
		for _, sk := range keys {
			items = append(items, placed(table.Data, in, "p#🦊", sk))
		}
		put(t, e, items...)
	}
	want := slices.Clone(keys)
	slices.Sort(want) // by bytes
	for _, in := range []table.Index{table.Primary, table.ByUpdated} {
		q := table.Query{Index: in, PK: "p#🦊", Limit: 7}
		if d := cmp.Diff(want, askAll(t, e, q)); d != "" {
			t.Errorf("index %q ascending (-want +got):\n%s", in, d)
		}
		q.Desc = true
		got := askAll(t, e, q)
		slices.Reverse(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("index %q descending, turned round (-want +got):\n%s", in, d)
		}
	}
	for _, sk := range keys {
		wantItem(t, e, placed(table.Data, table.Primary, "p#🦊", sk))
	}
}

// testShortPages has more data than one page may hold.
func testShortPages(t *testing.T, e Engine) {
	var want []string
	text := strings.Repeat("x", 300<<10)
	for i := range 11 {
		it := placed(table.Data, table.ByStatus, "p", fmt.Sprintf("%02d", i))
		it.PK = "p"
		it.Doc = fmt.Appendf(nil, `{"text":%q}`, text)
		want = append(want, it.SK)
		put(t, e, it)
	}
	for _, in := range []table.Index{table.Primary, table.ByStatus} {
		q := table.Query{Index: in, PK: "p", Limit: 20}
		if got, more := ask(t, e, q); len(got) == len(want) || !more {
			t.Errorf("index %q: a page of %d items of 300 KB, more %t; want it cut short", in, len(got), more)
		}
		if got := askAll(t, e, q); !slices.Equal(got, want) {
			t.Errorf("index %q: %q, want %q", in, got, want)
		}
		q.To, q.Desc = "10", true
		got := askAll(t, e, q)
		slices.Reverse(got)
		if !slices.Equal(got, want) {
			t.Errorf("index %q descending, turned round: %q, want %q", in, got, want)
		}
	}
}

func testQueryRefused(t *testing.T, e Engine) {
	for _, q := range []table.Query{
		{PK: "p"},
		{Limit: 1},
		{PK: "p", Limit: 1, Index: table.ByWorkspace},
		{PK: "p", Limit: 1, Table: table.Audit, Index: table.ByStatus},
	} {
		if _, err := e.Query(t.Context(), q); err == nil {
			t.Errorf("%+v was accepted", q)
		}
	}
}

func testIndexMoves(t *testing.T, e Engine) {
	places := func(k table.IndexKey) map[table.Index]table.IndexKey {
		return map[table.Index]table.IndexKey{table.ByStatus: k, table.ByUpdated: {PK: "all", SK: k.SK}}
	}
	want := func(step, open, done, all string) {
		t.Helper()
		for pk, sk := range map[string]string{"open": open, "done": done} {
			if got := strings.Join(askAll(t, e, table.Query{Index: table.ByStatus, PK: pk, Limit: 9}), " "); got != sk {
				t.Errorf("%s: byStatus %s holds %q, want %q", step, pk, got, sk)
			}
		}
		if got := strings.Join(askAll(t, e, table.Query{Index: table.ByUpdated, PK: "all", Limit: 9}), " "); got != all {
			t.Errorf("%s: byUpdated holds %q, want %q", step, got, all)
		}
	}
	it := item(key("p", "s"), `{}`)
	other := item(key("p", "t"), `{}`)
	it.Index, other.Index = places(table.IndexKey{PK: "open", SK: "1"}), places(table.IndexKey{PK: "open", SK: "2"})
	put(t, e, it, other)
	want("placed", "1 2", "", "1 2")
	it.Index = places(table.IndexKey{PK: "open", SK: "3"})
	put(t, e, it)
	want("moved within a partition", "2 3", "", "2 3")
	it.Index = places(table.IndexKey{PK: "done", SK: "4"})
	put(t, e, it)
	want("moved to another", "2", "4", "2 4")
	delete(it.Index, table.ByStatus)
	put(t, e, it)
	want("taken out of one index", "2", "", "2 4")
	it.Index = nil
	put(t, e, it)
	want("taken out of all", "2", "", "2")
	it.Index = places(table.IndexKey{PK: "done", SK: "5"})
	put(t, e, it)
	want("put back", "2", "5", "2 5")
	commit(t, e, table.Delete(it.Key, table.Guard{}))
	want("deleted", "2", "", "2")

	// The index shows the item as it is now.
	other.Doc, other.Version = []byte(`{"changed":true}`), 2
	put(t, e, other)
	page, err := e.Query(t.Context(), table.Query{Index: table.ByUpdated, PK: "all", Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if d := diff([]table.Item{other}, page.Items); d != "" {
		t.Errorf("item in the index (-want +got):\n%s", d)
	}
}

// testIndexTakenOver lets two items change places within one commit.
func testIndexTakenOver(t *testing.T, e Engine) {
	a, b := item(key("p", "a"), `{}`), item(key("p", "b"), `{}`)
	at := func(sk string) map[table.Index]table.IndexKey {
		return map[table.Index]table.IndexKey{table.ByAssignee: {PK: "x", SK: sk}}
	}
	a.Index, b.Index = at("1"), at("2")
	put(t, e, a, b)
	a.Index, b.Index = at("2"), at("1")
	put(t, e, a, b)
	page, err := e.Query(t.Context(), table.Query{Index: table.ByAssignee, PK: "x", Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	if d := diff([]table.Item{b, a}, page.Items); d != "" {
		t.Errorf("after changing places (-want +got):\n%s", d)
	}
}
