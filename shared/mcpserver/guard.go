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

// What a request passes before its body is read, each as a middleware. A client that tries the
// modern protocol first takes any 400 whose body is no JSON-RPC error for a server of the old
// kind and remembers it, so every refusal of POST /mcp is a JSON-RPC error.

// Header limits, in bytes. API Gateway allows 10,240 for all headers together.
const maxHeaders = 16 << 10

// mcp is the entry POST /mcp. It is made of the guards in the order in which they refuse.
func (f *front) mcp() http.Handler {
	return posted(f, measured(f, jsonOnly(f, http.HandlerFunc(f.serve))))
}

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

// allowed refuses web pages and host names that are not on the lists, against pages that make a
// browser call a server that it should not (DNS rebinding).
func (f *front) allowed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.ContainsFunc(f.Hosts, func(p string) bool { return matchesHost(p, strings.ToLower(r.Host)) }) {
			f.refuse(w, r, nil, notAllowed(fault.HostNotAllowed, "this host name is not served here: use the address that the connector was set up with"))
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			if !f.mayCall(origin) {
				f.refuse(w, r, nil, notAllowed(fault.OriginNotAllowed, "web pages of this origin may not call the connector: ask its operator to allow the origin"))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
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

// posted refuses all methods but POST: there is no stream to open and no session to end.
func posted(f *front, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			f.refuse(w, r, nil, malformedAs(http.StatusMethodNotAllowed, "send messages with POST: there are no streams and no sessions here"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// measured refuses what is too large before it is read.
func measured(f *front, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := 0
		for name, values := range r.Header {
			for _, v := range values {
				size += len(name) + len(v)
			}
		}
		switch {
		case size > maxHeaders:
			f.refuse(w, r, nil, malformedAs(http.StatusRequestHeaderFieldsTooLarge, "the headers are too large: send fewer or shorter ones"))
		case r.ContentLength > maxBody:
			f.refuse(w, r, nil, tooLarge())
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func tooLarge() *refusal {
	return &refusal{status: http.StatusRequestEntityTooLarge, code: codeInvalidRequest,
		fault: fault.New(fault.Invalid, fault.PayloadTooLarge, fmt.Sprintf("the body is over %d bytes: send less", maxBody))}
}

// jsonOnly refuses other content, and clients that cannot read JSON. Those that list JSON alone
// are served: no answer here is a stream.
func jsonOnly(f *front, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !isJSON(r.Header.Values("Content-Type")):
			f.refuse(w, r, nil, malformedAs(http.StatusUnsupportedMediaType, "send the header Content-Type: application/json"))
		case !isPlain(r.Header.Values("Content-Encoding")):
			f.refuse(w, r, nil, malformedAs(http.StatusUnsupportedMediaType, "send the body without Content-Encoding"))
		case !takesJSON(r.Header.Values("Accept")):
			f.refuse(w, r, nil, malformedAs(http.StatusNotAcceptable, "answers are JSON: send the header Accept: application/json, text/event-stream"))
		default:
			next.ServeHTTP(w, r)
		}
	})
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

// readBody reads the whole body, within its limit.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge()
	case err != nil:
		return nil, malformed("the body ended before it was whole: send it again")
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
