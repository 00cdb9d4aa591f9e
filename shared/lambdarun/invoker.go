package lambdarun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// InvokerOver reaches tools in other functions: invoke sends a payload to the function of the
// named tool and returns its answer. What invoke fails with, a FunctionError included, is
// internal to callers.
func InvokerOver(invoke func(ctx context.Context, name string, payload []byte) ([]byte, error)) tool.Invoker {
	return remote(invoke)
}

type remote func(ctx context.Context, name string, payload []byte) ([]byte, error)

// Invoke implements tool.Invoker.
func (invoke remote) Invoke(ctx context.Context, name string, req tool.Request) (tool.Reply, error) {
	payload, err := encodeEnvelope(req)
	if err != nil {
		return tool.Reply{}, &tool.Unrecorded{Err: fmt.Errorf("encode the tool request: %w", err)}
	}
	answer, err := invoke(ctx, name, payload)
	if err != nil {
		return tool.Reply{}, fmt.Errorf("invoke %s: %w", name, err)
	}
	reply, err := decodeReply(answer)
	if err != nil {
		return tool.Reply{}, fmt.Errorf("answer of %s: %w", name, err)
	}
	return reply, nil
}

// decodeReply accepts a value or a fault, and nothing that is neither or both: an answer that
// was not understood must not pass for a success.
func decodeReply(answer []byte) (tool.Reply, error) {
	var reply tool.Reply
	if err := json.Unmarshal(answer, &reply); err != nil {
		return tool.Reply{}, fmt.Errorf("decode it: %w", err)
	}
	if (reply.Fault == nil) == (len(reply.Value) == 0) {
		return tool.Reply{}, errors.New("it is no tool reply: it must hold either a value or a fault")
	}
	return reply, nil
}

// envelope is a tool.Request on its way from functions/mcp. Arguments that are no JSON cannot
// stand in JSON; they travel as bytes, so that the tool's function refuses and records them.
type envelope struct {
	tool.Request
	RawArguments []byte `json:"raw_arguments,omitempty"`
}

func encodeEnvelope(req tool.Request) ([]byte, error) {
	if utf8.Valid(req.Arguments) {
		payload, err := json.Marshal(envelope{Request: req})
		// What is nested as deep as encoding/json can read is too deep one level further in.
		if err == nil && json.Valid(payload) {
			return payload, nil
		}
	}
	e := envelope{Request: req, RawArguments: req.Arguments}
	e.Arguments = nil
	return json.Marshal(e)
}

func decodeEnvelope(payload []byte) (tool.Request, error) {
	var e envelope
	if err := json.Unmarshal(payload, &e); err != nil {
		return tool.Request{}, fmt.Errorf("decode the tool request: %w", err)
	}
	if e.RawArguments != nil {
		e.Arguments = e.RawArguments
	}
	return e.Request, nil
}
