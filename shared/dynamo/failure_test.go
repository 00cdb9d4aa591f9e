package dynamo_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// reasons writes the cancellation reasons of a transaction; a reason may be "code: message".
func reasons(list ...string) string {
	var parts []string
	for _, r := range list {
		code, message, more := strings.Cut(r, ": ")
		part := `{"Code":"` + code + `"`
		if more {
			part += `,"Message":"` + message + `"`
		}
		parts = append(parts, part+"}")
	}
	return `"CancellationReasons":[` + strings.Join(parts, ",") + `]`
}

// TestFailure takes the errors from the bytes of the API's answers, so that the SDK's own
// decoding is in it.
func TestFailure(t *testing.T) {
	const none, guard, busy = "None", "ConditionalCheckFailed: The conditional request failed", "TransactionConflict: Transaction is ongoing for the item"
	const slow = "ThrottlingError: Throughput exceeds the current capacity of your table or index"
	const sized = "ValidationError: Item size to update has exceeded the maximum allowed size"
	cancelled := func(list ...string) dynamotest.Answer {
		return dynamotest.Error("TransactionCanceledException", "Transaction cancelled, please refer cancellation reasons", reasons(list...))
	}
	conflict := func(failed ...int) error { return &table.Conflict{Failed: failed} }
	throttled, tooLarge := error(&table.Throttled{}), error(&table.TooLarge{})
	tests := []struct {
		name   string
		answer dynamotest.Answer
		want   error // nil: a plain error
	}{
		{"one guard", cancelled(none, guard, none), conflict(1)},
		{"several guards", cancelled(guard, none, guard, guard), conflict(0, 2, 3)},
		{"busy", cancelled(none, busy), conflict()},
		{"guard before busy and slow", cancelled(busy, slow, guard), conflict(2)},
		{"slow", cancelled(none, slow), throttled},
		{"slow, provisioned", cancelled("ProvisionedThroughputExceeded: The level of configured provisioned throughput"), throttled},
		{"slow before busy", cancelled(busy, slow), throttled},
		{"too large", cancelled(none, sized), tooLarge},
		{"too large before slow", cancelled(slow, sized), tooLarge},
		{"collection too large", cancelled("ItemCollectionSizeLimitExceeded: Collection size exceeded."), tooLarge},
		{"invalid", cancelled(none, "ValidationError: One or more parameter values were invalid"), nil},
		{"invalid and busy", cancelled("ValidationError: One or more parameter values were invalid", busy), conflict()},
		{"no reasons", cancelled(), nil},

		{"condition", dynamotest.Error("ConditionalCheckFailedException", "The conditional request failed"), conflict(0)},
		{"transaction conflict", dynamotest.Error("TransactionConflictException", "Transaction is ongoing for the item"), conflict()},
		{"in progress", dynamotest.Error("TransactionInProgressException", ""), conflict()},
		{"throughput", dynamotest.Error("ProvisionedThroughputExceededException", ""), throttled},
		{"throttling", dynamotest.Error("ThrottlingException", "Rate exceeded"), throttled},
		{"request limit", dynamotest.Error("RequestLimitExceeded", ""), throttled},
		{"item size", dynamotest.Error("ValidationException", "Item size has exceeded the maximum allowed size"), tooLarge},
		{"transaction size", dynamotest.Error("ValidationException", "Transaction request cannot contain items larger than 4194304 bytes"), tooLarge},
		{"key size", dynamotest.Error("ValidationException", "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes"), tooLarge},
		{"validation", dynamotest.Error("ValidationException", "One or more parameter values were invalid"), nil},
		{"no rights", dynamotest.Error("AccessDeniedException", "not authorized to perform: dynamodb:PutItem"), nil},
		{"no table", dynamotest.Error("ResourceNotFoundException", "Requested resource not found"), nil},
		{"server", dynamotest.Answer{Status: 500, Body: `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"}`}, nil},
		{"no answer", dynamotest.Answer{Err: errors.New("connection reset")}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conn, _ := dynamotest.Script(t, []dynamotest.Answer{tt.answer})
			_, apiErr := conn.API.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: conn.Table(table.Data), Item: dynamo.EncodeKey(table.Key{PK: "p", SK: "s"})})
			got := dynamo.Failure("PutItem", apiErr)
			if d := cmp.Diff(kindOf(tt.want), kindOf(got)); d != "" {
				t.Errorf("%v (-want +got):\n%s", got, d)
			}
		})
	}
	if err := dynamo.Failure("PutItem", nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	err := dynamo.Failure("PutItem", errors.Join(context.DeadlineExceeded))
	if !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "dynamodb PutItem: ") {
		t.Errorf("a plain error became %v", err)
	}
}

// kindOf reduces an error to what a caller of package table tells apart.
func kindOf(err error) any {
	var conflict *table.Conflict
	var throttled *table.Throttled
	var tooLarge *table.TooLarge
	switch {
	case errors.As(err, &conflict):
		return append([]int{}, conflict.Failed...)
	case errors.As(err, &throttled):
		return "throttled"
	case errors.As(err, &tooLarge):
		return "too large"
	}
	return "plain"
}
