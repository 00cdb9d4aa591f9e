// Package fault names the kinds of failure that callers can see, and holds the one table of
// what each of them means over HTTP, in MCP and in the audit log.
//
// It is not for failures inside the program: a plain error is internal, its words stay in the
// log, and the caller reads a fixed text. Start with kinds.go.
package fault

import (
	"errors"
	"time"
)

// Fault is a failure whose text a caller may read. The text says what is wrong and what to do
// next, and never repeats a value that the caller sent.
type Fault struct {
	Kind   Kind
	Reason Reason // the code for programs; never empty except for Internal
	Text   string // the sentence for people
	// Members are further members of the JSON error, such as field or choices.
	Members []Member
	// RetryAfter tells a rate-limited caller how long to wait; whole seconds.
	RetryAfter time.Duration
	// Detail is for the audit log alone: it tells apart what the caller may not.
	Detail Detail
	cause  error
}

// Member is one further member of a JSON error.
type Member struct {
	Name  string
	Value any
}

// Detail is a word of the audit log that the caller does not see.
type Detail string

const (
	TargetMissing   Detail = "target_missing"   // no such target in the caller's workspace
	TargetForbidden Detail = "target_forbidden" // it is there, but the caller may not
)

// New makes a fault. Kind Internal is not for New: return a plain error.
func New(kind Kind, reason Reason, text string) *Fault {
	return &Fault{Kind: kind, Reason: reason, Text: text}
}

// With returns a copy with one more member.
func (f *Fault) With(name string, value any) *Fault {
	g := *f
	g.Members = append(append([]Member(nil), f.Members...), Member{name, value})
	return &g
}

// Because returns a copy that carries the cause for the log.
func (f *Fault) Because(err error) *Fault {
	g := *f
	g.cause = err
	return &g
}

// Noting returns a copy with a detail for the audit log.
func (f *Fault) Noting(d Detail) *Fault {
	g := *f
	g.Detail = d
	return &g
}

// Error returns the public text.
func (f *Fault) Error() string { return f.Text }

// Unwrap returns the cause, if any.
func (f *Fault) Unwrap() error { return f.cause }

// Member returns the value of a further member, or nil.
func (f *Fault) Member(name string) any {
	for _, m := range f.Members {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// InternalText is all that a caller learns of an internal failure, besides the call id.
const InternalText = "internal error; nothing more can be said here: give the call id to your administrator"

// Of returns the fault that a caller may see of err: the fault in its chain, or, for a plain
// error, the internal one with err as its cause.
func Of(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return &Fault{Kind: Internal, Reason: ReasonInternal, Text: InternalText, cause: err}
}

// KindOf returns the kind of err; a plain error is Internal.
func KindOf(err error) Kind { return Of(err).Kind }
