package mcpserver

import (
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
)

// Extension is what a server offers besides the tools of its Config. It is for the official
// conformance suite, which can look at much of a server only through tools, prompts and
// resources of its own: with them it tests the very guards that the product has. What is
// deployed may not use it: these tools have no scope, no confirmation and no tool.Bind.
// infra/check holds that only infra/conformance does.
type Extension struct {
	Tools   []ExtensionTool
	Methods []string                 // served besides, in every protocol version
	Options func(*mcp.ServerOptions) // changes what the SDK is told; may be nil
	Server  func(*mcp.Server)        // adds prompts and resources; may be nil
}

// ExtensionTool is a tool as the SDK has it.
type ExtensionTool struct {
	Tool    *mcp.Tool
	Handler mcp.ToolHandler
}

// extension is an Extension in a front.
type extension struct {
	Extension
	// streams answers as the SDK does it by default: with a stream of events, which can hold
	// progress and log messages. Like every answer it is written when it is whole.
	streams http.Handler
}

// NewExtended returns a front that is guarded as that of New is, and offers more.
func NewExtended(c Config, e Extension) http.Handler {
	return build(c, &extension{Extension: e}).guarded()
}

// method says in which protocol a method is served.
func (e *extension) method(name string) eras {
	if e != nil && slices.Contains(e.Methods, name) {
		return eras{modern: true, legacy: true}
	}
	return methods[name]
}

// takes tells whether a message is for the extension, and so is answered as the SDK has it.
func (e *extension) takes(m *message) bool {
	switch {
	case e == nil:
		return false
	case m.method == methodCall:
		return e.tool(m.toolName())
	}
	return slices.Contains(e.Methods, m.method)
}

func (e *extension) tool(name string) bool {
	return e != nil && slices.ContainsFunc(e.Tools, func(t ExtensionTool) bool { return t.Tool.Name == name })
}

func (e *extension) options(o *mcp.ServerOptions) *mcp.ServerOptions {
	if e != nil && e.Options != nil {
		e.Options(o)
	}
	return o
}

func (e *extension) addTo(server *mcp.Server) {
	if e == nil {
		return
	}
	for _, t := range e.Tools {
		server.AddTool(t.Tool, t.Handler)
	}
	if e.Server != nil {
		e.Server(server)
	}
	e.streams = sdkHandler(server, false)
}

// list adds the tools to what the caller sees.
func (e *extension) list(res *mcp.ListToolsResult) *mcp.ListToolsResult {
	if e != nil {
		for _, t := range e.Tools {
			res.Tools = append(res.Tools, t.Tool)
		}
	}
	return res
}

// addHeaders adds the headers that repeat what only extensions have: the name of what is asked
// for, and arguments. Source: MCP 2026-07-28, transports.
func (m *message) addHeaders(to, from http.Header) {
	if value := named[m.method]; value != nil {
		to.Set(headerName, stringOr(value(m)))
	}
	for name, values := range from {
		if strings.HasPrefix(name, "Mcp-Param-") {
			to[name] = values
		}
	}
}

// pass writes the SDK's answer to a message for the extension as it is. A call is recorded even
// so.
func (f *front) pass(w http.ResponseWriter, r *http.Request, x *exchange, answer *buffer) {
	var outcome error
	if !x.answered {
		outcome = invalidRequest("the SDK or the extension refused it")
	}
	if tool, isCall := x.asks(r.Header); isCall {
		if err := f.record(r.Context(), x, tool, audit.MCP, outcome); err != nil {
			f.refuse(w, r, x.msg, f.failed(r.Context(), err))
			return
		}
	}
	writeAs(w, answer.status, answer.header.Get("Content-Type"), answer.body.Bytes())
}
