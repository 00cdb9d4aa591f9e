package lambdarun

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// WidgetFunc answers an event of a CloudWatch custom widget with HTML or Markdown. Endpoint is
// the address of the function itself.
type WidgetFunc func(ctx context.Context, endpoint string, event []byte) (string, error)

// Widget hosts a WidgetFunc. The answer is its text as JSON.
func Widget(serve WidgetFunc, logger *slog.Logger) Handler {
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		endpoint := ""
		if c, ok := lambdacontext.FromContext(ctx); ok {
			endpoint = c.InvokedFunctionArn
		}
		answer, err := caught(func() (string, error) { return serve(ctx, endpoint, payload) })
		if err != nil {
			logger.ErrorContext(ctx, "the widget cannot be made", "error", err.Error())
			return nil, err
		}
		return json.Marshal(answer)
	}
}

// ServeWidget runs a widget that reads the audit table and the data table.
func ServeWidget(open func(dynamo.Conn) table.Reader, build func(Program) WidgetFunc) {
	start([]string{envDataTable, envAuditTable}, func(p program) (Handler, error) {
		p.Reader = open(p.conn)
		return Widget(build(p.Program), p.Logger), nil
	})
}
