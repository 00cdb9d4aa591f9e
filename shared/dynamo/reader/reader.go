// Package reader reads the tables in DynamoDB: it is table.Reader with GetItem, BatchGetItem
// and Query.
//
// It holds no call that writes, and must not: a read-only tool links this package and not
// package writer, and the linked program is checked for it. Start with Open; query.go says how
// a range becomes a key condition.
package reader

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Reader implements table.Reader, and nothing more. It is safe for concurrent use.
type Reader struct {
	conn dynamo.Conn
	wait func(ctx context.Context, attempt int) error
}

// Open makes a reader of the tables.
func Open(conn dynamo.Conn) table.Reader { return New(conn) }

// New is Open for package writer, which is a reader too.
func New(conn dynamo.Conn) *Reader { return &Reader{conn: conn, wait: backOff} }

// Get implements table.Reader.
func (r *Reader) Get(ctx context.Context, key table.Key) (table.Item, bool, error) {
	if err := errors.Join(ctx.Err(), table.CheckKey(key)); err != nil {
		return table.Item{}, false, err
	}
	out, err := r.conn.API.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      r.conn.Table(key.Table),
		Key:            dynamo.EncodeKey(key),
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return table.Item{}, false, dynamo.Failure("GetItem", err)
	}
	if len(out.Item) == 0 {
		return table.Item{}, false, nil
	}
	it, err := dynamo.Decode(key.Table, out.Item)
	return it, err == nil, err
}

// maxFruitless is how many answers in a row may bring nothing before BatchGet gives up.
const maxFruitless = 5

// BatchGet implements table.Reader. DynamoDB answers as much as it can at a time (16 MB, or
// less under load) and hands the rest of the keys back; they are asked for again.
func (r *Reader) BatchGet(ctx context.Context, keys []table.Key) ([]table.Item, error) {
	if err := errors.Join(ctx.Err(), table.CheckKeys(keys)); err != nil {
		return nil, err
	}
	var items []table.Item
	fruitless := 0
	for rest := r.request(keys); len(rest) > 0; {
		out, err := r.conn.API.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: rest})
		if err != nil {
			return nil, dynamo.Failure("BatchGetItem", err)
		}
		got, err := r.decodeAll(out.Responses)
		if err != nil {
			return nil, err
		}
		items, rest = append(items, got...), out.UnprocessedKeys
		if len(got) > 0 || len(rest) == 0 {
			fruitless = 0
			continue
		}
		if fruitless++; fruitless == maxFruitless {
			return nil, &table.Throttled{RetryAfter: time.Second}
		}
		if err := r.wait(ctx, fruitless); err != nil {
			return nil, err
		}
	}
	return items, nil
}

func (r *Reader) request(keys []table.Key) map[string]types.KeysAndAttributes {
	request := map[string]types.KeysAndAttributes{}
	for _, key := range keys {
		name := *r.conn.Table(key.Table)
		part := request[name]
		part.Keys = append(part.Keys, dynamo.EncodeKey(key))
		part.ConsistentRead = aws.Bool(true)
		request[name] = part
	}
	return request
}

func (r *Reader) decodeAll(responses map[string][]dynamo.Attributes) ([]table.Item, error) {
	var items []table.Item
	for _, name := range []table.Name{table.Data, table.Audit} {
		for _, attrs := range responses[*r.conn.Table(name)] {
			it, err := dynamo.Decode(name, attrs)
			if err != nil {
				return nil, err
			}
			items = append(items, it)
		}
	}
	return items, nil
}

// backOff waits for 25 to 50 ms, doubled with each attempt: 0.75 s in all at the most.
func backOff(ctx context.Context, attempt int) error {
	longest := 50 * time.Millisecond << (attempt - 1)
	timer := time.NewTimer(longest/2 + rand.N(longest/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
