package lambdarun

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// Tool hosts one tool for two callers. An API Gateway event is POST /tools/{name}: the body is
// the arguments, the answer the tool's output or its fault. Anything else is the envelope of
// functions/mcp, answered with a tool.Reply. Both go through Bound, which decides and records.
//
// Each of unwelcome may refuse an API Gateway event for where it comes from: the Host and Origin
// headers. It is for local mode, which every page in a browser on the machine can reach. Deployed
// there is none: a page has no token, and without CORS headers it reads no answer.
func Tool(bound *tool.Bound, logger *slog.Logger, unwelcome ...func(hosts, origins []string) *fault.Fault) Handler {
	f := toolFunction{bound, logger.With("tool", bound.Definition().Name), unwelcome}
	return f.invoke
}

type toolFunction struct {
	bound     *tool.Bound
	logger    *slog.Logger
	unwelcome []func(hosts, origins []string) *fault.Fault
}

func (f toolFunction) invoke(ctx context.Context, payload []byte) ([]byte, error) {
	overHTTP, err := isHTTP(payload)
	if err != nil {
		return nil, err
	}
	if overHTTP {
		return f.serveHTTP(ctx, payload)
	}
	return f.serveEnvelope(ctx, payload)
}

func (f toolFunction) serveEnvelope(ctx context.Context, payload []byte) ([]byte, error) {
	req, err := decodeEnvelope(payload)
	if err != nil {
		return nil, err
	}
	reply, err := caught(func() ([]byte, error) { return encode(f.bound.Invoke(ctx, req)), nil })
	if err != nil {
		f.logger.ErrorContext(ctx, "call failed", "call_id", req.CallID, "error", err.Error())
		return internalReply(), nil
	}
	return capped(reply, internalReply(), f.logger, req.CallID), nil
}

func (f toolFunction) serveHTTP(ctx context.Context, payload []byte) ([]byte, error) {
	var event events.APIGatewayProxyRequest
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, fmt.Errorf("decode the API Gateway event: %w", err)
	}
	callID := event.RequestContext.RequestID
	internal := faultReply(fault.Of(nil), callID)
	reply, err := caught(func() ([]byte, error) { return f.answer(ctx, &event), nil })
	if err != nil {
		f.logger.ErrorContext(ctx, "call failed", "call_id", callID, "error", err.Error())
		return internal, nil
	}
	return capped(reply, internal, f.logger, callID), nil
}

func (f toolFunction) answer(ctx context.Context, event *events.APIGatewayProxyRequest) []byte {
	origin := originOfEvent(event)
	req := tool.Request{
		Principal: principalOf(event.RequestContext.Authorizer), Transport: audit.REST,
		CallID: origin.CallID, Client: origin.Client, SourceIP: origin.SourceIP, TraceID: origin.TraceID,
	}
	body, refusal := argumentsOf(event)
	for _, refuses := range f.unwelcome {
		header := func(name string) []string { return headerValues(event.Headers, event.MultiValueHeaders, name) }
		refusal = cmp.Or(refuses(header("Host"), header("Origin")), refusal)
	}
	reply := tool.Reply{}
	if refusal != nil {
		reply = f.bound.Refuse(ctx, req, refusal)
	} else {
		req.Arguments = body
		reply = f.bound.Invoke(ctx, req)
	}
	if reply.Fault != nil {
		return faultReply(reply.Fault, origin.CallID)
	}
	return httpReply(http.StatusOK, reply.Value, nil)
}

// argumentsOf returns the body, or why it cannot be one of arguments. What it holds is for the
// pipeline to read, its size included.
func argumentsOf(event *events.APIGatewayProxyRequest) ([]byte, *fault.Fault) {
	if !strings.EqualFold(event.HTTPMethod, http.MethodPost) {
		return nil, fault.New(fault.Invalid, fault.InvalidRequest, "a tool is called by POST: use that method")
	}
	body, err := bodyOf(event)
	if err != nil {
		return nil, fault.New(fault.Invalid, fault.InvalidRequest, "the body is not valid base64: send JSON as it is").Because(err)
	}
	types := headerValues(event.Headers, event.MultiValueHeaders, "Content-Type")
	if len(types) > 1 || len(types) == 1 && len(body) > 0 && !isJSON(types[0]) {
		return nil, fault.New(fault.Invalid, fault.InvalidRequest,
			"the body must be JSON in UTF-8: send one header Content-Type: application/json")
	}
	return body, nil
}

// isJSON tells whether a Content-Type names JSON in UTF-8 (RFC 8259, section 8.1).
func isJSON(contentType string) bool {
	kind, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	return err == nil && kind == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}
