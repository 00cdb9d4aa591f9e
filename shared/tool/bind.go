package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// The pipeline, top to bottom, with no second path:
//
//	principal, else 401          (nobody has no event)
//	scope, else 403
//	form of the arguments, strictly: names, doubles, null, size, else 400
//	confirm, if it destroys and is no dry run, else 400
//	types and limits of the arguments, else 400
//	handler: idempotency record and change are the store's, bound to this call
//	record the outcome, unless the change committed it already
//	reply; an outcome that cannot be recorded is withheld
//
// Confirm comes before the values are looked at, so that its refusal is the same whatever a call
// names. Panics are caught, and the deadline is shaved so that a call that runs out of time is
// still recorded.

// ConfirmText is the refusal of a destructive call without confirm: true. It is a contract.
const ConfirmText = "confirm: true required for destructive operations"

// Readers opens the tracker for reading, for one call.
type Readers interface {
	Reader(*audit.Call) tracker.Reader
}

// Stores opens the tracker for one call. A change made through the store is committed together
// with the call's event.
type Stores interface {
	Readers
	Store(*audit.Call) tracker.Store
}

// Deps are what a bound tool needs besides the tracker.
type Deps struct {
	audit.Settings
	Log    audit.Log
	Logger *slog.Logger
}

// Bound is a tool that can be called.
type Bound struct {
	def  *Definition
	deps Deps
	// open runs the handler over what this tool may touch; dry asks for the preview.
	open func(ctx context.Context, call *audit.Call, dry bool, arguments []byte) (any, error)
}

// BindRead makes a read tool callable over a tracker that it can only read.
func BindRead(t ReadTool, r Readers, d Deps) *Bound {
	return &Bound{def: &t.Definition, deps: d, open: func(ctx context.Context, call *audit.Call, _ bool, arguments []byte) (any, error) {
		return t.read(ctx, r.Reader(call), arguments)
	}}
}

// BindWrite makes a tool that writes or destroys callable.
func BindWrite(t WriteTool, s Stores, d Deps) *Bound {
	return &Bound{def: &t.Definition, deps: d, open: func(ctx context.Context, call *audit.Call, dry bool, arguments []byte) (any, error) {
		if dry {
			return t.preview(ctx, s.Reader(call), arguments)
		}
		return t.write(ctx, s.Store(call), arguments)
	}}
}

// Definition returns what was bound.
func (b *Bound) Definition() *Definition { return b.def }

// Reply is the answer to a call: a value or a fault.
type Reply struct {
	Value json.RawMessage `json:"value,omitempty"`
	Fault *fault.Fault    `json:"fault,omitempty"`
}

// Invoke runs one call from the principal to the reply.
func (b *Bound) Invoke(ctx context.Context, req Request) Reply { return b.invoke(ctx, req, nil) }

// Refuse runs one call that its front could not read as arguments, such as a body that says it
// is no JSON. Whether the caller may call at all is decided first; then the call is refused
// with f, and recorded like any other.
func (b *Bound) Refuse(ctx context.Context, req Request, f *fault.Fault) Reply {
	return b.invoke(ctx, req, f)
}

func (b *Bound) invoke(ctx context.Context, req Request, refusal *fault.Fault) Reply {
	if err := identity.Require(req.Principal); err != nil {
		return Reply{Fault: fault.Of(err)}
	}
	call := b.deps.Begin(audit.Start{
		Principal: req.Principal, Tool: b.def.Name, Recorder: b.def.Name, Required: b.def.Scopes(),
		Transport: req.Transport, CallID: req.CallID, Client: req.Client, SourceIP: req.SourceIP, TraceID: req.TraceID,
	})
	value, err := b.run(ctx, call, req, refusal)
	return b.conclude(ctx, call, value, err)
}

// run decides and acts. Whatever it returns is recorded by conclude.
func (b *Bound) run(ctx context.Context, call *audit.Call, req Request, refusal *fault.Fault) (value json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			value, err = nil, fmt.Errorf("panic in %s: %v\n%s", b.def.Name, p, debug.Stack())
		}
	}()
	ctx, cancel := audit.BeforeRecording(ctx)
	defer cancel()
	if err := identity.Require(req.Principal, b.def.Scopes()...); err != nil {
		return nil, err
	}
	if refusal != nil {
		return nil, refusal
	}
	args, err := b.def.members.split(req.Arguments)
	if err != nil {
		return nil, err
	}
	call.Event.ArgumentsDigest, call.Event.DryRun, call.IdempotencyKey = args.digest, args.dryRun, args.idempotencyKey
	if b.def.Effect == Destroys && !args.dryRun && !args.confirmed {
		return nil, fault.New(fault.Invalid, fault.ConfirmMissing, ConfirmText).
			With("hint", "nothing was deleted; ask the user first, then repeat the call with confirm: true, or preview it with dry_run: true")
	}
	out, err := b.open(ctx, call, args.dryRun, args.rest)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// conclude records the outcome and makes the reply.
func (b *Bound) conclude(ctx context.Context, call *audit.Call, value json.RawMessage, err error) Reply {
	if err != nil {
		b.logInternal(ctx, call, err)
	}
	ctx, cancel := audit.Recording(ctx)
	defer cancel()
	if recErr := call.Record(ctx, b.deps.Log, err); recErr != nil {
		b.logInternal(ctx, call, recErr)
		err = recErr // what cannot be recorded is withheld
	}
	if err != nil {
		return Reply{Fault: fault.Of(err)}
	}
	return Reply{Value: value}
}

// logInternal writes what the caller does not see. Faults are in the audit log already.
func (b *Bound) logInternal(ctx context.Context, call *audit.Call, err error) {
	if fault.KindOf(err) != fault.Internal {
		return
	}
	b.deps.Logger.ErrorContext(ctx, "call failed", "tool", b.def.Name, "call_id", call.Event.CallID, "error", err.Error())
}
