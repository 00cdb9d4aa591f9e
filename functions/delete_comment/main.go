// Command delete_comment is the Lambda function of the delete_comment tool.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/tools/write"
)

func main() { lambdarun.Write(write.DeleteComment, writer.Open) }
