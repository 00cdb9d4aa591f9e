package authserver

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// These tests hold what the library must not do, see the package comment. Where its own way can be
// seen it is, so that what is built around it can go when it is no longer needed.

// TestTheLibraryServesNothingElse asks for what it would serve by itself.
func TestTheLibraryServesNothingElse(t *testing.T) {
	w := newWorld(t)
	alone := httptest.NewRecorder()
	w.endpoints.ServeHTTP(alone, httptest.NewRequest(http.MethodPut, "/healthz", nil))
	if !strings.Contains(alone.Body.String(), "not implemented") {
		t.Errorf("it has no /healthz any more: %d %s", alone.Code, alone.Body)
	}
	for _, path := range []string{
		"/healthz", "/ready", oidc.DiscoveryEndpoint, oidc.DiscoveryEndpoint + "/x", MetadataPath + "/x", "/x" + oidc.DiscoveryEndpoint, AuthorizePath + "/callback",
		"/userinfo", "/oauth/introspect", "/oauth/token", "/end_session", "/device_authorization", "/keys", TokenPath + "/",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			refused(t, w.send(method, path, "", ""), http.StatusNotFound, "not_found")
		}
	}
	for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodHead, http.MethodGet} {
		if out := w.send(method, TokenPath, formType, query("grant_type", "refresh_token")); out.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, out.Code)
		}
	}
}

// TestNamesInAnotherCase sends a parameter beside the one that was checked. The library would take
// either, as the order of a map has it, so it is tried often.
func TestNamesInAnotherCase(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.AsksPerMinute = 1000 })
	client, other := w.client("http://127.0.0.1/cb", callback), w.client()
	target := ask(client) + "&REDIRECT_URI=http%3A%2F%2F127.0.0.1%2Fcb&Client_ID=" + other + "&Code_Challenge=" + challengeOf("another") + "&SCOPE=comments:read&State=x"
	for range 20 {
		text, flow := w.page(target)
		if !strings.Contains(text, "client.example.com") || strings.Contains(text, "comments:read") {
			t.Fatalf("the page is for another request:\n%s", text)
		}
		where, v := location(t, w.form(AuthorizePath, "flow", flow, "decision", "allow", "scope", "issues:read"))
		if where != "https://client.example.com/callback" || v.Get("state") != "st&te" {
			t.Fatalf("to %s %v", where, v)
		}
		out := w.redeemWith(client, v.Get("code"), "CODE", "x", "Client_ID", other, "Code_Verifier", "x", "Redirect_URI", "x", "GRANT_TYPE", "x")
		if out.Code != http.StatusOK {
			t.Fatalf("%d %s", out.Code, out.Body)
		}
	}
}

// TestClientSecretsAreNotHeard holds that the client is the one of the body, whatever else is sent.
func TestClientSecretsAreNotHeard(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	form := []string{"grant_type", "authorization_code", "client_id", client, "code", w.code(client, "issues:read"), "code_verifier", verifier}
	secrets := []string{"client_secret", "secret-1", "client_assertion", "secret-2", "client_assertion_type", "secret-3"}
	r := func(pairs ...string) *httptest.ResponseRecorder {
		return w.send(http.MethodPost, TokenPath, formType, query(pairs...), "Authorization", "Basic b3RoZXI6c2VjcmV0LTQ=") // other:secret-4
	}
	refused(t, r("grant_type", "refresh_token", "refresh_token", "x"), http.StatusBadRequest, invalidRequest)
	if out := r(append(form, secrets...)...); out.Code != http.StatusOK {
		t.Errorf("%d %s", out.Code, out.Body)
	}
	if strings.Contains(w.log.String(), "secret-") {
		t.Errorf("a secret is in the log: %s", w.log)
	}
}

// TestTokensOfOneKind reads all members of an answer: no ID token is among them.
func TestTokensOfOneKind(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	_, flow := w.page(ask(client, "scope", "openid profile issues:read offline_access"))
	_, v := location(t, w.form(AuthorizePath, "flow", flow, "decision", "allow", "scope", "issues:read", "scope", "openid"))
	got := decode[map[string]any](t, w.redeemWith(client, v.Get("code")))
	if diff := cmp.Diff([]string{"access_token", "expires_in", "refresh_token", "scope", "token_type"}, slices.Sorted(maps.Keys(got))); diff != "" || got["scope"] != "issues:read" {
		t.Errorf("scope %v, %s", got["scope"], diff)
	}
}

