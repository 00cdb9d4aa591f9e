package mcpserver

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
)

// refusal is an answer that is a JSON-RPC error. Its data is the fault as REST has it, so that
// a client reads the same members whichever way it came.
type refusal struct {
	status int // HTTP, in the modern protocol
	code   int // JSON-RPC
	fault  *fault.Fault
	// inBand: the legacy protocol answers HTTP 200, because the message itself was well-formed.
	inBand bool
}

// Error makes a refusal usable where errors are returned.
func (r *refusal) Error() string { return r.fault.Text }

// Codes of JSON-RPC 2.0, of MCP 2026-07-28, and our own, which lie outside the reserved range
// and equal the HTTP status.
const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeInternal           = -32603
	codeHeaderMismatch     = -32020
	codeUnsupportedVersion = -32022
	codeUnauthenticated    = 401
	codeForbidden          = 403
)

func invalidRequest(text string) *fault.Fault {
	return fault.New(fault.Invalid, fault.InvalidRequest, text)
}

// unparsable: the body is no JSON.
func unparsable(text string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: codeParse, fault: invalidRequest(text)}
}

// malformed: the body is no JSON-RPC message, or HTTP says what MCP forbids.
func malformed(text string) *refusal { return malformedAs(http.StatusBadRequest, text) }

func malformedAs(status int, text string) *refusal {
	return &refusal{status: status, code: codeInvalidRequest, fault: invalidRequest(text)}
}

// mismatch: a header is missing, malformed, or differs from the body.
func mismatch(text string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: codeHeaderMismatch, fault: invalidRequest(text)}
}

// badParams: the message is well-formed, but its params are not what the method takes.
func badParams(text string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: codeInvalidParams, fault: invalidRequest(text), inBand: true}
}

func noSuchMethod() *refusal {
	return &refusal{status: http.StatusNotFound, code: codeMethodNotFound, inBand: true,
		fault: invalidRequest("this server has no such method in this protocol version: it offers tools only")}
}

func unknownTool() *refusal {
	return &refusal{status: http.StatusBadRequest, code: codeInvalidParams, inBand: true,
		fault: fault.New(fault.NotFound, fault.UnknownTool, "there is no such tool: tools/list shows those there are")}
}

// maxRequested is how much of an unknown version is repeated, in bytes: all of what could be one,
// and too little to tell a token that stands in its place.
const maxRequested = 16

func unsupportedVersion(requested string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: codeUnsupportedVersion,
		fault: invalidRequest("this protocol version is not supported: use one of those listed").
			With("supported", versions).With("requested", requested[:min(len(requested), maxRequested)])}
}

func notAllowed(reason fault.Reason, text string) *refusal {
	return &refusal{status: http.StatusForbidden, code: codeForbidden, fault: fault.New(fault.Forbidden, reason, text)}
}

// internal: a failure of ours. err is for the log, which whoever calls this writes.
func internal(err error) *refusal {
	return &refusal{status: http.StatusInternalServerError, code: codeInternal, fault: fault.Of(err)}
}

func unauthenticated() *refusal {
	return &refusal{status: http.StatusUnauthorized, code: codeUnauthenticated, fault: fault.Of(identity.Require(nil))}
}

// missingScope is the answer that the authorizer gives where it can tell from the headers.
func (f *front) missingScope(scopes []identity.Scope) *refusal {
	return &refusal{status: http.StatusForbidden, code: codeForbidden, fault: f.SignIn.InsufficientScope(scopes)}
}

// message returns the sentence for people.
func (r *refusal) message() string {
	if r.fault.Reason == fault.InsufficientScope {
		return signin.AskForScope
	}
	return r.fault.Text
}

// body writes the JSON-RPC error.
func (r *refusal) body(id jsontext.Value, callID string) []byte {
	return r.fault.JSONRPC(id, r.code, r.message(), callID)
}
