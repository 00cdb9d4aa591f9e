package authserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestAddresses goes through what an attacker's name may resolve to.
func TestAddresses(t *testing.T) {
	for _, ip := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.1.2.3", "169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.0.0.170", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
		"2002:7f00:1::", "2001::1", "2001:db8::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1", "3fff::1", "4000::1",
	} {
		if isPublic(netip.MustParseAddr(ip)) {
			t.Errorf("%s counts as public", ip)
		}
		if checkDial(net.JoinHostPort(ip, "443")) == nil {
			t.Errorf("%s can be dialled", ip)
		}
	}
	for _, ip := range []string{"1.1.1.1", "93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:4700:4700::1111", "::ffff:1.1.1.1", "2a00:1450::1"} {
		if !isPublic(netip.MustParseAddr(ip)) || checkDial(net.JoinHostPort(ip, "443")) != nil {
			t.Errorf("%s cannot be dialled", ip)
		}
	}
	for _, address := range []string{"1.1.1.1:80", "1.1.1.1:22", "1.1.1.1:0", "example.com:443", ""} {
		if checkDial(address) == nil {
			t.Errorf("%q can be dialled", address)
		}
	}
	for address, want := range map[string]bool{"127.0.0.1:81": true, "[::1]:81": true, "[::ffff:127.0.0.1]:81": true, "10.0.0.1:81": false, "1.1.1.1:443": false, "[::2]:1": false} {
		if got := checkLoopback(address) == nil; got != want {
			t.Errorf("%s in local mode: %v", address, got)
		}
	}
}

// TestTheGuardIsOnTheDial holds that names are judged by what they resolve to when they are
// dialled, so that resolving to something else the second time gains nothing. Every name of the
// resolver here is this machine, whatever was looked up before.
func TestTheGuardIsOnTheDial(t *testing.T) {
	var reached atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer server.Close()
	port := server.Listener.Addr().(*net.TCPAddr).Port
	for _, local := range []bool{false, true} {
		c := guardedClient(local)
		c.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // the guard is looked at, not the certificate
		for _, host := range []string{"ip6-localhost", "localhost.", "127.1", "0x7f.1", "[::ffff:127.0.0.1]", "127.0.0.2", "2130706433", "0.0.0.0"} {
			response, err := c.Get(fmt.Sprintf("https://%s:%d/client.json", host, port))
			if err == nil {
				_ = response.Body.Close()
				t.Errorf("local %v: %s was reached", local, host)
			}
		}
		response, err := c.Get(fmt.Sprintf("https://127.0.0.1:%d/client.json", port))
		if (err == nil) != local {
			t.Errorf("local %v: this machine by its address: %v", local, err)
		}
		if err == nil {
			_ = response.Body.Close()
		} else if !errors.Is(err, errAddress) {
			t.Errorf("refused for another reason: %v", err)
		}
	}
	if reached.Load() != 1 {
		t.Errorf("the server was reached %d times", reached.Load())
	}
}

func TestNoProxy(t *testing.T) {
	if guardedClient(true).Transport.(*http.Transport).Proxy != nil {
		t.Error("a proxy would dial in our place")
	}
}

func TestDocumentIDs(t *testing.T) {
	for id, want := range map[string][2]bool{ // deployed, local
		"https://client.example.com/oauth/client.json":      {true, true},
		"https://client.example.com/c?version=2":            {true, true},
		"https://client.example.com":                        {},
		"https://client.example.com/":                       {},
		"https://client.example.com/a/../b":                 {},
		"https://client.example.com/a/%2E%2e/b":             {},
		"https://client.example.com/./b":                    {},
		"https://client.example.com/b#x":                    {},
		"https://me@client.example.com/b":                   {},
		"https:///b":                                        {},
		"http://client.example.com/b":                       {},
		"http://127.0.0.1:8080/b":                           {false, true},
		"http://localhost/b":                                {false, true},
		"http://[::1]/b":                                    {false, true},
		"http://127.0.0.1.evil.example/b":                   {},
		"http://127.0.0.2/b":                                {},
		"ftp://client.example.com/b":                        {},
		"javascript://client.example.com/%0aalert(1)":       {},
		"https://client.example.com/b\r\nHost: x":           {},
		"https://client.example.com/" + string(rune(0x430)): {},
	} {
		for i, local := range []bool{false, true} {
			if _, err := checkDocumentID(id, local); (err == nil) != want[i] {
				t.Errorf("%q, local %v: %v", id, local, err)
			}
		}
	}
}

