package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// anyObject is the input schema that the SDK is told. It checks nothing for handlers of this
// kind, and tools/list does not come from it; but it looks through the schema at each call.
var anyObject = json.RawMessage(`{"type":"object"}`)

// handler is a tool as the SDK calls it. It never returns an error: the SDK would send its text.
func (f *front) handler(d *tool.Definition) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		x := exchangeOf(ctx)
		if x.msg.toolName() != d.Name || !bytes.Equal(req.Params.Arguments, x.msg.arguments) {
			x.refused = f.failed(ctx, errors.New("the SDK read another call than the front"))
			return &mcp.CallToolResult{}, nil
		}
		x.settled = true // tool.Bind records from here on
		out, refused := f.outcomeOf(ctx, x, d, f.invoke(ctx, x, d))
		if refused != nil {
			x.refused = refused
			return &mcp.CallToolResult{}, nil
		}
		return out.result(), nil
	}
}

// invoke runs the call. A failure that is no refusal becomes the fault that callers may see.
func (f *front) invoke(ctx context.Context, x *exchange, d *tool.Definition) (reply tool.Reply) {
	defer func() {
		if p := recover(); p != nil {
			reply.Fault = f.failed(ctx, fmt.Errorf("panic calling %s: %v\n%s", d.Name, p, debug.Stack())).fault
		}
	}()
	ctx, cancel := x.bounded(ctx)
	defer cancel()
	reply, err := f.Invoker.Invoke(ctx, d.Name, tool.Request{
		Principal: x.principal, Arguments: json.RawMessage(x.msg.arguments),
		CallID: x.origin.CallID, Transport: audit.MCP,
		Client: x.origin.Client, SourceIP: x.origin.SourceIP, TraceID: x.origin.TraceID,
	})
	if err != nil {
		f.recordUnrecorded(ctx, x, d, err)
		return tool.Reply{Fault: f.failed(ctx, fmt.Errorf("call %s: %v", d.Name, err)).fault}
	}
	return reply
}

// recordUnrecorded writes the event of a call that has none. If the tool may have written it, it
// is the tool's: a second one would be as wrong as none.
func (f *front) recordUnrecorded(ctx context.Context, x *exchange, d *tool.Definition, err error) {
	if unrecorded := (*tool.Unrecorded)(nil); !errors.As(err, &unrecorded) {
		return
	}
	if recErr := f.record(ctx, x, d.Name, audit.MCP, err); recErr != nil {
		f.failed(ctx, recErr) // the caller learns of a failure either way
	}
}

// outcome is what came of a call, as MCP has it.
type outcome struct {
	text    []byte // JSON: the tool's output, or its error
	isError bool
}

// outcomeOf returns what a reply is in MCP. A refusal is an outcome too, so that the model reads it
// and corrects itself; only who may not call at all is told so by HTTP, for the client to act on.
func (f *front) outcomeOf(ctx context.Context, x *exchange, d *tool.Definition, reply tool.Reply) (outcome, *refusal) {
	if value := jsontext.Value(reply.Value); reply.Fault == nil && (value.Kind() != '{' || !value.IsValid()) {
		reply.Fault = f.failed(ctx, fmt.Errorf("%s answered no JSON object", d.Name)).fault
	}
	switch {
	case reply.Fault == nil:
		return outcome{text: reply.Value}, nil
	case reply.Fault.Reason == fault.InsufficientScope:
		return outcome{}, f.missingScope(d.Scopes())
	case reply.Fault.Kind == fault.Unauthenticated:
		return outcome{}, unauthenticated()
	}
	return outcome{text: reply.Fault.PublicJSON(x.origin.CallID), isError: true}, nil
}

// result is the outcome for the SDK.
func (o outcome) result() *mcp.CallToolResult {
	res := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(o.text)}}, IsError: o.isError}
	if !o.isError {
		res.StructuredContent = json.RawMessage(o.text)
	}
	return res
}
