package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"sync"
	"time"

	"github.com/aacworkflow/mcp-connector/functions/local/signintest"
)

// personName is the person at whose computer the clients are.
const personName = "Priya Raman"

// consents are the answers that a person gives to one client.
type consents struct {
	// untick is a scope that the person does not grant the first time.
	untick string

	mu    sync.Mutex
	asked []string // the scopes of each request
	err   error
}

// answer fills in the pages behind an address that a client opens in the browser, and returns the
// address to which the browser is sent.
func (c *consents) answer(ctx context.Context, address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	person := signintest.Person{Name: personName}
	if len(c.asked) == 0 {
		person.Without = []string{c.untick}
	}
	c.asked = append(c.asked, signintest.Scopes(u))
	c.mu.Unlock()
	return person.Answer(ctx, address)
}

// times is how often the person was asked.
func (c *consents) times() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.asked)
}

// failed returns what went wrong where nobody could be told.
func (c *consents) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// serve lets a client in another process ask: GET /?url=… gives the address to go to.
func (c *consents) serve() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to, err := c.answer(r.Context(), r.URL.Query().Get("url"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		_, _ = fmt.Fprint(w, to) // the other process says what it lacks
	}))
}

// attendant reads what a program prints, and goes to the address that it asks the person to
// visit; then it follows the way back to the program, as the browser does.
type attendant struct {
	*consents
	ctx  context.Context
	line []byte
	said bytes.Buffer // for when the program fails
}

var invitation = regexp.MustCompile(`https?://\S+/authorize\?\S+`)

func (a *attendant) Write(p []byte) (int, error) {
	a.mu.Lock()
	a.said.Write(p)
	a.mu.Unlock()
	a.line = append(a.line, p...)
	for {
		line, rest, whole := bytes.Cut(a.line, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		a.line = rest
		if address := invitation.Find(line); address != nil {
			go a.visit(string(address))
		}
	}
}

// output is what the program has printed so far.
func (a *attendant) output() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.said.String()
}

func (a *attendant) visit(address string) {
	to, err := a.answer(a.ctx, address)
	if err == nil {
		err = returnTo(a.ctx, to.String())
	}
	if err != nil {
		a.mu.Lock()
		a.err = err
		a.mu.Unlock()
	}
}

// returnWithin is how long a client may take to listen for the person's return: it expects them
// to read before they answer.
const returnWithin = 20 * time.Second

// returnTo loads the page of the client to which the person is sent.
func returnTo(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, returnWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	for {
		response, err := http.DefaultClient.Do(r)
		if err == nil {
			defer response.Body.Close()
			if response.StatusCode >= http.StatusBadRequest {
				return fmt.Errorf("the client answers its callback with %s", response.Status)
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the client does not listen at its callback: %w", err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