// documentServer serves what it is told to, on loopback.
type documentServer struct {
	*httptest.Server
	answer http.HandlerFunc
	asked  int
}

func newDocumentServer(t *testing.T) *documentServer {
	d := &documentServer{}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.asked++; d.answer(w, r) }))
	t.Cleanup(d.Close)
	return d
}

// good is the document of a client with the callback; more are further members.
func (d *documentServer) good(id string, more string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprintf(w, `{"client_id":%q,"client_name":"Probe","redirect_uris":[%q]%s}`, id, callback, more)
	}
}

func localWorld(t *testing.T) *world {
	return newWorld(t, func(c *Config) { c.Local = true })
}

func TestSignInByDocument(t *testing.T) {
	w, d := localWorld(t), newDocumentServer(t)
	id := d.URL + "/client.json"
	d.answer = d.good(id, `,"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"]`)
	text, _ := w.page(ask(id))
	if host := strings.TrimPrefix(d.URL, "http://"); !strings.Contains(text, "described at <strong>"+host+"</strong>") {
		t.Errorf("the page does not name the host: %s", text)
	}
	got := w.signIn(id)
	if got.Refresh == "" || d.asked != 1 {
		t.Errorf("%+v, asked %d times", got, d.asked)
	}
	if out := w.refreshWith(id, got.Refresh); out.Code != http.StatusOK || d.asked != 1 {
		t.Errorf("%d, asked %d times", out.Code, d.asked)
	}
}

func TestDocumentsAreRemembered(t *testing.T) {
	w, d := localWorld(t), newDocumentServer(t)
	id := d.URL + "/client.json"
	fetch := func(d *documents) error {
		_, err := d.client(context.Background(), person{}, id, nil, true)
		return err
	}
	for _, c := range []struct {
		header string
		kept   time.Duration
	}{{"", minDocumentAge}, {"no-store", minDocumentAge}, {"max-age=1", minDocumentAge}, {"public, MAX-AGE=3600", time.Hour}, {"max-age=99999999", maxDocumentAge}, {"max-age=x", minDocumentAge}} {
		documents := newDocuments(guardedClient(true), w.clock.now)
		d.asked = 0
		good := d.good(id, "")
		d.answer = func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Cache-Control", c.header); good(w, r) }
		for _, wait := range []time.Duration{0, c.kept - time.Second} {
			w.clock.advance(wait)
			if err := fetch(documents); err != nil || d.asked != 1 {
				t.Errorf("%q after %s: %v, asked %d times", c.header, wait, err, d.asked)
			}
		}
		w.clock.advance(time.Second)
		if err := fetch(documents); err != nil || d.asked != 2 {
			t.Errorf("%q: %v, asked %d times", c.header, err, d.asked)
		}
	}
	documents := newDocuments(guardedClient(true), w.clock.now)
	d.asked, d.answer = 0, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }
	for range 3 {
		if fetch(documents) == nil || d.asked != 1 {
			t.Errorf("a failure: asked %d times", d.asked)
		}
	}
	w.clock.advance(failureAge)
	d.answer = d.good(id, "")
	if err := fetch(documents); err != nil {
		t.Errorf("the failure stays: %v", err)
	}
	for i := range 2 * maxDocuments {
		documents.remember(fmt.Sprint(i), document{until: w.clock.now().Add(time.Hour)})
	}
	if len(documents.seen) > maxDocuments {
		t.Errorf("%d documents are remembered", len(documents.seen))
	}
}

