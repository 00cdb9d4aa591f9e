package budget

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// line is one row of the page: what one function asked for in one call.
type line struct {
	function, outcome string
	requests          []request
	over              string
}

// Prices of on-demand capacity, for the column of costs. Source: Amazon DynamoDB pricing, US
// East (N. Virginia), 2026-09.
const (
	dollarsPerMillionReads  = 0.125
	dollarsPerMillionWrites = 0.625
)

// inTrips groups requests that go out at the same time; the groups come one after the other.
func inTrips(all []request) (groups [][]request) {
	for i, r := range inOrder(all) {
		if i == 0 || !r.at.Equal(groups[len(groups)-1][0].at) {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], r)
	}
	return groups
}

// trips is how many requests, or groups of requests side by side, came one after the other.
func trips(all []request) int { return len(inTrips(all)) }

// inOrder sorts by time; what went out at the same time, by text.
func inOrder(all []request) []request {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b request) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.text, b.text)) })
	return all
}

func only(all []request, k kind) []request {
	return slices.DeleteFunc(slices.Clone(all), func(r request) bool { return r.kind != k })
}

// overTarget tells whether a call takes more than it should: one trip to read, then one request
// that changes and records, or only records; a new issue takes a number besides. What is not
// DynamoDB's is one invocation, and nothing beside it.
func (l line) overTarget() bool {
	all := l.requests
	if len(only(all, invoking)) > 0 {
		return len(all) > 1
	}
	return trips(only(all, reading)) > 1 || len(only(all, counting)) > 1 || len(only(all, committing))+len(only(all, recording)) > 1
}

// path writes the requests: → after, + beside.
func (l line) path() string {
	var steps []string
	repeated := 1
	for _, group := range inTrips(l.requests) {
		var texts []string
		for _, r := range group {
			texts = append(texts, r.text)
		}
		step := strings.Join(texts, " + ")
		if n := len(steps); n > 0 && before(steps[n-1]) == step {
			repeated++
			steps[n-1] = fmt.Sprintf("%s (%d times)", step, repeated)
			continue
		}
		steps, repeated = append(steps, step), 1
	}
	return cmp.Or(strings.Join(steps, " → "), "none")
}

// before is a step without the number of times.
func before(step string) string {
	text, _, _ := strings.Cut(step, " (")
	return text
}

func (l line) units() (read, write float64) {
	for _, r := range l.requests {
		read += r.read
		write += r.write
	}
	return read, write
}

func (l line) columns() string {
	read, write := l.units()
	dollars := read*dollarsPerMillionReads + write*dollarsPerMillionWrites
	mark := ""
	if l.over != "" {
		mark = " *"
	}
	return fmt.Sprintf("%s | %s | %d%s | %s | %s | %.2f |\n", l.outcome, l.path(), trips(l.requests), mark, number(read), number(write), dollars)
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

const head = `# Requests and units of each call

Measured by the tests of ` + "`infra/budget`" + ` and compared with this page: a call that takes more, or less, fails them until
` + "`make golden`" + ` has rewritten the page and somebody has read the diff.

Each call runs through the functions as they are deployed, over the demo data. What goes over the wire is counted; units are
computed from it by DynamoDB's published rules: a read unit is 4 KB read consistently, or 8 KB that may lag; a write unit is 1 KB;
a transaction takes double of the table and single of its indexes; an index takes a unit more for each entry that comes, goes or
changes, two for one that moves. Your issues are larger or smaller than those of the demo: requests stay, units vary.

- **requests**: ` + "`→`" + ` one after the other, ` + "`+`" + ` side by side. *Get*, *BatchGet n* keys and *Query* read; *Query byStatus* and the like
  read an index. *Update* takes the next issue number. *Transact n* changes n items, the audit event among them. *Put* adds the
  audit event alone. *Invoke* calls a tool's function.
- **trips**: requests one after the other. A trip takes 3 to 10 ms, so this is the column that a caller feels.
- **US$**: of the units alone, for a million such calls, on demand, in us-east-1 at %s $ and %s $ for a million read and write units.

The goal of a call: **one trip to read, then one that changes and records**, or only records; a new issue takes a number besides.
The front makes one *Invoke* and asks DynamoDB for nothing. A ` + "`*`" + ` marks what takes more; the last section says why.

## Before a tool runs

| function | call | requests | trips | read | write | US$ |
| --- | --- | --- | --- | --- | --- | --- |
`

// page writes the document.
func page(fronts, tools []line, whole []string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, head, number(dollarsPerMillionReads), number(dollarsPerMillionWrites))
	for _, l := range fronts {
		fmt.Fprintf(&b, "| `%s` | %s", l.function, l.columns())
	}
	fmt.Fprint(&b, "\nWhole calls, in trips one after the other: ", strings.Join(whole, "; "), ".\n\n## The tools\n")
	for i, l := range tools {
		if i == 0 || l.function != tools[i-1].function {
			fmt.Fprintf(&b, "\n### `%s`\n\n| call | requests | trips | read | write | US$ |\n| --- | --- | --- | --- | --- | --- |\n", l.function)
		}
		fmt.Fprintf(&b, "| %s", l.columns())
	}
	fmt.Fprint(&b, "\n## What takes more than the goal\n\n| function | call | trips to read | why |\n| --- | --- | --- | --- |\n")
	for _, l := range slices.Concat(fronts, tools) {
		if l.over != "" {
			fmt.Fprintf(&b, "| `%s` | %s | %d | %s |\n", l.function, l.outcome, trips(only(l.requests, reading)), l.over)
		}
	}
	fmt.Fprint(&b, tail)
	return b.Bytes()
}

const tail = `
A tool reads the directory of its workspace (members, agents, autopilots, labels: one item) beside its target, which makes a
request of two keys, or two requests side by side. It says who the caller is at this moment, and gives names to ids.

An issue stands in three indexes with all its attributes, and moves in each of them when it changes. That is six index writes of
its size for a change, the largest part of the write units above. The description is kept beside the issue, so that it is not
written into the indexes.

Not in these numbers: storage, backups, the feed of the audit table to Kinesis, and what watches it. An identity provider's keys
are fetched over the network at the first access token, and again when they are ten minutes old; that is no request of AWS.
`
