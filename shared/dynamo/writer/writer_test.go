package writer_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

var item = table.Item{Key: table.Key{PK: "p", SK: "s"}, Doc: json.RawMessage(`{"n":1}`), Version: 2}

type object = map[string]any

// TestCommitIsOneTransaction shows the request of each operation and guard; one operation alone
// is a transaction too.
func TestCommitIsOneTransaction(t *testing.T) {
	key := object{"pk": object{"S": "p"}, "sk": object{"S": "s"}}
	attrs := object{"pk": object{"S": "p"}, "sk": object{"S": "s"}, "v": object{"N": "2"}, "n": object{"N": "1"}}
	tests := []struct {
		op   table.Op
		want object
	}{
		{table.Put(item, table.Guard{}), object{"Put": object{"TableName": "data", "Item": attrs}}},
		{table.Put(item, table.IfVersion(1)), object{"Put": object{"TableName": "data", "Item": attrs,
			"ConditionExpression": "v = :version", "ExpressionAttributeValues": object{":version": object{"N": "1"}}}}},
		{table.Put(item, table.IfAbsent()), object{"Put": object{"TableName": "data", "Item": attrs,
			"ConditionExpression": "attribute_not_exists(pk)"}}},
		{table.Delete(item.Key, table.IfPresent()), object{"Delete": object{"TableName": "data", "Key": key,
			"ConditionExpression": "attribute_exists(pk)"}}},
		{table.Check(item.Key, table.IfPresent()), object{"ConditionCheck": object{"TableName": "data", "Key": key,
			"ConditionExpression": "attribute_exists(pk)"}}},
	}
	for _, tt := range tests {
		conn, requests := dynamotest.Script(t, []dynamotest.Answer{{Body: `{}`}})
		if err := writer.Open(conn).Commit(t.Context(), []table.Op{tt.op}); err != nil {
			t.Fatal(err)
		}
		got := requests.All()[0]
		delete(got.Body, "ClientRequestToken") // TestCommitTriedAgain
		want := dynamotest.Request{Operation: "TransactWriteItems", Body: object{"TransactItems": []any{tt.want}}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("request (-want +got):\n%s", d)
		}
	}
}

// TestCommitTriedAgain relies on the SDK: a second try of one call carries the same token, by
// which DynamoDB knows it, and another call another.
func TestCommitTriedAgain(t *testing.T) {
	lost := dynamotest.Answer{Err: errors.New("connection reset by peer")}
	conn, requests := dynamotest.Script(t, []dynamotest.Answer{{Status: 500, Body: `{}`}, {Body: `{}`}, {Body: `{}`}, lost, lost, lost},
		func(o *dynamodb.Options) {
			o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		})
	w := writer.Open(conn)
	for range 2 {
		if err := w.Commit(t.Context(), []table.Op{table.Put(item, table.IfVersion(1))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(t.Context(), []table.Op{table.Put(item, table.IfVersion(1))}); err == nil || table.IsConflict(err) {
		t.Errorf("a lost connection: %v; want a plain error", err)
	}
	var tokens []any
	for _, request := range requests.All() {
		tokens = append(tokens, request.Body["ClientRequestToken"])
	}
	if tokens[0] == nil || tokens[0] != tokens[1] || tokens[1] == tokens[2] {
		t.Errorf("tokens %v; want the first two alike, the third another", tokens)
	}
}

func TestNext(t *testing.T) {
	conn, requests := dynamotest.Script(t, []dynamotest.Answer{
		{Body: `{"Attributes":{"v":{"N":"7"}}}`},
		{Body: `{"Attributes":{}}`},
		dynamotest.Error("TransactionConflictException", "Transaction is ongoing for the item"),
	})
	w := writer.Open(conn)
	if n, err := w.Next(t.Context(), item.Key); n != 7 || err != nil {
		t.Errorf("next is %d, error %v", n, err)
	}
	want := dynamotest.Request{Operation: "UpdateItem", Body: object{
		"TableName": "data", "Key": object{"pk": object{"S": "p"}, "sk": object{"S": "s"}},
		"UpdateExpression": "ADD v :one", "ExpressionAttributeValues": object{":one": object{"N": "1"}},
		"ReturnValues": "UPDATED_NEW",
	}}
	if d := cmp.Diff(want, requests.All()[0]); d != "" {
		t.Errorf("request (-want +got):\n%s", d)
	}
	if n, err := w.Next(t.Context(), item.Key); err == nil {
		t.Errorf("an answer without a counter became %d", n)
	}
	if _, err := w.Next(t.Context(), item.Key); !table.IsConflict(err) {
		t.Errorf("error %v; want a *Conflict", err)
	}
}
