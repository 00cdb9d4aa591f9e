package mcpserver

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// extend puts a front with an extension on a stage.
func extend(s *stage) {
	s.inner = NewExtended(s.config(), Extension{
		Methods: []string{"prompts/list", "prompts/get"},
		Tools: []ExtensionTool{
			{&mcp.Tool{Name: "extra", InputSchema: anyObject}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "extra " + req.Params.RequestState}}}, nil
			}},
			{&mcp.Tool{Name: "extra_refuses", InputSchema: anyObject}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return nil, &jsonrpc.Error{Code: codeInvalidParams, Message: "not so"}
			}},
		},
		Server: func(server *mcp.Server) {
			server.AddPrompt(&mcp.Prompt{Name: "ask"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "well?"}}}}, nil
			})
		},
	})
}

// What an extension adds is answered by the SDK, in both protocols, and its calls are recorded.
func TestExtension(t *testing.T) {
	for _, e := range []era{modern, legacy} {
		s := newStage(t, allScopes...)
		extend(s)
		if r := s.ask(e, "tools/call", "extra", `"name":"extra","arguments":{},"requestState":"kept"`); r.status != http.StatusOK || !strings.Contains(r.body, "extra kept") {
			t.Errorf("%s: %d %s", e.name, r.status, r.body)
		}
		s.wantEvents(t, "extra success")
		if r := s.ask(e, "tools/call", "extra_refuses", `"name":"extra_refuses"`); !strings.Contains(r.body, "not so") {
			t.Errorf("%s: %d %s", e.name, r.status, r.body)
		}
		s.wantEvents(t, "extra_refuses denied invalid_request")
		if r := s.ask(e, "prompts/get", "ask", `"name":"ask"`); r.status != http.StatusOK || !strings.Contains(r.body, "well?") {
			t.Errorf("%s: %d %s", e.name, r.status, r.body)
		}
		if r := s.ask(e, "tools/list", "", ``); !strings.Contains(r.body, `"extra"`) || !strings.Contains(r.body, `"list_issues"`) {
			t.Errorf("%s: %d %s", e.name, r.status, r.body)
		}
		s.wantEvents(t)
	}
}

// The guards stand before an extension as before everything else, and the tools of the config
// are what they are without it.
func TestExtensionIsGuarded(t *testing.T) {
	s := newStage(t, allScopes...)
	extend(s)
	s.ask(modern, "tools/call", "extra", `"name":"extra","Name":"list_issues"`).wantError(t, http.StatusBadRequest, codeInvalidRequest, "invalid_request")
	s.ask(modern, "tools/call", "list_issues", `"name":"extra"`).wantError(t, http.StatusBadRequest, codeHeaderMismatch, "invalid_request")
	s.wantEvents(t, "_mcp denied invalid_request", "extra denied invalid_request")
	s.ask(modern, "resources/list", "", ``).wantError(t, http.StatusNotFound, codeMethodNotFound, "invalid_request")
	if r := s.callTool(modern, "list_issues", `{}`); r.status != http.StatusOK || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
	s.principal = nil
	s.ask(modern, "tools/call", "extra", `"name":"extra"`).wantError(t, http.StatusUnauthorized, codeUnauthenticated, "unauthenticated")
}
