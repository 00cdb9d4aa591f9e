package oauth_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"math/big"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/oauth"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/identity/subject"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Tokens and key sets are made by hand here, so that they can be as wrong as an attacker's, and
// so that the library under test does not check its own work.

var start = time.Date(2025, 6, 22, 15, 30, 0, 0, time.UTC)

const (
	issuerURL = "https://login.example.com"
	keysURL   = "https://login.example.com/keys"
	audience  = "https://mcp.example.com/mcp"
)

type object = map[string]any

func base64url(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func encode(tb testing.TB, v any) string {
	tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return base64url(data)
}

// signer is a key pair of an issuer.
type signer struct {
	alg, kid string
	private  crypto.Signer
}

func rsaSigner(tb testing.TB, alg, kid string) signer {
	return signer{alg, kid, must(tb)(rsa.GenerateKey(rand.Reader, 2048))}
}

// sharedRSA is one pair for all tests, because making them takes long.
var sharedRSA = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func theRSA(tb testing.TB, alg, kid string) signer { return signer{alg, kid, must(tb)(sharedRSA())} }

func ecSigner(tb testing.TB, kid string) signer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return signer{"ES256", kid, key}
}

func edSigner(tb testing.TB, kid string) signer {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return signer{"EdDSA", kid, key}
}

func must(tb testing.TB) func(*rsa.PrivateKey, error) *rsa.PrivateKey {
	return func(key *rsa.PrivateKey, err error) *rsa.PrivateKey {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return key
	}
}

// jwk is the public half, as a JWK.
func (s signer) jwk() object {
	k := object{"kid": s.kid, "use": "sig", "alg": s.alg}
	switch key := s.private.Public().(type) {
	case *rsa.PublicKey:
		k["kty"], k["n"], k["e"] = "RSA", base64url(key.N.Bytes()), base64url(big.NewInt(int64(key.E)).Bytes())
	case *ecdsa.PublicKey:
		point, err := key.Bytes()
		if err != nil {
			panic(err)
		}
		half := (len(point) - 1) / 2
		k["kty"], k["crv"], k["x"], k["y"] = "EC", "P-256", base64url(point[1:1+half]), base64url(point[1+half:])
	case ed25519.PublicKey:
		k["kty"], k["crv"], k["x"] = "OKP", "Ed25519", base64url(key)
	}
	return k
}

// header is what the signer writes unless a test says otherwise.
func (s signer) header(changes ...object) object {
	h := object{"alg": s.alg, "kid": s.kid, "typ": "at+jwt"}
	return changed(h, changes...)
}

// changed returns a copy with other members; nil removes one.
func changed(o object, changes ...object) object {
	o = maps.Clone(o)
	for _, change := range changes {
		for name, value := range change {
			if value == nil {
				delete(o, name)
			} else {
				o[name] = value
			}
		}
	}
	return o
}

// token signs, whatever the header says.
func (s signer) token(tb testing.TB, header, claims any) string {
	tb.Helper()
	signed := encode(tb, header) + "." + encode(tb, claims)
	return signed + "." + s.signature(tb, signed)
}

// raw signs header and claims as they are written.
func (s signer) raw(tb testing.TB, header, claims string) string {
	tb.Helper()
	signed := base64url([]byte(header)) + "." + base64url([]byte(claims))
	return signed + "." + s.signature(tb, signed)
}

func (s signer) signature(tb testing.TB, signed string) string {
	tb.Helper()
	digest := sha256.Sum256([]byte(signed))
	var signature []byte
	var err error
	switch key := s.private.(type) {
	case ed25519.PrivateKey:
		signature = ed25519.Sign(key, []byte(signed))
	case *ecdsa.PrivateKey:
		var r, t *big.Int
		r, t, err = ecdsa.Sign(rand.Reader, key, digest[:])
		if err == nil {
			signature = append(r.FillBytes(make([]byte, 32)), t.FillBytes(make([]byte, 32))...)
		}
	case *rsa.PrivateKey:
		if s.alg == "PS256" {
			signature, err = rsa.SignPSS(rand.Reader, key, crypto.SHA256, digest[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
		} else {
			signature, err = rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
	return base64url(signature)
}

// secret signs with HMAC.
func secret(tb testing.TB, key []byte, header, claims object) string {
	tb.Helper()
	signed := encode(tb, header) + "." + encode(tb, claims)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(signed))
	return signed + "." + base64url(mac.Sum(nil))
}

// fine are the claims of a good token.
func fine(changes ...object) object {
	return changed(object{
		"iss": issuerURL, "sub": "s1", "aud": audience, "client_id": "c1", "jti": "jti-1", "scope": "issues:read issues:write openid",
		"exp": start.Add(time.Hour).Unix(), "iat": start.Unix(), "nbf": start.Unix(),
	}, changes...)
}

// authority is an issuer's web server, reached without a network.
type authority struct {
	mu      sync.Mutex
	answer  func(*http.Request) (*http.Response, error)
	fetches int
	closing bool // all requests asked for the connection to be closed
}

func (a *authority) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	a.fetches++
	a.closing = r.Close && (a.fetches == 1 || a.closing)
	answer := a.answer
	a.mu.Unlock()
	return answer(r)
}

func (a *authority) serve(answer func(*http.Request) (*http.Response, error)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = answer
}

func (a *authority) serveKeys(keys ...object) {
	body, err := json.Marshal(object{"keys": keys})
	if err != nil {
		panic(err)
	}
	a.serve(func(r *http.Request) (*http.Response, error) { return respond(r, http.StatusOK, body), nil })
}

func (a *authority) down() {
	a.serve(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") })
}

// count returns the fetches since the last time.
func (a *authority) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.fetches
	a.fetches = 0
	return n
}

func respond(r *http.Request, status int, body []byte) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), Request: r, ProtoMajor: 1, ProtoMinor: 1}
}

type members map[string]identity.Role // by user; absent: not a member

func (m members) Member(_ context.Context, workspaceID, userID string) (string, identity.Role, bool, error) {
	role, active := m[userID]
	if role == "broken" {
		return "", "", false, errors.New("no table")
	}
	return "Mira Okafor", role, active && workspaceID == "w1", nil
}

// world is a verifier, an issuer that it trusts, and subject s1 linked to u1.
type world struct {
	tb      testing.TB
	issuer  signin.Issuer
	members members
	links   table.Reader
	at      time.Time
	log     bytes.Buffer
	authority
}

func newWorld(tb testing.TB, keys ...object) *world {
	tb.Helper()
	db, err := embedded.OpenUnsynced(filepath.Join(tb.TempDir(), "data"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	err = subject.Make(context.Background(), db, subject.Link{Issuer: issuerURL, Subject: "s1", WorkspaceID: "w1", UserID: "u1", LinkedAt: start})
	if err != nil {
		tb.Fatal(err)
	}
	w := &world{tb: tb, links: db, at: start, members: members{"u1": identity.Admin},
		issuer: signin.Issuer{URL: issuerURL, KeysURL: keysURL, Audience: audience}}
	w.serveKeys(keys...)
	return w
}

func (w *world) verifier() *oauth.Verifier {
	w.tb.Helper()
	v, err := oauth.New(oauth.Config{
		Issuers: []signin.Issuer{w.issuer}, Links: w.links, Members: w.members, Now: func() time.Time { return w.at },
		Logger: slog.New(slog.NewTextHandler(&w.log, nil)), Transport: &w.authority,
	})
	if err != nil {
		w.tb.Fatal(err)
	}
	return v
}
