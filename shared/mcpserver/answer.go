package mcpserver

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// write sends a JSON answer.
func write(w http.ResponseWriter, status int, body []byte) {
	writeAs(w, status, "application/json", body)
}

func writeAs(w http.ResponseWriter, status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone reads nothing anyway
}

// refuse answers a request whose message, if it is known, asks for no tool or has its event
// already. Elsewhere than at /mcp the answer is the plain error of REST.
func (f *front) refuse(w http.ResponseWriter, r *http.Request, m *message, refused *refusal) {
	if challenge := f.challenge(refused.fault); challenge != "" {
		w.Header().Set("WWW-Authenticate", challenge)
	}
	callID := originOf(r).CallID
	if r.URL.Path != "/mcp" {
		write(w, refused.status, refused.fault.PublicJSON(callID))
		return
	}
	var id jsontext.Value
	if m != nil {
		id = m.id
	}
	write(w, refused.status, refused.body(id, callID))
}

// turnAway answers a request whose message could not be read. It is a call if it says so: then
// it is recorded, and if that fails, the caller learns of the failure alone.
func (f *front) turnAway(w http.ResponseWriter, r *http.Request, x *exchange, body []byte, refused *refusal) {
	if c := claimOf(r.Header, body); c.isCall {
		refused = f.recorded(r, x, c.tool(), refused)
	}
	f.refuse(w, r, x.msg, refused)
}

// recorded writes the event of a call that is refused here, and returns what to answer.
func (f *front) recorded(r *http.Request, x *exchange, tool string, refused *refusal) *refusal {
	if err := f.record(r.Context(), x, tool, audit.MCP, refused.fault); err != nil {
		return f.failed(r.Context(), err)
	}
	return refused
}

// deny answers a message that was read. A call that nobody has recorded yet is recorded.
func (f *front) deny(w http.ResponseWriter, r *http.Request, x *exchange, refused *refusal) {
	if tool, isCall := x.asks(r.Header); isCall && !x.settled {
		refused = f.recorded(r, x, tool, refused)
	}
	if refused.inBand && !x.modern {
		inBand := *refused
		inBand.status = http.StatusOK
		refused = &inBand
	}
	f.refuse(w, r, x.msg, refused)
}

// rest answers for a tool name that has no route of its own, and records it. One of ours that is
// spelt with percent escapes has none: to a router it is another path.
func (f *front) rest(w http.ResponseWriter, r *http.Request, name string, foreign *refusal) {
	if raw := r.URL.EscapedPath(); raw != r.URL.Path && f.tools[name] != nil {
		name = strings.TrimPrefix(raw, "/tools/")
	}
	refused := fault.New(fault.NotFound, fault.UnknownTool, "there is no such tool: GET /tools shows those there are")
	switch {
	case foreign != nil:
		refused = foreign.fault
	case f.tools[name] != nil && r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		f.answerFault(w, r, http.StatusMethodNotAllowed, invalidRequest("call a tool with POST; its body is the arguments"))
		return
	case f.tools[name] != nil: // a route of its own should have taken it
		refused = f.failed(r.Context(), fmt.Errorf("a call of %s over REST came to the MCP front: check the routes", name)).fault
	}
	x := &exchange{principal: identity.FromContext(r.Context()), origin: originOf(r)}
	if err := f.record(r.Context(), x, name, audit.REST, refused); err != nil {
		f.refuse(w, r, nil, f.failed(r.Context(), err))
		return
	}
	f.answerFault(w, r, refused.Kind.Status(), refused)
}

func (f *front) answerFault(w http.ResponseWriter, r *http.Request, status int, ft *fault.Fault) {
	write(w, status, ft.PublicJSON(originOf(r).CallID))
}

// failed logs a failure of ours and returns what the caller may know of it.
func (f *front) failed(ctx context.Context, err error) *refusal {
	f.Logger.ErrorContext(ctx, "request failed", "call_id", audit.OriginFrom(ctx).CallID, "error", err.Error())
	return internal(err)
}

// challenge is the WWW-Authenticate header that goes with a fault, empty for none. API Gateway
// renames it when a function sends it, hence the same in the body.
func (f *front) challenge(ft *fault.Fault) string {
	switch {
	case ft.Kind == fault.Unauthenticated:
		return f.SignIn.Challenge()
	case ft.Reason == fault.InsufficientScope:
		scopes, _ := ft.Member("scopes").([]string)
		return f.SignIn.ScopeChallenge(identity.ParseScopes(strings.Join(scopes, " ")))
	}
	return ""
}
