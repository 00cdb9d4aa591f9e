//lint:file-ignore SA1019 the suite asks for what the protocol deprecates

package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// inputTools answer with requests for input until the client has sent it (SEP-2322).
var inputTools = []fixture{
	{name: "test_input_required_result_elicitation", handler: func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if name := accepted(req.Params.InputResponses, "user_name", "name"); name != "" {
			return says("Hello, %s!", name), nil
		}
		return asks("", "user_name", askFor("What is your name?", "name")), nil
	}},
	{name: "test_input_required_result_sampling", handler: func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if said := sampled(req.Params.InputResponses, "capital_question"); said != "" {
			return says("The model said: %s", said), nil
		}
		return asks("", "capital_question", sample("What is the capital of France?")), nil
	}},
	{name: "test_input_required_result_list_roots", handler: func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if roots, ok := req.Params.InputResponses["client_roots"].(*mcp.ListRootsResult); ok {
			return says("%s", rootNames(roots)), nil
		}
		return asks("", "client_roots", &mcp.ListRootsParams{}), nil
	}},
	{name: "test_input_required_result_request_state", handler: confirmWithState},
	{name: "test_input_required_result_tampered_state", handler: confirmWithState},
	{name: "test_input_required_result_multiple_inputs", handler: multipleInputs},
	{name: "test_input_required_result_multi_round", handler: multiRound},
	{name: "test_input_required_result_capabilities", handler: onlyWhatIsDeclared},
}

// asks is a result that requests one input.
func asks(state, key string, request mcp.InputRequest) *mcp.CallToolResult {
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{key: request}, RequestState: state}
}

func askFor(message, member string) *mcp.ElicitParams {
	return askForA("string", message, member)
}

func askForA(kind, message, member string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: message, RequestedSchema: &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{member: {Type: kind}}, Required: []string{member},
	}}
}

func sample(prompt string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: text("%s", prompt)}}}
}

// accepted is a member of what the person entered, empty if they did not.
func accepted(responses mcp.InputResponseMap, key, member string) string {
	result, ok := responses[key].(*mcp.ElicitResult)
	if !ok || result.Action != "accept" || result.Content[member] == nil {
		return ""
	}
	return fmt.Sprint(result.Content[member])
}

func sampled(responses mcp.InputResponseMap, key string) string {
	result, ok := responses[key].(*mcp.CreateMessageWithToolsResult)
	if !ok {
		return ""
	}
	for _, c := range result.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			return t.Text
		}
	}
	return ""
}

func rootNames(roots *mcp.ListRootsResult) string {
	var names []string
	for _, r := range roots.Roots {
		names = append(names, r.URI)
	}
	return fmt.Sprintf("%d roots: %s", len(names), strings.Join(names, ", "))
}

// confirmWithState asks for a confirmation, and takes it only with the state that it gave out.
func confirmWithState(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Params.RequestState == "" {
		return asks(sign("confirm"), "confirm", askForA("boolean", "Please confirm", "ok")), nil
	}
	if _, err := verified(req.Params.RequestState); err != nil {
		return nil, err
	}
	if accepted(req.Params.InputResponses, "confirm", "ok") == "" {
		return asks(sign("confirm"), "confirm", askForA("boolean", "Please confirm", "ok")), nil
	}
	return says("state-ok"), nil
}

func multipleInputs(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	name, said := accepted(req.Params.InputResponses, "user_name", "name"), sampled(req.Params.InputResponses, "greeting")
	if roots, ok := req.Params.InputResponses["client_roots"].(*mcp.ListRootsResult); ok && name != "" && said != "" {
		return says("%s %s, %s", said, name, rootNames(roots)), nil
	}
	return &mcp.CallToolResult{RequestState: sign("inputs"), InputRequests: mcp.InputRequestMap{
		"user_name": askFor("What is your name?", "name"), "greeting": sample("Generate a greeting"), "client_roots": &mcp.ListRootsParams{},
	}}, nil
}

// multiRound asks twice. What it learned first travels in the state, for nothing is kept here.
func multiRound(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Params.RequestState == "" {
		return asks(sign("first"), "step1", askFor("Step 1: what is your name?", "name")), nil
	}
	state, err := verified(req.Params.RequestState)
	if err != nil {
		return nil, err
	}
	if name, second := strings.CutPrefix(state, "second "); second {
		return says("%s likes %s", name, accepted(req.Params.InputResponses, "step2", "color")), nil
	}
	name := accepted(req.Params.InputResponses, "step1", "name")
	return asks(sign("second "+name), "step2", askFor("Step 2: what is your favourite colour?", "color")), nil
}

// onlyWhatIsDeclared requests what the client says it can give.
func onlyWhatIsDeclared(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if len(req.Params.InputResponses) > 0 {
		return says("fulfilled"), nil
	}
	requests := mcp.InputRequestMap{}
	if c := req.ClientCapabilities(); c != nil && c.Elicitation != nil {
		requests["user_name"] = askFor("What is your name?", "name")
	}
	if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
		requests["greeting"] = sample("Generate a greeting")
	}
	if len(requests) == 0 {
		return says("the client can be asked nothing"), nil
	}
	return &mcp.CallToolResult{InputRequests: requests}, nil
}

// stateKey signs states: they pass through the client, which must not change them.
var stateKey = func() []byte {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // it never fails
	return key
}()

func sign(state string) string {
	mac := hmac.New(sha256.New, stateKey)
	mac.Write([]byte(state))
	return base64.RawURLEncoding.EncodeToString([]byte(state)) + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func verified(signed string) (string, error) {
	encoded, _, _ := strings.Cut(signed, ".")
	state, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || !hmac.Equal([]byte(sign(string(state))), []byte(signed)) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState is not one of this server"}
	}
	return string(state), nil
}
