package authserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// refusal is an error of the protocol (RFC 6749, sections 4.1.2.1 and 5.2; RFC 7591, section
// 3.2.2). Its text says what to do, and never repeats what was sent.
type refusal struct {
	Code   string        `json:"error"`
	Text   string        `json:"error_description,omitempty"`
	status int           // 0: 400
	after  time.Duration // Retry-After
}

func (f *refusal) Error() string { return f.Code + ": " + f.Text }

func refuse(code, text string) *refusal { return &refusal{Code: code, Text: text} }

// Codes of the protocol.
const (
	invalidRequest      = "invalid_request"
	invalidClient       = "invalid_client"
	invalidGrant        = "invalid_grant"
	invalidScope        = "invalid_scope"
	invalidTarget       = "invalid_target"
	accessDenied        = "access_denied"
	unsupportedGrant    = "unsupported_grant_type"
	unsupportedResponse = "unsupported_response_type"
	serverError         = "server_error"
	tryLater            = "temporarily_unavailable"
	invalidRedirect     = "invalid_redirect_uri"
	invalidMetadata     = "invalid_client_metadata"
)

func tooMany(after time.Duration) *refusal {
	return &refusal{Code: tryLater, Text: "too many requests: wait as Retry-After says, then try again", status: http.StatusTooManyRequests, after: after}
}

// fail answers with a refusal; any other error is ours, and its words stay in the log.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := s.refusalOf(r, err)
	if f.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((f.after+time.Second-1)/time.Second)))
	}
	writeJSON(w, f.status, f)
}

// refusalOf returns what a caller may see of an error, with a status.
func (s *Server) refusalOf(r *http.Request, err error) refusal {
	var known *refusal
	var slow *table.Throttled
	switch {
	case errors.As(err, &known):
	case errors.As(err, &slow):
		known = tooMany(max(slow.RetryAfter, time.Second))
	case fault.KindOf(err) == fault.RateLimited:
		known = tooMany(max(fault.Of(err).RetryAfter, time.Second))
	default:
		s.logFailure(r, err)
		return refusal{Code: serverError, Text: "internal error; try again, and give the time of day to your administrator", status: http.StatusInternalServerError}
	}
	f := *known
	if f.status == 0 {
		f.status = http.StatusBadRequest
	}
	return f
}

func (s *Server) logFailure(r *http.Request, err error) {
	s.Logger.ErrorContext(r.Context(), "sign-in failed", "path", r.URL.Path, "call_id", audit.OriginFrom(r.Context()).CallID, "error", err.Error())
}

// writeJSON sends an answer that nobody may keep (RFC 6749, section 5.1).
func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"server_error"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // who has left misses nothing
}

// maxForm bounds a form, maxField each value in it, in bytes.
const (
	maxForm  = 16 << 10
	maxField = 4 << 10
)

// fields are the parameters of a request. None may be there twice (RFC 6749, section 3.1), but
// for resource.
type fields struct{ values url.Values }

func (f fields) get(name string) string { return f.values.Get(name) }

// check refuses what is repeated or overlong.
func (f fields) check() error {
	for name, values := range f.values {
		if len(values) > 1 && name != "resource" {
			return refuse(invalidRequest, "a parameter is there twice: send each once")
		}
		for _, v := range values {
			if len(v) > maxField {
				return refuse(invalidRequest, "a parameter is too long: shorten it")
			}
		}
	}
	return nil
}

// readForm reads the body of a request to a machine's endpoint. A query is refused: addresses
// end up in logs, and secrets must not.
func readForm(w http.ResponseWriter, r *http.Request) (fields, error) {
	if r.URL.RawQuery != "" {
		return fields{}, refuse(invalidRequest, "send parameters in the body, never in the address: what was in it counts as seen by others")
	}
	f, err := readBody(w, r)
	if err != nil {
		return fields{}, err
	}
	return f, f.check()
}

func readBody(w http.ResponseWriter, r *http.Request) (fields, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return fields{}, refuse(invalidRequest, "send a form: Content-Type must be application/x-www-form-urlencoded")
	}
	body, err := readAll(w, r, maxForm)
	if err != nil {
		return fields{}, err
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return fields{}, refuse(invalidRequest, "the form is malformed: correct its percent escapes")
	}
	return fields{values}, nil
}

func readAll(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if over := (*http.MaxBytesError)(nil); errors.As(err, &over) {
		return nil, &refusal{Code: invalidRequest, Text: fmt.Sprintf("the request is too large: send at most %d bytes", limit), status: http.StatusRequestEntityTooLarge}
	}
	if err != nil {
		return nil, refuse(invalidRequest, "the request broke off: send it again")
	}
	return body, nil
}
