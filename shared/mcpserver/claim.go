package mcpserver

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/aacworkflow/mcp-connector/shared/audit"
)

// noName stands in an event where the name of a tool would, if that cannot be told.
const noName = audit.RecorderMCP

// claim is what a request that is refused says of itself, for the record alone: whether it asks
// for a tool, and for which. It is read as generously as the message is read strictly (envelope.go),
// since a call that is refused for its form is a refused call. Nothing runs because of it.
type claim struct {
	isCall bool
	names  []string // as often as they are said
}

// claimOf reads the headers, and the body as far as it is JSON.
func claimOf(h http.Header, body []byte) *claim {
	c := new(claim)
	if slices.Contains(h.Values(headerMethod), methodCall) {
		c.isCall = true
		for _, value := range h.Values(headerName) {
			if name, ok := decodeName(value); ok && name != "" {
				c.names = append(c.names, name)
			}
		}
	}
	_ = c.read(body) // where the body ends to be JSON, so does what it says
	return c
}

// tool returns the one tool that is named.
func (c *claim) tool() string {
	if len(c.names) == 0 {
		return noName
	}
	for _, name := range c.names {
		if name != c.names[0] {
			return noName
		}
	}
	return c.names[0]
}

// read looks through messages: one, several, or a batch.
func (c *claim) read(body []byte) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(bytes.TrimPrefix(body, []byte("\ufeff"))), lenient...)
	for {
		var err error
		switch dec.PeekKind() {
		case '{':
			err = c.message(dec)
		case '[', ']':
			_, err = dec.ReadToken()
		default:
			err = dec.SkipValue()
		}
		if err != nil {
			return err
		}
	}
}

// message looks through one message, however often it says something.
func (c *claim) message(dec *jsontext.Decoder) error {
	isCall, names := false, []string(nil)
	err := eachMember(dec, func(name string) error {
		switch {
		case strings.EqualFold(name, "method"):
			method, err := textOf(dec)
			isCall = isCall || method == methodCall
			return err
		case strings.EqualFold(name, "params") && dec.PeekKind() == '{':
			return eachMember(dec, func(name string) error {
				if !strings.EqualFold(name, "name") {
					return dec.SkipValue()
				}
				tool, err := textOf(dec)
				if tool != "" {
					names = append(names, tool)
				}
				return err
			})
		}
		return dec.SkipValue()
	})
	if isCall {
		c.isCall, c.names = true, append(c.names, names...)
	}
	return err
}

// eachMember calls visit for each member of the object that comes next; visit reads its value.
func eachMember(dec *jsontext.Decoder, visit func(name string) error) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		name, err := textOf(dec)
		if err == nil {
			err = visit(name)
		}
		if err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// textOf reads the next value: what it says if it is a string, else nothing.
func textOf(dec *jsontext.Decoder) (string, error) {
	value, err := dec.ReadValue()
	if err != nil || value.Kind() != '"' {
		return "", err
	}
	text, _ := jsontext.AppendUnquote([]byte(nil), []byte(value)) // invalid UTF-8 is replaced
	return string(text), nil
}
