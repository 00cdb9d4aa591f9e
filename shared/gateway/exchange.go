package gateway

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// exchange is one request on its way through the gateway.
type exchange struct {
	r        *http.Request
	id       string
	at       time.Time
	path     string // as received, percent-encoded
	resource resource
	route    Route
	values   map[string]string // of the path's variables
	headers  fields
	query    fields
	// claims is what the authorizer says of the caller; nil on a public route.
	claims map[string]string
}

// reply is an answer before it is written.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// ServeHTTP answers one request and logs it.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{r: r, id: g.RequestID(), at: g.Now(), path: r.URL.EscapedPath()}
	out, f := g.answer(w, x)
	if f != nil {
		out = g.render(f, x.id)
		g.allowOrigin(out.header, x)
	}
	out.header.Set("X-Amzn-Requestid", x.id)
	for name, values := range out.header {
		w.Header()[name] = values
	}
	w.WriteHeader(out.status)
	_, _ = w.Write(out.body) // the client may have gone; the answer is made
	g.logLine(x, out.status, f)
}

// answer is the order of everything: limits, route, preflight, authorizer, body, function.
func (g *gateway) answer(w http.ResponseWriter, x *exchange) (reply, *failure) {
	if headerBytes(x.r) > MaxHeaderBytes {
		return reply{}, &failure{kind: Default4XX, status: http.StatusRequestHeaderFieldsTooLarge}
	}
	found := false
	if x.resource, x.values, found = g.match(x.path); !found {
		return reply{}, noRoute()
	}
	if x.route, found = x.resource.methods[x.r.Method]; !found {
		if x.r.Method == http.MethodOptions {
			return g.preflight(x), nil
		}
		return reply{}, noRoute()
	}
	if x.r.ContentLength > MaxBodyBytes {
		return reply{}, tooLarge()
	}
	var err error
	if x.query, err = parseQuery(x.r.URL.RawQuery); err != nil {
		return reply{}, &failure{kind: BadRequestParameters, status: http.StatusBadRequest, cause: err}
	}
	x.headers = g.headerFields(x)
	if !x.route.Public {
		if f := g.authorize(x); f != nil {
			return reply{}, f
		}
	}
	body, f := readBody(w, x.r)
	if f != nil {
		return reply{}, f
	}
	return g.integrate(x, body)
}

func noRoute() *failure {
	return &failure{kind: MissingAuthenticationToken, status: http.StatusForbidden}
}

func tooLarge() *failure {
	return &failure{kind: RequestTooLarge, status: http.StatusRequestEntityTooLarge}
}

// readBody reads no more than may be passed on.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *failure) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodyBytes))
	if over := (*http.MaxBytesError)(nil); errors.As(err, &over) {
		return nil, tooLarge()
	}
	if err != nil {
		return nil, &failure{kind: Default4XX, status: http.StatusBadRequest, cause: err}
	}
	return body, nil
}

// logLine writes what the access log of a deployed API has. It names the resource, not the
// path, and no header but the principal's id: a token never comes near it.
func (g *gateway) logLine(x *exchange, status int, f *failure) {
	attrs := []slog.Attr{
		slog.String("request_id", x.id), slog.String("http_method", x.r.Method), slog.String("resource_path", x.resource.path),
		slog.Int("status", status), slog.Int64("duration_ms", g.Now().Sub(x.at).Milliseconds()),
	}
	if id := x.claims["principalId"]; id != "" {
		attrs = append(attrs, slog.String("principal_id", id))
	}
	level := slog.LevelInfo
	if f != nil {
		attrs = append(attrs, slog.String("response_type", string(f.kind)))
		if f.cause != nil {
			attrs = append(attrs, slog.String("cause", f.cause.Error()))
		}
		if status >= http.StatusInternalServerError {
			level = slog.LevelError
		}
	}
	g.Log.LogAttrs(x.r.Context(), level, "request", attrs...)
}
