package oauth_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity/oauth"
)

var quiet = slog.New(slog.DiscardHandler)

// try verifies a good token of the signer, and tells how it went in one word.
func (w *world) try(v *oauth.Verifier, s signer) string {
	w.tb.Helper()
	claims := fine(object{"exp": w.at.Add(time.Hour).Unix(), "iat": w.at.Unix(), "nbf": w.at.Unix()})
	_, err := v.Verify(context.Background(), s.token(w.tb, s.header(), claims))
	if err == nil {
		return "fine"
	}
	return string(fault.Of(err).Reason)
}

// after moves the clock.
func (w *world) after(d time.Duration) { w.at = w.at.Add(d) }

// step is one attempt in a story about keys.
type step struct {
	after   time.Duration // since the step before
	signer  signer
	want    string
	fetches int
}

func (w *world) tell(v *oauth.Verifier, steps []step) {
	w.tb.Helper()
	for i, s := range steps {
		w.after(s.after)
		if got := w.try(v, s.signer); got != s.want {
			w.tb.Errorf("step %d: %s, want %s", i, got, s.want)
		}
		if got := w.count(); got != s.fetches {
			w.tb.Errorf("step %d: %d fetches, want %d", i, got, s.fetches)
		}
	}
}

func TestFiftyForgedTokensCostOneFetch(t *testing.T) {
	good := ecSigner(t, "k1")
	for name, forge := range map[string]func(int) signer{
		"unknown keys": func(i int) signer { return ecSigner(t, fmt.Sprint("forged-", i)) },
		"a known key":  func(int) signer { return ecSigner(t, "k1") },
	} {
		w := newWorld(t, good.jwk())
		v := w.verifier()
		for i := range 50 { // on a start without keys
			if got := w.try(v, forge(i)); got != "token_unknown" {
				t.Fatalf("%s: %s", name, got)
			}
		}
		if n := w.count(); n != 1 {
			t.Errorf("%s, at the start: %d fetches", name, n)
		}
		w.after(time.Minute)
		if got := w.try(v, good); got != "fine" {
			t.Errorf("%s: %s", name, got)
		}
		for i := range 50 { // after a good one
			w.try(v, forge(i))
		}
		if n := w.count(); n > 1 {
			t.Errorf("%s, after a good one: %d fetches", name, n)
		}
	}
}

func TestRotationIsPickedUpAtOnce(t *testing.T) {
	old, next := ecSigner(t, "k1"), ecSigner(t, "k2")
	w := newWorld(t, old.jwk())
	v := w.verifier()
	w.tell(v, []step{{0, old, "fine", 1}, {5 * time.Minute, old, "fine", 0}})
	w.serveKeys(old.jwk(), next.jwk())
	w.tell(v, []step{{time.Second, next, "fine", 1}, {time.Second, old, "fine", 0}, {time.Second, next, "fine", 0}})
	w.serveKeys(next.jwk())
	w.tell(v, []step{
		{9 * time.Minute, old, "fine", 0},           // what the issuer has withdrawn is trusted for ten minutes more
		{time.Minute, next, "fine", 1},              // then no longer
		{0, old, "token_unknown", 0},                //
		{30 * time.Second, old, "token_unknown", 1}, // it may be new again, for all that is known
	})
}

// Who sends tokens with invented key ids all the time delays a new key by no more than the time
// between two refreshes.
func TestRotationUnderAttack(t *testing.T) {
	old, next := ecSigner(t, "k1"), ecSigner(t, "k2")
	w := newWorld(t, old.jwk())
	v := w.verifier()
	w.tell(v, []step{{0, old, "fine", 1}})
	w.after(time.Minute)
	if got := w.try(v, ecSigner(t, "forged")); got != "token_unknown" || w.count() != 1 {
		t.Fatalf("forged token: %s", got)
	}
	w.serveKeys(old.jwk(), next.jwk()) // just after the attacker has caused a refresh
	for second := 1; ; second++ {
		w.after(time.Second)
		w.try(v, ecSigner(t, fmt.Sprint("forged-", second)))
		if got := w.try(v, next); got == "fine" {
			if second > 30 {
				t.Errorf("the new key was taken after %d s", second)
			}
			break
		}
		if second > 100 {
			t.Fatal("the new key is never taken")
		}
	}
	if n := w.count(); n != 1 {
		t.Errorf("%d fetches", n)
	}
}

