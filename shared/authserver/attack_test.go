package authserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// staysHere requires a page of ours: no redirect, not to be framed, nothing kept.
func staysHere(t *testing.T, out *httptest.ResponseRecorder) {
	t.Helper()
	if out.Code < 400 || out.Header().Get("Location") != "" {
		t.Errorf("%d, to %q", out.Code, out.Header().Get("Location"))
	}
	h := out.Header()
	if h.Get("X-Frame-Options") != "DENY" || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") || h.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", h)
	}
}

// TestNoOpenRedirect sends requests that name a place to go to which is not the client's.
func TestNoOpenRedirect(t *testing.T) {
	w := newWorld(t)
	client := w.client(callback, "http://127.0.0.1/cb", "com.example.app:/cb")
	for name, target := range map[string]string{
		"no redirect":          ask(client, "redirect_uri", ""),
		"another host":         ask(client, "redirect_uri", "https://evil.example/callback?keep=1"),
		"another path":         ask(client, "redirect_uri", "https://client.example.com/callback/../evil?keep=1"),
		"another query":        ask(client, "redirect_uri", "https://client.example.com/callback?keep=2"),
		"more query":           ask(client, "redirect_uri", callback+"&x=1"),
		"a prefix of it":       ask(client, "redirect_uri", "https://client.example.com/callback"),
		"a host with more":     ask(client, "redirect_uri", "https://client.example.com.evil.example/callback?keep=1"),
		"a user name":          ask(client, "redirect_uri", "https://client.example.com@evil.example/callback?keep=1"),
		"a backslash":          ask(client, "redirect_uri", `https://evil.example\@client.example.com/callback?keep=1`),
		"a fragment":           ask(client, "redirect_uri", callback+"#x"),
		"another case":         ask(client, "redirect_uri", "https://CLIENT.example.com/callback?keep=1"),
		"a port":               ask(client, "redirect_uri", "https://client.example.com:444/callback?keep=1"),
		"no TLS":               ask(client, "redirect_uri", "http://client.example.com/callback?keep=1"),
		"script":               ask(client, "redirect_uri", "javascript:alert(1)//"),
		"another scheme case":  ask(client, "redirect_uri", "HTTP://127.0.0.1:1/cb"),
		"loopback, other path": ask(client, "redirect_uri", "http://127.0.0.1:8080/evil"),
		"loopback, other name": ask(client, "redirect_uri", "http://localhost:8080/cb"),
		"loopback that is not": ask(client, "redirect_uri", "http://127.0.0.1.evil.example/cb"),
		"twice":                ask(client) + "&redirect_uri=https%3A%2F%2Fevil.example%2F",
		"twice, the other way": strings.Replace(ask(client), "?", "?redirect_uri=https%3A%2F%2Fevil.example%2F&", 1),
		"two clients":          ask(client) + "&client_id=x",
		"unknown client":       ask("0123456789abcdef0123456789abcdef"),
		"no client":            ask(""),
		"client is no id":      ask("\xff\xfe"),
		"long client":          ask(strings.Repeat("a", maxClientID+1)),
		"too long":             ask(client, "state", strings.Repeat("s", maxQuery)),
		"bad escapes":          AuthorizePath + "?client_id=%zz",
	} {
		t.Run(name, func(t *testing.T) { staysHere(t, w.send(http.MethodGet, target, "", "")) })
	}
	for _, fine := range []string{callback, "http://127.0.0.1:8080/cb", "com.example.app:/cb"} {
		w.page(ask(client, "redirect_uri", fine))
	}
}

