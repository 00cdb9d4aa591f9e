package auditpage

import (
	"fmt"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

// Section is one part of a report. Its ID stays the same from report to report, so that a page
// can replace what has changed and nothing else.
type Section struct {
	ID      string // an id of HTML
	Heading string
	HTML    string
	body    []node
}

// Sections are the parts of a report, in the order in which they are shown.
func (r Report) Sections() []Section {
	sections := []Section{
		{ID: "counts", Heading: "How calls ended", body: r.countsBody()},
		{ID: "findings", Heading: "Findings", body: r.findingsBody()},
		{ID: "events", Heading: "Newest calls", body: r.eventsBody()},
		{ID: "actors", Heading: "Who called most", body: r.rankBody("actor", func(e audit.Event) string { return e.Actor })},
		{ID: "reasons", Heading: "Why calls were refused", body: r.rankBody("reason", func(e audit.Event) string { return string(e.Reason) })},
	}
	for i := range sections {
		sections[i].HTML = render(sections[i].body...)
	}
	return sections
}

// Summary is the report in one sentence, for those who listen.
func (r Report) Summary() string {
	n := len(r.Events)
	if n == 0 {
		return "No calls match."
	}
	noun := "calls"
	if n == 1 {
		noun = "call"
	}
	atLeast := ""
	if r.More {
		atLeast = "At least "
	}
	return fmt.Sprintf("%s%d %s: %s; the newest at %s UTC.", atLeast, n, noun, r.outcomes().words(), r.Events[0].Timestamp.UTC().Format("15:04:05"))
}

func (r Report) countsBody() []node {
	var cells []part
	for _, o := range Outcomes {
		cells = append(cells, el("div", class("aac-count"),
			el("dt", el("span", class("aac-key aac-"+string(o)), at("aria-hidden", "true")), text(outcomeWord(o))),
			el("dd", text(fmt.Sprint(r.outcomes()[o])))))
	}
	nodes := []node{el("dl", append(cells, class("aac-counts"))...), r.chart()}
	if r.More {
		nodes = append(nodes, el("p", class("aac-note"), text(fmt.Sprintf(
			"There are more: this is about the newest %d. Choose a shorter time, or a filter.", len(r.Events)))))
	}
	return nodes
}

func (r Report) eventsBody() []node {
	if len(r.Events) == 0 {
		return []node{none("No calls match.")}
	}
	var rows [][]node
	for _, e := range r.Events[:min(shownEvents, len(r.Events))] {
		rows = append(rows, eventRow(e))
	}
	caption := fmt.Sprintf("The newest %d of %d calls, times in UTC", len(rows), len(r.Events))
	return []node{grid(caption, []string{"time", "outcome", "tool", "actor", "client", "target", "address", "ms"}, rows)}
}

func eventRow(e audit.Event) []node {
	outcome := group{el("span", class("aac-word aac-is-"+outcomeClass(e.Outcome)), text(outcomeWord(e.Outcome)))}
	if e.Reason != "" {
		outcome = append(outcome, text(" "), code(string(e.Reason)))
	}
	called := group{code(e.Tool)}
	for _, mark := range []struct {
		is   bool
		word string
	}{{e.DryRun, "preview"}, {e.Replayed, "repeated"}} {
		if mark.is {
			called = append(called, text(" "+mark.word))
		}
	}
	return []node{
		el("time", at("datetime", e.Timestamp.UTC().Format("2006-01-02T15:04:05.000000Z")), text(e.Timestamp.UTC().Format("01-02 15:04:05"))),
		outcome, called, el("span", class("aac-id"), said(e.Actor)), said(strings.TrimSpace(e.Client.Name + " " + e.Client.Version)),
		el("span", class("aac-any"), said(e.Target)), said(e.SourceIP),
		text(fmt.Sprint(e.DurationMS)),
	}
}

// outcomeClass is one of three words, whatever an event says.
func outcomeClass(o fault.Outcome) string {
	switch o {
	case fault.Success, fault.Denied:
		return string(o)
	default:
		return string(fault.Failed)
	}
}

func (r Report) rankBody(what string, name func(audit.Event) string) []node {
	var rows [][]node
	for _, c := range r.by(name, shownActors) {
		rows = append(rows, []node{said(c.name), text(fmt.Sprint(c.total())), text(fmt.Sprint(c.tally[fault.Success])),
			text(fmt.Sprint(c.tally[fault.Denied])), text(fmt.Sprint(c.tally[fault.Failed]))})
	}
	if len(rows) == 0 {
		return []node{none("None.")}
	}
	return []node{grid("Calls by "+what+", the most first", []string{what, "calls", "succeeded", "denied", "failed"}, rows)}
}

func (r Report) findingsBody() []node {
	if len(r.Findings) == 0 {
		return []node{none("None.")}
	}
	var rows [][]node
	for _, f := range r.Findings {
		rows = append(rows, []node{
			el("span", class("aac-word aac-severity-"+severityClass(f.Severity)), text(string(f.Severity))),
			code(string(f.Rule)), said(f.Text),
		})
	}
	return []node{grid("What an administrator should look at, the newest first", []string{"severity", "rule", "what happened"}, rows)}
}

func severityClass(s monitor.Severity) string {
	switch s {
	case monitor.Low, monitor.Medium:
		return "minor"
	default:
		return "major"
	}
}

// toolsBody is public: which tools there are is no secret.
func toolsBody(tools []catalog.Entry) []node {
	var rows [][]node
	for _, t := range tools {
		a := t.Annotations
		rows = append(rows, []node{code(t.Name), said(t.Title), yes(a.ReadOnlyHint), yes(a.DestructiveHint), yes(a.IdempotentHint), yes(a.OpenWorldHint),
			code(identity.Join(t.Scopes)), text(t.Confirm)})
	}
	return []node{grid("Every tool, what it declares, and what it asks for",
		[]string{"tool", "what it does", "reads only", "destroys", "idempotent", "open world", "scope", "confirm"}, rows)}
}

func yes(is bool) node {
	if is {
		return el("strong", text("yes"))
	}
	return text("no")
}

func none(words string) node { return el("p", class("aac-none"), text(words)) }

// grid is a table with a caption; the first cell of a row is its header.
func grid(caption string, heads []string, rows [][]node) node {
	var head []part
	for _, h := range heads {
		head = append(head, el("th", at("scope", "col"), text(h)))
	}
	var body []part
	for _, row := range rows {
		cells := []part{el("th", at("scope", "row"), row[0])}
		for _, cell := range row[1:] {
			cells = append(cells, el("td", cell))
		}
		body = append(body, el("tr", cells...))
	}
	return el("table", el("caption", text(caption)), el("thead", el("tr", head...)), el("tbody", body...))
}
