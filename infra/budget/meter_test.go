package budget

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// How round trips are counted: the code under measure runs in a bubble of testing/synctest,
// whose clock moves only when all of it waits. Each request takes roundTrip of that clock, and
// the engine's real answer none, because it comes from outside the bubble. So requests side by
// side take one roundTrip together, and the time that has passed is the number of trips.
const roundTrip = 10 * time.Millisecond

// request is one request to AWS, as it went over the wire.
type request struct {
	at          time.Time
	text        string
	kind        kind
	read, write float64 // units
}

// kind is what the budget knows of requests.
type kind int

const (
	reading    kind = iota
	counting        // raises a counter
	committing      // changes the tracker
	recording       // adds an event to the log
	invoking        // calls another function
)

// meter is the HTTP client of one function's DynamoDB client. Until it is switched on it only
// passes on.
type meter struct {
	engine *engine

	mu       sync.Mutex
	on       bool
	requests []request
	err      error // the first that could not be counted
}

// take returns what was counted since it was switched on, and switches it off.
func (m *meter) take() ([]request, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.requests
	m.on, m.requests = false, nil
	return taken, m.err
}

func (m *meter) switchOn() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.on = true
}

// begin notes a request and lets its round trip pass.
func (m *meter) begin() (metered bool, at time.Time) {
	m.mu.Lock()
	metered = m.on
	m.mu.Unlock()
	if metered {
		at = time.Now()
		time.Sleep(roundTrip)
	}
	return metered, at
}

func (m *meter) note(r request, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests, m.err = append(m.requests, r), errors.Join(m.err, err)
}

// Do implements the HTTP client of the SDK.
func (m *meter) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	metered, at := m.begin()
	answer := m.engine.ask(job{url: req.URL.String(), header: req.Header, body: body, images: metered})
	if answer.err != nil {
		return nil, answer.err
	}
	if metered {
		r, err := count(req.Header.Get("X-Amz-Target"), body, answer)
		r.at = at
		m.note(r, err)
	}
	return &http.Response{StatusCode: answer.status, Header: answer.header, Body: io.NopCloser(bytes.NewReader(answer.body)), Request: req}, nil
}