// TestMistakesAreToldTheClient sends requests of a known client that are wrong otherwise.
func TestMistakesAreToldTheClient(t *testing.T) {
	w := newWorld(t)
	local := "http://127.0.0.1:7777/cb"
	client := w.client(callback, "http://127.0.0.1/cb")
	for name, c := range map[string]struct {
		change []string
		code   string
	}{
		"no PKCE":              {[]string{"code_challenge", "", "code_challenge_method", ""}, invalidRequest},
		"no method, so plain":  {[]string{"code_challenge_method", ""}, invalidRequest},
		"plain":                {[]string{"code_challenge_method", "plain"}, invalidRequest},
		"a short challenge":    {[]string{"code_challenge", "abc"}, invalidRequest},
		"a padded challenge":   {[]string{"code_challenge", challengeOf(verifier) + "="}, invalidRequest},
		"implicit":             {[]string{"response_type", "token"}, unauthorized},
		"hybrid":               {[]string{"response_type", "code token"}, unauthorized},
		"no response type":     {[]string{"response_type", ""}, invalidRequest},
		"fragment mode":        {[]string{"response_mode", "fragment"}, invalidRequest},
		"another resource":     {[]string{"resource", "https://other.example/mcp"}, invalidTarget},
		"resource and a slash": {[]string{"resource", resource + "/"}, invalidTarget},
		"no scope of ours":     {[]string{"scope", "admin openid"}, invalidScope},
		"audit of a member":    {[]string{"scope", "audit:read"}, invalidScope},
		"a request object":     {[]string{"request", "e30.e30."}, "request_not_supported"},
		"a request by address": {[]string{"request_uri", "https://evil.example/"}, "request_not_supported"},
	} {
		t.Run(name, func(t *testing.T) {
			where, v := location(t, w.send(http.MethodGet, ask(client, append([]string{"redirect_uri", local}, c.change...)...), "", ""))
			if where != local || v.Get("error") != c.code || v.Get("state") != "st&te" || v.Get("iss") != issuer || v.Has("code") {
				t.Errorf("%s %v", where, v)
			}
			// On the Web the person decides whether to go there.
			out := w.send(http.MethodGet, ask(client, c.change...), "", "")
			staysHere(t, out)
			if !strings.Contains(out.Body.String(), `href="https://client.example.com/callback?keep=1&amp;error=`+c.code) {
				t.Errorf("no way back: %s", out.Body)
			}
		})
	}
	_, v := location(t, w.send(http.MethodGet, ask(client, "redirect_uri", local)+"&resource=https%3A%2F%2Fother.example%2F", "", ""))
	if v.Get("error") != invalidTarget {
		t.Errorf("one good resource beside a bad one: %v", v)
	}
	if _, v := location(t, w.send(http.MethodGet, ask(client, "redirect_uri", local)+"&scope=audit%3Aread", "", "")); v.Get("error") != invalidRequest {
		t.Errorf("a parameter that is there twice: %v", v)
	}
}

// TestAnswersFromElsewhere sends the answer of a consent page from where it was not shown.
func TestAnswersFromElsewhere(t *testing.T) {
	yes := func(flow string) []string {
		return []string{"flow", flow, "decision", "allow", "scope", "issues:read"}
	}
	for name, attack := range map[string]func(w *world, flow string) *httptest.ResponseRecorder{
		"no secret of the page": func(w *world, _ string) *httptest.ResponseRecorder { return w.form(AuthorizePath, yes("")...) },
		"a made-up secret": func(w *world, _ string) *httptest.ResponseRecorder {
			return w.form(AuthorizePath, yes(challengeOf("x"))...)
		},
		"no cookie": func(w *world, flow string) *httptest.ResponseRecorder {
			clear(w.cookies)
			return w.form(AuthorizePath, yes(flow)...)
		},
		"the cookie of another browser": func(w *world, flow string) *httptest.ResponseRecorder {
			w.cookies["__Host-aac_browser"] = challengeOf("x")
			return w.form(AuthorizePath, yes(flow)...)
		},
		"two cookies": func(w *world, flow string) *httptest.ResponseRecorder {
			return w.send(http.MethodPost, AuthorizePath, formType, query(yes(flow)...), "Cookie",
				"__Host-aac_browser=x; __Host-aac_browser="+w.cookies["__Host-aac_browser"])
		},
		"another origin": func(w *world, flow string) *httptest.ResponseRecorder {
			return w.send(http.MethodPost, AuthorizePath, formType, query(yes(flow)...), "Origin", "https://evil.example")
		},
		"no origin": func(w *world, flow string) *httptest.ResponseRecorder {
			return w.send(http.MethodPost, AuthorizePath, formType, query(yes(flow)...), "Origin", "null")
		},
		"another site, as the browser says": func(w *world, flow string) *httptest.ResponseRecorder {
			return w.send(http.MethodPost, AuthorizePath, formType, query(yes(flow)...), "Sec-Fetch-Site", "same-site")
		},
		"as JSON": func(w *world, flow string) *httptest.ResponseRecorder {
			return w.send(http.MethodPost, AuthorizePath, "application/json", `{"flow":"`+flow+`","decision":"allow"}`)
		},
		"in the address": func(w *world, flow string) *httptest.ResponseRecorder {
			return w.send(http.MethodPost, AuthorizePath+"?"+query(yes(flow)...), formType, query(yes(flow)...))
		},
		"another person": func(w *world, flow string) *httptest.ResponseRecorder {
			w.login.person.Subject = "s2"
			return w.form(AuthorizePath, yes(flow)...)
		},
		"nobody": func(w *world, flow string) *httptest.ResponseRecorder {
			w.login.gone = true
			return w.form(AuthorizePath, yes(flow)...)
		},
		"too late": func(w *world, flow string) *httptest.ResponseRecorder {
			w.clock.advance(flowLife)
			return w.form(AuthorizePath, yes(flow)...)
		},
		"twice": func(w *world, flow string) *httptest.ResponseRecorder {
			w.form(AuthorizePath, yes(flow)...)
			return w.form(AuthorizePath, yes(flow)...)
		},
		"yes after no": func(w *world, flow string) *httptest.ResponseRecorder {
			w.form(AuthorizePath, "flow", flow, "decision", "deny")
			return w.form(AuthorizePath, yes(flow)...)
		},
		"neither yes nor no": func(w *world, flow string) *httptest.ResponseRecorder {
			return w.form(AuthorizePath, "flow", flow, "decision", "", "scope", "issues:read")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, flow := w.page(ask(w.client()))
			staysHere(t, attack(w, flow))
		})
	}
}

