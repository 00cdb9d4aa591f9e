package authserver

import (
	"net/url"
	"slices"
	"strings"
)

// maxURI bounds a redirect address, in bytes.
const maxURI = 2048

// checkRedirect tells whether a client may have this redirect address (OAuth 2.1, sections 2.3.1
// and 8.4; RFC 8252, section 7):
//
//   - https, any host;
//   - http, only this machine: 127.0.0.1, [::1] or localhost;
//   - the scheme of an app: a domain name in reverse, or one of the known ones.
//
// Its query may hold nothing that an answer says: the client could read that instead.
func checkRedirect(uri string, appSchemes []string) error {
	u, err := parseURI(uri)
	if err != nil {
		return err
	}
	if err := checkOwnQuery(u.RawQuery); err != nil {
		return err
	}
	switch {
	case u.Scheme == "https":
		if u.Hostname() == "" {
			return refuse(errInvalidRedirect(), "a redirect address needs a host")
		}
		return nil
	case u.Scheme == "http":
		if !isThisMachine(u.Hostname()) {
			return refuse(errInvalidRedirect(), "a redirect address with http must be on this machine: use https, or 127.0.0.1")
		}
		return nil
	case u.Opaque == "" && (strings.Contains(u.Scheme, ".") || slices.Contains(appSchemes, u.Scheme)):
		return nil
	}
	return refuse(errInvalidRedirect(), "the scheme of a redirect address must be https, http on this machine, or a domain name in reverse such as com.example.app")
}

// answerFields are what an answer may say (RFC 6749, section 4.1.2; RFC 9207, section 2).
var answerFields = []string{"code", "state", "iss", "error", "error_description", "error_uri"}

// checkOwnQuery checks the query that a redirect address has of its own. One that is malformed, as
// by a semicolon, others could read differently.
func checkOwnQuery(query string) error {
	own, err := url.ParseQuery(query)
	if err != nil {
		return refuse(errInvalidRedirect(), "the query of a redirect address must be well-formed, with & between its parameters")
	}
	if slices.ContainsFunc(answerFields, own.Has) {
		return refuse(errInvalidRedirect(), "the query of a redirect address may have no parameter of an answer: take code, state, iss and those that begin with error out of it")
	}
	return nil
}

// parseURI reads an address. What browsers and net/url could read differently is refused: spaces,
// controls, backslashes, what is not ASCII, user names.
func parseURI(uri string) (*url.URL, error) {
	if uri == "" || len(uri) > maxURI || strings.ContainsFunc(uri, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune("\\\"<>^`{|}", c) }) {
		return nil, refuse(errInvalidRedirect(), "a redirect address must be printable ASCII of at most 2048 bytes")
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme == "" || !strings.HasPrefix(uri, u.Scheme+":") { // in lower case
		return nil, refuse(errInvalidRedirect(), "a redirect address must be absolute and well-formed")
	}
	if strings.Contains(uri, "#") || u.User != nil {
		return nil, refuse(errInvalidRedirect(), "a redirect address may have neither a fragment nor a user name")
	}
	return u, nil
}

func isThisMachine(host string) bool {
	return host == "127.0.0.1" || host == "::1" || host == "localhost"
}

// sameRedirect compares with a registered address: byte by byte, but for the port of one on this
// machine, which a program takes as it comes (RFC 8252, section 7.3).
func sameRedirect(registered, asked string) bool {
	if registered == asked {
		return true
	}
	a, err := parseURI(registered)
	if err != nil {
		return false
	}
	b, err := parseURI(asked)
	if err != nil || a.Scheme != "http" || b.Scheme != "http" || !isThisMachine(a.Hostname()) {
		return false
	}
	return a.Hostname() == b.Hostname() && a.EscapedPath() == b.EscapedPath() && a.RawQuery == b.RawQuery && a.ForceQuery == b.ForceQuery
}

// withAnswer adds the answer's parameters to a redirect address, keeping those it has.
func withAnswer(redirect string, answer url.Values) string {
	separator := "?"
	if strings.Contains(redirect, "?") {
		separator = "&"
	}
	return redirect + separator + answer.Encode()
}

// place says for people where a redirect address leads.
func place(redirect string) string {
	u, err := parseURI(redirect)
	switch {
	case err != nil:
		return "an unknown place"
	case u.Scheme == "https":
		return u.Host
	case u.Scheme == "http":
		return u.Host + ", a program on this computer"
	}
	return "the app on this computer that opens " + u.Scheme + " links"
}

// isLocalRedirect tells whether the address is a program on the person's own machine.
func isLocalRedirect(redirect string) bool {
	u, err := parseURI(redirect)
	return err == nil && u.Scheme == "http" && isThisMachine(u.Hostname())
}

// sourceOf writes the redirect address as a source of a Content-Security-Policy: browsers hold
// the redirect behind a form to it, and all redirects behind that. Web clients redirect further
// among hosts of their own, so for them it can only say https. It has no form for IPv6 addresses.
func sourceOf(redirect string) string {
	u, err := parseURI(redirect)
	switch {
	case err != nil:
		return "'self'"
	case u.Scheme == "http" && u.Hostname() != "::1":
		return "http://" + u.Host
	}
	return u.Scheme + ":"
}
