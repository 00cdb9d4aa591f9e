package writer_test

import (
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/appender"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/table/tabletest"
)

// engine is what a writing tool has: reader and writer over the data, appender for the audit.
type engine struct {
	table.Writer
	table.Log
}

func TestContract(t *testing.T) {
	server := dynamotest.Start(t)
	tabletest.Run(t, func(t *testing.T) tabletest.Engine {
		conn := server.Conn(t)
		return engine{writer.Open(conn), appender.Open(conn)}
	})
}
