package authserver

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

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
		"a code in it":        {`{"redirect_uris":["https://a.example/cb?code=x"]}`, invalidRedirect},
		"a state in it":       {`{"redirect_uris":["http://127.0.0.1/cb?a=b&state"]}`, invalidRedirect},
		"an issuer in it":     {`{"redirect_uris":["com.example.app:/cb?iss="]}`, invalidRedirect},
		"an error in it":      {`{"redirect_uris":["https://a.example/cb?%65rror=x"]}`, invalidRedirect},
		"words in it":         {`{"redirect_uris":["https://a.example/cb?error_description=x"]}`, invalidRedirect},
		"a page in it":        {`{"redirect_uris":["https://a.example/cb?error_uri=x"]}`, invalidRedirect},
		"a code behind a ;":   {`{"redirect_uris":["https://a.example/cb?a=b;code=x"]}`, invalidRedirect},
		"bad escapes":         {`{"redirect_uris":["https://a.example/cb?%zz"]}`, invalidRedirect},
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
		"redirect_uris":["http://localhost:1/cb","http://[::1]/cb?encode=1&a=code","cursor://x/cb","com.example.app:/cb"],"logo_uri":"https://evil.example/x.png","client_secret":"x"}`)
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
