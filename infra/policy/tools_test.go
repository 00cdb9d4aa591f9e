package policy_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/aacworkflow/mcp-connector/infra/policy"
	"github.com/aacworkflow/mcp-connector/infra/stack"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/appender"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tools/toolstest"
)

// Every tool runs its behaviour cases over DynamoDB's API, each under exactly the role that the
// template gives its function. A right that is missing makes a case fail; one that no case has
// needed fails here.

// account is a set of tables, with a client for each role.
type account struct {
	conn     dynamo.Conn // of one who may do anything
	policies map[string]*policy.Policy
}

// as returns a connection under the role of a program's function.
func (a account) as(program string) dynamo.Conn {
	p := a.policies[program]
	options := a.conn.API.Options()
	options.APIOptions = append(options.APIOptions[:len(options.APIOptions):len(options.APIOptions)], p.Under(a.conn.Tables))
	return dynamo.Conn{API: dynamodb.New(options), Tables: a.conn.Tables}
}

// engineOf is what a tool's function links, and the writing part even where it does not: the
// role has to hold it back.
func (a account) engineOf(tool string) toolstest.Engine {
	conn := a.as(tool)
	return struct {
		table.Writer
		table.Log
	}{writer.Open(conn), appender.Open(conn)}
}

// copies are the data of the cases, by their key, as they lie in the table.
type copies struct {
	mu    sync.Mutex
	items map[string][]map[string]types.AttributeValue
}

// load fills the tables: the first time as an administrator does, then by copying the items,
// which is faster.
func (c *copies) load(t testing.TB, a account, key string, snapshots []records.Snapshot) {
	t.Helper()
	c.mu.Lock()
	items, ok := c.items[key]
	c.mu.Unlock()
	if ok {
		a.fill(t, items)
		return
	}
	for _, s := range snapshots {
		if err := records.Load(t.Context(), writer.Open(a.conn), s); err != nil {
			t.Fatal(err)
		}
	}
	pages := dynamodb.NewScanPaginator(a.conn.API, &dynamodb.ScanInput{TableName: &a.conn.Tables.Data})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, page.Items...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items[key] = items
}

func (a account) fill(t testing.TB, items []map[string]types.AttributeValue) {
	t.Helper()
	const atOnce = 25 // the limit of BatchWriteItem
	for part := range slices.Chunk(items, atOnce) {
		var puts []types.WriteRequest
		for _, item := range part {
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
		out, err := a.conn.API.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{a.conn.Tables.Data: puts},
		})
		if err != nil || len(out.UnprocessedItems) > 0 {
			t.Fatalf("copy the data: %v, left %d", err, len(out.UnprocessedItems))
		}
	}
}

func policies(t *testing.T) map[string]*policy.Policy {
	t.Helper()
	s, err := stack.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	functions, err := s.Functions()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*policy.Policy{}
	for program := range functions {
		if all[program], err = policy.ForFunction(s, program); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestToolsUnderTheirRoles(t *testing.T) {
	server, all := dynamotest.Start(t), policies(t)
	loaded := &copies{items: map[string][]map[string]types.AttributeValue{}}
	var opened atomic.Int32
	cases := 0
	t.Run("cases", func(t *testing.T) {
		cases = toolstest.Replay(t, "../../shared/tools", func(t testing.TB) toolstest.Deployment {
			opened.Add(1)
			a := account{server.Conn(t), all}
			return toolstest.Deployment{
				Load:     func(t testing.TB, key string, snapshots []records.Snapshot) { loaded.load(t, a, key, snapshots) },
				EngineOf: a.engineOf,
			}
		})
	})
	if int(opened.Load()) != cases || cases < len(catalog.All()) {
		t.Errorf("%d cases ran, of %d", opened.Load(), cases)
	}
	for _, d := range catalog.All() {
		for _, right := range all[d.Name].Unused() {
			t.Errorf("no case has needed %s: take it out of infra/gen/rights.go and infra/check/roles_test.go, or write the case", right)
		}
	}
}
