// Command audit_monitor is the Lambda function that watches the audit log.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/monitor/topic"
)

func main() { lambdarun.ServeMonitor(writer.Open, topic.Open, catalog.Destroying()) }
