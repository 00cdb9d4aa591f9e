package records

import (
	"context"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Readers makes the tracker.Reader of each call. It holds nothing that writes.
type Readers struct{ t table.Reader }

// NewReaders returns the Readers over a table.
func NewReaders(t table.Reader) *Readers { return &Readers{t: t} }

// Reader returns the Reader of one call. The call must have a principal.
func (rs *Readers) Reader(call *audit.Call) tracker.Reader { return &reader{t: rs.t, call: call} }

// Stores makes the tracker.Store of each call, or its tracker.Reader.
type Stores struct {
	w     table.Writer
	newID func() tracker.ID
	pause func(context.Context, time.Duration) error // between attempts to commit
}

// NewStores returns the Stores over a table. newID returns a new id at each call, and must be
// safe for concurrent use.
func NewStores(w table.Writer, newID func() tracker.ID) *Stores {
	return &Stores{w: w, newID: newID, pause: sleep}
}

// Reader returns the Reader of one call, which cannot be turned into a Store.
func (ss *Stores) Reader(call *audit.Call) tracker.Reader { return NewReaders(ss.w).Reader(call) }

// Store returns the Store of one call. The call must have a principal. What the Store commits,
// it commits together with the call's event.
func (ss *Stores) Store(call *audit.Call) tracker.Store { return newStore(ss, call) }

// reader answers one call. It has no method that writes.
type reader struct {
	t    table.Reader
	call *audit.Call // never nil, and with a principal
	// operator: the call is an operator's, who is no member (see Admin). It is set by whoever
	// makes the reader, never found out from the principal.
	operator bool
}

// store acts for one call.
type store struct {
	reader
	w     table.Writer // the same tables as reader.t
	newID func() tracker.ID
	pause func(context.Context, time.Duration) error
}

func newStore(s *Stores, call *audit.Call) *store {
	return &store{reader: reader{t: s.w, call: call}, w: s.w, newID: s.newID, pause: s.pause}
}

func (r *reader) principal() *identity.Principal { return r.call.Principal }

// workspace is the one of the caller's token. Every key is made with it.
func (r *reader) workspace() tracker.ID { return tracker.ID(r.call.Principal.WorkspaceID) }

func (r *reader) userID() tracker.ID { return tracker.ID(r.call.Principal.UserID) }

// now is the time of the call, in the grain of what is stored.
func (r *reader) now() micros { return microsOf(r.call.Now()) }
