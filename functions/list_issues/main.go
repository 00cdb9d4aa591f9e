// Command list_issues is the Lambda function of the list_issues tool.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/dynamo/reader"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/tools/read"
)

func main() { lambdarun.Read(read.ListIssues, reader.Open) }
