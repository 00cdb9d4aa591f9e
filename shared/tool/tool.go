// Package tool says how a tool is declared and runs it: declaration by Read, Write or Destroy,
// one pipeline, Bind, for every call.
//
// It does not list the tools (catalog does), keep data, or speak HTTP or MCP. Open bind.go
// first: it is the only caller of any handler.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Spec is what a tool says of itself. The effect is not in it: the constructor is the effect.
type Spec struct {
	Name  string         // snake case; the MCP name, the file, the function and the route
	Title string         // for people
	Doc   string         // for models: what it does, when to use it, what it answers
	Scope identity.Scope // what a token must carry
	// Idempotent: the same call again has no further effect. Reading always is. A tool that is
	// not gets the argument idempotency_key.
	Idempotent bool
	// OpenWorld: it reaches a system outside the tracker, such as GitHub or Telegram.
	OpenWorld bool
}

// Effect is what a tool can do to the tracker.
type Effect int

const (
	Reads    Effect = iota // changes nothing in the tracker; the call itself is recorded
	Writes                 // adds or changes
	Destroys               // removes; asks for confirm: true
)

// String returns the word used in docs.
func (e Effect) String() string { return [...]string{"read", "write", "destroy"}[e] }

// Annotations are MCP's four hints, all of them, always: an absent destructiveHint or
// openWorldHint means true to a client. Source: MCP 2025-11-25, schema, ToolAnnotations.
type Annotations struct {
	ReadOnlyHint    bool `json:"readOnlyHint"`
	DestructiveHint bool `json:"destructiveHint"`
	IdempotentHint  bool `json:"idempotentHint"`
	OpenWorldHint   bool `json:"openWorldHint"`
}

// Definition is a declared tool without the power to run it.
type Definition struct {
	Spec
	Effect  Effect
	members memberSet
	schemas func() schemas
}

// Annotations returns the hints, which follow from the constructor and the spec.
func (d *Definition) Annotations() Annotations {
	return Annotations{
		ReadOnlyHint:    d.Effect == Reads,
		DestructiveHint: d.Effect == Destroys,
		IdempotentHint:  d.Idempotent,
		OpenWorldHint:   d.OpenWorld,
	}
}

// Scopes returns all scopes that a call needs.
func (d *Definition) Scopes() []identity.Scope { return []identity.Scope{d.Scope} }

// Confirm says whether a call needs confirm: true: "required" or "none".
func (d *Definition) Confirm() string {
	if d.Effect == Destroys {
		return "required"
	}
	return "none"
}

// InputSchema returns the JSON Schema (2020-12) of the arguments.
func (d *Definition) InputSchema() json.RawMessage { return d.schemas().input }

// OutputSchema returns the JSON Schema (2020-12) of the answer.
func (d *Definition) OutputSchema() json.RawMessage { return d.schemas().output }

// ReadTool is a tool whose handler has no name by which to call a write.
type ReadTool struct {
	Definition
	read func(context.Context, tracker.Reader, []byte) (any, error)
}

// WriteTool is a tool that can change the tracker.
type WriteTool struct {
	Definition
	write   func(context.Context, tracker.Store, []byte) (any, error)
	preview func(context.Context, tracker.Reader, []byte) (any, error) // nil unless it destroys
}

// Read declares a tool that changes nothing.
func Read[In, Out any](spec Spec, handle func(context.Context, tracker.Reader, In) (Out, error)) ReadTool {
	spec.Idempotent = true
	d := define[In, Out](spec, Reads)
	return ReadTool{Definition: d, read: decoding(d.members, handle)}
}

// Write declares a tool that adds or changes.
func Write[In, Out any](spec Spec, handle func(context.Context, tracker.Store, In) (Out, error)) WriteTool {
	d := define[In, Out](spec, Writes)
	return WriteTool{Definition: d, write: decoding(d.members, handle)}
}

// Destroy declares a tool that removes. It gets the arguments confirm and dry_run; a dry run
// reaches preview alone, which can only read.
func Destroy[In, Out any](spec Spec,
	handle func(context.Context, tracker.Store, In) (Out, error),
	preview func(context.Context, tracker.Reader, In) (Out, error),
) WriteTool {
	d := define[In, Out](spec, Destroys)
	return WriteTool{Definition: d, write: decoding(d.members, handle), preview: decoding(d.members, preview)}
}

// NameForm is what a tool may be called: providers differ, and this is what all accept.
var NameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

func define[In, Out any](spec Spec, effect Effect) Definition {
	switch {
	case !NameForm.MatchString(spec.Name):
		panic(fmt.Sprintf("tool %q: the name must match %s", spec.Name, NameForm))
	case spec.Title == "" || spec.Doc == "":
		panic(fmt.Sprintf("tool %s: title and doc are needed", spec.Name))
	case !spec.Scope.Known():
		panic(fmt.Sprintf("tool %s: %q is no scope", spec.Name, spec.Scope))
	}
	extra := extraArguments(spec, effect)
	return Definition{Spec: spec, Effect: effect, members: membersOf[In](spec.Name, extra), schemas: schemasOf[In, Out](spec.Name, extra)}
}

// decoding joins strict decoding and a handler, so that no handler sees undecoded input.
func decoding[T, In, Out any](members memberSet, handle func(context.Context, T, In) (Out, error)) func(context.Context, T, []byte) (any, error) {
	return func(ctx context.Context, t T, raw []byte) (any, error) {
		in, err := decodeInto[In](members, raw)
		if err != nil {
			return nil, err
		}
		return handle(ctx, t, in)
	}
}

// Request is one call of a tool, from whichever front it came.
type Request struct {
	Principal *identity.Principal `json:"principal"`
	Arguments json.RawMessage     `json:"arguments,omitempty"` // the caller's bytes; empty means {}
	CallID    string              `json:"call_id"`             // the request id that the caller sees
	Transport audit.Transport     `json:"transport"`
	Client    audit.Client        `json:"client,omitzero"`
	SourceIP  string              `json:"source_ip,omitempty"`
	TraceID   string              `json:"trace_id,omitempty"`
}

// Invoker runs a tool by name, here or in another function. Its error is internal: a refusal
// is in the Reply. Asking for a tool that is not in the catalogue is an error.
type Invoker interface {
	Invoke(ctx context.Context, name string, req Request) (Reply, error)
}

// Unrecorded is the failure of an Invoker whose call has left no event, so that the caller of the
// Invoker must record it: the call has not reached the tool, or the process that ran it has died.
// After any other error the call may have happened, and then it has its event.
type Unrecorded struct{ Err error }

func (u *Unrecorded) Error() string { return "the call left no event: " + u.Err.Error() }

// Unwrap returns the cause.
func (u *Unrecorded) Unwrap() error { return u.Err }
