// Command dashboard_usage_daily is the Lambda function of the dashboard_usage_daily tool.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/dynamo/reader"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/tools/read"
)

func main() { lambdarun.Read(read.DashboardUsageDaily, reader.Open) }
