// Package lambdarun hosts the connector's programs on AWS Lambda behind API Gateway: it turns
// event bytes into calls and answers into reply bytes, and it is the only package that knows
// aws-lambda-go and aws-lambda-go-api-proxy.
//
// It decides nothing about tools (tool.Bind does) and knows none of them; the authorizer here
// asks identity.Require and nothing else. Everything is a Handler, so that functions/local, the
// gateway emulation, the tests and the Lambda runtime run the same bytes. Open this file first,
// then event.go for what is believed of an event, and start.go for how a main begins.
package lambdarun

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/aws/aws-lambda-go/events"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// Handler answers one invocation: payload in, payload out. It has the method of lambda.Handler.
// An error is a FunctionError to Lambda; no handler here panics.
type Handler func(ctx context.Context, payload []byte) ([]byte, error)

// Invoke calls the handler.
func (h Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) { return h(ctx, payload) }

// maxReply is the largest answer that Lambda passes on, less room for the event around it.
// Source: AWS Lambda quotas, 6 MB for a synchronous response.
const maxReply = 6<<20 - 64<<10

// capped replaces an answer that Lambda would drop by one that says nothing but that.
func capped(reply, instead []byte, logger *slog.Logger, callID string) []byte {
	if len(reply) <= maxReply {
		return reply
	}
	logger.Error("answer too large for Lambda", "call_id", callID, "bytes", len(reply))
	return instead
}

// caught turns a panic in serve into an error that names it, with the stack.
func caught[T any](serve func() (T, error)) (answer T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return serve()
}

// internalReply is what a function answers another one when all else failed.
func internalReply() []byte { return encode(tool.Reply{Fault: fault.Of(nil)}) }

// encode writes one of our own reply types, which always encode.
func encode(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return out
}

// httpReply is a reply to API Gateway with a JSON body.
func httpReply(status int, body []byte, headers map[string][]string) []byte {
	all := map[string][]string{
		"Content-Type":           {"application/json"},
		"Cache-Control":          {"no-store"},
		"X-Content-Type-Options": {"nosniff"},
	}
	for name, values := range headers {
		all[name] = values
	}
	return encode(events.APIGatewayProxyResponse{StatusCode: status, MultiValueHeaders: all, Body: string(body)})
}

// faultReply is the reply to API Gateway for a fault.
func faultReply(f *fault.Fault, callID string) []byte {
	var headers map[string][]string
	if seconds := f.RetryAfterSeconds(); seconds > 0 {
		headers = map[string][]string{"Retry-After": {fmt.Sprint(seconds)}}
	}
	return httpReply(f.Kind.Status(), f.PublicJSON(callID), headers)
}
