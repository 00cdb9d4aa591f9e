package authserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestCodesThatDoNotFit sends a code with something wrong. It is used up each time.
func TestCodesThatDoNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		change []string
		code   string
	}{
		"another client":        {[]string{"client_id", "0123456789abcdef0123456789abcdef"}, invalidGrant},
		"another redirect":      {[]string{"redirect_uri", "https://client.example.com/other"}, invalidGrant},
		"no verifier":           {[]string{"code_verifier", ""}, invalidGrant},
		"another verifier":      {[]string{"code_verifier", verifier + "x"}, invalidGrant},
		"the challenge instead": {[]string{"code_verifier", challengeOf(verifier)}, invalidGrant},
		"another resource":      {[]string{"resource", "https://other.example/mcp"}, invalidTarget},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			client := w.client()
			code := w.code(client, "issues:read")
			refused(t, w.redeemWith(client, code, c.change...), http.StatusBadRequest, c.code)
			refused(t, w.redeemWith(client, code), http.StatusBadRequest, invalidGrant)
			if len(w.events()) != 0 {
				t.Errorf("%v", w.events())
			}
		})
	}
}

// TestRequestsThatAreNone does not use the code up: clients try several forms.
func TestRequestsThatAreNone(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	code := w.code(client, "issues:read")
	refused(t, w.redeemWith(client, code, "client_id", ""), http.StatusBadRequest, invalidRequest)
	refused(t, w.redeemWith(client, code, "grant_type", "password"), http.StatusBadRequest, unsupportedGrant)
	refused(t, w.redeemWith(client, code, "grant_type", ""), http.StatusBadRequest, invalidRequest)
	refused(t, w.redeemWith(client, ""), http.StatusBadRequest, invalidRequest)
	inAddress := w.send(http.MethodPost, TokenPath+"?code="+code, formType, "")
	refused(t, inAddress, http.StatusBadRequest, invalidRequest)
	if text := decode[refusal](t, inAddress).Text; text != "send parameters in the body, never in the address" {
		t.Errorf("it says of a code that stays good: %s", text)
	}
	refused(t, w.send(http.MethodPost, TokenPath, "application/json", `{"code":"`+code+`"}`), http.StatusBadRequest, invalidRequest)
	refused(t, w.send(http.MethodPost, TokenPath, formType, query("code", code, "code", code)), http.StatusBadRequest, invalidRequest)
	refused(t, w.send(http.MethodPost, TokenPath, formType, "code="+strings.Repeat("a", maxForm)), http.StatusRequestEntityTooLarge, invalidRequest)
	refused(t, w.send(http.MethodGet, TokenPath, "", ""), http.StatusMethodNotAllowed, invalidRequest)
	if out := w.redeemWith(client, code, "redirect_uri", ""); out.Code != http.StatusOK {
		t.Errorf("%d %s", out.Code, out.Body)
	}
}

func TestCodeExpires(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	code := w.code(client, "issues:read")
	w.clock.advance(codeLife)
	refused(t, w.redeemWith(client, code), http.StatusBadRequest, invalidGrant)
}

// TestCodeReplay ends all that was issued for the code.
func TestCodeReplay(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	code := w.code(client, "issues:read")
	got := decode[tokens](t, w.redeemWith(client, code))
	got = decode[tokens](t, w.refreshWith(client, got.Refresh))
	refused(t, w.redeemWith(client, code, "code_verifier", "x"), http.StatusBadRequest, invalidGrant)
	refused(t, w.refreshWith(client, got.Refresh), http.StatusBadRequest, invalidGrant)
	if diff := cmp.Diff([]string{"oauth.grant success", "oauth.revoke success  code_reused"}, w.events()); diff != "" {
		t.Error(diff)
	}
}

// TestRefreshReuse ends the grant, whoever of the two comes second.
func TestRefreshReuse(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	first := w.signIn(client)
	second := decode[tokens](t, w.refreshWith(client, first.Refresh))
	w.clock.advance(time.Hour)
	refused(t, w.refreshWith(client, first.Refresh), http.StatusBadRequest, invalidGrant)
	refused(t, w.refreshWith(client, second.Refresh), http.StatusBadRequest, invalidGrant)
	want := []string{
		"oauth.grant success", "oauth.revoke success  refresh_token_reused", "oauth.refresh denied token_revoked refresh_token_reused",
	}
	if diff := cmp.Diff(want, w.events()); diff != "" {
		t.Error(diff)
	}
	if other := w.signIn(client); other.Access == "" {
		t.Error("another grant must not be touched")
	}
}

func TestRefreshByAnotherClient(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	got := w.signIn(client)
	refused(t, w.refreshWith(client, got.Refresh, "resource", "https://other.example/mcp"), http.StatusBadRequest, invalidTarget)
	refused(t, w.refreshWith(w.client(), got.Refresh), http.StatusBadRequest, invalidGrant)
	refused(t, w.refreshWith(client, got.Refresh), http.StatusBadRequest, invalidGrant)
}

// TestOneOfManyWins sends the same secret many times at once.
func TestOneOfManyWins(t *testing.T) {
	for name, start := range map[string]func(w *world, client string) func() *httptest.ResponseRecorder{
		"code": func(w *world, client string) func() *httptest.ResponseRecorder {
			code := w.code(client, "issues:read")
			return func() *httptest.ResponseRecorder { return w.redeemWith(client, code) }
		},
		"refresh token": func(w *world, client string) func() *httptest.ResponseRecorder {
			got := w.signIn(client)
			return func() *httptest.ResponseRecorder { return w.refreshWith(client, got.Refresh) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			again := start(w, w.client())
			clear(w.cookies) // so that nothing is written to the world at once
			const times = 8
			answers := make([]*httptest.ResponseRecorder, times)
			var all sync.WaitGroup
			for i := range times {
				all.Go(func() { answers[i] = again() })
			}
			all.Wait()
			won := 0
			for _, out := range answers {
				if out.Code == http.StatusOK {
					won++
				}
			}
			if won > 1 {
				t.Errorf("%d of %d got tokens", won, times)
			}
		})
	}
}

// TestBruteForce guesses codes, refresh tokens and tokens to revoke.
func TestBruteForce(t *testing.T) {
	for name, guess := range map[string]func(w *world) *httptest.ResponseRecorder{
		"code":    func(w *world) *httptest.ResponseRecorder { return w.redeemWith("x", "guess") },
		"refresh": func(w *world) *httptest.ResponseRecorder { return w.refreshWith("x", "guess") },
		"revoke": func(w *world) *httptest.ResponseRecorder {
			return w.form(RevokePath, "client_id", "x", "token", "guess")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(c *Config) { c.Limits.FailuresPerMinute = 5 })
			for range 5 {
				if out := guess(w); out.Code == http.StatusTooManyRequests {
					t.Fatal("too early")
				}
			}
			out := guess(w)
			refused(t, out, http.StatusTooManyRequests, tryLater)
			if out.Header().Get("Retry-After") != "60" {
				t.Errorf("Retry-After %q", out.Header().Get("Retry-After"))
			}
			w.source = "192.0.2.8"
			if out := guess(w); out.Code == http.StatusTooManyRequests {
				t.Error("another source has to wait as well")
			}
			w.source = "192.0.2.7"
			w.clock.advance(time.Minute)
			if out := guess(w); out.Code == http.StatusTooManyRequests {
				t.Error("the minute is over")
			}
		})
	}
}
