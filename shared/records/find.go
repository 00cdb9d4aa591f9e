package records

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// found is an issue, live or tombstone or not there at all, with the directory of its
// workspace. They are read one by one, not as of one moment: a commit guards what it relies on.
type found struct {
	dir   *directory
	key   table.Key // of the issue
	issue row[issueRow]
	body  row[bodyRow] // if asked for; that of the very version of the issue
	with  batch        // the items of search.with that exist
}

// live tells whether there is an issue that is not deleted.
func (f found) live() bool { return f.issue.found() && !f.issue.Doc.deleted() }

// search says what to read besides an issue and the directory.
type search struct {
	ref    tracker.IssueRef
	body   bool                   // the description
	with   []table.Key            // further items, in the first request
	beside func(number int) error // reads on, next to the last request; number 0: no such issue
}

// findIssue reads what the reference means. Missing and deleted are not errors here: reads
// refuse both (see liveIssue), a delete answers a tombstone again.
func (r *reader) findIssue(ctx context.Context, ref tracker.IssueRef) (found, error) {
	return r.find(ctx, search{ref: ref})
}

// liveIssue is findIssue for calls to which a deleted issue is missing.
//   - fault.NotFound
func (r *reader) liveIssue(ctx context.Context, ref tracker.IssueRef) (found, error) {
	return liveOnly(r.find(ctx, search{ref: ref}))
}

// findWith is findIssue, with the description if asked for.
func (r *reader) findWith(ctx context.Context, ref tracker.IssueRef, body bool) (found, error) {
	return r.find(ctx, search{ref: ref, body: body})
}

func liveOnly(f found, err error) (found, error) {
	if err == nil && !f.live() {
		return found{}, issueNotFound()
	}
	return f, err
}

func issueNotFound() *fault.Fault {
	return fault.New(fault.NotFound, fault.TargetNotFound,
		"there is no such issue in this workspace: list_issues has those there are").Noting(fault.TargetMissing)
}

// bodyTries bounds how often an issue and its description are read until they fit together.
const bodyTries = 3

// find reads what the search asks for.
//
// The requests made do not depend on what is there: one for an identifier, two for an id, the
// second of them also when the first shows that there is nothing. So time does not tell what
// exists.
func (r *reader) find(ctx context.Context, s search) (found, error) {
	for range bodyTries {
		f, err := r.findOnce(ctx, s)
		if err != nil || !s.body || !f.live() || f.body.Version == f.issue.Doc.BodyVersion {
			return f, err
		}
		s.beside = nil // done
	}
	return found{}, contention()
}

// contentionRetry is how long a call should wait that others got in the way of.
const contentionRetry = time.Second

// contention refuses a call that others got in the way of, time and again.
func contention() *fault.Fault {
	f := fault.New(fault.RateLimited, fault.Contention,
		"others kept changing this issue and nothing was done: wait as long as retry_after_s says, then try again")
	f.RetryAfter = contentionRetry
	return f
}

func (r *reader) findOnce(ctx context.Context, s search) (found, error) {
	w := r.workspace()
	first := append([]table.Key{directoryKey(w)}, s.with...)
	prefix, number, ok := s.ref.Identifier()
	if ok {
		b, err := r.findLast(ctx, s, number, first)
		if err != nil {
			return found{}, err
		}
		f, err := r.take(s, number, b, b)
		if err == nil && f.dir.Workspace.IssuePrefix != prefix {
			f.issue, f.body = row[issueRow]{}, row[bodyRow]{} // what it names is in another workspace
		}
		return r.target(f), err
	}
	pointer := issuePointerKey(w, tracker.ID(strings.ToLower(string(s.ref))))
	b, err := getBatch(ctx, r.t, append(first, pointer)...)
	if err != nil {
		return found{}, err
	}
	to, err := pick[pointerRow](b, pointer)
	if err != nil {
		return found{}, err
	}
	last, err := r.findLast(ctx, s, to.Doc.Number, nil)
	if err != nil {
		return found{}, err
	}
	f, err := r.take(s, to.Doc.Number, b, last)
	return r.target(f), err
}

// findLast makes the request that reads the issue, and what goes beside it.
func (r *reader) findLast(ctx context.Context, s search, number int, others []table.Key) (batch, error) {
	keys := append(others, issueKey(r.workspace(), number))
	if s.body {
		keys = append(keys, bodyKey(r.workspace(), number))
	}
	var b batch
	read := func() (err error) {
		b, err = getBatch(ctx, r.t, keys...)
		return err
	}
	if s.beside == nil {
		return b, read()
	}
	err := together(read, func() error { return s.beside(number) })
	return b, err
}

// together runs two reads side by side, and returns the error of the first before that of the
// second.
func together(a, b func() error) error {
	second := make(chan error, 1)
	go func() { second <- caught(b) }()
	first := a()
	return cmp.Or(first, <-second)
}

// caught turns a panic into an error: nobody else catches one that is not on the goroutine of the
// call, and it would end the process.
func caught(read func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return read()
}

// take decodes what was read.
func (r *reader) take(s search, number int, first, last batch) (found, error) {
	w := r.workspace()
	f := found{key: issueKey(w, number), with: first}
	dir, err := pick[directoryRow](first, directoryKey(w))
	if err != nil {
		return found{}, err
	}
	if f.dir, err = r.openDirectory(dir); err != nil {
		return found{}, err
	}
	if f.issue, err = pick[issueRow](last, f.key); err != nil {
		return found{}, err
	}
	if s.body {
		f.body, err = pick[bodyRow](last, bodyKey(w, number))
	}
	return f, err
}

// target notes for the audit log what the call was found to be about.
func (r *reader) target(f found) found {
	if f.issue.found() {
		r.call.Target("issue", string(f.issue.Doc.ID))
	}
	return f
}
