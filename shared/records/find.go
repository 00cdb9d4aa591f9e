package records

import (
	"context"
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
}

// live tells whether there is an issue that is not deleted.
func (f found) live() bool { return f.issue.found() && !f.issue.Doc.deleted() }

// findIssue reads what the reference means. Missing and deleted are not errors here: reads
// refuse both (see liveIssue), a delete answers a tombstone again.
//
// The requests made do not depend on what is there: one for an identifier, two for an id, each
// of them also when the first shows that there is nothing. So time does not tell what exists.
func (r *reader) findIssue(ctx context.Context, ref tracker.IssueRef) (found, error) {
	return r.findWith(ctx, ref, false)
}

// liveIssue is findIssue for calls to which a deleted issue is missing.
//   - fault.NotFound
func (r *reader) liveIssue(ctx context.Context, ref tracker.IssueRef) (found, error) {
	return liveOnly(r.findWith(ctx, ref, false))
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

// findWith is findIssue, with the description if asked for.
func (r *reader) findWith(ctx context.Context, ref tracker.IssueRef, body bool) (found, error) {
	for range bodyTries {
		f, err := r.findOnce(ctx, ref, body)
		if err != nil || !body || !f.live() || f.body.Version == f.issue.Doc.BodyVersion {
			return f, err
		}
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

func (r *reader) findOnce(ctx context.Context, ref tracker.IssueRef, body bool) (found, error) {
	w := r.workspace()
	prefix, number, byIdentifier := ref.Identifier()
	first := directoryKey(w)
	if byIdentifier {
		b, err := getBatch(ctx, r.t, r.issueKeys(number, body, first)...)
		if err != nil {
			return found{}, err
		}
		f, err := r.take(b, b, number, body)
		if err == nil && f.dir.Workspace.IssuePrefix != prefix {
			f.issue, f.body = row[issueRow]{}, row[bodyRow]{} // another workspace's identifier
		}
		return r.target(f), err
	}
	pointer := issuePointerKey(w, tracker.ID(strings.ToLower(string(ref))))
	b, err := getBatch(ctx, r.t, first, pointer)
	if err != nil {
		return found{}, err
	}
	to, err := pick[pointerRow](b, pointer)
	if err != nil {
		return found{}, err
	}
	issues, err := getBatch(ctx, r.t, r.issueKeys(to.Doc.Number, body)...) // number 0: nothing there
	if err != nil {
		return found{}, err
	}
	f, err := r.take(b, issues, to.Doc.Number, body)
	return r.target(f), err
}

func (r *reader) issueKeys(number int, body bool, others ...table.Key) []table.Key {
	keys := append(others, issueKey(r.workspace(), number))
	if body {
		keys = append(keys, bodyKey(r.workspace(), number))
	}
	return keys
}

// take decodes the directory and the issue from what was read.
func (r *reader) take(directories, issues batch, number int, body bool) (found, error) {
	w := r.workspace()
	f := found{key: issueKey(w, number)}
	dir, err := pick[directoryRow](directories, directoryKey(w))
	if err != nil {
		return found{}, err
	}
	if f.dir, err = r.openDirectory(dir); err != nil {
		return found{}, err
	}
	if f.issue, err = pick[issueRow](issues, f.key); err != nil {
		return found{}, err
	}
	if body {
		f.body, err = pick[bodyRow](issues, bodyKey(w, number))
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
