// Command audit_query is the Lambda function of GET /audit.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/dynamo/reader"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/rest"
	"net/http"
)

func main() { lambdarun.ServeAudit(reader.Open, query) }

func query(p lambdarun.Program) http.Handler {
	return rest.Audit(rest.AuditConfig{Reader: p.Reader, Settings: p.Audit, Log: p.Log, Logger: p.Logger})
}
