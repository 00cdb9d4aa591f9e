package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// Compare with BenchmarkBareSDK, which is the same server without the front:
//
//	go test -run - -bench . -benchmem ./shared/mcpserver

func BenchmarkCall(b *testing.B) {
	for _, e := range []era{legacy, modern} {
		b.Run(e.name, func(b *testing.B) {
			s := newStage(b, allScopes...)
			s.invoker.answer = func(context.Context, call) (tool.Reply, error) { return stubbed, nil }
			bench(b, e, s, "tools/call", "list_issues", `"name":"list_issues","arguments":{"limit":5}`)
		})
	}
}

func BenchmarkList(b *testing.B) {
	for _, e := range []era{legacy, modern} {
		b.Run(e.name, func(b *testing.B) { bench(b, e, newStage(b, allScopes...), "tools/list", "", "") })
	}
}

func BenchmarkBareSDK(b *testing.B) {
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "0"}, nil)
	for _, d := range definitions() {
		e := catalog.EntryOf(d)
		server.AddTool((&front{}).wireTool(e, d.Effect, true), func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(stubbed.Value)}}, StructuredContent: stubbed.Value}, nil
		})
	}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	for _, e := range []era{legacy, modern} {
		b.Run("call/"+e.name, func(b *testing.B) {
			bench(b, e, h, "tools/call", "list_issues", `"name":"list_issues","arguments":{"limit":5}`)
		})
		b.Run("list/"+e.name, func(b *testing.B) { bench(b, e, h, "tools/list", "", "") })
	}
}

var stubbed = tool.Reply{Value: json.RawMessage(`{"issues":[]}`)}

func bench(b *testing.B, e era, h http.Handler, method, name, params string) {
	headers := e.headers
	if e.modern {
		headers = append(append([]string{}, headers...), "Mcp-Method", method)
		if name != "" {
			headers = append(headers, "Mcp-Name", name)
		}
	}
	body := e.message(method, params)
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(http.MethodPost, "/mcp", body, headers...))
		if w.Code != http.StatusOK {
			b.Fatalf("%d %s", w.Code, w.Body)
		}
	}
}
