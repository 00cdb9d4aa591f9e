package policy_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/auditpage"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/appender"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/reader"
)

// TestAuditWidgetUnderItsRole shows a call and the absence of findings, with rights to no more.
func TestAuditWidgetUnderItsRole(t *testing.T) {
	a := accountWithData(t)
	if err := begin("get_issue").Record(t.Context(), appender.Open(a.conn), nil); err != nil {
		t.Fatal(err)
	}
	conn := a.as("audit_widget")
	w := auditpage.NewWidget(reader.Open(conn), settings, slog.New(slog.NewTextHandler(t.Output(), nil)))
	event := fmt.Sprintf(`{"workspace":%q}`, demo.Grants()[0].WorkspaceID)
	html, err := w.Serve(t.Context(), "arn:aws:lambda:eu-west-1:000000000000:function:w", []byte(event))
	if err != nil || !strings.Contains(html, "1 call: 1 succeeded") {
		t.Errorf("%v: %s", err, html)
	}
	wantAllUsed(t, a.policies["audit_widget"])
}
