package oauth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwk"
)

// Limits of a fetch.
const (
	fetchTimeout = 2 * time.Second
	maxKeySet    = 256 << 10 // bytes
	maxKeys      = 100
	maxRedirects = 2
)

// fetcher fetches a JWK Set (RFC 7517, section 5).
type fetcher struct {
	url       string
	transport http.RoundTripper // nil: the usual one
}

// fetch returns the keys that may be used, by key id. Who asks first may go away; the others
// still want the answer, so only the time-out ends it.
func (f fetcher) fetch(ctx context.Context) (map[string][]publicKey, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	req.Close = true // a connection that is kept would be dead when Lambda thaws, and has goroutines
	client := http.Client{Transport: f.transport, CheckRedirect: sameHost}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask for the keys: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask for the keys: the issuer answered %d", res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxKeySet+1))
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	if len(body) > maxKeySet {
		return nil, fmt.Errorf("read the keys: more than %d bytes", maxKeySet)
	}
	return readKeys(body)
}

// sameHost follows a redirect only to where the keys are expected anyway.
func sameHost(to *http.Request, via []*http.Request) error {
	from := via[0].URL
	if to.URL.Scheme != from.Scheme || to.URL.Host != from.Host {
		return errors.New("the issuer redirects to another host: set the address of its keys")
	}
	if len(via) > maxRedirects {
		return errors.New("the issuer redirects without end")
	}
	return nil
}

// readKeys takes the public keys for signatures out of a set. What is not one, such as a key of
// a kind that is not known yet, is passed over; a set with none is an error, for the keys that
// are there are better than none.
func readKeys(body []byte) (map[string][]publicKey, error) {
	set, err := jwk.Parse(body, jwk.WithIgnoreParseError(true), jwk.WithMaxKeys(maxKeys))
	if err != nil {
		return nil, errors.New("read the keys: they are no JWK Set")
	}
	keys := map[string][]publicKey{}
	for i := range set.Len() {
		key, _ := set.Key(i)
		if id, k, ok := readKey(key); ok {
			keys[id] = append(keys[id], k)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("read the keys: there is none for signatures among them")
	}
	return keys, nil
}

func readKey(key jwk.Key) (string, publicKey, bool) {
	id, _ := key.KeyID()
	if use, said := key.KeyUsage(); id == "" || len(id) > maxKeyID || said && use != jwk.ForSignature.String() {
		return "", publicKey{}, false
	}
	if operations, said := key.KeyOps(); said && !slices.Contains(operations, jwk.KeyOpVerify) {
		return "", publicKey{}, false
	}
	k := publicKey{}
	if algorithm, said := key.Algorithm(); said {
		k.algorithm = algorithm.String()
	}
	var raw any
	if jwk.Export(key, &raw) != nil {
		return "", publicKey{}, false
	}
	k.key = raw
	switch public := raw.(type) {
	case *rsa.PublicKey:
		return id, k, public.N.BitLen() >= minRSABits
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return id, k, true
	}
	return "", publicKey{}, false // a secret, or a private key: nobody else may have made the token
}

// minRSABits is the shortest RSA key. Source: RFC 7518, section 3.3.
const minRSABits = 2048
