package authserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Errors that callers may see have the library's form: an *oidc.Error (RFC 6749, sections 4.1.2.1
// and 5.2), inside an op.StatusError if its status is not 400. Their texts say what to do, and
// never repeat what was sent. Any other error is ours alone.

// refuse gives an error its text.
func refuse(e *oidc.Error, text string) *oidc.Error {
	e.Description = text
	return e
}

// Codes that the library does not have (RFC 6749, section 4.1.2.1; RFC 7591, section 3.2.2).
func errTryLater() *oidc.Error        { return &oidc.Error{ErrorType: "temporarily_unavailable"} }
func errInvalidRedirect() *oidc.Error { return &oidc.Error{ErrorType: "invalid_redirect_uri"} }
func errInvalidMetadata() *oidc.Error { return &oidc.Error{ErrorType: "invalid_client_metadata"} }

// busy is an error that passes with time.
type busy struct {
	error
	after time.Duration
}

func (b busy) Unwrap() error { return b.error }

func tooMany(after time.Duration) error {
	e := refuse(errTryLater(), "too many requests: wait as Retry-After says, then try again")
	return busy{op.NewStatusError(e, http.StatusTooManyRequests), after}
}

// public returns what a caller may see of an error, and sets Retry-After. What is ours alone goes
// to the log, and not through the library, which would log it elsewhere.
func (s *Server) public(ctx context.Context, h http.Header, err error) error {
	var slow *table.Throttled
	switch {
	case errors.As(err, &slow):
		err = tooMany(max(slow.RetryAfter, time.Second))
	case fault.KindOf(err) == fault.RateLimited:
		err = tooMany(max(fault.Of(err).RetryAfter, time.Second))
	}
	if wait := (busy{}); errors.As(err, &wait) {
		h.Set("Retry-After", strconv.Itoa(int((wait.after+time.Second-1)/time.Second)))
	}
	if known := (*oidc.Error)(nil); errors.As(err, &known) {
		return err
	}
	s.logFailure(ctx, err)
	e := refuse(oidc.ErrServerError(), "internal error; try again, and give the time of day to your administrator")
	return op.NewStatusError(e, http.StatusInternalServerError)
}

func (s *Server) logFailure(ctx context.Context, err error) {
	s.Logger.ErrorContext(ctx, "sign-in failed", "call_id", audit.OriginFrom(ctx).CallID, "error", err.Error())
}

// fail answers a machine with an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	keepNothing(w.Header())
	op.WriteError(w, r, s.public(r.Context(), w.Header(), err), nil)
}

// keepNothing marks an answer that nobody may keep (RFC 6749, section 5.1).
func keepNothing(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
}

// captured keeps an answer of the library, to be shown to a person instead.
type captured struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (c *captured) Header() http.Header         { return c.header }
func (c *captured) WriteHeader(status int)      { c.status = status }
func (c *captured) Write(b []byte) (int, error) { return c.body.Write(b) }

// refusal is an error of the protocol as it was answered.
type refusal struct {
	Code string `json:"error"`
	Text string `json:"error_description"`
}

// refusal reads an answer that is an error, and tells whether the client is to be told of it. The
// library tells it by a redirect; the client's address has no such parameters: see checkOwnQuery.
func (c *captured) refusal() (f refusal, toClient bool) {
	to := c.header.Get("Location")
	if to == "" {
		_ = json.Unmarshal(c.body.Bytes(), &f) // it has written it as JSON
		return f, false
	}
	_, raw, inFragment := strings.Cut(to, "#")
	if !inFragment {
		_, raw, _ = strings.Cut(to, "?")
	}
	values, _ := url.ParseQuery(raw) // it has written that, too
	return refusal{Code: values.Get("error"), Text: values.Get("error_description")}, true
}

// maxForm bounds a form, maxField each value in it, in bytes.
const (
	maxForm  = 16 << 10
	maxField = 4 << 10
)

// check refuses parameters that are repeated (RFC 6749, section 3.1), but for resource, or overlong.
func check(form url.Values) error {
	for name, values := range form {
		if len(values) > 1 && name != "resource" {
			return refuse(oidc.ErrInvalidRequest(), "a parameter is there twice: send each once")
		}
		for _, v := range values {
			if len(v) > maxField {
				return refuse(oidc.ErrInvalidRequest(), "a parameter is too long: shorten it")
			}
		}
	}
	return nil
}

// readForm reads a form. A query is refused: addresses end up in logs, and secrets must not.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.URL.RawQuery != "" {
		return nil, refuse(oidc.ErrInvalidRequest(), "send parameters in the body, never in the address")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, refuse(oidc.ErrInvalidRequest(), "send a form: Content-Type must be application/x-www-form-urlencoded")
	}
	body, err := readAll(w, r, maxForm)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, refuse(oidc.ErrInvalidRequest(), "the form is malformed: correct its percent escapes")
	}
	return form, nil
}

func readAll(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if over := (*http.MaxBytesError)(nil); errors.As(err, &over) {
		e := refuse(oidc.ErrInvalidRequest(), fmt.Sprintf("the request is too large: send at most %d bytes", limit))
		return nil, op.NewStatusError(e, http.StatusRequestEntityTooLarge)
	}
	if err != nil {
		return nil, refuse(oidc.ErrInvalidRequest(), "the request broke off: send it again")
	}
	return body, nil
}
