package tabletest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

func testAbsent(t *testing.T, e Engine) {
	put(t, e, item(key("p", "s"), `{}`))
	for _, k := range []table.Key{key("p", "t"), key("q", "s"), key("p", "ss"), auditKey("p", "s")} {
		wantAbsent(t, e, k)
	}
}

func testValues(t *testing.T, e Engine) {
	docs := []string{
		`{}`,
		`{"s":"","o":{},"a":[],"n":null,"t":true,"f":false}`,
		`{"deep":{"list":[{"x":[[],[{}],null,"",0,false]},"y"],"more":{"z":{"pk":"p","sk":"s","v":1,"ttl":2}}}}`,
		`{"s":"quote \" slash \\ / tab \t line \n nul \u0000 del \u007f <b>&amp;</b> \u2028"}`,
		`{"s":"żółć 日本語 🦊 \u00e9 e\u0301","ключ":"значение","🦊":["🦊"]}`,
		`{"with space":1,"with.dot":2,"with#hash":3,"name":4,"status":5,"size":6,":v":7}`,
		`{"mixed":[1,"1",true,null,{"1":1},[1]]}`,
	}
	for i, doc := range docs {
		it := item(key("p", fmt.Sprint("s", i)), doc)
		put(t, e, it)
		wantItem(t, e, it)
	}
}

func testNumbers(t *testing.T, e Engine) {
	it := item(key("p", "s"), `{"n":[0,-0,1,-1,9223372036854775807,-9223372036854775808,18446744073709551615,
		99999999999999999999999999999999999999,0.1,-0.25,1.50,3.14159265358979323846264338327950288,1e3,1.5E-7,1e+20,100]}`)
	put(t, e, it)
	wantItem(t, e, it)
}

func testMemberOrder(t *testing.T, e Engine) {
	it := item(key("p", "s"), `{"b":{"y":1,"x":2},"a":1}`)
	put(t, e, it)
	it.Doc = json.RawMessage(`{"a":1,"b":{"x":2,"y":1}}`)
	wantItem(t, e, it)
}

func testBigItem(t *testing.T, e Engine) {
	it := item(key("p", "s"), `{"text":"`+strings.Repeat("żółw ", 50_000)+`"}`)
	put(t, e, it)
	wantItem(t, e, it)
}

func testFields(t *testing.T, e Engine) {
	it := item(key("p", "s"), `{"a":1}`)
	it.Version = 1 << 62
	it.ExpiresAt = time.Date(2040, 2, 29, 23, 59, 59, 0, time.UTC)
	it.Index = map[table.Index]table.IndexKey{
		table.ByStatus:  {PK: "p#open", SK: "1"},
		table.ByUpdated: {PK: "p#all", SK: "2"},
	}
	put(t, e, it)
	wantItem(t, e, it)

	// A Put replaces the whole item: nothing of the old one stays.
	bare := item(it.Key, `{"b":2}`)
	put(t, e, bare)
	wantItem(t, e, bare)

	event := item(auditKey("p", "s"), `{}`)
	event.Index = map[table.Index]table.IndexKey{table.ByWorkspace: {PK: "w", SK: "s"}}
	put(t, e, event)
	wantItem(t, e, event)
}

func testCopies(t *testing.T, e Engine) {
	doc := `{"a":"` + strings.Repeat("original ", 1000) + `"}` // so big that an engine may not copy it by chance
	it := item(key("p", "s"), doc)
	it.Index = map[table.Index]table.IndexKey{table.ByStatus: {PK: "x", SK: "y"}}
	want := item(it.Key, doc)
	want.Index = map[table.Index]table.IndexKey{table.ByStatus: {PK: "x", SK: "y"}}
	put(t, e, it)
	spoil(it)
	for range 2 {
		got, _, err := e.Get(t.Context(), it.Key)
		if err != nil {
			t.Fatal(err)
		}
		spoil(got)
		page, err := e.Query(t.Context(), table.Query{PK: "p", Limit: 1})
		if err != nil || len(page.Items) != 1 {
			t.Fatalf("Query: %d items, error %v", len(page.Items), err)
		}
		spoil(page.Items[0])
		batch, err := e.BatchGet(t.Context(), []table.Key{it.Key})
		if err != nil || len(batch) != 1 {
			t.Fatalf("BatchGet: %d items, error %v", len(batch), err)
		}
		spoil(batch[0])
	}
	wantItem(t, e, want)
}

// spoil overwrites what the item refers to.
func spoil(it table.Item) {
	for i := range it.Doc {
		it.Doc[i] = 'x'
	}
	clear(it.Index)
}

func testTablesApart(t *testing.T, e Engine) {
	data, event := item(key("p", "s"), `{"in":"data"}`), item(auditKey("p", "s"), `{"in":"audit"}`)
	put(t, e, data, event)
	wantItem(t, e, data)
	wantItem(t, e, event)
	commit(t, e, table.Delete(data.Key, table.IfPresent()))
	wantAbsent(t, e, data.Key)
	wantItem(t, e, event)
}

func testBatchGet(t *testing.T, e Engine) {
	want := map[table.Key]table.Item{}
	var keys []table.Key
	for i := range table.MaxBatchGetKeys {
		it := item(key("p", fmt.Sprint(i)), fmt.Sprintf(`{"i":%d,"text":"%s"}`, i, strings.Repeat("x", 1000)))
		if i%3 == 0 {
			it.Key.Table = table.Audit
		}
		keys = append(keys, it.Key)
		if i%4 == 0 {
			continue // asked for, but absent
		}
		want[it.Key] = it
		put(t, e, it)
	}
	items, err := e.BatchGet(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	got := map[table.Key]table.Item{}
	for _, it := range items {
		if _, twice := got[it.Key]; twice {
			t.Errorf("item %s came twice", it.SK)
		}
		got[it.Key] = it
	}
	if d := diff(want, got); d != "" {
		t.Errorf("items (-want +got):\n%s", d)
	}
	if items, err := e.BatchGet(t.Context(), nil); err != nil || len(items) != 0 {
		t.Errorf("no keys: %d items, error %v", len(items), err)
	}
	if items, err := e.BatchGet(t.Context(), []table.Key{key("none", "none")}); err != nil || len(items) != 0 {
		t.Errorf("absent key: %d items, error %v", len(items), err)
	}
}

func testBatchGetRefused(t *testing.T, e Engine) {
	var keys []table.Key
	for i := range table.MaxBatchGetKeys + 1 {
		keys = append(keys, key("p", fmt.Sprint(i)))
	}
	_, err := e.BatchGet(t.Context(), keys)
	wantTooLarge(t, err)
	if _, err := e.BatchGet(t.Context(), []table.Key{key("p", "s"), key("p", "s")}); err == nil {
		t.Error("the same key twice was accepted")
	}
}
