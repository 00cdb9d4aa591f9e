package rest

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// Limits of the query of GET /audit.
const (
	defaultLimit   = 50   // events
	maxFilterText  = 128  // bytes of tool and actor
	maxCursorBytes = 2048 // of a cursor
)

// parameters are all that GET /audit understands. A misspelt filter that was passed over would
// show more than was asked for, so anything else is refused.
var parameters = []struct {
	name string
	set  func(*audit.Query, string) error
}{
	{"tool", func(q *audit.Query, v string) error { q.Filter.Tool = v; return filterText(v) }},
	{"outcome", func(q *audit.Query, v string) error { q.Filter.Outcome = fault.Outcome(v); return knownOutcome(v) }},
	{"reason", func(q *audit.Query, v string) error { q.Filter.Reason = fault.Reason(v); return knownReason(v) }},
	{"actor", func(q *audit.Query, v string) error { q.Filter.Actor = v; return filterText(v) }},
	{"since", func(q *audit.Query, v string) (err error) { q.Filter.Since, err = instant(v); return err }},
	{"until", func(q *audit.Query, v string) (err error) { q.Filter.Until, err = instant(v); return err }},
	{"limit", func(q *audit.Query, v string) (err error) { q.Limit, err = pageSize(v); return err }},
	{"cursor", func(q *audit.Query, v string) error { q.Cursor = v; return cursorText(v) }},
}

// parseQuery reads the query string of GET /audit. Its fault is Invalid with the member field,
// and never repeats what was sent.
func parseQuery(raw string) (audit.Query, error) {
	q := audit.Query{Limit: defaultLimit}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, fault.New(fault.Invalid, fault.InvalidArguments, "the query string is malformed: correct its percent escapes")
	}
	for _, p := range parameters {
		given, ok := values[p.name]
		if !ok {
			continue
		}
		delete(values, p.name)
		if len(given) > 1 {
			return q, invalid(p.name, fmt.Errorf("is there more than once: give it once"))
		}
		if err := p.set(&q, given[0]); err != nil {
			return q, invalid(p.name, err)
		}
	}
	if len(values) > 0 {
		return q, fault.New(fault.Invalid, fault.InvalidArguments, "there is a parameter that is unknown: use "+names()).With("choices", parameterNames())
	}
	if f := q.Filter; !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return q, invalid("since", fmt.Errorf("must lie before until: exchange or correct them"))
	}
	return q, nil
}

func invalid(field string, err error) *fault.Fault {
	return fault.New(fault.Invalid, fault.InvalidArguments, field+" "+err.Error()).With("field", field)
}

func parameterNames() []string {
	all := make([]string, len(parameters))
	for i, p := range parameters {
		all[i] = p.name
	}
	return all
}

func names() string { return strings.Join(parameterNames(), ", ") }

func filterText(v string) error {
	if v == "" || len(v) > maxFilterText || !utf8.ValidString(v) {
		return fmt.Errorf("must be 1 to %d bytes of text: shorten it or leave it out", maxFilterText)
	}
	return nil
}

func knownOutcome(v string) error {
	if !slices.Contains([]fault.Outcome{fault.Success, fault.Denied, fault.Failed}, fault.Outcome(v)) {
		return fmt.Errorf("must be %s, %s or %s", fault.Success, fault.Denied, fault.Failed)
	}
	return nil
}

func knownReason(v string) error {
	if _, ok := fault.KindOfReason(fault.Reason(v)); !ok {
		return fmt.Errorf("is none of ours: take it from the reason of an event or an error")
	}
	return nil
}

func instant(v string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, v)
	if err != nil || t.IsZero() {
		return time.Time{}, fmt.Errorf("must be a time like 2025-06-22T15:30:00Z, a plus sign written as %%2B")
	}
	return t, nil
}

func pageSize(v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > audit.MaxQueryLimit || v != strconv.Itoa(n) {
		return 0, fmt.Errorf("must be a whole number between 1 and %d", audit.MaxQueryLimit)
	}
	return n, nil
}

func cursorText(v string) error {
	if v == "" || len(v) > maxCursorBytes {
		return fmt.Errorf("must be the next_cursor of the page before: start again without it")
	}
	return nil
}
