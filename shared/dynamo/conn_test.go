package dynamo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/reader"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// TestConnect reaches the engine as a deployed program would: by its environment alone.
func TestConnect(t *testing.T) {
	server := dynamotest.Start(t)
	tables := server.Conn(t).Tables
	for name, value := range server.Env() {
		t.Setenv(name, value)
	}
	conn, err := dynamo.Connect(t.Context(), tables)
	if err != nil {
		t.Fatal(err)
	}
	it := table.Item{Key: table.Key{Table: table.Audit, PK: "p", SK: "s"}, Doc: json.RawMessage(`{"a":1}`), Version: 1}
	if err := writer.Open(conn).Commit(t.Context(), []table.Op{table.Put(it, table.IfAbsent())}); err != nil {
		t.Fatal(err)
	}
	if got, found, err := reader.Open(conn).Get(t.Context(), it.Key); err != nil || !found || string(got.Doc) != `{"a":1}` {
		t.Errorf("got %s, found %t, error %v", got.Doc, found, err)
	}
}

func TestConnectWithBadConfiguration(t *testing.T) {
	t.Setenv("AWS_RETRY_MODE", "sometimes")
	_, err := dynamo.Connect(t.Context(), dynamo.Tables{})
	if err == nil || !strings.HasPrefix(err.Error(), "load the AWS configuration: ") {
		t.Errorf("error %v", err)
	}
}
