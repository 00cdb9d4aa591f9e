// Package appender adds to the audit table in DynamoDB: it is table.Log, with one PutItem that
// cannot overwrite.
//
// It cannot read, change or remove, and must not learn to: every function of the connector
// links it. For queries over the audit log see packages reader and audit.
package appender

import (
	"context"
	"errors"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/schema"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Appender implements table.Log, and nothing more. It is safe for concurrent use.
type Appender struct{ conn dynamo.Conn }

// Open makes an appender to the audit table.
func Open(conn dynamo.Conn) table.Log { return &Appender{conn: conn} }

// Append implements table.Log. When the SDK tries again because an answer was lost, it meets
// the item of its own first try; DynamoDB returns what it met, so that this counts as success.
// Two spellings of one number (1.50, 1.5) are not known to be the same item.
func (a *Appender) Append(ctx context.Context, it table.Item) error {
	if err := errors.Join(ctx.Err(), table.CheckAppend(it)); err != nil {
		return err
	}
	attrs, err := dynamo.Encode(it)
	if err != nil {
		return err
	}
	_, err = a.conn.API.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                           a.conn.Table(table.Audit),
		Item:                                attrs,
		ConditionExpression:                 aws.String("attribute_not_exists(" + schema.PK + ")"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var met *types.ConditionalCheckFailedException
	if errors.As(err, &met) && reflect.DeepEqual(met.Item, attrs) {
		return nil
	}
	return dynamo.Failure("PutItem", err)
}
