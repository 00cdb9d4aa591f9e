//lint:file-ignore SA1019 the suite asks for what the protocol deprecates

package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type rawSchema = json.RawMessage

var anyObject = rawSchema(`{"type":"object"}`)

// answer is a tool that always answers the same.
func answer(content ...mcp.Content) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content}, nil
	}
}

func says(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{text(format, args...)}}
}

func text(format string, args ...any) *mcp.TextContent {
	return &mcp.TextContent{Text: fmt.Sprintf(format, args...)}
}

func embedded(uri string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "This is an embedded resource content."}}
}

// The smallest picture and the smallest sound: one pixel, one sample.
var (
	picture = &mcp.ImageContent{MIMEType: "image/png", Data: decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")}
	sound   = &mcp.AudioContent{MIMEType: "audio/wav", Data: decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")}
)

func decode(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err) // a constant of this file
	}
	return b
}

// contentTools answer with each kind of content.
var contentTools = []fixture{
	{name: "test_simple_text", handler: answer(text("This is a simple text response for testing."))},
	{name: "test_image_content", handler: answer(picture)},
	{name: "test_audio_content", handler: answer(sound)},
	{name: "test_embedded_resource", handler: answer(embedded("test://embedded-resource"))},
	{name: "test_multiple_content_types", handler: answer(text("Multiple content types test:"), picture, embedded("test://mixed-content-resource"))},
	{name: "test_error_handling", handler: func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result := says("This tool intentionally returns an error for testing")
		result.IsError = true
		return result, nil
	}},
}

// schemaTools are looked at for their schemas, which must arrive as they are.
var schemaTools = []fixture{
	{name: "json_schema_2020_12_tool", handler: answer(text("called")), schema: `{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"type": "object",
		"$defs": {"address": {"$anchor": "addressDef", "type": "object",
			"properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {
			"name": {"type": "string"},
			"address": {"$ref": "#/$defs/address"},
			"contactMethod": {"type": "string", "enum": ["phone", "email"]},
			"phone": {"type": "string"},
			"email": {"type": "string"}
		},
		"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
		"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
		"then": {"required": ["phone"]},
		"else": {"required": ["email"]},
		"additionalProperties": false
	}`},
	{name: "test_x_mcp_header", handler: answer(text("called")), schema: `{
		"type": "object",
		"properties": {
			"region": {"type": "string", "x-mcp-header": "Region"},
			"level": {"type": "integer"}
		}
	}`},
}

// stepEvery is between the messages of a tool that sends several.
const stepEvery = 50 * time.Millisecond

// streamTools send messages besides their result, or would.
var streamTools = []fixture{
	{name: "test_tool_with_progress", handler: func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		token := req.Params.GetProgressToken()
		for _, done := range []float64{0, 50, 100} {
			if token == nil {
				break
			}
			if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}); err != nil {
				return nil, err
			}
			time.Sleep(stepEvery)
		}
		return says("done"), nil
	}},
	{name: "test_tool_with_logging", handler: func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			if err := log(ctx, req, line); err != nil {
				return nil, err
			}
			time.Sleep(stepEvery)
		}
		return says("logged"), nil
	}},
	{name: "test_logging_tool", handler: func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return says("logged, if the client asked for it"), log(ctx, req, "called")
	}},
	{name: "test_streaming_elicitation", handler: answer(text("a result, and no request before it"))},
	{name: "test_missing_capability", handler: func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
			return says("the client can sample"), nil
		}
		data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}}})
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client must be able to sample", Data: data}
	}},
}

func log(ctx context.Context, req *mcp.CallToolRequest, line string) error {
	return req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: line})
}
