package system

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// A program that listens on loopback can be reached by every web page open in a browser on the
// same machine: a page can have its own name point to 127.0.0.1 (DNS rebinding). Such a request
// names the page in Host or in Origin, and is refused before anything else looks at it. Nobody
// is attributed to it, so it is no call and leaves no event.
//
// Calls of tools are refused later, when it is known whose they are, for they are on record: at
// /mcp by the MCP front, which has lists of its own, at /tools/{name} by the function of the tool.

const (
	mcpPath   = "/mcp"
	toolPaths = "/tools/"
)

// guard lets requests pass that name this machine. An exposed system may be named by any
// address, but not by any name.
func guard(next http.Handler, exposed bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != mcpPath && !strings.HasPrefix(r.URL.Path, toolPaths) {
			if f := unwelcome(exposed)([]string{r.Host}, r.Header.Values("Origin")); f != nil {
				refuse(w, f)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// unwelcome says why a request is not for this system.
func unwelcome(exposed bool) func(hosts, origins []string) *fault.Fault {
	return func(hosts, origins []string) *fault.Fault {
		switch {
		case len(hosts) != 1 || !hostAllowed(hosts[0], exposed):
			return fault.New(fault.Forbidden, fault.HostNotAllowed,
				"this host is not served here: call the address that the program printed when it started")
		case !originsAllowed(origins):
			return fault.New(fault.Forbidden, fault.OriginNotAllowed,
				"web pages of other origins may not call this: use a page served from this machine, or no browser")
		}
		return nil
	}
}

func refuse(w http.ResponseWriter, f *fault.Fault) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(f.Kind.Status())
	_, _ = w.Write(f.PublicJSON("")) // the client may have gone
}

// hostAllowed reads a Host header: a name or an address, perhaps with a port.
func hostAllowed(host string, exposed bool) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if isLoopback(host) {
		return true
	}
	_, err := netip.ParseAddr(trimBrackets(host))
	return exposed && err == nil
}

// originsAllowed accepts no Origin at all, or one that is this machine.
func originsAllowed(origins []string) bool {
	if len(origins) == 0 {
		return true
	}
	u, err := url.Parse(origins[0])
	return err == nil && len(origins) == 1 && (u.Scheme == "http" || u.Scheme == "https") &&
		u.User == nil && u.Path == "" && u.RawQuery == "" && isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(trimBrackets(host))
	return err == nil && ip.IsLoopback()
}

func trimBrackets(host string) string {
	if n := len(host); n > 2 && host[0] == '[' && host[n-1] == ']' {
		return host[1 : n-1]
	}
	return host
}
