// Command audit_widget is the Lambda function of the dashboard's widget about the audit log.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/auditpage"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/reader"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
)

func main() { lambdarun.ServeWidget(reader.Open, widget) }

func widget(p lambdarun.Program) lambdarun.WidgetFunc {
	return auditpage.NewWidget(p.Reader, p.Audit, p.Logger).Serve
}
