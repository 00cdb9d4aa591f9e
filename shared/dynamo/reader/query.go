package reader

import (
	"context"
	"errors"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/schema"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// DynamoDB continues a query behind a whole key, that of the index and that of the table. Our
// callers know a sort key alone, so where to continue becomes part of the key condition. Such a
// condition is one comparison of the sort key. With a bound on the other side too it can only
// be BETWEEN, which includes both ends: then one item more is asked for, and the one at After
// is left out.

// span is the range of sort keys to ask for.
type span struct {
	from, to         string // empty: no bound
	fromOut, toOut   bool   // the bound itself is not wanted
	nothing, skipEnd bool   // no key can match; the item at After may come and is to be skipped
}

func spanOf(q table.Query) span {
	s := span{from: q.From, to: q.To}
	switch {
	case q.After == "":
	case !q.Desc && q.After >= q.From:
		s.from, s.fromOut = q.After, true
	case q.Desc && (q.To == "" || q.After <= q.To):
		s.to, s.toOut = q.After, true
	}
	if s.from != "" && s.to != "" {
		s.nothing = s.from > s.to || s.from == s.to && (s.fromOut || s.toOut)
		s.skipEnd = s.fromOut || s.toOut
	}
	return s
}

// condition is the comparison of the sort key, with :from and :to for the bounds.
func (s span) condition(sk string) string {
	switch {
	case s.from != "" && s.to != "":
		return " AND " + sk + " BETWEEN :from AND :to"
	case s.fromOut:
		return " AND " + sk + " > :from"
	case s.from != "":
		return " AND " + sk + " >= :from"
	case s.toOut:
		return " AND " + sk + " < :to"
	case s.to != "":
		return " AND " + sk + " <= :to"
	}
	return ""
}

// Query implements table.Reader. It asks for one item more than the limit, to know whether
// there is more: the price of a small part of a read unit saves callers an empty page.
func (r *Reader) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if err := errors.Join(ctx.Err(), table.CheckQuery(q)); err != nil {
		return table.Page{}, err
	}
	s := spanOf(q)
	if s.nothing {
		return table.Page{}, nil
	}
	in := r.queryInput(q, s)
	for {
		out, err := r.conn.API.Query(ctx, in)
		if err != nil {
			return table.Page{}, dynamo.Failure("Query", err)
		}
		page, err := pageOf(q, s, out)
		if err != nil || len(page.Items) > 0 || !page.More {
			return page, err
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func (r *Reader) queryInput(q table.Query, s span) *dynamodb.QueryInput {
	pk, sk := schema.KeysOf(q.Index)
	in := &dynamodb.QueryInput{
		TableName:                 r.conn.Table(q.Table),
		KeyConditionExpression:    aws.String(pk + " = :pk" + s.condition(sk)),
		ExpressionAttributeValues: dynamo.Attributes{":pk": dynamo.String(q.PK)},
		ScanIndexForward:          aws.Bool(!q.Desc),
	}
	if s.from != "" {
		in.ExpressionAttributeValues[":from"] = dynamo.String(s.from)
	}
	if s.to != "" {
		in.ExpressionAttributeValues[":to"] = dynamo.String(s.to)
	}
	limit := int32(min(q.Limit, math.MaxInt32-2)) + 1
	if s.skipEnd {
		limit++
	}
	in.Limit = aws.Int32(limit)
	if q.Index == table.Primary {
		in.ConsistentRead = aws.Bool(true)
	} else {
		in.IndexName = aws.String(string(q.Index))
	}
	return in
}

// pageOf cuts the answer to the page that was asked for.
func pageOf(q table.Query, s span, out *dynamodb.QueryOutput) (table.Page, error) {
	page := table.Page{More: len(out.LastEvaluatedKey) > 0}
	for i, attrs := range out.Items {
		it, err := dynamo.Decode(q.Table, attrs)
		if err != nil {
			return table.Page{}, err
		}
		if i == 0 && s.skipEnd && placeIn(q.Index, it) == q.After {
			continue
		}
		if len(page.Items) == q.Limit {
			page.More = true
			break
		}
		page.Items = append(page.Items, it)
	}
	return page, nil
}

// placeIn is the sort key of the item in the index.
func placeIn(index table.Index, it table.Item) string {
	if index == table.Primary {
		return it.SK
	}
	return it.Index[index].SK
}
