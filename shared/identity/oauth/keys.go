package oauth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// How long keys are trusted, and how often they are asked for.
const (
	softLife = 10 * time.Minute // then they are fetched anew when they are next needed
	hardLife = 24 * time.Hour   // as long they are used if that fails
	// unknownEvery is how often a key id that is not known, or a failed refresh, may cause a
	// fetch. Tokens with invented key ids cost no more, and delay a new key no longer.
	unknownEvery = 30 * time.Second
	// emptyEvery is the same while there are no keys that may be used.
	emptyEvery = time.Second
)

// keySet is the public keys of one issuer. All is done by whoever needs a key: on Lambda nothing
// runs between two requests, so there is nothing in the background that could refresh anything.
// A bad signature never causes a fetch.
type keySet struct {
	fetch func(context.Context) (map[string][]publicKey, error)
	now   func() time.Time
	log   *slog.Logger

	mu        sync.Mutex
	keys      map[string][]publicKey // by key id
	fetchedAt time.Time              // of keys; zero: never
	triedAt   time.Time              // the last attempt, whatever came of it
	failed    error                  // what came of it
	flight    chan struct{}          // closed when the attempt under way ends; nil: none is
}

func newKeySet(url string, transport http.RoundTripper, now func() time.Time, log *slog.Logger) *keySet {
	f := fetcher{url, transport}
	return &keySet{fetch: f.fetch, now: now, log: log}
}

// find returns the keys with this id; none if the issuer has none. It fails if that cannot be
// told, because the issuer does not answer.
func (s *keySet) find(ctx context.Context, keyID string) ([]publicKey, error) {
	flight, mine := s.join(keyID)
	switch {
	case mine:
		s.refresh(ctx)
	case flight != nil:
		select {
		case <-flight:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the keys: %w", ctx.Err())
		}
	}
	return s.answer(keyID)
}

// join decides whether to answer from what is there (nil), to wait for the fetch under way, or
// to fetch (mine).
func (s *keySet) join(keyID string) (flight <-chan struct{}, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	known, every := s.younger(now, hardLife) && len(s.keys[keyID]) > 0, unknownEvery
	if !s.younger(now, hardLife) {
		every = emptyEvery
	}
	switch {
	case known && (s.flight != nil || s.younger(now, softLife)):
		return nil, false
	case s.flight != nil:
		return s.flight, false
	case !elapsed(s.triedAt, now, every):
		return nil, false
	}
	s.flight = make(chan struct{})
	return s.flight, true
}

// refresh fetches the keys and lets go who waits.
func (s *keySet) refresh(ctx context.Context) {
	began, keys, err := s.now(), map[string][]publicKey(nil), errors.New("the fetch broke off")
	defer func() { s.land(ctx, began, keys, err) }()
	keys, err = s.fetch(ctx)
}

// land keeps what a fetch brought. Old keys stay if it failed; if it did not, a key that the
// issuer has removed is gone.
func (s *keySet) land(ctx context.Context, began time.Time, keys map[string][]publicKey, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.flight)
	s.flight, s.failed, s.triedAt = nil, err, s.now()
	if err != nil {
		s.log.WarnContext(ctx, "the keys of the issuer could not be fetched", "error", err.Error(), "keys_from", s.fetchedAt)
		return
	}
	s.keys, s.fetchedAt = keys, began
}

// answer is what is there.
func (s *keySet) answer(keyID string) ([]publicKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := s.keys[keyID]
	switch {
	case !s.younger(s.now(), hardLife):
		return nil, errors.Join(errors.New("there are none that may still be used"), s.failed)
	case len(keys) == 0 && s.failed != nil:
		return nil, fmt.Errorf("the token's may be a new one, and the last refresh failed: %w", s.failed)
	}
	return keys, nil
}

// younger tells whether there are keys, not older than this.
func (s *keySet) younger(now time.Time, age time.Duration) bool {
	return !s.fetchedAt.IsZero() && !elapsed(s.fetchedAt, now, age)
}

// elapsed tells whether so much time has passed since then. A clock that was set back has let it
// pass.
func elapsed(since, now time.Time, d time.Duration) bool {
	passed := now.Sub(since)
	return since.IsZero() || passed < 0 || passed >= d
}
