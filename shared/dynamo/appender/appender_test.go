package appender

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

var event = table.Item{Key: table.Key{Table: table.Audit, PK: "p", SK: "s"}, Doc: json.RawMessage(`{"n":1}`), Version: 1}

const (
	same  = `"Item":{"pk":{"S":"p"},"sk":{"S":"s"},"v":{"N":"1"},"n":{"N":"1"}}`
	other = `"Item":{"pk":{"S":"p"},"sk":{"S":"s"},"v":{"N":"1"},"n":{"N":"2"}}`
)

func TestAppendNeverOverwrites(t *testing.T) {
	conn, requests := dynamotest.Script(t, []dynamotest.Answer{{Body: `{}`}})
	if err := Open(conn).Append(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	want := []dynamotest.Request{{Operation: "PutItem", Body: map[string]any{
		"TableName":                           "audit",
		"ConditionExpression":                 "attribute_not_exists(pk)",
		"ReturnValuesOnConditionCheckFailure": "ALL_OLD",
		"Item": map[string]any{
			"pk": map[string]any{"S": "p"}, "sk": map[string]any{"S": "s"},
			"v": map[string]any{"N": "1"}, "n": map[string]any{"N": "1"},
		},
	}}}
	if d := cmp.Diff(want, requests.All()); d != "" {
		t.Errorf("requests (-want +got):\n%s", d)
	}
}

// TestAppendAfterALostAnswer lets the SDK try again what had already been stored.
func TestAppendAfterALostAnswer(t *testing.T) {
	for found, want := range map[string]bool{same: true, other: false} {
		conn, _ := dynamotest.Script(t, []dynamotest.Answer{
			{Status: 500, Body: `{}`},
			dynamotest.Error("ConditionalCheckFailedException", "The conditional request failed", found),
		}, func(o *dynamodb.Options) {
			o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.Backoff = noDelay })
		})
		err := Open(conn).Append(t.Context(), event)
		if (err == nil) != want || err != nil && !table.FailedAt(err, 0) {
			t.Errorf("found %s: %v", found, err)
		}
	}
}

var noDelay = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })

func TestAppendThrottled(t *testing.T) {
	conn, _ := dynamotest.Script(t, []dynamotest.Answer{dynamotest.Error("RequestLimitExceeded", "")})
	err := Open(conn).Append(t.Context(), event)
	var throttled *table.Throttled
	if !errors.As(err, &throttled) {
		t.Errorf("error %v; want a *Throttled", err)
	}
}
