// Package audit is the record of every call: the event, where it is kept, and how it is read.
//
// It holds no argument values, titles, comment texts or tokens, and it never changes what it
// has recorded. It does not decide what is recorded: tool.Bind, the authorizer and the MCP
// front do. Start with event.go; call.go is how an event comes about.
package audit

import (
	"cmp"
	"regexp"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// Transport is the entry through which a call came.
type Transport string

const (
	MCP  Transport = "mcp"  // POST /mcp
	REST Transport = "rest" // POST /tools/{name} and the other REST routes
	CLI  Transport = "cli"  // infra/admin: an operator, on the tables themselves
)

// Client is what the caller's software says of itself. It proves nothing.
type Client struct {
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
}

// Event is the record of one call. The first five members are a contract with those who read
// the log; reason is absent on success.
type Event struct {
	Tool           string        `json:"tool"`
	Outcome        fault.Outcome `json:"outcome"`
	Reason         fault.Reason  `json:"reason,omitempty"`
	ScopesProvided []string      `json:"scopes_provided"`
	Timestamp      time.Time     `json:"timestamp"` // when the call began; RFC 3339, microseconds

	EventID         string       `json:"event_id"` // ULID
	CallID          string       `json:"call_id"`  // the request id that the caller saw
	WorkspaceID     string       `json:"workspace_id"`
	Actor           string       `json:"actor"` // user id, or operator:<name>
	TokenID         string       `json:"token_id"`
	Client          Client       `json:"client,omitzero"`
	Transport       Transport    `json:"transport"`
	Recorder        string       `json:"recorder"` // who wrote it: a tool's name, or one of the Recorder constants
	ScopesRequired  []string     `json:"scopes_required"`
	Target          string       `json:"target,omitempty"` // type/id of what was found, never what was asked for
	Detail          fault.Detail `json:"detail,omitempty"` // what the caller was not told
	DryRun          bool         `json:"dry_run,omitempty"`
	ArgumentsDigest string       `json:"arguments_digest,omitempty"` // sha256:<hex> of the canonical arguments
	Changed         []string     `json:"changed,omitempty"`          // field names
	DurationMS      int64        `json:"duration_ms"`
	SourceIP        string       `json:"source_ip,omitempty"`
	TraceID         string       `json:"trace_id,omitempty"`
	Replayed        bool         `json:"replayed,omitempty"`
}

// Recorders that are not tools.
const (
	RecorderMCP        = "_mcp"
	RecorderAuthorizer = "_authorizer"
	RecorderAudit      = "_audit"
	RecorderAdmin      = "_admin"
	RecorderOAuth      = "_oauth" // the authorization server
)

// Limits of what callers can put into an event. Longer values are cut.
const (
	maxClientField = 100 // characters
	maxToolName    = 64  // characters
	maxTraceID     = 128 // characters
	maxSourceIP    = 64  // characters
	maxCallID      = 128 // characters
)

// redact cuts what callers wrote to its limits, drops what is not printable and hides what looks
// like a token, so that an event stays small and harmless wherever it is shown.
func (e *Event) redact() {
	e.Tool = cmp.Or(printable(e.Tool, maxToolName), e.Recorder) // of a name nothing may be left
	e.Client.Name = printable(e.Client.Name, maxClientField)
	e.Client.Version = printable(e.Client.Version, maxClientField)
	e.TraceID = printable(e.TraceID, maxTraceID)
	e.SourceIP = printable(e.SourceIP, maxSourceIP)
	e.CallID = printable(e.CallID, maxCallID)
	if e.ScopesProvided == nil {
		e.ScopesProvided = []string{}
	}
	if e.ScopesRequired == nil {
		e.ScopesRequired = []string{}
	}
	e.Timestamp = e.Timestamp.UTC().Truncate(time.Microsecond)
}

// secretForm is what tokens look like, ours and those that an identity provider signs. Callers
// put them by mistake where a name belongs, and all who read the log would have them then.
var secretForm = regexp.MustCompile(`(?i:aac_[a-z]+_[0-9a-z_-]{4,})|eyJ[0-9A-Za-z_-]{4,}(\.[0-9A-Za-z_-]*)*`)

func printable(s string, limit int) string {
	s = secretForm.ReplaceAllString(s, "[secret]")
	out := make([]rune, 0, min(len(s), limit))
	for _, r := range s {
		if len(out) == limit {
			break
		}
		if r < 0x20 || r == 0xfffd || (r >= 0x7f && r < 0xa0) || (r >= 0x2028 && r <= 0x202f) || (r >= 0x2066 && r <= 0x2069) {
			continue
		}
		out = append(out, r)
	}
	return string(out)
}
