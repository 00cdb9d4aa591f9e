package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Log is where events are appended.
type Log = table.Log

// Call is one call on its way to its one event. Whoever acts for the call fills the event in;
// the call is recorded either by committing CommitOp together with a change, or by Record.
// Both write under the same key, so a call that ends in doubt (a time-out during the commit)
// still leaves exactly one event.
//
// A Call belongs to one goroutine at a time.
type Call struct {
	Principal *identity.Principal
	// Event is the event so far. Outcome and duration are set when it is recorded.
	Event Event
	// IdempotencyKey makes repeating a call harmless; empty for none.
	IdempotencyKey string

	now       func() time.Time
	retention time.Duration
	recorded  bool
}

// Settings are the same for all calls of a function.
type Settings struct {
	Now       func() time.Time
	NewID     func() string // a new ULID
	Retention time.Duration // how long events are kept
}

// DefaultRetention is how long events are kept unless the deployment says otherwise.
const DefaultRetention = 400 * 24 * time.Hour

// Start describes a call that begins.
type Start struct {
	Principal *identity.Principal // never nil: a call of nobody has no event
	Tool      string              // as the caller named it
	Recorder  string              // who records: the tool, or one of the Recorder constants
	Required  []identity.Scope
	Transport Transport
	CallID    string
	Client    Client
	SourceIP  string
	TraceID   string
}

// Begin opens the record of a call.
func (set Settings) Begin(s Start) *Call {
	return &Call{Principal: s.Principal, now: set.Now, retention: set.Retention, Event: Event{
		Tool: s.Tool, Recorder: s.Recorder, Timestamp: set.Now().UTC(), EventID: set.NewID(), CallID: s.CallID,
		WorkspaceID: s.Principal.WorkspaceID, Actor: s.Principal.UserID, TokenID: s.Principal.TokenID,
		ScopesProvided: s.Principal.ScopeNames(), ScopesRequired: identity.Names(s.Required),
		Transport: s.Transport, Client: s.Client, SourceIP: s.SourceIP, TraceID: s.TraceID,
	}}
}

// Target notes what the call was found to be about.
func (c *Call) Target(kind, id string) { c.Event.Target = kind + "/" + id }

// Now returns the time.
func (c *Call) Now() time.Time { return c.now() }

// Recorded tells whether the call's event is known to be in the log.
func (c *Call) Recorded() bool { return c.recorded }

// CommitOp is the operation that records the call's success together with its change: add it
// to the commit, and call Committed if the commit succeeds.
func (c *Call) CommitOp(changed []string) (table.Op, error) {
	c.Event.Changed = changed
	item, err := c.item(fault.Success, nil)
	return table.Put(item, table.IfAbsent()), err
}

// Committed notes that the commit that held CommitOp has happened.
func (c *Call) Committed() { c.recorded = true }

// Record writes the event of a call that ended with err, nil for success, unless it is in the
// log already. The context should outlive the call's own deadline.
func (c *Call) Record(ctx context.Context, log Log, err error) error {
	if c.recorded {
		return nil
	}
	outcome, f := fault.Success, (*fault.Fault)(nil)
	if err != nil {
		f = fault.Of(err)
		outcome = f.Kind.Row().Outcome
	}
	item, err := c.item(outcome, f)
	if err != nil {
		return err
	}
	if err := log.Append(ctx, item); err != nil && !table.IsConflict(err) {
		return fmt.Errorf("record the call: %w", err)
	}
	c.recorded = true // a conflict means that the commit in doubt had happened
	return nil
}

func (c *Call) item(outcome fault.Outcome, f *fault.Fault) (table.Item, error) {
	e := c.Event
	e.Outcome = outcome
	if f != nil {
		e.Reason, e.Detail, e.Changed = f.Reason, f.Detail, nil
	}
	e.DurationMS = c.now().Sub(e.Timestamp).Milliseconds()
	e.redact()
	doc, err := json.Marshal(e)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode the audit event: %w", err)
	}
	return table.Item{Key: keyOf(e), Doc: doc, Version: 1, Index: indexOf(e), ExpiresAt: e.Timestamp.Add(c.retention)}, nil
}
