package dynamo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/schema"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Attributes is an item, or a part of one, as DynamoDB takes it.
type Attributes = map[string]types.AttributeValue

// Each member of a document is an attribute of its own, so that the tables can be read with
// any DynamoDB tool and the stream of changes carries plain values. Numbers go over as the
// digits they are written in: no float64 touches them.

// EncodeKey makes the key of an item.
func EncodeKey(key table.Key) Attributes {
	return Attributes{schema.PK: String(key.PK), schema.SK: String(key.SK)}
}

// Encode makes the attributes of an item that table.CheckItem accepts.
func Encode(it table.Item) (Attributes, error) {
	dec := json.NewDecoder(bytes.NewReader(it.Doc))
	dec.UseNumber()
	var doc map[string]any
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	attrs := make(Attributes, len(doc)+4+2*len(it.Index))
	for name, v := range doc {
		attrs[name] = encodeValue(v)
	}
	attrs[schema.PK], attrs[schema.SK] = String(it.PK), String(it.SK)
	attrs[schema.Version] = Number(it.Version)
	if !it.ExpiresAt.IsZero() {
		attrs[schema.TTL] = Number(it.ExpiresAt.Unix())
	}
	for index, key := range it.Index {
		pk, sk := schema.KeysOf(index)
		attrs[pk], attrs[sk] = String(key.PK), String(key.SK)
	}
	return attrs, nil
}

// String and Number make attribute values.
func String(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func Number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// encodeValue takes what encoding/json decodes with UseNumber, and nothing else.
func encodeValue(v any) types.AttributeValue {
	switch v := v.(type) {
	case string:
		return String(v)
	case json.Number:
		return &types.AttributeValueMemberN{Value: v.String()}
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}
	case []any:
		list := make([]types.AttributeValue, len(v))
		for i := range v {
			list[i] = encodeValue(v[i])
		}
		return &types.AttributeValueMemberL{Value: list}
	case map[string]any:
		m := make(Attributes, len(v))
		for name := range v {
			m[name] = encodeValue(v[name])
		}
		return &types.AttributeValueMemberM{Value: m}
	default:
		return &types.AttributeValueMemberNULL{Value: true}
	}
}

// Decode makes an item of the attributes that DynamoDB returned. It takes the attributes apart:
// do not use them afterwards.
func Decode(name table.Name, attrs Attributes) (table.Item, error) {
	it, err := decodeFrame(name, attrs)
	if err != nil {
		return table.Item{}, fmt.Errorf("item in table %s: %w", name, err)
	}
	it.Doc, err = decodeDoc(attrs)
	if err != nil {
		return table.Item{}, fmt.Errorf("item in table %s: %w", name, err)
	}
	return it, nil
}

// decodeFrame takes out of attrs all that does not belong to the document.
func decodeFrame(name table.Name, attrs Attributes) (table.Item, error) {
	it := table.Item{Key: table.Key{Table: name}}
	var err error
	if it.PK, it.SK, err = takeKey(attrs, table.Primary); err != nil {
		return it, err
	}
	if it.PK == "" {
		return it, errors.New("it has no key")
	}
	if it.Version, err = takeInt(attrs, schema.Version); err != nil {
		return it, err
	}
	expires, err := takeInt(attrs, schema.TTL)
	if err != nil {
		return it, err
	}
	if expires != 0 {
		it.ExpiresAt = time.Unix(expires, 0).UTC()
	}
	for _, index := range table.Indexes(name) {
		pk, sk, err := takeKey(attrs, index)
		if err != nil {
			return it, err
		}
		if pk == "" {
			continue
		}
		if it.Index == nil {
			it.Index = map[table.Index]table.IndexKey{}
		}
		it.Index[index] = table.IndexKey{PK: pk, SK: sk}
	}
	return it, nil
}

// takeKey returns empty strings if the item is not in the index.
func takeKey(attrs Attributes, index table.Index) (pk, sk string, err error) {
	pkName, skName := schema.KeysOf(index)
	if pk, err = takeString(attrs, pkName); err != nil {
		return "", "", err
	}
	if sk, err = takeString(attrs, skName); err != nil {
		return "", "", err
	}
	if (pk == "") != (sk == "") {
		return "", "", fmt.Errorf("it has only one of the attributes %s and %s", pkName, skName)
	}
	return pk, sk, nil
}

func takeString(attrs Attributes, name string) (string, error) {
	v, there := attrs[name]
	if !there {
		return "", nil
	}
	s, ok := v.(*types.AttributeValueMemberS)
	if !ok {
		return "", fmt.Errorf("attribute %s is not a string", name)
	}
	delete(attrs, name)
	return s.Value, nil
}

func takeInt(attrs Attributes, name string) (int64, error) {
	v, there := attrs[name]
	if !there {
		return 0, nil
	}
	delete(attrs, name)
	return Int(v)
}

// Int reads a number attribute.
func Int(v types.AttributeValue) (int64, error) {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0, errors.New("a number attribute has another type")
	}
	return strconv.ParseInt(n.Value, 10, 64)
}

func decodeDoc(attrs Attributes) (json.RawMessage, error) {
	doc := make(map[string]any, len(attrs))
	for name, v := range attrs {
		var err error
		if doc[name], err = decodeValue(v); err != nil {
			return nil, fmt.Errorf("attribute %s: %w", name, err)
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

func decodeValue(v types.AttributeValue) (any, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value, nil
	case *types.AttributeValueMemberN:
		return json.Number(v.Value), nil
	case *types.AttributeValueMemberBOOL:
		return v.Value, nil
	case *types.AttributeValueMemberNULL:
		return nil, nil
	case *types.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for i := range v.Value {
			var err error
			if list[i], err = decodeValue(v.Value[i]); err != nil {
				return nil, err
			}
		}
		return list, nil
	case *types.AttributeValueMemberM:
		m := make(map[string]any, len(v.Value))
		for name := range v.Value {
			var err error
			if m[name], err = decodeValue(v.Value[name]); err != nil {
				return nil, err
			}
		}
		return m, nil
	default:
		return nil, fmt.Errorf("type %T, which the connector does not write", v)
	}
}