func TestIssuerDown(t *testing.T) {
	old, next := ecSigner(t, "k1"), ecSigner(t, "k2")
	w := newWorld(t, old.jwk())
	v := w.verifier()
	w.tell(v, []step{{0, old, "fine", 1}})
	w.down()
	w.tell(v, []step{
		{10*time.Minute - time.Second, old, "fine", 0},
		{time.Second, old, "fine", 1},                                    // asked for, not answered
		{29 * time.Second, old, "fine", 0},                               // and not asked again yet
		{0, next, "internal", 0},                                         // it may be a new one
		{time.Second, next, "internal", 1},                               //
		{24*time.Hour - 10*time.Minute - 31*time.Second, old, "fine", 1}, // to the last second
		{time.Second, old, "internal", 1},                                // a day is over
		{0, old, "internal", 0},                                          // a moment ago it was down
	})
	if !strings.Contains(w.log.String(), "connection refused") {
		t.Errorf("log: %s", w.log.String())
	}
	w.serveKeys(next.jwk())
	w.tell(v, []step{{time.Second, next, "fine", 1}, {0, old, "token_unknown", 0}})
}

func TestIssuerDownFromTheStart(t *testing.T) {
	s := ecSigner(t, "k1")
	w := newWorld(t)
	w.down()
	v := w.verifier()
	w.tell(v, []step{{0, s, "internal", 1}, {0, s, "internal", 0}, {time.Second, s, "internal", 1}})
	w.serveKeys(s.jwk())
	w.tell(v, []step{{time.Second, s, "fine", 1}})
}

func TestAClockThatIsSetBack(t *testing.T) {
	s := ecSigner(t, "k1")
	w := newWorld(t, s.jwk())
	v := w.verifier()
	w.tell(v, []step{{0, s, "fine", 1}, {-time.Hour, s, "fine", 1}, {time.Minute, s, "fine", 0}})
}

