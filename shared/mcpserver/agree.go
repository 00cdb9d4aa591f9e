package mcpserver

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Headers repeat what the body says, so that whatever stands in front can decide without
// reading it; our authorizer does. A header that differs from the body is therefore refused in
// every protocol version, although only 2026-07-28 has the rule.

const (
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

// named lists the methods whose Mcp-Name repeats a member of params.
var named = map[string]func(*message) jsontext.Value{
	methodCall:       func(m *message) jsontext.Value { return m.name },
	"prompts/get":    func(m *message) jsontext.Value { return m.name },
	"resources/read": func(m *message) jsontext.Value { return m.uri },
}

// agree compares headers and body, and finds out which protocol the message is of. The version
// is empty if neither says one.
func agree(h http.Header, m *message) (version string, err *refusal) {
	version, err = agreeVersion(h, m)
	if err != nil {
		return version, err
	}
	modern := version == modernVersion
	method, given, ok := single(h, headerMethod)
	switch {
	case !ok || (given && method != m.method):
		return version, mismatch("the header Mcp-Method differs from the method of the message")
	case !given && modern && m.id != nil:
		return version, mismatch("the header Mcp-Method is missing: repeat the method of the message in it")
	}
	if bodyName := named[m.method]; bodyName != nil {
		if err := agreeName(h, bodyName(m), modern && m.id != nil); err != nil {
			return version, err
		}
	}
	if modern && m.id != nil {
		return version, m.checkMeta()
	}
	return version, nil
}

func agreeVersion(h http.Header, m *message) (string, *refusal) {
	header, given, ok := single(h, headerVersion)
	if !ok {
		return "", mismatch("the header MCP-Protocol-Version is there more than once")
	}
	inBody := m.meta.version != nil
	if inBody {
		version, err := text(m.meta.version)
		switch {
		case err != nil:
			return header, badParams("the member " + metaVersion + " of _meta must be a string")
		case !given:
			return version, mismatch("the header MCP-Protocol-Version is missing: repeat the version of _meta in it")
		case header != version:
			return version, mismatch("the header MCP-Protocol-Version differs from the version in _meta")
		}
	}
	if given && !slices.Contains(versions, header) {
		return header, unsupportedVersion(header)
	}
	return header, nil
}

func agreeName(h http.Header, inBody jsontext.Value, required bool) *refusal {
	header, given, ok := single(h, headerName)
	if !ok {
		return mismatch("the header Mcp-Name is there more than once")
	}
	if !given {
		if required {
			return mismatch("the header Mcp-Name is missing: repeat the name of the message in it")
		}
		return nil
	}
	decoded, ok := decodeName(header)
	name, err := text(inBody)
	if !ok || err != nil || decoded != name {
		return mismatch("the header Mcp-Name differs from the name of the message")
	}
	return nil
}

// decodeName reads a value that may be wrapped as =?base64?…?=. Source: MCP 2026-07-28,
// transports.
func decodeName(value string) (string, bool) {
	inner, wrapped := strings.CutPrefix(value, "=?base64?")
	if !wrapped || !strings.HasSuffix(inner, "?=") {
		return value, true
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSuffix(inner, "?="))
	return string(decoded), err == nil
}

// single returns the one value of a header, whether there is one, and false if there are more.
// An empty version counts as none, as the SDK has it; an empty name differs from any name.
func single(h http.Header, name string) (value string, given, ok bool) {
	values := h.Values(name)
	if len(values) == 0 {
		return "", false, true
	}
	return values[0], name == headerName || values[0] != "", len(values) == 1
}

// checkMeta is what a modern request must say of its client.
func (m *message) checkMeta() *refusal {
	switch {
	case m.meta.version == nil:
		return badParams("the member " + metaVersion + " of _meta is missing: repeat the protocol version in it")
	case m.meta.capabilities.Kind() != '{':
		return badParams("the member " + metaCapabilities + " of _meta is missing or no object: send at least {}")
	case m.meta.clientInfo != nil && m.meta.clientInfo.Kind() != '{':
		return badParams("the member " + metaClientInfo + " of _meta must be an object")
	}
	return nil
}
