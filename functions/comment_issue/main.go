// Command comment_issue is the Lambda function of the comment_issue tool.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/tools/write"
)

func main() { lambdarun.Write(write.CommentIssue, writer.Open) }
