package gateway

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// fields are headers or query parameters in the two forms of an event: the last value of each
// name, and all of them.
type fields struct {
	last map[string]string
	all  map[string][]string
}

func (f *fields) add(name, value string) {
	if f.all == nil {
		f.last, f.all = map[string]string{}, map[string][]string{}
	}
	f.last[name] = value
	f.all[name] = append(f.all[name], value)
}

func (f *fields) set(name, value string) {
	f.remove(name)
	f.add(name, value)
}

func (f *fields) remove(name string) {
	for have := range f.all {
		if strings.EqualFold(have, name) {
			delete(f.last, have)
			delete(f.all, have)
		}
	}
}

// values finds a header whatever the case of its name.
func (f *fields) values(name string) []string {
	var values []string
	for _, have := range slices.Sorted(maps.Keys(f.all)) {
		if strings.EqualFold(have, name) {
			values = append(values, f.all[have]...)
		}
	}
	return values
}

// get returns the last value of a header, or nothing.
func (f *fields) get(name string) string {
	values := f.values(name)
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// notPassedOn are request headers that belong to one connection (RFC 9110, section 7.6.1), or
// that the platform keeps to itself. What a Connection header names is passed on all the same:
// else a client could take away from a function what the authorizer has seen.
var notPassedOn = []string{
	"Connection", "Content-Length", "Expect", "Keep-Alive", "Max-Forwards", "Proxy-Authenticate", "Proxy-Authorization",
	"Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
}

// headerFields returns the headers of the event.
func (g *gateway) headerFields(x *exchange) fields {
	var out fields
	out.add("Host", x.r.Host)
	for _, name := range slices.Sorted(maps.Keys(x.r.Header)) {
		for _, value := range x.r.Header[name] {
			out.add(name, value)
		}
	}
	for _, name := range notPassedOn {
		out.remove(name)
	}
	forwarded := append(out.values("X-Forwarded-For"), sourceIP(x.r))
	out.set("X-Forwarded-For", strings.Join(forwarded, ", "))
	out.set("X-Forwarded-Proto", g.base.Scheme)
	out.set("X-Forwarded-Port", g.port())
	if out.get("X-Amzn-Trace-Id") == "" {
		out.set("X-Amzn-Trace-Id", traceID(x))
	}
	if x.r.ProtoMajor == 2 {
		return out.lowerCase()
	}
	return out
}

func (f *fields) lowerCase() fields {
	var out fields
	for _, name := range slices.Sorted(maps.Keys(f.all)) {
		for _, value := range f.all[name] {
			out.add(strings.ToLower(name), value)
		}
	}
	return out
}

func (g *gateway) port() string {
	if p := g.base.Port(); p != "" {
		return p
	}
	if g.base.Scheme == "https" {
		return "443"
	}
	return "80"
}

// sourceIP is the address at the other end of the connection; a header is never asked.
func sourceIP(r *http.Request) string {
	addr, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return addr.Addr().Unmap().WithZone("").String()
}

// traceID has the form of X-Ray: a time, and 96 bits that stand for the request.
func traceID(x *exchange) string {
	sum := sha256.Sum256([]byte(x.id))
	return fmt.Sprintf("Root=1-%08x-%x", uint32(x.at.Unix()), sum[:12])
}

// headerBytes is the size of the request line and all headers.
func headerBytes(r *http.Request) int {
	n := len(r.Method) + len(r.URL.EscapedPath()) + len(r.URL.RawQuery) + len("Host") + len(r.Host)
	for name, values := range r.Header {
		for _, value := range values {
			n += len(name) + len(value)
		}
	}
	return n
}

// parseQuery decodes the query. A semicolon splits it as an ampersand does, and pipes and
// braces must be encoded (Amazon API Gateway, "important notes").
func parseQuery(raw string) (fields, error) {
	var out fields
	if strings.ContainsAny(raw, "|{}") {
		return out, errors.New("the query has a pipe or a brace that is not encoded")
	}
	for _, pair := range strings.FieldsFunc(raw, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			return fields{}, errors.New("the query has a malformed name")
		}
		if value, err = url.QueryUnescape(value); err != nil {
			return fields{}, errors.New("the query has a malformed value")
		}
		out.add(name, value)
	}
	return out, nil
}
