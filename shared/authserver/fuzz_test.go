package authserver

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// FuzzAuthorize sends any query to /authorize: nothing in it may lead the browser to where the
// client is not, and nothing may be an error of ours.
func FuzzAuthorize(f *testing.F) {
	w := newWorld(f, func(c *Config) { c.Limits.AsksPerMinute = 1 << 30 })
	slog.SetDefault(slog.New(slog.DiscardHandler))
	w.documents.http = &http.Client{Transport: unreachable{}}
	id := w.client(callback, "http://127.0.0.1/cb")
	for _, target := range []string{
		ask(id), ask(id, "code_challenge_method", "plain"), ask(id, "redirect_uri", "http://127.0.0.1:7/cb", "scope", "x"), ask("https://a.example/c"),
		ask(id) + "&redirect_uri=https%3A%2F%2Fevil.example", ask(id, "redirect_uri", "https://evil.example/"),
	} {
		f.Add(strings.TrimPrefix(target, AuthorizePath+"?"))
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest(http.MethodGet, AuthorizePath, nil)
		r.URL.RawQuery = query
		out := httptest.NewRecorder()
		w.ServeHTTP(out, r)
		to := out.Header().Get("Location")
		if out.Code == http.StatusInternalServerError || to != "" && !local.MatchString(to) {
			t.Errorf("%d, to %q", out.Code, to)
		}
	})
}

var local = regexp.MustCompile(`^http://127\.0\.0\.1(:[0-9]*)?/cb\?`)

type unreachable struct{}

func (unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("nothing is fetched here")
}

// FuzzRedirect compares any address with those of a client.
func FuzzRedirect(f *testing.F) {
	registered := []string{callback, "http://127.0.0.1/cb", "http://localhost:1/cb?x=1", "com.example.app:/cb"}
	for _, seed := range append(registered, "http://127.0.0.1:9/cb", "https://client.example.com.evil.example/callback?keep=1", `http://127.0.0.1:1\@evil.example/cb`, "javascript:alert(1)") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, asked string) {
		c := client{Redirects: registered}
		if op.ValidateAuthReqRedirectURI(asker{c, c.redirectsFor(asked, nil)}, asked, oidc.ResponseTypeCode) != nil {
			return
		}
		for _, r := range registered {
			if asked == r {
				return
			}
		}
		if onePort.MatchString(asked) {
			return
		}
		t.Errorf("%q is taken for an address of the client", asked)
	})
}

// onePort is all that may differ: the port of an address on this machine.
var onePort = regexp.MustCompile(`^http://(127\.0\.0\.1(:[0-9]*)?/cb|localhost(:[0-9]*)?/cb\?x=1)$`)
