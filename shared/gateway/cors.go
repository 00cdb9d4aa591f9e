package gateway

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Headers that a page may send, and read, besides those that every page may.
const (
	allowedHeaders = "Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name"
	exposedHeaders = "WWW-Authenticate"
)

// preflight answers a browser that asks what it may send. It needs no token, and tells nothing
// but the methods of the path.
func (g *gateway) preflight(x *exchange) reply {
	out := reply{status: http.StatusNoContent, header: http.Header{"Cache-Control": {"no-store"}}}
	g.allowOrigin(out.header, x)
	if out.header.Get("Access-Control-Allow-Origin") != "" {
		methods := append(slices.Collect(maps.Keys(x.resource.methods)), http.MethodOptions)
		slices.Sort(methods)
		out.header.Set("Access-Control-Allow-Methods", strings.Join(methods, ", "))
		out.header.Set("Access-Control-Allow-Headers", allowedHeaders)
	}
	return out
}

// allowOrigin lets the page that asks read an answer of the gateway itself. Answers of
// functions are left as they are: they carry the headers that the function gave them.
func (g *gateway) allowOrigin(h http.Header, x *exchange) {
	origin := x.r.Header.Get("Origin")
	switch {
	case g.anyOrigin(x):
		origin = "*"
	case len(g.CORSOrigins) == 0:
		return
	default:
		h.Add("Vary", "Origin")
		if !slices.ContainsFunc(g.CORSOrigins, func(allowed string) bool { return allows(allowed, origin) }) {
			return
		}
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", exposedHeaders)
}

// allows tells whether an origin is the one that is allowed, or one of its ports.
func allows(allowed, origin string) bool {
	before, anyPort := strings.CutSuffix(allowed, ":*")
	if !anyPort {
		return origin == allowed
	}
	port, ok := strings.CutPrefix(origin, before)
	return ok && (port == "" || port[0] == ':' && len(port) > 1 && strings.Trim(port[1:], "0123456789") == "")
}

// anyOrigin tells whether the path is open to every page.
func (g *gateway) anyOrigin(x *exchange) bool {
	for _, route := range x.resource.methods {
		if !route.AnyOrigin {
			return false
		}
	}
	return len(x.resource.methods) > 0
}
