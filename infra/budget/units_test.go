package budget

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/schema"
)

// The rules by which DynamoDB counts. Source: Amazon DynamoDB Developer Guide, "DynamoDB item
// sizes and formats", "On-demand capacity mode" (read and write request units), "Transactions:
// capacity management", "Global secondary indexes: write capacity".
const (
	readStep  = 4096 // bytes of one strongly consistent read unit
	writeStep = 1024 // bytes of one write unit
	// A transaction prepares and commits each item. Its indexes are written afterwards, once.
	transactional = 2
	eventually    = 0.5 // of a read that may lag behind
)

// item and attribute are the wire form: {"name": {"S": "text"}}.
type (
	item      = map[string]attribute
	attribute = map[string]json.RawMessage
)

// sizeOf is the size of an item: names and values.
func sizeOf(it item) (bytes int, err error) {
	for name, value := range it {
		n, err := valueSize(value)
		if err != nil {
			return 0, fmt.Errorf("attribute %s: %w", name, err)
		}
		bytes += len(name) + n
	}
	return bytes, nil
}

// overhead is what a list or a map takes besides its elements, and each element besides itself.
const (
	overhead        = 3
	elementOverhead = 1
)

func valueSize(a attribute) (int, error) {
	for kind, raw := range a {
		switch kind {
		case "S":
			s, err := decode[string](raw)
			return len(s), err
		case "N":
			s, err := decode[string](raw)
			return numberSize(s), err
		case "BOOL", "NULL":
			return 1, nil
		case "L":
			list, err := decode[[]attribute](raw)
			size := overhead
			for _, element := range list {
				n, elementErr := valueSize(element)
				if elementErr != nil {
					return 0, elementErr
				}
				size += n + elementOverhead
			}
			return size, err
		case "M":
			m, err := decode[item](raw)
			if err != nil {
				return 0, err
			}
			n, err := sizeOf(m)
			return overhead + n + elementOverhead*len(m), err
		default:
			return 0, fmt.Errorf("type %s, whose size is not known here", kind)
		}
	}
	return 0, fmt.Errorf("a value without a type")
}

func decode[T any](raw json.RawMessage) (v T, err error) {
	err = json.Unmarshal(raw, &v)
	return v, err
}

// numberSize is one byte for two significant digits, and one more; the sign takes another.
func numberSize(s string) int {
	sign := 0
	if rest, negative := strings.CutPrefix(s, "-"); negative {
		s, sign = rest, 1
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(s), "e")
	digits := strings.Replace(mantissa, ".", "", 1)
	digits = strings.TrimLeft(digits, "0")
	if !strings.Contains(mantissa, ".") || digits == "" {
		digits = strings.TrimRight(digits, "0")
	}
	return (utf8.RuneCountInString(digits)+1)/2 + 1 + sign
}

// readUnits is what reading so many bytes at once takes; nothing found takes as much as little.
func readUnits(bytes int, consistent bool) float64 {
	units := math.Max(1, math.Ceil(float64(bytes)/readStep))
	if consistent {
		return units
	}
	return units * eventually
}

// writeUnits is what writing so many bytes takes.
func writeUnits(bytes int) float64 { return math.Max(1, math.Ceil(float64(bytes)/writeStep)) }

// change is one item before and after; nil is not there.
type change struct{ before, after item }

// tableUnits is what a change takes of the table: the larger of the two counts.
func (c change) tableUnits() (float64, error) {
	before, err := sizeOf(c.before)
	if err != nil {
		return 0, err
	}
	after, err := sizeOf(c.after)
	return writeUnits(max(before, after)), err
}

// indexUnits is what a change takes of an index, which has the item as a whole: one write to
// come in, to leave or to change in place, two to move, none to stay as it is.
func (c change) indexUnits(index schema.Index) (float64, error) {
	before, err := sizeOf(c.before)
	if err != nil {
		return 0, err
	}
	after, err := sizeOf(c.after)
	if err != nil {
		return 0, err
	}
	was, is := placeIn(c.before, index), placeIn(c.after, index)
	switch {
	case was == is && (is == "" || same(c.before, c.after)):
		return 0, nil
	case was == is:
		return writeUnits(max(before, after)), nil
	case was == "":
		return writeUnits(after), nil
	case is == "":
		return writeUnits(before), nil
	default:
		return writeUnits(before) + writeUnits(after), nil
	}
}

// placeIn is the item's key in an index; empty if it is not there.
func placeIn(it item, index schema.Index) string {
	pk, hasPK := it[index.PK]
	sk, hasSK := it[index.SK]
	if !hasPK || !hasSK {
		return ""
	}
	return string(pk["S"]) + " " + string(sk["S"])
}

func same(a, b item) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