// TestTwoPagesOfOneBrowser holds that a second page does not spoil the first.
func TestTwoPagesOfOneBrowser(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	_, first := w.page(ask(client))
	_, second := w.page(ask(client))
	for _, flow := range []string{first, second} {
		if _, v := location(t, w.form(AuthorizePath, "flow", flow, "decision", "allow", "scope", "issues:read")); !v.Has("code") {
			t.Errorf("%v", v)
		}
	}
}

// TestCookie reads the cookie as the browser gets it.
func TestCookie(t *testing.T) {
	for scheme, name := range map[string]string{"https": "__Host-aac_browser", "http": "aac_browser"} {
		w := newWorld(t, func(c *Config) { c.Issuer, c.Local = scheme+"://127.0.0.1:3000", true })
		out := w.send(http.MethodGet, ask(w.client()), "", "")
		c := out.Result().Cookies()
		if len(c) != 1 || c[0].Name != name || !c[0].HttpOnly || c[0].Secure != (scheme == "https") || c[0].SameSite != http.SameSiteLaxMode || c[0].Path != "/" || c[0].Domain != "" {
			t.Errorf("%s: %v", scheme, c)
		}
	}
}

// TestMixUp holds that every answer says whose it is, errors as well.
func TestMixUp(t *testing.T) {
	w := newWorld(t)
	client := w.client("http://127.0.0.1/cb")
	to := []string{"redirect_uri", "http://127.0.0.1:9/cb"}
	answers := []*httptest.ResponseRecorder{w.send(http.MethodGet, ask(client, append(to, "response_type", "token")...), "", "")}
	for _, decision := range []string{"allow", "deny"} {
		_, flow := w.page(ask(client, to...))
		answers = append(answers, w.form(AuthorizePath, "flow", flow, "decision", decision, "scope", "issues:read"))
	}
	for _, out := range answers {
		if _, v := location(t, out); v.Get("iss") != issuer || len(v["iss"]) != 1 {
			t.Errorf("%v", v)
		}
	}
}

func TestAskingIsLimited(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.AsksPerMinute = 2 })
	target := ask(w.client())
	w.page(target)
	w.page(target)
	out := w.send(http.MethodGet, target, "", "")
	staysHere(t, out)
	if out.Code != http.StatusTooManyRequests || out.Header().Get("Retry-After") == "" {
		t.Errorf("%d", out.Code)
	}
}

func TestFraming(t *testing.T) {
	w := newWorld(t)
	for _, redirect := range []struct{ uri, source string }{
		{callback, "https:"}, {"http://127.0.0.1:81/cb", "http://127.0.0.1:81"}, {"http://[::1]:81/cb", "http:"}, {"com.example.app:/cb", "com.example.app:"},
	} {
		out := w.send(http.MethodGet, ask(w.client(redirect.uri), "redirect_uri", redirect.uri), "", "")
		policy := out.Header().Get("Content-Security-Policy")
		if out.Code != http.StatusOK || out.Header().Get("X-Frame-Options") != "DENY" || !strings.Contains(policy, "frame-ancestors 'none'") ||
			!strings.HasSuffix(policy, "form-action 'self' "+redirect.source) || out.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", redirect.uri, out.Code, out.Header())
		}
		if out.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Error("pages of others may read the consent page")
		}
	}
}

func TestPreflight(t *testing.T) {
	w := newWorld(t)
	for path, want := range map[string]int{TokenPath: http.StatusNoContent, RegisterPath: http.StatusNoContent, MetadataPath: http.StatusNoContent, AuthorizePath: http.StatusMethodNotAllowed} {
		if out := w.send(http.MethodOptions, path, "", "", "Origin", "https://page.example"); out.Code != want {
			t.Errorf("%s: %d", path, out.Code)
		}
	}
	refused(t, w.send(http.MethodGet, "/elsewhere", "", ""), http.StatusNotFound, "not_found")
}
