// Package tabletest is the contract of package table as a test suite: every storage engine
// passes it, so that code over one engine behaves the same over another.
//
// It does not test how an engine keeps its promises (its file, its requests); the engines' own
// tests do. Run is the way in; the cases lie in the files named after what they cover.
package tabletest

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Engine is all that a storage engine can do.
type Engine interface {
	table.Writer
	table.Log
}

// Run runs the suite. Open gives each case an engine of its own, with empty tables; they may be
// tables of one server. An index must answer without delay.
func Run(t *testing.T, open func(t *testing.T) Engine) {
	cases := []struct {
		name string
		run  func(*testing.T, Engine)
	}{
		{"item/absent", testAbsent},
		{"item/values", testValues},
		{"item/numbers", testNumbers},
		{"item/member order", testMemberOrder},
		{"item/big", testBigItem},
		{"item/fields", testFields},
		{"item/copies", testCopies},
		{"item/tables apart", testTablesApart},
		{"batch get", testBatchGet},
		{"batch get/refused", testBatchGetRefused},
		{"query/ranges", testRanges},
		{"query/partitions apart", testPartitionsApart},
		{"query/key bytes", testKeyBytes},
		{"query/short pages", testShortPages},
		{"query/refused", testQueryRefused},
		{"index/moves", testIndexMoves},
		{"index/place taken over", testIndexTakenOver},
		{"commit/guards", testGuards},
		{"commit/several fail", testSeveralFail},
		{"commit/all or nothing", testAllOrNothing},
		{"commit/one hundred", testHundred},
		{"commit/refused", testCommitRefused},
		{"commit/too large", testTooLarge},
		{"commit/increments", testIncrements},
		{"commit/one winner", testOneWinner},
		{"next/alone", testNext},
		{"next/many", testNextMany},
		{"append", testAppend},
		{"append/one winner", testAppendOneWinner},
		{"cancelled", testCancelled},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

// key is a key of the data table, auditKey one of the audit table.
func key(pk, sk string) table.Key { return table.Key{Table: table.Data, PK: pk, SK: sk} }

func auditKey(pk, sk string) table.Key { return table.Key{Table: table.Audit, PK: pk, SK: sk} }

// item makes a small item of version 1 in no index.
func item(k table.Key, doc string) table.Item {
	return table.Item{Key: k, Doc: json.RawMessage(doc), Version: 1}
}

func put(t *testing.T, e Engine, items ...table.Item) {
	t.Helper()
	for len(items) > 0 {
		n := min(len(items), table.MaxCommitOps)
		var ops []table.Op
		for _, it := range items[:n] {
			ops = append(ops, table.Put(it, table.Guard{}))
		}
		commit(t, e, ops...)
		items = items[n:]
	}
}

func commit(t *testing.T, e Engine, ops ...table.Op) {
	t.Helper()
	if err := e.Commit(t.Context(), ops); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

// wantItem requires that the item lies under its key exactly so.
func wantItem(t *testing.T, e Engine, want table.Item) {
	t.Helper()
	got, found, err := e.Get(t.Context(), want.Key)
	if err != nil || !found {
		t.Fatalf("Get: found %t, error %v; want the item", found, err)
	}
	if d := diff(want, got); d != "" {
		t.Errorf("item (-want +got):\n%s", d)
	}
}

func wantAbsent(t *testing.T, e Engine, k table.Key) {
	t.Helper()
	if got, found, err := e.Get(t.Context(), k); err != nil || found {
		t.Errorf("Get: found %t (%s), error %v; want no item", found, got.Doc, err)
	}
}

// diff compares items or pages by what they mean: documents as JSON values, times as instants.
func diff(want, got any) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(),
		cmp.Transformer("JSON", func(doc json.RawMessage) any { return meaning(doc) }))
}

// meaning decodes a document. A number becomes its exact value, as a fraction.
func meaning(doc json.RawMessage) any {
	dec := json.NewDecoder(strings.NewReader(string(doc)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return fmt.Sprintf("not JSON: %v: %q", err, doc)
	}
	return exact(v)
}

func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		r, ok := new(big.Rat).SetString(v.String())
		if !ok {
			return "not a number: " + v.String()
		}
		return "number " + r.RatString()
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = exact(v[name])
		}
	}
	return v
}
