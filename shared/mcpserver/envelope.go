package mcpserver

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The envelope is all of a JSON-RPC message but the arguments of a tool. It is read once, here,
// and strictly: names are exact, no two members of an object are the same or differ only in
// case, nothing follows the message. What runs later is what was read here (forward.go writes
// the message anew for the SDK), so no second reader can see another tool in it.
//
// The arguments stay as the caller wrote them. tool.Bind reads them, with the same strictness,
// and records what it refuses.

// Limits of a message.
const (
	maxBody     = 1 << 20  // bytes, all of it; arguments may take half (tool.MaxArguments)
	maxRead     = 6 << 20  // bytes of a body that is refused
	maxEnvelope = 64 << 10 // bytes without the arguments
	maxMembers  = 100      // of one object of the envelope
	maxNesting  = 64       // of the envelope
	maxID       = 256      // bytes, as written
	maxInteger  = 1 << 53  // of an id: what a double keeps
	// Arguments deeper than this are more than the SDK reads. tool.Bind refuses far less.
	maxArgumentsNesting = 900
)

// message is one JSON-RPC request or notification. Values are as written.
type message struct {
	id        jsontext.Value // nil: a notification
	method    string
	params    jsontext.Value // nil: none
	name      jsontext.Value // params.name
	uri       jsontext.Value // params.uri
	cursor    jsontext.Value // params.cursor
	arguments jsontext.Value // params.arguments
	meta      meta
}

// meta is params._meta.
type meta struct {
	raw          jsontext.Value
	version      jsontext.Value
	capabilities jsontext.Value
	clientInfo   jsontext.Value
	traceparent  jsontext.Value
	logLevel     bool // there is one
}

// Members that the modern protocol has in params._meta. Source: MCP 2026-07-28, basic.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaClientInfo   = "io.modelcontextprotocol/clientInfo"
	metaTraceparent  = "traceparent"
)

// Names that a member may not nearly have: one in another case is a mistake or an attack.
var (
	messageNames = []string{"jsonrpc", "id", "method", "params", "result", "error"}
	paramsNames  = []string{"name", "arguments", "_meta", "uri", "cursor", "protocolVersion", "capabilities", "clientInfo", "inputResponses", "requestState", "level"}
	metaNames    = []string{metaVersion, metaCapabilities, metaClientInfo, metaTraceparent, "progressToken"}
)

// Lenient of what tool.Bind looks at again.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// scan reads a body. The message holds what could be read, for the id of the answer, even if
// the body is refused.
func scan(body []byte) (*message, *refusal) {
	m := new(message)
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	switch {
	case len(trimmed) == 0:
		return m, unparsable("the body is empty: send one JSON-RPC message")
	case trimmed[0] == '[':
		return m, malformed("batches are not supported: send one JSON-RPC message for each request")
	case trimmed[0] != '{':
		if !jsontext.Value(body).IsValid(lenient...) {
			return m, unparsable("the body is not valid JSON")
		}
		return m, malformed("the body must be one JSON-RPC message, an object")
	}
	var version jsontext.Value
	end, err := members(body, messageNames, func(name string, value jsontext.Value) error {
		switch name {
		case "jsonrpc":
			version = value
		case "id":
			m.id = value
			return checkID(value)
		case "method":
			method, err := text(value)
			m.method = method
			return err
		case "params":
			m.params = value
		case "result", "error":
			return malformed("this server sends no requests, so it takes no responses")
		default:
			return strict(value)
		}
		return nil
	})
	if err != nil {
		return m, m.failed(err)
	}
	if len(bytes.TrimLeft(body[end:], " \t\r\n")) > 0 {
		return m, unparsable("there is something behind the message: send one JSON object alone")
	}
	if string(version) != `"2.0"` {
		return m, malformed(`the member jsonrpc must be "2.0"`)
	}
	if m.method == "" {
		return m, malformed("the member method is missing")
	}
	if err := m.scanParams(); err != nil {
		return m, m.failed(err)
	}
	if len(body)-len(m.arguments) > maxEnvelope {
		return m, malformed("the message is too large around its arguments: send less")
	}
	return m, nil
}

// scanParams reads params, unless they are no object; what a method makes of that is not
// decided here.
func (m *message) scanParams() error {
	if m.params.Kind() == 'n' {
		m.params = nil // some clients fill in null for nothing
	}
	if m.params.Kind() != '{' {
		return strict(m.params)
	}
	_, err := members(m.params, paramsNames, func(name string, value jsontext.Value) error {
		switch name {
		case "arguments":
			m.arguments = value
			return nil // tool.Bind reads them
		case "_meta":
			m.meta.raw = value
			return m.meta.scan()
		case "name":
			m.name = value
		case "uri":
			m.uri = value
		case "cursor":
			m.cursor = value
		}
		return strict(value)
	})
	return err
}

