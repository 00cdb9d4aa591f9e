// Command trigger_autopilot is the Lambda function of the trigger_autopilot tool.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/tools/write"
)

func main() { lambdarun.Write(write.TriggerAutopilot, writer.Open) }
