package table

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestCheckDoc(t *testing.T) {
	nested := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	tests := []struct {
		doc  string
		want string // part of the error; empty: accepted
	}{
		{`{}`, ""},
		{` {"a":[1,{"pk":"nested is free"},[]],"b":null} `, ""},
		{`{"n":-9223372036854775808,"m":0.00,"e":-0e999}`, ""},
		{`{"n":99999999999999999999999999999999999999}`, ""},
		{`{"n":999999999999999999999999999999999999991}`, "38 digits"},
		{`{"n":1000000000000000000000000000000000000000}`, ""},
		{`{"n":1e125}`, ""},
		{`{"n":1e126}`, "out of range"},
		{`{"n":10e125}`, "out of range"},
		{`{"n":1e-130}`, ""},
		{`{"n":0.1e-130}`, "out of range"},
		{`{"n":1e99999999999999999999}`, "out of range"},
		{nested(31), ""},
		{nested(32), "levels deep"},
		{`{"a":1,"a":2}`, "twice"},
		{`{"":1}`, "empty name"},
		{`{"v":1}`, "belongs to the engine"},
		{`{"byStatus_pk":1}`, "belongs to the engine"},
		{`[]`, "not a JSON object"},
		{`null`, "not a JSON object"},
		{``, "not a JSON object"},
		{`{"a":1`, "document:"},
		{`{"a" 1}`, "document:"},
		{`{"a":}`, "document:"},
		{`{}{}`, "goes on"},
		{"{\"a\":\"\xff\"}", "UTF-8"},
	}
	for _, tt := range tests {
		err := checkDoc(json.RawMessage(tt.doc))
		if got := errText(err); (tt.want == "") != (err == nil) || !strings.Contains(got, tt.want) {
			t.Errorf("checkDoc(%.60s) = %q, want %q", tt.doc, got, tt.want)
		}
	}
}

func TestCheckCommit(t *testing.T) {
	key := Key{PK: "p", SK: "s"}
	item := Item{Key: key, Doc: json.RawMessage(`{}`), Version: 1}
	with := func(change func(*Item)) []Op {
		it := item
		change(&it)
		return []Op{Put(it, Guard{})}
	}
	tests := []struct {
		name string
		ops  []Op
		want string
	}{
		{"fine", []Op{Put(item, Guard{}), Check(Key{PK: "p", SK: "t"}, IfAbsent())}, ""},
		{"longest keys", with(func(it *Item) { it.PK, it.SK = strings.Repeat("p", 2048), strings.Repeat("s", 1024) }), ""},
		{"no operations", nil, "without operations"},
		{"check without guard", []Op{Check(key, Guard{})}, "without a guard"},
		{"same key", []Op{Put(item, Guard{}), Delete(key, Guard{})}, "operations 0 and 1"},
		{"same key, other table", []Op{Put(item, Guard{}), Delete(Key{Table: Audit, PK: "p", SK: "s"}, Guard{})}, ""},
		{"empty key", []Op{Delete(Key{PK: "p"}, Guard{})}, "sort key is empty"},
		{"no such table", []Op{Delete(Key{Table: 2, PK: "p", SK: "s"}, Guard{})}, "no such table"},
		{"unknown kind", []Op{{Kind: 3, Item: item}}, "unknown kind"},
		{"bytes", with(func(it *Item) { it.SK = "\xff" }), "not valid UTF-8"},
		{"long key", with(func(it *Item) { it.SK = strings.Repeat("s", 1025) }), "too large"},
		{"no version", with(func(it *Item) { it.Version = 0 }), "version"},
		{"foreign index", with(func(it *Item) { it.Index = map[Index]IndexKey{ByWorkspace: {"p", "s"}} }), "no index"},
		{"primary index", with(func(it *Item) { it.Index = map[Index]IndexKey{Primary: {"p", "s"}} }), "no index"},
		{"empty index key", with(func(it *Item) { it.Index = map[Index]IndexKey{ByStatus: {PK: "p"}} }), "index byStatus"},
	}
	for _, tt := range tests {
		err := CheckCommit(tt.ops)
		if got := errText(err); (tt.want == "") != (err == nil) || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestCheckReads(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"query", CheckQuery(Query{PK: "p", Limit: 1, From: "z", To: "a"}), ""},
		{"no limit", CheckQuery(Query{PK: "p"}), "limit"},
		{"no partition", CheckQuery(Query{Limit: 1}), "partition key is empty"},
		{"foreign index", CheckQuery(Query{Table: Audit, Index: ByStatus, PK: "p", Limit: 1}), "no index"},
		{"no such table", CheckQuery(Query{Table: -1, PK: "p", Limit: 1}), "no such table"},
		{"bad bound", CheckQuery(Query{PK: "p", Limit: 1, After: "\xff"}), "UTF-8"},
		{"keys", CheckKeys([]Key{{PK: "p", SK: "s"}, {Table: Audit, PK: "p", SK: "s"}}), ""},
		{"twice", CheckKeys([]Key{{PK: "p", SK: "s"}, {PK: "p", SK: "s"}}), "key 1 is asked for twice"},
		{"bad key", CheckKeys([]Key{{PK: "p"}}), "key 0"},
	}
	for _, tt := range tests {
		if got := errText(tt.err); (tt.want == "") != (tt.err == nil) || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestConflict(t *testing.T) {
	err := errors.Join(errors.New("other"), &Conflict{Failed: []int{2, 4}})
	if !IsConflict(err) || !FailedAt(err, 4) || FailedAt(err, 3) {
		t.Errorf("conflict not seen through the wrap: %v", err)
	}
	if IsConflict(nil) || FailedAt(errors.New("x"), 0) || IsConflict(&TooLarge{}) {
		t.Error("what is no conflict was taken for one")
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