// TestDocumentsThatAreNot is shown to the person, with nothing of what was found.
func TestDocumentsThatAreNot(t *testing.T) {
	const secret = "internal-secret"
	w, d := localWorld(t), newDocumentServer(t)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer other.Close()
	n := 0
	for name, answer := range map[string]func(id string) http.HandlerFunc{
		"another client_id": func(string) http.HandlerFunc { return d.good("https://evil.example/c", "") },
		"no client_id":      func(string) http.HandlerFunc { return d.good("", "") },
		"a secret":          func(id string) http.HandlerFunc { return d.good(id, `,"client_secret":"x"`) },
		"a shared secret": func(id string) http.HandlerFunc {
			return d.good(id, `,"token_endpoint_auth_method":"client_secret_post"`)
		},
		"a bad redirect": func(id string) http.HandlerFunc { return d.good(id, `,"redirect_uris":["http://evil.example/"]`) },
		"an answer in its redirect": func(id string) http.HandlerFunc {
			return d.good(id, `,"redirect_uris":["`+callback+`","`+callback+`&state=x"]`)
		},
		"no redirect": func(id string) http.HandlerFunc { return d.good(id, `,"redirect_uris":[]`) },
		"HTML": func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = io.WriteString(w, secret)
			}
		},
		"no JSON": func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, secret)
			}
		},
		"too large": func(id string) http.HandlerFunc {
			return d.good(id, `,"x":"`+strings.Repeat("x", maxDocument)+`"`)
		},
		"an error": func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, secret, http.StatusInternalServerError) }
		},
		"a redirect": func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+"/x", http.StatusFound) }
		},
		"a redirect to itself": func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			n++
			id := fmt.Sprintf("%s/%d.json", d.URL, n)
			d.answer = answer(id)
			out := w.send(http.MethodGet, ask(id), "", "")
			staysHere(t, out)
			if strings.Contains(out.Body.String(), secret) {
				t.Error("it shows what is there")
			}
		})
	}
	if n < 12 {
		t.Errorf("saw %d cases", n)
	}
}

// TestDeployedReachesNoLoopback holds that local mode is a setting.
func TestDeployedReachesNoLoopback(t *testing.T) {
	w, d := newWorld(t), newDocumentServer(t)
	d.answer = d.good(d.URL+"/c", "")
	for _, id := range []string{d.URL + "/c", strings.Replace(d.URL, "http://127.0.0.1", "https://localhost", 1) + "/c", "https://127.0.0.1/c", "https://[::1]/c"} {
		staysHere(t, w.send(http.MethodGet, ask(id), "", ""))
	}
	if d.asked != 0 {
		t.Error("it was asked")
	}
}

// stuck is the Web: what lies under /slow comes only when it is let go.
type stuck struct {
	reached, release chan struct{}
	slow             atomic.Int32
}

func (s *stuck) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.Path, "/slow") {
		if s.slow.Add(1) > 1 {
			return nil, errors.New("a second one is fetched")
		}
		close(s.reached)
		<-s.release
	}
	out := httptest.NewRecorder()
	(*documentServer)(nil).good(r.URL.String(), "")(out, r)
	return out.Result(), nil
}

// TestSlowDocumentsHoldUpNobodyElse holds that who waits for a document gets no second one before
// that has come or failed, and that others do.
func TestSlowDocumentsHoldUpNobodyElse(t *testing.T) {
	const site = "https://client.example.com"
	w, web := newWorld(t), &stuck{reached: make(chan struct{}), release: make(chan struct{})}
	w.documents.http = &http.Client{Transport: web}
	w.page(ask(site + "/known.json"))
	asker := w.login.person
	var first sync.WaitGroup
	first.Go(func() {
		if _, err := w.documents.client(context.Background(), personOf(asker), site+"/slow/1.json", nil, false); err != nil {
			t.Errorf("the first: %v", err)
		}
	})
	<-web.reached
	for _, path := range []string{"/slow/2.json", "/slow/1.json", "/quick.json"} {
		out := w.send(http.MethodGet, ask(site+path), "", "")
		staysHere(t, out)
		if out.Code != http.StatusTooManyRequests || out.Header().Get("Retry-After") != "5" {
			t.Errorf("%s: %d, Retry-After %q", path, out.Code, out.Header().Get("Retry-After"))
		}
	}
	w.page(ask(site + "/known.json")) // needs no fetch
	w.login.person.Subject = "s2"
	w.page(ask(site + "/quick.json"))
	w.login.person = asker
	close(web.release)
	first.Wait()
	w.page(ask(site + "/slow/1.json"))
	w.page(ask(site + "/other.json"))
	if n := web.slow.Load(); n != 1 {
		t.Errorf("%d slow documents were fetched at once", n)
	}
}
