// Command create_issue is the Lambda function of the create_issue tool.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/tools/write"
)

func main() { lambdarun.Write(write.CreateIssue, writer.Open) }
