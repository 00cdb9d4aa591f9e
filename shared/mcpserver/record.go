package mcpserver

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/audit"
)

// Each request that asks for a tool has exactly one event. tool.Bind writes it for a call that
// reaches a tool; this front writes it for one that does not: an unknown tool, a header that
// names another tool than the body, params that are no params of a call, a body that is no
// message (claim.go says what makes such a one a call).

// record writes the event of a call that reaches no tool.Bind; outcome is why, nil for success.
func (f *front) record(ctx context.Context, x *exchange, tool string, transport audit.Transport, outcome error) error {
	ctx, cancel := audit.Recording(ctx)
	defer cancel()
	start := audit.Start{
		Principal: x.principal, Tool: tool, Recorder: audit.RecorderMCP, Transport: transport,
		CallID: x.origin.CallID, Client: x.origin.Client, SourceIP: x.origin.SourceIP, TraceID: x.origin.TraceID,
	}
	if d := f.tools[tool]; d != nil {
		start.Required = d.Scopes()
	}
	x.settled = true
	return f.Audit.Begin(start).Record(ctx, f.Log, outcome)
}
