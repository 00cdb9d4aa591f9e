package dynamo

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// pause is what a throttled caller is told to wait. DynamoDB names no time; by then the SDK has
// tried several times itself, and a second lets an on-demand table grow.
const pause = time.Second

// Failure says in the terms of package table what an error of a DynamoDB call means. What has
// no meaning there stays a plain error, with the name of the operation in front. Nil stays nil.
// Source of the codes: DynamoDB, "Error handling" and "TransactWriteItems".
func Failure(operation string, err error) error {
	if err == nil {
		return nil
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		if meaning := cancellation(cancelled.CancellationReasons); meaning != nil {
			return meaning
		}
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		if meaning := ofCode(api.ErrorCode(), api.ErrorMessage()); meaning != nil {
			return meaning
		}
	}
	return fmt.Errorf("dynamodb %s: %w", operation, err)
}

func ofCode(code, message string) error {
	switch code {
	case "ConditionalCheckFailedException": // of a call with one operation
		return &table.Conflict{Failed: []int{0}}
	case "TransactionConflictException", "TransactionInProgressException":
		return &table.Conflict{}
	case "ProvisionedThroughputExceededException", "ThrottlingException", "Throttling", "RequestLimitExceeded":
		return &table.Throttled{RetryAfter: pause}
	case "ItemCollectionSizeLimitExceededException":
		return &table.TooLarge{What: "an item collection"}
	case "ValidationException":
		return ofSize(message)
	}
	return nil
}

// cancellation reads the reasons of a cancelled transaction, one for each operation in order.
// A guard that failed counts most, for trying again would not help; what must wait counts more
// than what may be tried at once.
func cancellation(reasons []types.CancellationReason) error {
	var failed []int
	var tooLarge, throttled, conflict error
	for i, reason := range reasons {
		switch value(reason.Code) {
		case "ConditionalCheckFailed":
			failed = append(failed, i)
		case "ItemCollectionSizeLimitExceeded":
			tooLarge = &table.TooLarge{What: "an item collection"}
		case "ValidationError":
			if meaning := ofSize(value(reason.Message)); meaning != nil {
				tooLarge = meaning
			}
		case "ProvisionedThroughputExceeded", "ThrottlingError":
			throttled = &table.Throttled{RetryAfter: pause}
		case "TransactionConflict":
			conflict = &table.Conflict{}
		}
	}
	if failed != nil {
		return &table.Conflict{Failed: failed}
	}
	for _, meaning := range []error{tooLarge, throttled, conflict} {
		if meaning != nil {
			return meaning
		}
	}
	return nil
}

// ofSize tells a refusal for size from other refusals, which have the same code. The messages
// are DynamoDB's: "Item size has exceeded the maximum allowed size", "Item size to update has
// exceeded the maximum allowed size", "Transaction request cannot contain items larger than
// 4194304 bytes", "Aggregated size of all range keys has exceeded the size limit of 1024 bytes".
func ofSize(message string) error {
	lower := strings.ToLower(message)
	if strings.Contains(lower, "size") && strings.Contains(lower, "exceed") || strings.Contains(lower, "larger than") {
		return &table.TooLarge{What: "an item or the whole commit, in the form DynamoDB stores"}
	}
	return nil
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
