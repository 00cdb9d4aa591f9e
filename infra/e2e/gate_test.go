package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// gate stands between the functions and DynamoDB, and holds requests as a test tells it.
type gate struct {
	t    *testing.T
	next http.Handler

	mu    sync.Mutex
	holds []*hold
}

// hold is what to do with the next request of an operation.
type hold struct {
	operation string
	after     bool          // let it through, and hold the answer
	arrived   chan struct{} // closed when it has come so far
	release   chan struct{} // close it to let it go on
}

func (g *gate) between(next http.Handler) http.Handler {
	g.next = next
	return g
}

// hold holds the next request of an operation before it reaches the engine, or its answer.
func (g *gate) hold(operation string, after bool) *hold {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := &hold{operation: operation, after: after, arrived: make(chan struct{}), release: make(chan struct{})}
	g.holds = append(g.holds, h)
	return h
}

// take returns the hold that a request meets, nil for none.
func (g *gate) take(operation string) *hold {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, h := range g.holds {
		if h.operation == operation {
			g.holds = append(g.holds[:i], g.holds[i+1:]...)
			return h
		}
	}
	return nil
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	h := g.take(operation)
	if h == nil {
		g.next.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		g.t.Errorf("read a request of %s: %v", operation, err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	recorder := httptest.NewRecorder()
	if h.after {
		g.next.ServeHTTP(recorder, r)
	}
	close(h.arrived)
	select {
	case <-h.release:
	case <-r.Context().Done(): // whoever asked is gone; nothing more reaches the engine
		return
	}
	if !h.after {
		g.next.ServeHTTP(recorder, r)
	}
	for name, values := range recorder.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(recorder.Code)
	_, _ = w.Write(recorder.Body.Bytes()) // it may have gone
}
