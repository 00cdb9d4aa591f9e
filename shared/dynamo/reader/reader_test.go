package reader

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// stored is an item as the API sends it, at sort key sk in the table and in byStatus.
func stored(sk string) string {
	return fmt.Sprintf(`{"pk":{"S":"p"},"sk":{"S":%q},"v":{"N":"1"},"byStatus_pk":{"S":"p"},"byStatus_sk":{"S":%q}}`, sk, sk)
}

// answer is the answer to a Query. Last is the sort key where the engine stopped, if it did.
func answer(last string, sks ...string) dynamotest.Answer {
	var items []string
	for _, sk := range sks {
		items = append(items, stored(sk))
	}
	body := `{"Items":[` + strings.Join(items, ",") + `]`
	if last != "" {
		body += fmt.Sprintf(`,"LastEvaluatedKey":{"pk":{"S":"p"},"sk":{"S":%q}}`, last)
	}
	return dynamotest.Answer{Body: body + "}"}
}

func TestGetIsConsistent(t *testing.T) {
	conn, requests := dynamotest.Script(t, []dynamotest.Answer{{Body: `{}`}})
	if _, found, err := Open(conn).Get(t.Context(), table.Key{Table: table.Audit, PK: "p", SK: "s"}); found || err != nil {
		t.Fatalf("found %t, error %v", found, err)
	}
	want := []dynamotest.Request{{Operation: "GetItem", Body: map[string]any{
		"TableName": "audit", "ConsistentRead": true,
		"Key": map[string]any{"pk": map[string]any{"S": "p"}, "sk": map[string]any{"S": "s"}},
	}}}
	if d := cmp.Diff(want, requests.All()); d != "" {
		t.Errorf("requests (-want +got):\n%s", d)
	}
}

// TestQueryConditions shows which request each form of query makes.
func TestQueryConditions(t *testing.T) {
	const between = "pk = :pk AND sk BETWEEN :from AND :to"
	tests := []struct {
		q     table.Query
		want  string
		from  any
		to    any
		limit float64
	}{
		{table.Query{}, "pk = :pk", nil, nil, 11},
		{table.Query{Desc: true}, "pk = :pk", nil, nil, 11},
		{table.Query{From: "b"}, "pk = :pk AND sk >= :from", "b", nil, 11},
		{table.Query{To: "y"}, "pk = :pk AND sk <= :to", nil, "y", 11},
		{table.Query{From: "b", To: "y"}, between, "b", "y", 11},
		{table.Query{After: "m"}, "pk = :pk AND sk > :from", "m", nil, 11},
		{table.Query{After: "m", From: "b"}, "pk = :pk AND sk > :from", "m", nil, 11},
		{table.Query{After: "a", From: "b"}, "pk = :pk AND sk >= :from", "b", nil, 11},
		{table.Query{After: "m", To: "y"}, between, "m", "y", 12},
		{table.Query{After: "m", Desc: true}, "pk = :pk AND sk < :to", nil, "m", 11},
		{table.Query{After: "z", Desc: true, To: "y"}, "pk = :pk AND sk <= :to", nil, "y", 11},
		{table.Query{After: "m", Desc: true, From: "b", To: "y"}, between, "b", "m", 12},
	}
	for _, tt := range tests {
		conn, requests := dynamotest.Script(t, []dynamotest.Answer{answer("")})
		tt.q.PK, tt.q.Limit = "p", 10
		if _, err := Open(conn).Query(t.Context(), tt.q); err != nil {
			t.Fatal(err)
		}
		text := func(s any) any { return map[string]any{"S": s} }
		values := map[string]any{":pk": text("p")}
		if tt.from != nil {
			values[":from"] = text(tt.from)
		}
		if tt.to != nil {
			values[":to"] = text(tt.to)
		}
		want := map[string]any{
			"TableName": "data", "ConsistentRead": true, "ScanIndexForward": !tt.q.Desc, "Limit": tt.limit,
			"KeyConditionExpression": tt.want, "ExpressionAttributeValues": values,
		}
		if d := cmp.Diff(want, requests.All()[0].Body); d != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.q, d)
		}
	}
}

func TestQueryOfAnIndex(t *testing.T) {
	conn, requests := dynamotest.Script(t, []dynamotest.Answer{answer("", "1")})
	page, err := Open(conn).Query(t.Context(), table.Query{Index: table.ByStatus, PK: "p", From: "0", Limit: 1})
	if err != nil || len(page.Items) != 1 || page.More {
		t.Errorf("page %+v, error %v", page, err)
	}
	body := requests.All()[0].Body
	if body["IndexName"] != "byStatus" || body["KeyConditionExpression"] != "byStatus_pk = :pk AND byStatus_sk >= :from" {
		t.Errorf("request %v", body)
	}
	if _, there := body["ConsistentRead"]; there {
		t.Error("an index was asked for a consistent read, which DynamoDB refuses")
	}
}

func TestQueryAsksNothingForAnEmptyRange(t *testing.T) {
	conn, _ := dynamotest.Script(t, nil)
	for _, q := range []table.Query{
		{From: "c", To: "b"},
		{After: "y", To: "y"},
		{After: "z", To: "y"},
		{After: "b", From: "b", Desc: true},
		{After: "a", From: "b", Desc: true},
	} {
		q.PK, q.Limit = "p", 10
		if page, err := Open(conn).Query(t.Context(), q); err != nil || len(page.Items) > 0 || page.More {
			t.Errorf("%+v: page %+v, error %v", q, page, err)
		}
	}
}

