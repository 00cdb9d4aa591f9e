package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
)

// proxyReply is what a function answers. Any other member makes it malformed.
type proxyReply struct {
	StatusCode      any              `json:"statusCode"`
	Headers         map[string]any   `json:"headers"`
	MultiHeaders    map[string][]any `json:"multiValueHeaders"`
	Body            *string          `json:"body"`
	IsBase64Encoded bool             `json:"isBase64Encoded"`
}

// decodeReply reads a function's answer. An absent status is an error here, where the platform
// says 200: an empty object is a mistake, not a success. A body in base64 is passed on as it
// is, for the API declares no binary types.
func decodeReply(answer []byte) (reply, error) {
	if len(answer) > MaxPayloadBytes {
		return reply{}, fmt.Errorf("the function answered %d bytes; the limit is %d", len(answer), MaxPayloadBytes)
	}
	var p proxyReply
	if err := decodeStrictly(answer, &p); err != nil {
		return reply{}, fmt.Errorf("malformed answer of the function: %w", err)
	}
	status, err := statusOf(p.StatusCode)
	if err != nil {
		return reply{}, err
	}
	out := reply{status: status, header: http.Header{}}
	if err := p.fill(out.header); err != nil {
		return reply{}, err
	}
	dropAndRename(out.header)
	if out.header.Get("Content-Type") == "" {
		out.header.Set("Content-Type", "application/json")
	}
	if p.Body != nil {
		out.body = []byte(*p.Body)
	}
	return out, nil
}

func decodeStrictly(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("it goes on behind its end")
	}
	return nil
}

// statusOf reads a number, or a number in a string.
func statusOf(value any) (int, error) {
	text := ""
	switch v := value.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = v
	}
	status, err := strconv.Atoi(text)
	if err != nil || status < 200 || status > 599 {
		return 0, errors.New("malformed answer of the function: no statusCode from 200 to 599")
	}
	return status, nil
}

// fill merges the two forms of headers. A name in both keeps all its values, the same pair once.
func (p proxyReply) fill(h http.Header) error {
	for name, values := range p.MultiHeaders {
		for _, value := range values {
			text, ok := scalar(value)
			if !ok {
				return fmt.Errorf("malformed answer of the function: a value of header %q is no text", name)
			}
			h.Add(name, text)
		}
	}
	for name, value := range p.Headers {
		text, ok := scalar(value)
		if !ok {
			return fmt.Errorf("malformed answer of the function: header %q is no text", name)
		}
		if !slices.Contains(h.Values(name), text) {
			h.Add(name, text)
		}
	}
	return nil
}

// scalar writes a string, number or boolean as a string.
func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// What happens to headers of a function's answer. Source: Amazon API Gateway, "important
// notes". The one that matters: a challenge in WWW-Authenticate never arrives as one.
var (
	renamed = []string{
		"Authorization", "Connection", "Content-Length", "Content-Md5", "Date", "Host", "Server", "User-Agent", "Www-Authenticate",
	}
	dropped = []string{
		"Expect", "Keep-Alive", "Max-Forwards", "Proxy-Authenticate", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	}
)

const renamedPrefix = "X-Amzn-Remapped-"

func dropAndRename(h http.Header) {
	for _, name := range renamed {
		if values := h.Values(name); len(values) > 0 {
			h[renamedPrefix+name] = values
			h.Del(name)
		}
	}
	for _, name := range dropped {
		h.Del(name)
	}
}
