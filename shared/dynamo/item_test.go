package dynamo_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

func TestItem(t *testing.T) {
	it := table.Item{
		Key:       table.Key{Table: table.Data, PK: "WS#1", SK: "I#1"},
		Doc:       json.RawMessage(`{"a":[1,"<x>",true,null,{"b":-0.5}],"e":"","n":9223372036854775807,"o":{}}`),
		Version:   3,
		Index:     map[table.Index]table.IndexKey{table.ByStatus: {PK: "open", SK: "1"}},
		ExpiresAt: time.Unix(2_000_000_000, 0).UTC(),
	}
	str, num := dynamo.String, func(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
	want := dynamo.Attributes{
		"pk": str("WS#1"), "sk": str("I#1"), "v": num("3"), "ttl": num("2000000000"),
		"byStatus_pk": str("open"), "byStatus_sk": str("1"),
		"a": &types.AttributeValueMemberL{Value: []types.AttributeValue{
			num("1"), str("<x>"), &types.AttributeValueMemberBOOL{Value: true}, &types.AttributeValueMemberNULL{Value: true},
			&types.AttributeValueMemberM{Value: dynamo.Attributes{"b": num("-0.5")}},
		}},
		"e": str(""), "n": num("9223372036854775807"), "o": &types.AttributeValueMemberM{Value: dynamo.Attributes{}},
	}
	got, err := dynamo.Encode(it)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(
		types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberL{},
		types.AttributeValueMemberM{}, types.AttributeValueMemberBOOL{}, types.AttributeValueMemberNULL{})); d != "" {
		t.Errorf("attributes (-want +got):\n%s", d)
	}
	back, err := dynamo.Decode(table.Data, got)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(it, back); d != "" {
		t.Errorf("item (-want +got):\n%s", d)
	}
	if _, err := dynamo.Encode(table.Item{Doc: json.RawMessage(`{`)}); err == nil {
		t.Error("half a document was encoded")
	}
}

// TestDecodeForeign reads items that the connector did not write.
func TestDecodeForeign(t *testing.T) {
	str, num := dynamo.String, dynamo.Number
	tests := []struct {
		name, want string
		attrs      dynamo.Attributes
	}{
		{"no key", "no key", dynamo.Attributes{"v": num(1)}},
		{"half a key", "only one of the attributes pk and sk", dynamo.Attributes{"pk": str("p")}},
		{"number as key", "attribute pk is not a string", dynamo.Attributes{"pk": num(1), "sk": str("s")}},
		{"text as sort key", "attribute sk is not a string", dynamo.Attributes{"pk": str("p"), "sk": num(1)}},
		{"text as version", "another type", dynamo.Attributes{"pk": str("p"), "sk": str("s"), "v": str("1")}},
		{"fraction as version", "invalid syntax", dynamo.Attributes{"pk": str("p"), "sk": str("s"), "v": &types.AttributeValueMemberN{Value: "1.5"}}},
		{"text as expiry", "another type", dynamo.Attributes{"pk": str("p"), "sk": str("s"), "ttl": str("1")}},
		{"half an index key", "byStatus_pk", dynamo.Attributes{"pk": str("p"), "sk": str("s"), "byStatus_sk": str("x")}},
		{"a set", "does not write", dynamo.Attributes{"pk": str("p"), "sk": str("s"), "set": &types.AttributeValueMemberSS{Value: []string{"x"}}}},
		{"bytes in a list", "does not write", dynamo.Attributes{"pk": str("p"), "sk": str("s"), "l": &types.AttributeValueMemberL{
			Value: []types.AttributeValue{&types.AttributeValueMemberM{Value: dynamo.Attributes{"b": &types.AttributeValueMemberB{}}}},
		}}},
	}
	for _, tt := range tests {
		if _, err := dynamo.Decode(table.Data, tt.attrs); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v; want %q in it", tt.name, err, tt.want)
		}
	}
}
