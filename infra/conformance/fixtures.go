package main

import (
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aacworkflow/mcp-connector/functions/local/system"
	"github.com/aacworkflow/mcp-connector/shared/mcpserver"
)

// The suite asks for tools, prompts and resources of its own, whose names and behaviour it
// prescribes in the description of each scenario. Here they are, in the files fixture_*.go. Whatever
// asks for them passes all that stands in front of the product's tools.

// startFixtures starts the local system with the fixtures beside its tools.
func startFixtures(ctx context.Context, dir string) (string, func() error, error) {
	return startSystem(ctx, system.Config{Data: dir, Front: func(c mcpserver.Config) http.Handler {
		return mcpserver.NewExtended(c, fixtures())
	}})
}

const aFixture = "A fixture of the conformance suite."

func fixtures() mcpserver.Extension {
	var tools []mcpserver.ExtensionTool
	for _, set := range [][]fixture{contentTools, schemaTools, streamTools, inputTools} {
		for _, f := range set {
			tools = append(tools, f.tool())
		}
	}
	return mcpserver.Extension{
		Tools: tools,
		Methods: []string{
			"prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read",
			"resources/subscribe", "resources/unsubscribe", "completion/complete",
		},
		Options: offer,
		Server: func(s *mcp.Server) {
			addPrompts(s)
			addResources(s)
			s.AddReceivingMiddleware(noStreams)
		},
	}
}

// offer says what there is besides tools.
func offer(o *mcp.ServerOptions) {
	o.Capabilities.Prompts = &mcp.PromptCapabilities{}
	o.Capabilities.Resources = &mcp.ResourceCapabilities{Subscribe: true}
	o.Capabilities.Completions = &mcp.CompletionCapabilities{}
	o.Capabilities.Logging = &mcp.LoggingCapabilities{} //lint:ignore SA1019 the suite still asks for it
	o.CompletionHandler = func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
		return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
	}
	// The SDK keeps who subscribed; no resource here ever changes.
	o.SubscribeHandler = func(context.Context, *mcp.SubscribeRequest) error { return nil }
	o.UnsubscribeHandler = func(context.Context, *mcp.UnsubscribeRequest) error { return nil }
}

// noStreams takes back that resources can be subscribed to, for clients of the modern protocol:
// they would wait on a stream that stays open, and here every answer is whole before it leaves.
// In the legacy protocol a subscription is a request like any other.
func noStreams(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		if d, ok := result.(*mcp.DiscoverResult); ok && d.Capabilities != nil && d.Capabilities.Resources != nil {
			capabilities, resources := *d.Capabilities, *d.Capabilities.Resources
			resources.Subscribe, capabilities.Resources = false, &resources
			d.Capabilities = &capabilities
		}
		return result, err
	}
}

// fixture is a tool of the suite.
type fixture struct {
	name    string
	schema  string // of its arguments; empty: any object
	handler mcp.ToolHandler
}

func (f fixture) tool() mcpserver.ExtensionTool {
	t := &mcp.Tool{Name: f.name, Description: aFixture, InputSchema: anyObject}
	if f.schema != "" {
		t.InputSchema = rawSchema(f.schema)
	}
	return mcpserver.ExtensionTool{Tool: t, Handler: f.handler}
}
