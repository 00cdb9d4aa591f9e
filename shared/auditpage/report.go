// Package auditpage shows people what is in the audit log: the newest events, who called most,
// how calls ended, what was found, and which tools there are. The CloudWatch dashboard's widget
// and local mode's page are made by it, so they show the same.
//
// It makes HTML without scripts, and decides nothing: whoever calls it has found out that the
// reader may read. It is not for programs; they have GET /audit. Start with report.go, what is
// read; sections.go is how it looks, html.go why nothing in it is ever markup.
package auditpage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Limits of a report. The counts are about the newest events up to MaxEvents, and the report
// says so if there are more.
const (
	MaxEvents   = 1000
	shownEvents = 50
	shownFinds  = 20
	shownActors = 10
	maxPages    = 25 // of the log; a filter can make pages short
)

// Ask chooses what a report is about.
type Ask struct {
	Workspace string
	Filter    audit.Filter // Since and Until are set
	Now       time.Time
	Retention time.Duration // how far back events can lie
}

// Report is what is shown.
type Report struct {
	Ask
	Events   []audit.Event // newest first
	More     bool          // there are older ones in the time asked for
	Findings []monitor.Finding
}

// Tables are what a report is made from.
type Tables struct {
	Audit    table.Reader
	Findings table.Reader // of the data table
}

// Read makes a report. Findings are those of the time asked for, whatever else the filter says.
func Read(ctx context.Context, t Tables, a Ask) (Report, error) {
	r := Report{Ask: a}
	q := audit.Query{Workspace: a.Workspace, Filter: a.Filter, Limit: audit.MaxQueryLimit, Now: a.Now, Retention: a.Retention}
	for range maxPages {
		page, err := q.Run(ctx, t.Audit)
		if err != nil {
			return Report{}, err
		}
		r.Events = append(r.Events, page.Events...)
		if q.Cursor = page.Next; q.Cursor == "" || len(r.Events) >= MaxEvents {
			break
		}
	}
	r.More = q.Cursor != ""
	var err error
	r.Findings, err = monitor.Findings(ctx, t.Findings, monitor.Query{
		Workspace: a.Workspace, Since: a.Filter.Since, Until: a.Filter.Until, Limit: shownFinds, Now: a.Now,
	})
	return r, err
}

// Outcomes are the ways in which a call ends, in the order in which they are shown.
var Outcomes = []fault.Outcome{fault.Success, fault.Denied, fault.Failed}

// tally counts calls by outcome.
type tally map[fault.Outcome]int

func (t tally) total() int { return t[fault.Success] + t[fault.Denied] + t[fault.Failed] }

// countedBy is a tally with a name.
type countedBy struct {
	name string
	tally
}

func (r Report) outcomes() tally {
	t := tally{}
	for _, e := range r.Events {
		t[e.Outcome]++
	}
	return t
}

// by counts events by a name, the most first.
func (r Report) by(name func(audit.Event) string, limit int) []countedBy {
	tallies := map[string]tally{}
	for _, e := range r.Events {
		n := name(e)
		if n == "" {
			continue
		}
		if tallies[n] == nil {
			tallies[n] = tally{}
		}
		tallies[n][e.Outcome]++
	}
	rows := make([]countedBy, 0, len(tallies))
	for n, t := range tallies {
		rows = append(rows, countedBy{n, t})
	}
	slices.SortFunc(rows, func(a, b countedBy) int {
		return cmp.Or(cmp.Compare(b.total(), a.total()), cmp.Compare(a.name, b.name))
	})
	return rows[:min(limit, len(rows))]
}

// maxText is the most bytes of an actor or a tool to look for.
const maxText = 128

// Fields are what a filter is given as, by name.
type Fields map[string]string

// The names of the fields.
const (
	FieldTool    = "tool"
	FieldOutcome = "outcome"
	FieldReason  = "reason"
	FieldActor   = "actor"
	FieldHours   = "hours"
)

// periods are the choices of how far back to look.
var periods = []struct{ hours, label string }{
	{"1", "the last hour"}, {"24", "the last 24 hours"}, {"168", "the last 7 days"}, {"720", "the last 30 days"},
}

// ReadFields makes a filter; empty fields choose all. Its error says what to correct, and repeats
// nothing of what was given.
func ReadFields(f Fields, now time.Time) (audit.Filter, error) {
	filter := audit.Filter{Tool: f[FieldTool], Actor: f[FieldActor], Outcome: fault.Outcome(f[FieldOutcome]), Reason: fault.Reason(f[FieldReason])}
	if len(filter.Tool) > maxText || len(filter.Actor) > maxText {
		return audit.Filter{}, fmt.Errorf("tool and actor are at most %d bytes long", maxText)
	}
	if filter.Outcome != "" && !slices.Contains(Outcomes, filter.Outcome) {
		return audit.Filter{}, errors.New("choose one of the outcomes in the list")
	}
	if _, known := fault.KindOfReason(filter.Reason); filter.Reason != "" && !known {
		return audit.Filter{}, errors.New("choose one of the reasons in the list")
	}
	hours := cmp.Or(f[FieldHours], "24")
	for _, p := range periods {
		if p.hours == hours {
			d, err := time.ParseDuration(hours + "h")
			filter.Since = now.Add(-d)
			return filter, err
		}
	}
	return audit.Filter{}, errors.New("choose one of the times in the list")
}
