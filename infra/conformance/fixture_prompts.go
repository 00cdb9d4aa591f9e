package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func addPrompts(s *mcp.Server) {
	s.AddPrompt(&mcp.Prompt{Name: "test_simple_prompt", Description: aFixture}, prompt(func(map[string]string) []mcp.Content {
		return []mcp.Content{text("This is a simple prompt for testing.")}
	}))
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_arguments", Description: aFixture, Arguments: []*mcp.PromptArgument{
		{Name: "arg1", Required: true}, {Name: "arg2", Required: true},
	}}, prompt(func(args map[string]string) []mcp.Content {
		return []mcp.Content{text("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"])}
	}))
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: aFixture, Arguments: []*mcp.PromptArgument{
		{Name: "resourceUri", Required: true},
	}}, prompt(func(args map[string]string) []mcp.Content {
		return []mcp.Content{embedded(args["resourceUri"]), text("Please process the embedded resource above.")}
	}))
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_image", Description: aFixture}, prompt(func(map[string]string) []mcp.Content {
		return []mcp.Content{picture, text("Please analyze the image above.")}
	}))
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: aFixture}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		said := accepted(req.Params.InputResponses, "user_context", "context")
		if said == "" {
			return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": askFor("What context should the prompt use?", "context")}}, nil
		}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: text("Context: %s", said)}}}, nil
	})
}

// prompt is one whose messages are all the user's.
func prompt(messages func(arguments map[string]string) []mcp.Content) mcp.PromptHandler {
	return func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		result := &mcp.GetPromptResult{}
		for _, c := range messages(req.Params.Arguments) {
			result.Messages = append(result.Messages, &mcp.PromptMessage{Role: "user", Content: c})
		}
		return result, nil
	}
}

const (
	templateBefore = "test://template/"
	templateAfter  = "/data"
)

func addResources(s *mcp.Server) {
	s.AddResource(&mcp.Resource{Name: "static-text", URI: "test://static-text", MIMEType: "text/plain"},
		resource(func(uri string) *mcp.ResourceContents {
			return &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "This is the content of the static text resource."}
		}))
	s.AddResource(&mcp.Resource{Name: "static-binary", URI: "test://static-binary", MIMEType: "image/png"},
		resource(func(uri string) *mcp.ResourceContents {
			return &mcp.ResourceContents{URI: uri, MIMEType: "image/png", Blob: picture.Data}
		}))
	s.AddResource(&mcp.Resource{Name: "watched-resource", URI: "test://watched-resource", MIMEType: "text/plain"},
		resource(func(uri string) *mcp.ResourceContents {
			return &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "This can be subscribed to."}
		}))
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", URITemplate: templateBefore + "{id}" + templateAfter, MIMEType: "application/json"},
		resource(func(uri string) *mcp.ResourceContents {
			id := strings.TrimSuffix(strings.TrimPrefix(uri, templateBefore), templateAfter)
			return &mcp.ResourceContents{URI: uri, MIMEType: "application/json",
				Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":%q}`, id, "Data for ID: "+id)}
		}))
}

func resource(contents func(uri string) *mcp.ResourceContents) mcp.ResourceHandler {
	return func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents(req.Params.URI)}}, nil
	}
}
