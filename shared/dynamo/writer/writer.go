// Package writer reads and changes the tables in DynamoDB: it is table.Writer. Every change is
// one TransactWriteItems, also a change of one item, for the roles of the tools allow writes
// inside a transaction only; the one exception is the counter of Next.
//
// No read-only tool may link it. Start with Writer.Commit.
package writer

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/reader"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/schema"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Writer implements table.Writer. It is safe for concurrent use.
type Writer struct {
	*reader.Reader
	conn dynamo.Conn
}

// Open makes a writer of the tables.
func Open(conn dynamo.Conn) table.Writer { return &Writer{Reader: reader.New(conn), conn: conn} }

// Commit implements table.Writer. The SDK gives each call a ClientRequestToken and keeps it when
// it tries again, so that a commit whose answer was lost is not made twice. We set none: a token
// may only stand for one and the same list of operations, and callers change theirs when they
// try again after a *table.Conflict.
func (w *Writer) Commit(ctx context.Context, ops []table.Op) error {
	if err := errors.Join(ctx.Err(), table.CheckCommit(ops)); err != nil {
		return err
	}
	in := &dynamodb.TransactWriteItemsInput{TransactItems: make([]types.TransactWriteItem, len(ops))}
	for i, op := range ops {
		var err error
		if in.TransactItems[i], err = w.action(op); err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
	}
	_, err := w.conn.API.TransactWriteItems(ctx, in)
	return dynamo.Failure("TransactWriteItems", err)
}

func (w *Writer) action(op table.Op) (types.TransactWriteItem, error) {
	name, expression, values := w.conn.Table(op.Item.Table), condition(op.Guard), conditionValues(op.Guard)
	switch op.Kind {
	case table.OpDelete:
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: name, Key: dynamo.EncodeKey(op.Item.Key),
			ConditionExpression: expression, ExpressionAttributeValues: values,
		}}, nil
	case table.OpCheck:
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: name, Key: dynamo.EncodeKey(op.Item.Key),
			ConditionExpression: expression, ExpressionAttributeValues: values,
		}}, nil
	default: // OpPut: CheckCommit lets no other through
		attrs, err := dynamo.Encode(op.Item)
		return types.TransactWriteItem{Put: &types.Put{
			TableName: name, Item: attrs,
			ConditionExpression: expression, ExpressionAttributeValues: values,
		}}, err
	}
}

// condition is nil for no guard.
func condition(g table.Guard) *string {
	return table.Match(g,
		func() *string { return nil },
		func() *string { return aws.String("attribute_not_exists(" + schema.PK + ")") },
		func() *string { return aws.String("attribute_exists(" + schema.PK + ")") },
		func(int64) *string { return aws.String(schema.Version + " = :version") })
}

func conditionValues(g table.Guard) dynamo.Attributes {
	none := func() dynamo.Attributes { return nil }
	return table.Match(g, none, none, none,
		func(v int64) dynamo.Attributes { return dynamo.Attributes{":version": dynamo.Number(v)} })
}

// Next implements table.Writer. It stands outside a transaction: within one, callers at the
// same moment would get in each other's way. If the SDK tries again after a lost answer, a
// number is lost, as the contract allows.
func (w *Writer) Next(ctx context.Context, key table.Key) (int64, error) {
	if err := errors.Join(ctx.Err(), table.CheckKey(key)); err != nil {
		return 0, err
	}
	out, err := w.conn.API.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 w.conn.Table(key.Table),
		Key:                       dynamo.EncodeKey(key),
		UpdateExpression:          aws.String("ADD " + schema.Version + " :one"),
		ExpressionAttributeValues: dynamo.Attributes{":one": dynamo.Number(1)},
		ReturnValues:              types.ReturnValueUpdatedNew,
	})
	if err != nil {
		return 0, dynamo.Failure("UpdateItem", err)
	}
	n, err := dynamo.Int(out.Attributes[schema.Version])
	if err != nil {
		return 0, fmt.Errorf("dynamodb UpdateItem: read the counter: %w", err)
	}
	return n, nil
}
