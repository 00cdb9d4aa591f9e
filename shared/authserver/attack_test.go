package authserver

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
		"implicit":             {[]string{"response_type", "token"}, unsupportedResponse},
		"hybrid":               {[]string{"response_type", "code token"}, unsupportedResponse},
		"no response type":     {[]string{"response_type", ""}, unsupportedResponse},
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
	refused(t, w.redeemWith(client, code, "client_id", ""), http.StatusBadRequest, invalidClient)
	refused(t, w.redeemWith(client, code, "grant_type", "password"), http.StatusBadRequest, unsupportedGrant)
	refused(t, w.redeemWith(client, code, "grant_type", ""), http.StatusBadRequest, unsupportedGrant)
	refused(t, w.redeemWith(client, ""), http.StatusBadRequest, invalidRequest)
	refused(t, w.send(http.MethodPost, TokenPath+"?code="+code, formType, ""), http.StatusBadRequest, invalidRequest)
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

// TestRegistrationFlood registers from one source, then from many.
func TestRegistrationFlood(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.Limits = Limits{RegistrationsPerSource: 3, RegistrationsPerMinute: 5, RegistrationsPerDay: 8}
	})
	body, _ := json.Marshal(map[string]any{"redirect_uris": []string{callback}})
	register := func(source string) *httptest.ResponseRecorder {
		w.source = source
		return w.send(http.MethodPost, RegisterPath, "application/json", string(body))
	}
	count := func(sources ...string) (made int) {
		for _, source := range sources {
			for range 10 {
				switch out := register(source); out.Code {
				case http.StatusCreated:
					made++
				default:
					refused(t, out, http.StatusTooManyRequests, tryLater)
				}
			}
		}
		return made
	}
	if made := count("192.0.2.1"); made != 3 {
		t.Errorf("one source made %d", made)
	}
	if made := count("2001:db8::1", "2001:db8::2"); made != 2 {
		t.Errorf("one network and the minute: %d more", made)
	}
	w.clock.advance(time.Minute)
	if made := count("192.0.2.3", "192.0.2.4"); made != 3 {
		t.Errorf("the day: %d more", made)
	}
	w.clock.advance(24 * time.Hour)
	if made := count("192.0.2.3"); made != 3 {
		t.Errorf("the next day: %d", made)
	}
}

func TestUnusedClientsAreForgotten(t *testing.T) {
	w := newWorld(t)
	idle, used := w.client(), w.client()
	w.signIn(used)
	w.clock.advance(unusedLife)
	staysHere(t, w.send(http.MethodGet, ask(idle), "", ""))
	w.page(ask(used))
	w.clock.advance(clientLife)
	staysHere(t, w.send(http.MethodGet, ask(used), "", ""))
}

func TestRegistrationRules(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct{ body, code string }{
		"no JSON":             {`redirect_uris=x`, invalidMetadata},
		"no object":           {`[]`, invalidMetadata},
		"no redirect":         {`{}`, invalidRedirect},
		"eleven":              {`{"redirect_uris":["https://a.example/1"` + strings.Repeat(`,"https://a.example/2"`, 10) + `]}`, invalidRedirect},
		"http":                {`{"redirect_uris":["http://a.example/cb"]}`, invalidRedirect},
		"script":              {`{"redirect_uris":["javascript:alert(1)"]}`, invalidRedirect},
		"data":                {`{"redirect_uris":["data:text/html,x"]}`, invalidRedirect},
		"file":                {`{"redirect_uris":["file:///etc/passwd"]}`, invalidRedirect},
		"relative":            {`{"redirect_uris":["/callback"]}`, invalidRedirect},
		"no scheme":           {`{"redirect_uris":["//a.example/cb"]}`, invalidRedirect},
		"fragment":            {`{"redirect_uris":["https://a.example/cb#x"]}`, invalidRedirect},
		"empty fragment":      {`{"redirect_uris":["https://a.example/cb#"]}`, invalidRedirect},
		"user name":           {`{"redirect_uris":["https://a@b.example/cb"]}`, invalidRedirect},
		"no host":             {`{"redirect_uris":["https:///cb"]}`, invalidRedirect},
		"not ASCII":           {`{"redirect_uris":["https://ä.example/cb"]}`, invalidRedirect},
		"unknown app":         {`{"redirect_uris":["mailto:x"]}`, invalidRedirect},
		"app without slash":   {`{"redirect_uris":["com.example.app:cb"]}`, invalidRedirect},
		"one bad among good":  {`{"redirect_uris":["https://a.example/","http://a.example/"]}`, invalidRedirect},
		"signed by itself":    {`{"redirect_uris":["https://a.example/"],"token_endpoint_auth_method":"private_key_jwt"}`, invalidMetadata},
		"implicit":            {`{"redirect_uris":["https://a.example/"],"grant_types":["implicit"]}`, invalidMetadata},
		"token":               {`{"redirect_uris":["https://a.example/"],"response_types":["token"]}`, invalidMetadata},
		"of a wrong form":     {`{"redirect_uris":"https://a.example/"}`, invalidMetadata},
		"loopback by a range": {`{"redirect_uris":["http://127.0.0.2/cb"]}`, invalidRedirect},
		"loopback as IPv4in6": {`{"redirect_uris":["http://[::ffff:127.0.0.1]/cb"]}`, invalidRedirect},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, w.send(http.MethodPost, RegisterPath, "application/json", c.body), http.StatusBadRequest, c.code)
		})
	}
	refused(t, w.send(http.MethodPost, RegisterPath, formType, "x=y"), http.StatusBadRequest, invalidMetadata)
	refused(t, w.send(http.MethodPost, RegisterPath, "application/json", `{"x":"`+strings.Repeat("a", maxDescription)+`"}`), http.StatusRequestEntityTooLarge, invalidRequest)
	out := w.send(http.MethodPost, RegisterPath, "application/json", `{"client_name":"A\u202eB\nC`+strings.Repeat("n", 100)+`","token_endpoint_auth_method":"client_secret_basic",
		"redirect_uris":["http://localhost:1/cb","http://[::1]/cb","cursor://x/cb","com.example.app:/cb"],"logo_uri":"https://evil.example/x.png","client_secret":"x"}`)
	got := decode[registration](t, out)
	if out.Code != http.StatusCreated || got.AuthMethod != "none" || !strings.HasPrefix(got.Name, "A B Cnnn") || len([]rune(got.Name)) != maxClientName+1 || strings.Contains(out.Body.String(), "secret") {
		t.Errorf("%d %s", out.Code, out.Body)
	}
}

// TestMarkupInANameIsText holds that a client cannot write on the page.
func TestMarkupInANameIsText(t *testing.T) {
	w := newWorld(t)
	out := w.send(http.MethodPost, RegisterPath, "application/json",
		`{"client_name":"\"><script>alert(1)</script>","redirect_uris":["https://a.example/?\"'x"]}`)
	refused(t, out, http.StatusBadRequest, invalidRedirect)
	out = w.send(http.MethodPost, RegisterPath, "application/json", `{"client_name":"\"><script>alert(1)</script>","redirect_uris":["`+callback+`"]}`)
	page := w.send(http.MethodGet, ask(decode[registration](t, out).ClientID), "", "")
	if page.Code != http.StatusOK || strings.Contains(page.Body.String(), "<script>") {
		t.Errorf("%d %s", page.Code, page.Body)
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
