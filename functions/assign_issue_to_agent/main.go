// Command assign_issue_to_agent is the Lambda function of the assign_issue_to_agent tool.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/tools/write"
)

func main() { lambdarun.Write(write.AssignIssueToAgent, writer.Open) }
