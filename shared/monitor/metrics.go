package monitor

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// Metrics go to the log as lines of CloudWatch's embedded metric format; CloudWatch makes
// metrics of them. Each combination of a metric and values of its dimensions is a series and
// costs money, so dimensions have few values and none names a person, a token or a workspace.
// Source: Amazon CloudWatch User Guide, "Specification: Embedded metric format".

// Namespace is that of all metrics here, where nothing else is said. Two stacks in one account and
// Region must not share one, or the calls of one set off the alarms of the other: there it is
// followed by a slash and the name of the stack.
const Namespace = "McpAudit"

// ValidNamespace tells whether CloudWatch takes a name as a namespace: 1 to 255 letters, digits and
// signs, and none of those that AWS keeps for itself. Sources: Amazon CloudWatch User Guide,
// "Metrics concepts"; Amazon CloudWatch API Reference, PutMetricData.
func ValidNamespace(name string) bool {
	return namespace.MatchString(name) && len(name) <= 255 && !strings.HasPrefix(name, "AWS/")
}

var namespace = regexp.MustCompile(`^[A-Za-z0-9._/#-][A-Za-z0-9._/#:-]*$`)

// Metric is a metric that this package emits.
type Metric struct {
	Name       string
	Unit       string     // of CloudWatch
	Dimensions [][]string // the sets of names under which it is emitted; an empty set is all calls
	Means      string     // for docs
}

// The metrics.
var (
	metricCalls = Metric{"Calls", "Count", [][]string{{dimTool, dimOutcome}, {dimTool}, {dimOutcome}, {}},
		"calls recorded; those that failed have the outcome error"}
	metricDuration = Metric{"Duration", "Milliseconds", [][]string{{dimTool, dimOutcome}, {dimTool}},
		"how long calls took"}
	metricDenials   = Metric{"Denials", "Count", [][]string{{dimReason}, {}}, "calls refused, and why"}
	metricFindings  = Metric{"Findings", "Count", [][]string{{dimRule}, {}}, "findings raised"}
	metricTampering = Metric{"AuditTampering", "Count", [][]string{{}}, "audit events changed or removed"}
	metricPoison    = Metric{"PoisonRecords", "Count", [][]string{{}}, "change records that nobody can read"}
)

// The dimensions.
const (
	dimTool    = "Tool"    // a tool of the catalogue, a word of OtherCalls, or unknown
	dimOutcome = "Outcome" // success, denied or error
	dimReason  = "Reason"  // a reason of the table of failures, or unknown
	dimRule    = "Rule"    // a RuleName
)

// Metrics lists what is emitted.
func Metrics() []Metric {
	return []Metric{metricCalls, metricDuration, metricDenials, metricFindings, metricTampering, metricPoison}
}

// Values returns all values that a dimension can have, with these tools in the catalogue.
func Values(dimension string, tools []string) (values []string) {
	switch dimension {
	case dimTool:
		return append(append(slices.Clone(tools), OtherCalls...), wordUnknown)
	case dimOutcome:
		return []string{string(fault.Success), string(fault.Denied), string(fault.Failed)}
	case dimReason:
		for _, r := range fault.Reasons() {
			if kind, _ := fault.KindOfReason(r); kind.Row().Outcome == fault.Denied {
				values = append(values, string(r))
			}
		}
		slices.Sort(values)
		return append(values, wordUnknown)
	case dimRule:
		for _, r := range Rules() {
			values = append(values, string(r.Name))
		}
	}
	return values
}

// Series returns the most series that there can be, with these tools in the catalogue.
func Series(tools []string) int {
	n := 0
	for _, m := range Metrics() {
		for _, set := range m.Dimensions {
			combinations := 1
			for _, d := range set {
				combinations *= len(Values(d, tools))
			}
			n += combinations
		}
	}
	return n
}

