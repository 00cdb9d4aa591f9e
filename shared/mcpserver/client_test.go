package mcpserver

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// connect opens a session of the SDK's own client, in the era that the version belongs to.
func connect(t *testing.T, s *stage, version string) *mcp.ClientSession {
	t.Helper()
	server := httptest.NewServer(s) // 127.0.0.1
	t.Cleanup(server.Close)
	client := mcp.NewClient(&mcp.Implementation{Name: "probe", Version: "9"}, nil)
	session, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: server.URL + "/mcp", MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func TestGoClient(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			s := newStage(t, without(allScopes, "comments:write")...)
			session := connect(t, s, version)
			if got := session.InitializeResult(); got == nil || got.ProtocolVersion != version || got.ServerInfo.Name != "aacworkflow" {
				t.Errorf("initialised as %+v", got)
			}
			ctx := context.Background()
			list, err := session.ListTools(ctx, nil)
			if err != nil || len(list.Tools) != len(definitions())-2 { // comment_issue and delete_comment are not granted
				t.Fatalf("list: %v, %d tools", err, len(list.Tools))
			}
			s.invoker.answer = func(_ context.Context, c call) (tool.Reply, error) {
				if string(c.req.Arguments) == `{"confirm":true}` {
					return tool.Reply{Value: json.RawMessage(`{"deleted":true}`)}, nil
				}
				return tool.Reply{Fault: fault.New(fault.Invalid, fault.ConfirmMissing, tool.ConfirmText)}, nil
			}
			refused, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "delete_issue"})
			if err != nil || !refused.IsError || refused.StructuredContent != nil {
				t.Fatalf("refused call: %v, %+v", err, refused)
			}
			done, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "delete_issue", Arguments: map[string]any{"confirm": true}})
			if err != nil || done.IsError || done.StructuredContent.(map[string]any)["deleted"] != true {
				t.Fatalf("call: %v, %+v", err, done)
			}
			s.wantCalls(t, "delete_issue", "delete_issue")
			if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "drop_tables"}); err == nil {
				t.Error("an unknown tool was called")
			}
			s.wantEvents(t, "drop_tables denied unknown_tool")
			s.invoker.answer = nil
			if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "comment_issue"}); err == nil {
				t.Error("called without the scope")
			}
			if _, err := session.ListTools(ctx, nil); err != nil {
				t.Errorf("the session did not survive a refusal: %v", err)
			}
		})
	}
}
