package monitor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/schema"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// An image is an item as the stream shows it: each member of the audit event is an attribute of
// its own, {"S": "…"}, {"N": "12"}, {"M": {…}}, beside the attributes that the engine adds.
// Source: Amazon DynamoDB API Reference, AttributeValue.
type image map[string]json.RawMessage

// maxImageDepth bounds nesting, as DynamoDB does for documents.
const maxImageDepth = 32

// text returns a string attribute; empty if there is none.
func (im image) text(name string) string {
	v, err := plain(im[name], 0)
	if err != nil {
		return ""
	}
	s, _ := v.(string)
	return s
}

// number returns a whole number; 0 if there is none.
func (im image) number(name string) int64 {
	v, err := plain(im[name], 0)
	if err != nil {
		return 0
	}
	n, _ := v.(json.Number)
	i, err := n.Int64()
	if err != nil {
		return 0
	}
	return i
}

// document is what the item's writer stored, without what the engine added.
func (im image) document() (json.RawMessage, error) {
	doc := make(map[string]any, len(im))
	for name, raw := range im {
		if ofEngine(name) {
			continue
		}
		v, err := plain(raw, 0)
		if err != nil {
			return nil, err
		}
		doc[name] = v
	}
	return json.Marshal(doc)
}

// ofEngine tells the attributes that are no members of a document; table reserves their names.
func ofEngine(name string) bool {
	switch name {
	case schema.PK, schema.SK, schema.Version, schema.TTL:
		return true
	}
	return strings.HasSuffix(name, "_"+schema.PK) || strings.HasSuffix(name, "_"+schema.SK)
}

// plain takes the type off a value.
func plain(raw json.RawMessage, depth int) (any, error) {
	if depth > maxImageDepth {
		return nil, errors.New("it nests too deeply")
	}
	var typed map[string]json.RawMessage
	if err := json.Unmarshal(raw, &typed); err != nil || len(typed) != 1 {
		return nil, errors.New("an attribute is not an object with one type")
	}
	for kind, value := range typed {
		return plainOf(kind, value, depth)
	}
	return nil, nil // not reached: there is one
}

func plainOf(kind string, value json.RawMessage, depth int) (any, error) {
	switch kind {
	case "S":
		return as[string](value)
	case "N":
		s, err := as[string](value)
		if err != nil || !isNumber(s) {
			return nil, errors.New("a number attribute holds no number")
		}
		return json.Number(s), nil
	case "BOOL":
		return as[bool](value)
	case "NULL":
		return nil, nil
	case "L":
		return plainList(value, depth)
	case "M":
		return plainMap(value, depth)
	default: // B, SS, NS, BS
		return nil, errors.New("an attribute has a type that the connector does not write")
	}
}

func plainList(value json.RawMessage, depth int) (any, error) {
	raw, err := as[[]json.RawMessage](value)
	if err != nil {
		return nil, err
	}
	list := make([]any, len(raw))
	for i := range raw {
		if list[i], err = plain(raw[i], depth+1); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func plainMap(value json.RawMessage, depth int) (any, error) {
	raw, err := as[map[string]json.RawMessage](value)
	if err != nil {
		return nil, err
	}
	m := make(map[string]any, len(raw))
	for name := range raw {
		if m[name], err = plain(raw[name], depth+1); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func as[T any](value json.RawMessage) (v T, err error) {
	if err := json.Unmarshal(value, &v); err != nil {
		return v, errors.New("an attribute's value does not fit its type")
	}
	return v, nil
}

func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}

// imageOf makes the image of an item.
func imageOf(it table.Item) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(it.Doc))
	dec.UseNumber()
	var doc map[string]any
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("read the document of an item: %w", err)
	}
	im := make(map[string]any, len(doc)+6)
	for name, v := range doc {
		im[name] = typed(v)
	}
	im[schema.PK], im[schema.SK] = typed(it.PK), typed(it.SK)
	im[schema.Version] = typed(json.Number(fmt.Sprint(it.Version)))
	if !it.ExpiresAt.IsZero() {
		im[schema.TTL] = typed(json.Number(fmt.Sprint(it.ExpiresAt.Unix())))
	}
	for index, key := range it.Index {
		pk, sk := schema.KeysOf(index)
		im[pk], im[sk] = typed(key.PK), typed(key.SK)
	}
	return im, nil
}

// typed is the opposite of plain. It takes what encoding/json decodes with UseNumber.
func typed(v any) map[string]any {
	switch v := v.(type) {
	case string:
		return map[string]any{"S": v}
	case json.Number:
		return map[string]any{"N": v.String()}
	case bool:
		return map[string]any{"BOOL": v}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = typed(v[i])
		}
		return map[string]any{"L": list}
	case map[string]any:
		m := make(map[string]any, len(v))
		for name := range v {
			m[name] = typed(v[name])
		}
		return map[string]any{"M": m}
	default:
		return map[string]any{"NULL": true}
	}
}