// Limits of the format, and of CloudWatch for the age of what it takes.
const (
	maxValues = 100 // of one metric in one line
	maxAge    = 14 * 24 * time.Hour
	maxAhead  = 2 * time.Hour
)

// callsOf tells apart what is counted in one line.
type callsOf struct {
	minute        time.Time
	tool, outcome string
}

type denialsOf struct {
	minute time.Time
	reason string
}

// count emits what is new in the batch.
func (m *Monitor) count(ctx context.Context, b *batch) {
	calls, denials, tampering := map[callsOf][]int64{}, map[denialsOf]int{}, 0
	for _, f := range b.facts {
		if f.replay || !m.counted.add(f.id) {
			continue
		}
		minute := f.Timestamp.UTC().Truncate(time.Minute)
		if f.tampered != "" {
			tampering++
			continue
		}
		of := callsOf{minute, f.tool, string(f.Outcome)}
		calls[of] = append(calls[of], f.DurationMS)
		if isDenied(f.Event) {
			denials[denialsOf{minute, reasonWord(f.Reason)}]++
			m.log.InfoContext(ctx, "call denied", "tool", f.tool, "reason", reasonWord(f.Reason), "workspace_id", f.WorkspaceID,
				"actor", f.Actor, "token_id", f.TokenID, "transport", string(f.Transport), "call_id", f.CallID, "event_id", f.EventID)
		}
	}
	m.emitCalls(calls)
	for of, n := range denials {
		m.emit(of.minute, map[string]any{dimReason: of.reason, metricDenials.Name: n}, metricDenials)
	}
	if tampering > 0 {
		// Now, not when it happened: an alarm looks at the last minutes only, and the feed may be late.
		m.emit(m.now(), map[string]any{metricTampering.Name: tampering}, metricTampering)
	}
	if b.poison > 0 {
		m.emit(m.now(), map[string]any{metricPoison.Name: b.poison}, metricPoison)
	}
}

// emitCalls writes calls and durations together, in lines of at most maxValues.
func (m *Monitor) emitCalls(calls map[callsOf][]int64) {
	order := make([]callsOf, 0, len(calls))
	for of := range calls {
		order = append(order, of)
	}
	slices.SortFunc(order, func(a, b callsOf) int {
		return cmp.Or(a.minute.Compare(b.minute), cmp.Compare(a.tool, b.tool), cmp.Compare(a.outcome, b.outcome))
	})
	for _, of := range order {
		for durations := range slices.Chunk(calls[of], maxValues) {
			m.emit(of.minute, map[string]any{
				dimTool: of.tool, dimOutcome: of.outcome, metricCalls.Name: len(durations), metricDuration.Name: durations,
			}, metricCalls, metricDuration)
		}
	}
}

func (m *Monitor) countFinding(f Finding) {
	m.emit(m.now(), map[string]any{dimRule: string(f.Rule), metricFindings.Name: 1}, metricFindings)
}

// reasonWord bounds what a reason can be.
func reasonWord(r fault.Reason) string {
	if _, known := fault.KindOfReason(r); known {
		return string(r)
	}
	return wordUnknown
}

// emit writes one line. What is too old or too far ahead CloudWatch would drop, and is left out.
func (m *Monitor) emit(at time.Time, line map[string]any, metrics ...Metric) {
	if age := m.now().Sub(at); age > maxAge || age < -maxAhead {
		return
	}
	type definition struct{ Name, Unit string }
	type directive struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []definition
	}
	var directives []directive
	for _, metric := range metrics {
		directives = append(directives, directive{m.namespace, metric.Dimensions, []definition{{metric.Name, metric.Unit}}})
	}
	line["_aws"] = map[string]any{"Timestamp": at.UnixMilli(), "CloudWatchMetrics": directives}
	out, err := json.Marshal(line)
	if err == nil {
		_, err = m.metrics.Write(append(out, '\n'))
	}
	if err != nil {
		m.log.Error("metrics are lost", "error", err.Error())
	}
}
