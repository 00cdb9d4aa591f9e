// Command get_issue is the Lambda function of the get_issue tool.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/dynamo/reader"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/tools/read"
)

func main() { lambdarun.Read(read.GetIssue, reader.Open) }
