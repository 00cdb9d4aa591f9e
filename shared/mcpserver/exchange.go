package mcpserver

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// exchange is one message and what becomes of it. It travels through the SDK in the context:
// the SDK has no way to answer with a status of our choosing, so what the answer must be is
// left here and written when the SDK has returned.
//
// It belongs to one goroutine at a time: the SDK hands it to another one and waits for that.
type exchange struct {
	principal *identity.Principal
	origin    audit.Origin
	deadline  time.Time // zero: none
	msg       *message
	modern    bool
	extended  bool // for the extension, see extension.go

	answered bool     // the SDK has a result to write
	refused  *refusal // what to answer instead
	settled  bool     // the call's one event is someone else's to write, or is written
}

type exchangeKey struct{}

func (x *exchange) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// asks tells whether the request asks for a tool, and so has an event, and for which. Where the
// message asks for something else than the headers say, it is the headers that others saw.
func (x *exchange) asks(h http.Header) (tool string, isCall bool) {
	if x.msg.method != methodCall {
		c := claimOf(h, nil)
		return c.tool(), c.isCall
	}
	return cmp.Or(x.msg.toolName(), noName), true
}

// introduce takes over what a modern message says of its client and its trace. Legacy clients
// name themselves in initialize alone, which is another request: their User-Agent must do.
func (x *exchange) introduce() {
	if id := audit.TraceIDOf(stringOr(x.msg.meta.traceparent), ""); id != "" {
		x.origin.TraceID = id
	}
	if !x.modern || x.msg.meta.clientInfo == nil {
		return
	}
	var info struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if json.Unmarshal(x.msg.meta.clientInfo, &info) == nil && info.Name != "" {
		x.origin.Client = audit.Client{Name: info.Name, Version: info.Version}
	}
}

func stringOr(v []byte) string {
	s, _ := text(v)
	return s
}

// Time kept from the deadline for answering, at most half of what is left.
const answerFor = 300 * time.Millisecond

// bounded gives ctx the deadline of the request, which the SDK drops. A client that goes away
// does not end a call: what has begun is finished and recorded.
func (x *exchange) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if x.deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	left := time.Until(x.deadline)
	return context.WithDeadline(ctx, x.deadline.Add(-min(answerFor, left/2)))
}
