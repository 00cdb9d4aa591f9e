package mcpserver

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// What a request passes before its message is read. A client that tries the
// modern protocol first takes any 400 whose body is no JSON-RPC error for a server of the old
// kind and remembers it, so every refusal of POST /mcp is a JSON-RPC error.

// Header limits, in bytes. API Gateway allows 10,240 for all headers together.
const maxHeaders = 16 << 10

// recovering answers a panic of this package or of the SDK's HTTP part. Those below the SDK are
// caught where they happen (receive), because it runs them elsewhere.
func (f *front) recovering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				f.refuse(w, r, nil, f.failed(r.Context(), fmt.Errorf("panic: %v\n%s", p, debug.Stack())))
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// identified refuses whoever is nobody, before anything else is looked at.
func (f *front) identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := identity.Require(identity.FromContext(r.Context())); err != nil {
			f.refuse(w, r, nil, unauthenticated())
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreign refuses web pages and host names that are not on the lists, against pages that make a
// browser call a server that it should not (DNS rebinding).
func (f *front) foreign(r *http.Request) *refusal {
	if !slices.ContainsFunc(f.Hosts, func(p string) bool { return matchesHost(p, strings.ToLower(r.Host)) }) {
		return notAllowed(fault.HostNotAllowed, "this host name is not served here: use the address that the connector was set up with")
	}
	for _, origin := range r.Header.Values("Origin") {
		if !f.mayCall(origin) {
			return notAllowed(fault.OriginNotAllowed, "web pages of this origin may not call the connector: ask its operator to allow the origin")
		}
	}
	return nil
}

// readable lets the pages that are allowed read every answer, and the challenge in it. A preflight
// does not come so far: it is answered in front of the functions.
func (f *front) readable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(f.Origins) > 0 {
			w.Header().Add("Vary", "Origin")
		}
		if origins := r.Header.Values("Origin"); len(origins) == 1 && f.mayCall(origins[0]) {
			w.Header().Set("Access-Control-Allow-Origin", origins[0])
			w.Header().Set("Access-Control-Expose-Headers", "WWW-Authenticate")
		}
		next.ServeHTTP(w, r)
	})
}

func (f *front) mayCall(origin string) bool {
	return slices.ContainsFunc(f.Origins, func(p string) bool { return matchesHost(p, strings.ToLower(origin)) })
}

// matchesHost tells whether a host or an origin is what the pattern allows.
func matchesHost(pattern, value string) bool {
	if before, ok := strings.CutSuffix(pattern, ":*"); ok {
		port, ok := strings.CutPrefix(value, before)
		return ok && (port == "" || (port[0] == ':' && strings.Trim(port[1:], "0123456789") == ""))
	}
	return pattern == value || pattern == "*"
}

// presentable refuses what the headers alone rule out: too many of them, a body that is no JSON,
// and clients that cannot read JSON. Those that list JSON alone are served: no answer here is a
// stream.
func presentable(h http.Header) *refusal {
	size := 0
	for name, values := range h {
		for _, v := range values {
			size += len(name) + len(v)
		}
	}
	switch {
	case size > maxHeaders:
		return malformedAs(http.StatusRequestHeaderFieldsTooLarge, "the headers are too large: send fewer or shorter ones")
	case !isJSON(h.Values("Content-Type")):
		return malformedAs(http.StatusUnsupportedMediaType, "send the header Content-Type: application/json")
	case !isPlain(h.Values("Content-Encoding")):
		return malformedAs(http.StatusUnsupportedMediaType, "send the body without Content-Encoding")
	case !takesJSON(h.Values("Accept")):
		return malformedAs(http.StatusNotAcceptable, "answers are JSON: send the header Accept: application/json, text/event-stream")
	}
	return nil
}

func tooLarge() *refusal {
	return &refusal{status: http.StatusRequestEntityTooLarge, code: codeInvalidRequest,
		fault: fault.New(fault.Invalid, fault.PayloadTooLarge, fmt.Sprintf("the body is over %d bytes: send less", maxBody))}
}

func isJSON(contentTypes []string) bool {
	if len(contentTypes) != 1 {
		return false
	}
	kind, params, err := mime.ParseMediaType(contentTypes[0])
	charset, named := params["charset"]
	return err == nil && kind == "application/json" && (!named || strings.EqualFold(charset, "utf-8"))
}

func isPlain(encodings []string) bool {
	return !slices.ContainsFunc(encodings, func(e string) bool { return !strings.EqualFold(e, "identity") })
}

func takesJSON(accepts []string) bool {
	for _, accept := range accepts {
		for part := range strings.SplitSeq(accept, ",") {
			kind, _, _ := strings.Cut(part, ";")
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "application/json", "application/*", "*/*":
				return true
			}
		}
	}
	return len(accepts) == 0
}

// readBody reads the whole body, within its limit. Of a body that is too large it returns as much
// as Lambda hands over, so that what it asks for can be recorded.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRead))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over), len(body) > maxBody:
		return body, tooLarge()
	case err != nil:
		return body, malformed("the body ended before it was whole: send it again")
	}
	return body, nil
}

// originOf returns what is known of how the request came.
func originOf(r *http.Request) audit.Origin {
	o := audit.OriginFrom(r.Context())
	if o.Client == (audit.Client{}) {
		o.Client = audit.ClientOf(r.UserAgent())
	}
	return o
}
