// Package trackertest is the contract of tracker.Reader and tracker.Store: one suite that every
// implementation passes. It imports no implementation, and needs of one only what Fixture says.
//
// It is not for the tools, which have cases of their own. Start with world.go (what is there
// when a test begins), then reads.go and writes.go.
package trackertest

import (
	"sync"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Fixture is an implementation that holds a fresh World, for one test.
type Fixture struct {
	// Clock is the time of every call.
	Clock *Clock
	// Store returns the Store of one call. It is called once for each call, from any goroutine.
	Store func(Caller) tracker.Store
	// SetRole changes a member's role in the Home workspace.
	SetRole func(t *testing.T, user tracker.ID, role identity.Role)
	// Leave makes a member of the Home workspace leave it.
	Leave func(t *testing.T, user tracker.ID)
}

// Caller is who makes a call, and what is said beside its arguments.
type Caller struct {
	Workspace tracker.ID // that of the token
	User      tracker.ID
	Scopes    []identity.Scope
	Tool      string // idempotency keys are apart by tool
	Key       tracker.IdempotencyKey
	Digest    string // of the arguments; counts only with a key
}

// Run runs the suite. open makes a Fixture for each test; it cleans up through t.
func Run(t *testing.T, open func(t *testing.T) Fixture) {
	t.Helper()
	for _, suite := range []struct {
		name  string
		cases []testCase
	}{{"Reads", reads}, {"Writes", writes}} {
		t.Run(suite.name, func(t *testing.T) {
			if len(suite.cases) == 0 {
				t.Fatal("no cases: the suite looked at nothing")
			}
			for _, c := range suite.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.run(t, open(t))
				})
			}
		})
	}
}

type testCase struct {
	name string
	run  func(t *testing.T, f Fixture)
}

// As returns the Store of one call of a member of the Home workspace, with every scope. Take a
// new one for each call.
func (f Fixture) As(user tracker.ID, with ...func(*Caller)) tracker.Store {
	c := Caller{Workspace: Home, User: user, Scopes: identity.Scopes(), Tool: "test"}
	for _, w := range with {
		w(&c)
	}
	return f.Store(c)
}

// Abroad returns the Store of one call of Ada, in the Foreign workspace.
func (f Fixture) Abroad() tracker.Store {
	return f.As(Ada, func(c *Caller) { c.Workspace = Foreign })
}

// Scopes gives the call these scopes and no other.
func Scopes(scopes ...identity.Scope) func(*Caller) {
	return func(c *Caller) { c.Scopes = scopes }
}

// Without gives the call every scope but one.
func Without(scope identity.Scope) func(*Caller) {
	return func(c *Caller) {
		c.Scopes = nil
		for _, s := range identity.Scopes() {
			if s != scope {
				c.Scopes = append(c.Scopes, s)
			}
		}
	}
}

// Keyed gives the call an idempotency key, under a tool, for arguments with this digest.
func Keyed(tool string, key tracker.IdempotencyKey, digest string) func(*Caller) {
	return func(c *Caller) { c.Tool, c.Key, c.Digest = tool, key, digest }
}

// Clock is a time that stands still until a test moves it.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// NewClock returns a clock that stands at Start.
func NewClock() *Clock { return &Clock{at: Start} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Advance moves the clock on.
func (c *Clock) Advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(by)
}

// Set moves the clock to a time.
func (c *Clock) Set(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = to
}