func (t *meta) scan() error {
	if t.raw.Kind() != '{' {
		return strict(t.raw)
	}
	_, err := members(t.raw, metaNames, func(name string, value jsontext.Value) error {
		switch name {
		case metaVersion:
			t.version = value
		case metaCapabilities:
			t.capabilities = value
		case metaClientInfo:
			t.clientInfo = value
		case metaTraceparent:
			t.traceparent = value
		case metaLogLevel:
			t.logLevel = true
		}
		return strict(value)
	})
	return err
}

// failed makes the refusal of what members, strict, text or checkID said. An id that is itself
// refused is not repeated.
func (m *message) failed(err error) *refusal {
	if m.id != nil && checkID(m.id) != nil {
		m.id = nil
	}
	var r *refusal
	switch {
	case errors.As(err, &r):
		return r
	case errors.Is(err, jsontext.ErrDuplicateName):
		return malformed("a member is there twice: send each once")
	case strings.Contains(err.Error(), "UTF-8") || strings.Contains(err.Error(), "surrogate"):
		return unparsable("the body is not valid UTF-8: send valid UTF-8 and paired surrogate escapes")
	case strings.Contains(err.Error(), "depth"):
		return malformed("the message is nested too deeply")
	default:
		return unparsable("the body is not valid JSON")
	}
}

// members calls visit for each member of the object that raw begins with, and returns where the
// object ends. Names are read strictly, and refused if they differ from one another or from a
// known name only in case. Values are only known to be JSON, as lenient has it.
func members(raw []byte, known []string, visit func(name string, value jsontext.Value) error) (int, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient...)
	if _, err := dec.ReadToken(); err != nil {
		return 0, err
	}
	seen := make([]string, 0, 8)
	for dec.PeekKind() != '}' {
		quoted, err := dec.ReadValue()
		if err != nil {
			return 0, err
		}
		name, err := text(quoted)
		if err != nil {
			return 0, err
		}
		if err := checkName(name, seen, known); err != nil {
			return 0, err
		}
		seen = append(seen, name)
		value, err := dec.ReadValue()
		if err != nil {
			return 0, err
		}
		end := int(dec.InputOffset())
		if err := visit(name, raw[end-len(value):end]); err != nil {
			return 0, err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return 0, err
	}
	return int(dec.InputOffset()), nil
}

// checkName refuses a name that a reader which ignores case would take for another one.
func checkName(name string, seen, known []string) error {
	if len(seen) == maxMembers {
		return malformed("an object of the message has too many members")
	}
	for _, other := range seen {
		if strings.EqualFold(name, other) {
			return malformed("a member is there twice, or two differ only in case: send each once")
		}
	}
	for _, exact := range known {
		if name != exact && strings.EqualFold(name, exact) {
			return malformed("a member has its name in the wrong case: names are case-sensitive")
		}
	}
	return nil
}

// strict looks through a value of the envelope that is otherwise left alone.
func strict(v jsontext.Value) error {
	switch v.Kind() {
	case '{', '[':
		return strictInside(v)
	case '"':
		_, err := text(v)
		return err
	}
	return nil // a literal or a number, or nothing at all
}

func strictInside(v jsontext.Value) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(v)) // refuses duplicates and invalid UTF-8
	var names [maxNesting + 1][]string             // by depth, of the objects that are open
	for {
		tok, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		depth := dec.StackDepth()
		if depth > maxNesting {
			return malformed("the message is nested too deeply")
		}
		kind, length := dec.StackIndex(depth)
		switch {
		case length == 0: // just opened
			names[depth] = names[depth][:0]
		case kind == '{' && length%2 == 1 && tok.Kind() == '"':
			name := tok.String()
			if err := checkName(name, names[depth], nil); err != nil {
				return err
			}
			names[depth] = append(names[depth], name)
		}
	}
}

// text reads a string.
func text(v jsontext.Value) (string, error) {
	if v.Kind() != '"' {
		return "", malformed("the member method must be a string")
	}
	if inner := v[1 : len(v)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), nil
	}
	s, err := jsontext.AppendUnquote([]byte(nil), []byte(v))
	return string(s), err
}

// checkID takes what JSON-RPC and MCP both allow, and what every reader of numbers keeps: a
// string, or an integer that a double holds.
func checkID(v jsontext.Value) error {
	switch {
	case len(v) > maxID:
		return malformed("the id is too long: send a shorter one")
	case v.Kind() == '"':
		_, err := text(v)
		return err
	case v.Kind() == '0':
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil && -maxInteger < n && n < maxInteger {
			return nil
		}
	}
	return malformed("the id must be a string or an integer below 2^53")
}

// nesting returns how deep a valid value is nested.
func nesting(v jsontext.Value) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '\\':
			i++ // escapes stand in strings only
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
