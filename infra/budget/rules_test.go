package budget

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/schema"
)

// TestSizes checks the sizes by hand.
func TestSizes(t *testing.T) {
	for _, tt := range []struct {
		item string
		want int
	}{
		{`{}`, 0},
		{`{"pk":{"S":"abc"}}`, 2 + 3},
		{`{"a":{"S":"é"}}`, 1 + 2},
		{`{"n":{"N":"0"}}`, 1 + 1},
		{`{"n":{"N":"7"}}`, 1 + 2},
		{`{"n":{"N":"1720740233012995"}}`, 1 + 9},
		{`{"n":{"N":"-12000"}}`, 1 + 3},
		{`{"n":{"N":"0.0012"}}`, 1 + 2},
		{`{"b":{"BOOL":true},"z":{"NULL":true}}`, 2 + 2},
		{`{"l":{"L":[]}}`, 1 + 3},
		{`{"l":{"L":[{"S":"ab"},{"N":"1"}]}}`, 1 + 3 + (1 + 2) + (1 + 2)},
		{`{"m":{"M":{"k":{"S":"v"}}}}`, 1 + 3 + 1 + (1 + 1)},
	} {
		got, err := sizeOf(itemOf(t, tt.item))
		if got != tt.want || err != nil {
			t.Errorf("%s: %d, %v; want %d", tt.item, got, err, tt.want)
		}
	}
	for _, bad := range []string{`{"x":{"B":"AA=="}}`, `{"x":{}}`, `{"x":{"S":1}}`, `{"x":{"L":[{"Q":1}]}}`} {
		if n, err := sizeOf(itemOf(t, bad)); err == nil {
			t.Errorf("%s was sized: %d", bad, n)
		}
	}
}

func itemOf(t *testing.T, text string) (it item) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &it); err != nil {
		t.Fatal(err)
	}
	return it
}

func TestUnits(t *testing.T) {
	for _, tt := range []struct {
		what      string
		got, want float64
	}{
		{"reading nothing", readUnits(0, true), 1},
		{"reading a step", readUnits(4096, true), 1},
		{"reading a byte more", readUnits(4097, true), 2},
		{"reading what may lag", readUnits(4097, false), 1},
		{"reading nothing that may lag", readUnits(0, false), 0.5},
		{"writing nothing", writeUnits(0), 1},
		{"writing a step", writeUnits(1024), 1},
		{"writing a byte more", writeUnits(1025), 2},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %v, want %v", tt.what, tt.got, tt.want)
		}
	}
}

// TestIndexUnits follows the guide's list of what a change of an item does to an index.
func TestIndexUnits(t *testing.T) {
	index := schema.Index{Name: "x", PK: "x_pk", SK: "x_sk"}
	in := func(pk, filling string) item {
		return itemOf(t, `{"pk":{"S":"p"},"x_pk":{"S":"`+pk+`"},"x_sk":{"S":"s"},"f":{"S":"`+filling+`"}}`)
	}
	long := strings.Repeat("x", 1024)
	out := itemOf(t, `{"pk":{"S":"p"},"f":{"S":"y"}}`)
	for _, tt := range []struct {
		what   string
		change change
		want   float64
	}{
		{"never in it", change{out, out}, 0},
		{"new in it", change{nil, in("1", "a")}, 1},
		{"comes in", change{out, in("1", long)}, 2},
		{"leaves", change{in("1", "a"), out}, 1},
		{"removed", change{in("1", long), nil}, 2},
		{"unchanged", change{in("1", "a"), in("1", "a")}, 0},
		{"changed in place", change{in("1", "a"), in("1", long)}, 2},
		{"moved", change{in("1", "a"), in("2", long)}, 3},
	} {
		if got, err := tt.change.indexUnits(index); got != tt.want || err != nil {
			t.Errorf("%s: %v, %v; want %v", tt.what, got, err, tt.want)
		}
	}
	if got, err := (change{in("1", long), in("1", "a")}).tableUnits(); got != 2 || err != nil {
		t.Errorf("made smaller: %v, %v; want the units of the larger", got, err)
	}
}