func TestQueryPages(t *testing.T) {
	bounded := table.Query{After: "m", To: "y"} // asks for the item at After too
	tests := []struct {
		name    string
		q       table.Query
		answers []dynamotest.Answer
		want    string
		more    bool
	}{
		{"all", table.Query{}, []dynamotest.Answer{answer("", "a", "b")}, "a b", false},
		{"one more", table.Query{}, []dynamotest.Answer{answer("c", "a", "b", "c")}, "a b", true},
		{"cut by size", table.Query{}, []dynamotest.Answer{answer("a", "a")}, "a", true},
		{"nothing yet", table.Query{}, []dynamotest.Answer{answer("a"), answer("", "b")}, "b", false},
		{"the item at After", bounded, []dynamotest.Answer{answer("", "m", "n", "o")}, "n o", false},
		{"the item at After and more", bounded, []dynamotest.Answer{answer("p", "m", "n", "o", "p")}, "n o", true},
		{"the item at After is gone", bounded, []dynamotest.Answer{answer("q", "n", "o", "p", "q")}, "n o", true},
		{"only the item at After", bounded, []dynamotest.Answer{answer("m", "m"), answer("", "n")}, "n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conn, requests := dynamotest.Script(t, tt.answers)
			tt.q.PK, tt.q.Limit = "p", 2
			page, err := Open(conn).Query(t.Context(), tt.q)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, it := range page.Items {
				got = append(got, it.SK)
			}
			if strings.Join(got, " ") != tt.want || page.More != tt.more {
				t.Errorf("page %q, more %t; want %q, %t", got, page.More, tt.want, tt.more)
			}
			if all := requests.All(); len(all) == 2 && all[1].Body["ExclusiveStartKey"] == nil {
				t.Error("the second request does not go on where the first ended")
			}
		})
	}
}

const (
	keyA      = `{"pk":{"S":"p"},"sk":{"S":"a"}}`
	keyB      = `{"pk":{"S":"p"},"sk":{"S":"b"}}`
	unhandled = `"UnprocessedKeys":{"data":{"Keys":[` + keyB + `],"ConsistentRead":true}}`
)

var both = []table.Key{{PK: "p", SK: "a"}, {PK: "p", SK: "b"}}

func TestBatchGetAsksAgain(t *testing.T) {
	conn, requests := dynamotest.Script(t, []dynamotest.Answer{
		{Body: `{"Responses":{"data":[` + stored("a") + `]},` + unhandled + `}`},
		{Body: `{"Responses":{},` + unhandled + `}`},
		{Body: `{"Responses":{"data":[` + stored("b") + `]},"UnprocessedKeys":{}}`},
	})
	r := New(conn)
	var waits []int
	r.wait = func(_ context.Context, attempt int) error { waits = append(waits, attempt); return nil }
	items, err := r.BatchGet(t.Context(), both)
	if err != nil || len(items) != 2 || items[0].SK != "a" || items[1].SK != "b" {
		t.Errorf("items %v, error %v", items, err)
	}
	if d := cmp.Diff([]int{1}, waits); d != "" {
		t.Errorf("waits: only an answer that brought nothing is one (-want +got):\n%s", d)
	}
	for i, keys := range []int{2, 1, 1} {
		part := requests.All()[i].Body["RequestItems"].(map[string]any)["data"].(map[string]any)
		if len(part["Keys"].([]any)) != keys || part["ConsistentRead"] != true {
			t.Errorf("request %d: %v; want %d keys, read consistently", i, part, keys)
		}
	}
}

func TestBatchGetGivesUp(t *testing.T) {
	nothing := dynamotest.Answer{Body: `{"Responses":{},` + unhandled + `}`}
	conn, _ := dynamotest.Script(t, []dynamotest.Answer{nothing, nothing, nothing, nothing, nothing})
	r := New(conn)
	r.wait = func(context.Context, int) error { return nil }
	_, err := r.BatchGet(t.Context(), both)
	var throttled *table.Throttled
	if !errors.As(err, &throttled) || throttled.RetryAfter <= 0 {
		t.Errorf("error %v; want a *Throttled", err)
	}
}

func TestBatchGetStopsWaitingWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	conn, _ := dynamotest.Script(t, []dynamotest.Answer{{Body: `{"Responses":{},` + unhandled + `}`}})
	r := New(conn)
	r.wait = func(ctx context.Context, attempt int) error {
		cancel()
		return backOff(ctx, 20) // hours, were it not cancelled
	}
	if _, err := r.BatchGet(ctx, both); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := backOff(t.Context(), 1); err != nil {
		t.Errorf("an undisturbed wait: %v", err)
	}
}

func TestReadErrors(t *testing.T) {
	slow := dynamotest.Error("ThrottlingException", "Rate exceeded")
	foreign := `{"pk":{"S":"p"},"sk":{"S":"a"},"v":{"S":"text"}}`
	conn, _ := dynamotest.Script(t, []dynamotest.Answer{slow, slow, slow,
		{Body: `{"Item":` + foreign + `}`}, {Body: `{"Items":[` + foreign + `]}`}, {Body: `{"Responses":{"data":[` + foreign + `]}}`}})
	r := Open(conn)
	calls := []func() error{
		func() error { _, _, err := r.Get(t.Context(), both[0]); return err },
		func() error { _, err := r.Query(t.Context(), table.Query{PK: "p", Limit: 1}); return err },
		func() error { _, err := r.BatchGet(t.Context(), both); return err },
	}
	for i, call := range calls {
		var throttled *table.Throttled
		if err := call(); !errors.As(err, &throttled) {
			t.Errorf("call %d: %v; want a *Throttled", i, err)
		}
	}
	for i, call := range calls {
		if err := call(); err == nil || !strings.Contains(err.Error(), "item in table data") {
			t.Errorf("call %d: %v; want one about the item", i, err)
		}
	}
}
