package authserver

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// A consent page is tied to the browser it was shown in: a cookie holds a secret of the browser,
// the page one of its own, and the answer must bring both. Another site can make the browser send
// a form, with the cookie, but does not know the page's secret; and with a page of its own it
// does not have the cookie.

// browserCookie is the name of the cookie. The prefix makes browsers hold it to this very host.
func (s *Server) browserCookie() string {
	if s.secure() {
		return "__Host-aac_browser"
	}
	return "aac_browser"
}

func (s *Server) secure() bool { return strings.HasPrefix(s.Issuer, "https://") }

// browser returns the browser's secret, giving it one if it has none.
func (s *Server) browser(w http.ResponseWriter, r *http.Request) (string, error) {
	if known := s.knownBrowser(r); known != "" {
		return known, nil
	}
	made, err := s.secret("")
	if err != nil {
		return "", err
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.browserCookie(), Value: made, Path: "/", HttpOnly: true, Secure: s.secure(), SameSite: http.SameSiteLaxMode,
	})
	return made, nil
}

// knownBrowser returns the browser's secret, or nothing.
func (s *Server) knownBrowser(r *http.Request) string {
	cookies := r.CookiesNamed(s.browserCookie())
	if len(cookies) != 1 || !isChallenge(cookies[0].Value) { // the same form: 256 bits
		return ""
	}
	return cookies[0].Value
}

func (s *Server) isBrowser(r *http.Request, hashed string) bool {
	known := s.knownBrowser(r)
	return known != "" && subtle.ConstantTimeCompare([]byte(hash(known)), []byte(hashed)) == 1
}
