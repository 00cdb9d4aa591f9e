package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// serve reads one message and has it answered, unless foreign says that it must not be.
func (f *front) serve(w http.ResponseWriter, r *http.Request, foreign *refusal) {
	x := &exchange{principal: identity.FromContext(r.Context()), origin: originOf(r)}
	x.deadline, _ = r.Context().Deadline()
	body, m, refused := read(w, r, foreign)
	if x.msg = m; refused != nil {
		f.turnAway(w, r, x, body, refused)
		return
	}
	if refused := f.admit(r.Header, x); refused != nil {
		f.deny(w, r, x, refused)
		return
	}
	if m.id == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if f.slow || !f.direct(w, r, x) {
		f.forward(w, r, x)
	}
}

// read reads the message of a request, and the body of one that is refused as far as it goes.
func read(w http.ResponseWriter, r *http.Request, foreign *refusal) (body []byte, m *message, refused *refusal) {
	body, unread := readBody(w, r)
	if refused = cmp.Or(foreign, presentable(r.Header), unread); refused != nil {
		return body, new(message), refused
	}
	m, refused = scan(body)
	return body, m, refused
}

// admit decides what can be decided without the SDK.
func (f *front) admit(h http.Header, x *exchange) *refusal {
	version, refused := agree(h, x.msg)
	x.modern = version == modernVersion
	x.introduce()
	if refused == nil {
		refused = checkNotification(x.msg)
	}
	if refused == nil && x.msg.id != nil {
		refused = f.check(x.msg, x.modern)
	}
	x.extended = refused == nil && f.ext.takes(x.msg)
	return refused
}

// forward has the SDK answer a message, and writes that answer or the one left in the exchange.
func (f *front) forward(w http.ResponseWriter, r *http.Request, x *exchange) {
	answer := &buffer{header: http.Header{}, status: http.StatusOK}
	err := f.askSDK(answer, r, x)
	switch {
	case x.refused != nil:
		f.deny(w, r, x, x.refused)
	case err == nil && x.extended:
		f.pass(w, r, x, answer)
	case err == nil && x.answered && answer.status == http.StatusOK && answer.body.Len() > 0:
		write(w, http.StatusOK, answer.body.Bytes())
	default:
		f.deny(w, r, x, f.reword(r.Context(), x, answer, err))
	}
}

// askSDK hands the message over: what was read of it, and no header but those that it needs.
// The token, session ids and the like stay outside.
func (f *front) askSDK(answer *buffer, r *http.Request, x *exchange) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in the SDK: %v\n%s", p, debug.Stack())
		}
	}()
	header := http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"application/json, text/event-stream"},
		headerMethod:   {x.msg.method},
	}
	if version := r.Header.Get(headerVersion); version != "" {
		header.Set(headerVersion, version)
	}
	if name := x.msg.toolName(); name != "" {
		header.Set(headerName, name)
	}
	sdk := f.sdk
	if x.extended {
		sdk = f.ext.streams
		x.msg.addHeaders(header, r.Header)
	}
	body := x.msg.canonical(x.extended)
	ctx := x.in(context.WithoutCancel(r.Context()))
	sdk.ServeHTTP(answer, (&http.Request{
		Method: http.MethodPost, URL: r.URL, Host: r.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}).WithContext(ctx))
	return nil
}

// buffer holds the SDK's answer until it is known whether it is the one to give.
type buffer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (b *buffer) Header() http.Header         { return b.header }
func (b *buffer) WriteHeader(status int)      { b.status = status }
func (b *buffer) Write(p []byte) (int, error) { return b.body.Write(p) }

// receive is the SDK's middleware: it catches what panics below, notes that there is a result,
// and answers tools/list itself.
func (f *front) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		x := exchangeOf(ctx)
		defer func() {
			if p := recover(); p != nil {
				x.refused = f.failed(ctx, fmt.Errorf("panic in %s: %v\n%s", method, p, debug.Stack()))
				res, err = nil, x.refused
			}
			x.answered = err == nil
		}()
		if method == "tools/list" {
			return f.ext.list(f.visible(x.principal)), nil
		}
		return next(ctx, method, req)
	}
}

// reword says what the SDK refused in words of our own: its texts repeat what the caller sent,
// are no JSON in places, and change with its versions. The guards before it leave it little to
// refuse.
func (f *front) reword(ctx context.Context, x *exchange, answer *buffer, err error) *refusal {
	if err != nil {
		return f.failed(ctx, err)
	}
	var said struct {
		Error struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	isText := json.Unmarshal(answer.body.Bytes(), &said) != nil
	if isText && http.StatusBadRequest <= answer.status && answer.status < http.StatusInternalServerError {
		return malformed("the message is not one that this server takes")
	}
	switch code := said.Error.Code; {
	case code == codeInvalidParams, code == 0 && x.msg.method == "initialize" && !isText:
		return badParams("params are not what this method takes")
	case code == codeMethodNotFound:
		return noSuchMethod()
	case code == codeInvalidRequest, code == codeHeaderMismatch, code == codeUnsupportedVersion:
		return &refusal{status: http.StatusBadRequest, code: code, fault: invalidRequest("the message is not one that this server takes")}
	default:
		return f.failed(ctx, fmt.Errorf("the SDK answered status %d, code %d to %s", answer.status, code, x.msg.method))
	}
}