// What an issuer may answer instead of keys.
func TestBadAnswers(t *testing.T) {
	s := ecSigner(t, "k1")
	set := func(keys ...object) []byte {
		var b bytes.Buffer
		b.WriteString(`{"keys":[`)
		for i, k := range keys {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%s", mustJSON(t, k))
		}
		b.WriteString(`]}`)
		return b.Bytes()
	}
	rsa := theRSA(t, "RS256", "k1")
	private := changed(rsa.jwk(), object{"d": "AQAB"})
	for name, answer := range map[string]func(*http.Request) (*http.Response, error){
		"error":           func(r *http.Request) (*http.Response, error) { return respond(r, 500, set(s.jwk())), nil },
		"no content":      func(r *http.Request) (*http.Response, error) { return respond(r, 204, nil), nil },
		"a page":          func(r *http.Request) (*http.Response, error) { return respond(r, 200, []byte("<html>")), nil },
		"no keys":         func(r *http.Request) (*http.Response, error) { return respond(r, 200, set()), nil },
		"an empty object": func(r *http.Request) (*http.Response, error) { return respond(r, 200, []byte(`{}`)), nil },
		"too large": func(r *http.Request) (*http.Response, error) {
			return respond(r, 200, append(set(s.jwk()), bytes.Repeat([]byte(" "), 256<<10)...)), nil
		},
		"too many": func(r *http.Request) (*http.Response, error) {
			return respond(r, 200, set(repeat(s.jwk(), 101)...)), nil
		},
		"a secret": func(r *http.Request) (*http.Response, error) {
			return respond(r, 200, set(object{"kty": "oct", "kid": "k1", "k": "AAAA"})), nil
		},
		"a private key": func(r *http.Request) (*http.Response, error) { return respond(r, 200, set(private)), nil },
		"for encryption": func(r *http.Request) (*http.Response, error) {
			return respond(r, 200, set(changed(s.jwk(), object{"use": "enc"}))), nil
		},
		"for other things": func(r *http.Request) (*http.Response, error) {
			return respond(r, 200, set(changed(s.jwk(), object{"use": nil, "key_ops": []string{"encrypt"}}))), nil
		},
		"no id": func(r *http.Request) (*http.Response, error) {
			return respond(r, 200, set(changed(s.jwk(), object{"kid": nil}))), nil
		},
		"a short key": func(r *http.Request) (*http.Response, error) {
			return respond(r, 200, set(changed(rsa.jwk(), object{"n": "AQAB"}))), nil
		},
		"a point off curve": func(r *http.Request) (*http.Response, error) {
			return respond(r, 200, set(changed(s.jwk(), object{"x": s.jwk()["y"]}))), nil
		},
		"a broken body": func(r *http.Request) (*http.Response, error) {
			res := respond(r, 200, nil)
			res.Body = io.NopCloser(failing{})
			return res, nil
		},
		"another host":        redirect("https://evil.example/keys"),
		"the same in plain":   redirect("http://login.example.com/keys"),
		"another port":        redirect("https://login.example.com:8443/keys"),
		"itself, again":       redirect(keysURL),
		"somewhere malformed": redirect("https://%zz/"),
	} {
		w := newWorld(t)
		w.serve(answer)
		if got := w.try(w.verifier(), s); got != "internal" {
			t.Errorf("%s: %s", name, got)
		}
		if n := w.count(); n > 3 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

func repeat(key object, n int) []object {
	keys := make([]object, n)
	for i := range keys {
		keys[i] = key
	}
	return keys
}

func redirect(to string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		res := respond(r, http.StatusFound, nil)
		res.Header.Set("Location", to)
		return res, nil
	}
}

func TestARedirectOnTheSameHostIsFollowed(t *testing.T) {
	s := ecSigner(t, "k1")
	w := newWorld(t)
	w.serve(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/keys" {
			return redirect("/keys/v2")(r)
		}
		return respond(r, 200, mustJSON(t, object{"keys": []object{s.jwk()}})), nil
	})
	w.tell(w.verifier(), []step{{0, s, "fine", 2}})
}

// A key of a kind that is not known yet does not spoil the others.
func TestUnknownKindsOfKeysArePassedOver(t *testing.T) {
	s := ecSigner(t, "k1")
	w := newWorld(t, object{"kty": "AKP", "kid": "k0", "alg": "ML-DSA-44", "pub": "AAAA"}, object{"kty": "oct", "kid": "k1", "k": "AAAA"},
		object{"kty": "RSA", "kid": "k2"}, object{"kid": "k3"}, s.jwk())
	w.tell(w.verifier(), []step{{0, s, "fine", 1}})
}

// Two keys under one id are told apart by their kind.
func TestTwoKeysWithOneID(t *testing.T) {
	one, other := ecSigner(t, "k1"), edSigner(t, "k1")
	w := newWorld(t, one.jwk(), other.jwk())
	w.tell(w.verifier(), []step{{0, one, "fine", 1}, {0, other, "fine", 0}})
}

// A key that names its algorithm is for no other; one that does not is for all of its kind.
func TestTheAlgorithmOfAKey(t *testing.T) {
	rs, ps := theRSA(t, "RS256", "k1"), theRSA(t, "PS256", "k1")
	w := newWorld(t, rs.jwk())
	w.tell(w.verifier(), []step{{0, rs, "fine", 1}, {0, ps, "token_unknown", 0}})
	w = newWorld(t, changed(rs.jwk(), object{"alg": nil}))
	w.tell(w.verifier(), []step{{0, rs, "fine", 1}, {0, ps, "fine", 0}})
}

func TestASlowIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, next := ecSigner(t, "k1"), ecSigner(t, "k2")
		w := newWorld(t, s.jwk())
		began := time.Now()
		w.at = began
		v := w.verifier()
		slow := func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }
		w.serve(slow)
		if got := w.try(v, s); got != "internal" || time.Since(began) != 2*time.Second {
			t.Errorf("%s after %s", got, time.Since(began))
		}
		w.count()
		w.serveKeys(s.jwk())
		w.after(time.Minute)
		w.tell(v, []step{{0, s, "fine", 1}})
		w.serve(slow)
		w.after(time.Hour)
		began = time.Now()
		if got := w.try(v, s); got != "fine" || time.Since(began) != 2*time.Second {
			t.Errorf("%s after %s, with old keys", got, time.Since(began))
		}
		began = time.Now()
		if got := w.try(v, next); got != "internal" || time.Since(began) != 0 {
			t.Errorf("%s after %s, for a new key", got, time.Since(began))
		}
	})
}

// Many requests at once need one fetch; those that can do without do not wait for it.
func TestSingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, next := ecSigner(t, "k1"), ecSigner(t, "k2")
		w := newWorld(t, s.jwk())
		w.at = time.Now()
		v := w.verifier()
		gate := make(chan struct{})
		hold := func(keys ...object) {
			w.serve(func(r *http.Request) (*http.Response, error) {
				<-gate
				return respond(r, 200, mustJSON(t, object{"keys": keys})), nil
			})
		}
		hold(s.jwk())
		results := w.parallel(v, s, 20)
		synctest.Wait()
		close(gate)
		if got := <-results; got != "fine=20" || w.count() != 1 {
			t.Errorf("at the start: %s", got)
		}

		gate = make(chan struct{})
		hold(s.jwk(), next.jwk())
		w.after(time.Minute)
		waiting := w.parallel(v, next, 10)
		synctest.Wait()
		if got := <-w.parallel(v, s, 10); got != "fine=10" {
			t.Errorf("with keys that are known: %s", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := v.Verify(ctx, next.token(t, next.header(), fine())); !errors.Is(err, context.Canceled) {
			t.Errorf("who does not wait: %v", err)
		}
		close(gate)
		if got := <-waiting; got != "fine=10" || w.count() != 1 {
			t.Errorf("with a new key: %s", got)
		}
	})
}

// parallel tries n times at once and says how it went.
func (w *world) parallel(v *oauth.Verifier, s signer, n int) <-chan string {
	results := make(chan string, 1)
	go func() {
		var wg sync.WaitGroup
		var mu sync.Mutex
		counts := map[string]int{}
		for range n {
			wg.Go(func() {
				got := w.try(v, s)
				mu.Lock()
				defer mu.Unlock()
				counts[got]++
			})
		}
		wg.Wait()
		var words []string
		for word, count := range counts {
			words = append(words, fmt.Sprintf("%s=%d", word, count))
		}
		results <- strings.Join(words, " ")
	}()
	return results
}

// Who asked first and went away does not spoil the answer for the others.
func TestTheFirstMayLeave(t *testing.T) {
	s := ecSigner(t, "k1")
	w := newWorld(t, s.jwk())
	v := w.verifier()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = v.Verify(ctx, s.token(t, s.header(), fine()))
	w.count()
	w.tell(v, []step{{0, s, "fine", 0}})
}

// A fetch that breaks off does not leave the others waiting.
func TestAFetchThatPanics(t *testing.T) {
	s := ecSigner(t, "k1")
	w := newWorld(t)
	w.serve(func(*http.Request) (*http.Response, error) { panic("transport") })
	v := w.verifier()
	func() {
		defer func() { _ = recover() }()
		w.try(v, s)
		t.Error("the panic was swallowed")
	}()
	w.count()
	w.serveKeys(s.jwk())
	w.tell(v, []step{{time.Second, s, "fine", 1}})
}