// TestNothingSentComesBack holds that errors and the library's log repeat nothing of a request.
func TestNothingSentComesBack(t *testing.T) {
	w := newWorld(t)
	client := w.client("http://127.0.0.1/cb")
	code := w.code(w.client(), "issues:read")
	const private = "private-"
	local := []string{"redirect_uri", "http://127.0.0.1:7/cb", "state", private + "state"}
	mark := challengeOf(private)
	for name, out := range map[string]*httptest.ResponseRecorder{
		"grant type":       w.redeemWith(client, code, "grant_type", private+"grant"),
		"all in one":       w.form(TokenPath, "grant_type", "urn:"+private, "client_id", private, "code", private, "max_age", private),
		"code":             w.redeemWith(private+"client", private+"code", "code_verifier", private+"verifier"),
		"refresh token":    w.refreshWith(client, private+"token", "scope", private+"scope"),
		"revocation":       w.form(RevokePath, "client_id", private, "token", private, "token_type_hint", private),
		"redirect":         w.send(http.MethodGet, ask(client, "redirect_uri", "https://"+private+".example/"), "", ""),
		"client":           w.send(http.MethodGet, ask(private+"client"), "", ""),
		"response type":    w.send(http.MethodGet, ask(client, append(local, "response_type", private+"type")...), "", ""),
		"response mode":    w.send(http.MethodGet, ask(client, append(local, "response_mode", private+"mode")...), "", ""),
		"challenge":        w.send(http.MethodGet, ask(client, append(local, "code_challenge", mark, "code_challenge_method", "plain")...), "", ""),
		"challenge method": w.send(http.MethodGet, ask(client, append(local, "code_challenge_method", private+"method")...), "", ""),
		"OpenID":           w.send(http.MethodGet, ask(client, append(local, "max_age", private, "prompt", private, "response_type", "id_token", "id_token_hint", private)...), "", ""),
	} {
		said := strings.ReplaceAll(out.Body.String()+out.Header().Get("Location"), "state="+private+"state", "") // which has to
		if strings.Contains(said, private) || strings.Contains(said, mark) {
			t.Errorf("%s: %s", name, said)
		}
	}
	log := w.log.String()
	if strings.Count(log, "request error") < 5 || !strings.Contains(log, "auth request redirect") {
		t.Errorf("this is not the library's log: %s", log)
	}
	for _, line := range strings.Split(log, "\n") {
		for _, secret := range []string{private + "state", private + "code", private + "token", private + "verifier", private + "grant", code, verifier, mark, challengeOf(verifier)} {
			if strings.Contains(line, secret) {
				t.Errorf("%s is in the log: %s", secret, line)
			}
		}
	}
}

// TestTheClientsOwnQueryStays holds that what the address of a client has in it stays as it is.
func TestTheClientsOwnQueryStays(t *testing.T) {
	w := newWorld(t)
	redirect := "http://127.0.0.1/cb?z=1&errors=none&a=%7e"
	client := w.client(redirect)
	for _, change := range [][]string{{"response_type", "token"}, {"response_type", "id_token"}, {"response_mode", "fragment"}, {"code_challenge", ""}} {
		out := w.send(http.MethodGet, ask(client, append(change, "redirect_uri", redirect)...), "", "")
		rest, ours := strings.CutPrefix(out.Header().Get("Location"), redirect+"&error=")
		if !ours || !strings.Contains(rest, "iss=https%3A%2F%2Fauth.example.com") || !strings.HasSuffix(rest, "&state=st%26te") {
			t.Errorf("%v: %d to %s", change, out.Code, out.Header().Get("Location"))
		}
	}
}

// TestTheLibrarysComparisonOfAddresses sends what the library takes for the address of a client.
func TestTheLibrarysComparisonOfAddresses(t *testing.T) {
	w := newWorld(t)
	registered := []string{"http://127.0.0.1/cb"}
	id := w.client(registered...)
	for _, uri := range []string{
		"http://localhost/cb", "https://127.0.0.1/cb", "http://127.0.0.2/cb", "http://[::1]:8/cb", "http://me@127.0.0.1/cb", "http://127.0.0.1/cb#x", "http://127.0.0.1/%63b",
	} {
		if op.ValidateAuthReqRedirectURI(asker{redirects: registered}, uri, oidc.ResponseTypeCode) != nil {
			t.Errorf("it does not take %s any more", uri)
		}
		staysHere(t, w.send(http.MethodGet, ask(id, "redirect_uri", uri), "", ""))
	}
}

// TestShortVerifiers holds that a verifier has the length that RFC 7636 wants.
func TestShortVerifiers(t *testing.T) {
	for length, want := range map[int]bool{1: false, 42: false, 43: true, 128: true, 129: false} {
		v := strings.Repeat("v", length)
		if op.AuthorizeCodeChallenge(v, &oidc.CodeChallenge{Challenge: challengeOf(v), Method: oidc.CodeChallengeMethodS256}) != nil {
			t.Errorf("the library does not take %d characters any more", length)
		}
		if got := verifies(v, challengeOf(v)); got != want {
			t.Errorf("%d characters: %v", length, got)
		}
	}
}

// TestPagesOfOthers holds that the library lets no page read what a person sees, nor anything with
// their cookies.
func TestPagesOfOthers(t *testing.T) {
	w := newWorld(t)
	for target, want := range map[string]string{ask(w.client()): "", AuthorizePath: "", KeysPath: "*", MetadataPath: "*"} {
		h := w.send(http.MethodGet, target, "", "", "Origin", "https://page.example").Header()
		if h.Get("Access-Control-Allow-Origin") != want || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %v", target, h)
		}
	}
}

// TestOneAnswerNotTwo holds that what the library answered is all that is: no second answer, and
// the type and length of a page.
func TestOneAnswerNotTwo(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	for name, target := range map[string]string{"page": ask(client), "error": ask(client, "redirect_uri", "https://evil.example/"), "way back": ask(client, "scope", "x")} {
		out := w.send(http.MethodGet, target, "", "")
		if kind := out.Header().Get("Content-Type"); kind != "text/html; charset=utf-8" || strings.Contains(out.Body.String(), `{"error"`) || strings.Count(out.Body.String(), "<!DOCTYPE") != 1 {
			t.Errorf("%s: %s %s", name, kind, fmt.Sprint(out.Body))
		}
	}
}
