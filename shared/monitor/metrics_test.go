package monitor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

// everything makes calls that touch every metric, and hostile ones.
func everything(w *world) *monitor.Monitor {
	m := w.monitor()
	w.consume(m, w.play(
		call{at: start, tool: "list_issues", took: 12 * time.Millisecond},
		call{at: start.Add(time.Second), tool: "list_issues", took: 30 * time.Millisecond},
		call{at: start, tool: "list_issues", fails: errBroken},
		call{at: start, tool: "get_issue", fails: notFound},
		call{at: start, tool: "_mcp", recorder: "_authorizer", fails: revoked},
		call{at: start, tool: "token_issue", recorder: "_admin", actor: "operator:x"},
	))
	w.consume(m, w.play(every(time.Second, 500, func(i int, _ time.Time) call {
		return call{tool: fmt.Sprint("made_up_", i), recorder: "_mcp", actor: fmt.Sprint("u", i), fails: noTool}
	})...))
	w.consume(m, []monitor.Record{w.tampered(call{at: start, tool: "list_issues"}, "MODIFY", nil)})
	m.Consume(w.t.Context(), []monitor.Record{{Sequence: "broken"}})
	return m
}

func TestMetrics(t *testing.T) {
	w := newWorld(t)
	everything(w)
	got := w.series()
	want := map[string]float64{
		"Calls": 506, "Calls Outcome=success": 3, "Calls Outcome=denied": 502, "Calls Outcome=error": 1, "Calls Tool=list_issues": 3, "Calls Tool=get_issue": 1, "Calls Tool=_mcp": 1, "Calls Tool=_admin": 1, "Calls Tool=unknown": 500,
		"Calls Tool=list_issues Outcome=success": 2, "Calls Tool=list_issues Outcome=error": 1, "Calls Tool=get_issue Outcome=denied": 1,
		"Calls Tool=_mcp Outcome=denied": 1, "Calls Tool=_admin Outcome=success": 1, "Calls Tool=unknown Outcome=denied": 500,
		"Duration Tool=list_issues": 3, "Duration Tool=get_issue": 1, "Duration Tool=_mcp": 1, "Duration Tool=_admin": 1, "Duration Tool=unknown": 500,
		"Duration Tool=list_issues Outcome=success": 2, "Duration Tool=list_issues Outcome=error": 1, "Duration Tool=get_issue Outcome=denied": 1,
		"Duration Tool=_mcp Outcome=denied": 1, "Duration Tool=_admin Outcome=success": 1, "Duration Tool=unknown Outcome=denied": 500,
		"Denials": 502, "Denials Reason=not_found": 1, "Denials Reason=token_revoked": 1, "Denials Reason=unknown_tool": 500,
		"Findings": 1, "Findings Rule=audit_tampering": 1, "AuditTampering": 1, "PoisonRecords": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestMetricsKeepToTheFormat holds every line to the specification, and to what Metrics says.
func TestMetricsKeepToTheFormat(t *testing.T) {
	w := newWorld(t)
	everything(w)
	declared, emitted := map[string]bool{}, map[string]bool{}
	for _, m := range monitor.Metrics() {
		for _, set := range m.Dimensions {
			declared[fmt.Sprint(m.Name, m.Unit, set)] = true
		}
	}
	for _, l := range w.lines() {
		if at := time.UnixMilli(l.AWS.Timestamp); w.now.Sub(at) > 14*24*time.Hour || at.Sub(w.now) > 2*time.Hour {
			t.Errorf("a line of %s at %s", at, w.now)
		}
		for _, d := range l.AWS.CloudWatchMetrics {
			if d.Namespace != monitor.Namespace || len(d.Metrics) == 0 || len(d.Metrics) > 100 || len(d.Dimensions) == 0 {
				t.Errorf("%+v", d)
			}
			for _, set := range d.Dimensions {
				if set == nil || len(set) > 30 {
					t.Errorf("dimensions %v", set)
				}
				for _, dimension := range set {
					v, ok := l.root[dimension].(string)
					if !ok || v == "" || len(v) > 1024 || !slices.Contains(monitor.Values(dimension, toolNames()), v) {
						t.Errorf("%s is %v, which docs and dashboards do not know", dimension, l.root[dimension])
					}
				}
				for _, m := range d.Metrics {
					emitted[fmt.Sprint(m.Name, m.Unit, set)] = true
					if list, ok := l.root[m.Name].([]any); ok && (len(list) == 0 || len(list) > 100) {
						t.Errorf("%s has %d values", m.Name, len(list))
					}
				}
			}
		}
	}
	if diff := cmp.Diff(declared, emitted); diff != "" {
		t.Errorf("-declared +emitted\n%s", diff)
	}
	for _, secret := range []string{"u1", "w1", "made_up", "192.0.2"} {
		if strings.Contains(w.metrics.String(), secret) {
			t.Errorf("a metric names %s", secret)
		}
	}
}

// TestMetricsOfTheirOwn: all that a monitor counts is in the namespace that it was told.
func TestMetricsOfTheirOwn(t *testing.T) {
	w := newWorld(t)
	const own = "McpAudit/aacworkflow-dev"
	m := monitor.New(monitor.Config{Tables: w.db, Tools: tools(), Metrics: &w.metrics, Namespace: own, Logger: discard, Now: func() time.Time { return w.now }})
	w.consume(m, w.play(denials(25)...))
	w.consume(m, []monitor.Record{w.tampered(call{at: start, tool: "list_issues"}, "MODIFY", nil)})
	m.Consume(t.Context(), []monitor.Record{{Sequence: "broken"}})
	seen := map[string]bool{}
	for _, l := range w.lines() {
		for _, d := range l.AWS.CloudWatchMetrics {
			if d.Namespace != own {
				t.Errorf("counted in %s", d.Namespace)
			}
			for _, metric := range d.Metrics {
				seen[metric.Name] = true
			}
		}
	}
	if len(seen) != len(monitor.Metrics()) {
		t.Errorf("counted only %v", seen)
	}
}

func TestValidNamespace(t *testing.T) {
	for name, want := range map[string]bool{
		monitor.Namespace: true, monitor.Namespace + "/" + strings.Repeat("a", 128): true, "A.b-c_d#e:f": true, strings.Repeat("a", 255): true,
		"": false, ":a": false, "AWS/Lambda": false, "a b": false, "a\n": false, "a*": false, "a$": false, `a"`: false, "ä": false, strings.Repeat("a", 256): false,
	} {
		if got := monitor.ValidNamespace(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// TestMetricsCountOnce: what a process has counted it does not count again.
func TestMetricsCountOnce(t *testing.T) {
	w := newWorld(t)
	records, m := w.play(denials(5)...), w.monitor()
	w.consume(m, append(slices.Clone(records), records...))
	slices.Reverse(records)
	w.consume(m, records)
	if got := w.series()["Calls"]; got != 5 {
		t.Errorf("counted %v calls of 5", got)
	}
}

// TestMetricsAreNotForThePast: CloudWatch drops what is older than two weeks, and says so in a
// metric of errors.
func TestMetricsAreNotForThePast(t *testing.T) {
	w := newWorld(t)
	w.consume(w.monitor(), w.play(
		call{at: w.now.Add(-15 * 24 * time.Hour), tool: "list_issues"},
		call{at: w.now.Add(-13 * 24 * time.Hour), tool: "list_issues"},
		call{at: w.now.Add(3 * time.Hour), tool: "list_issues"},
	))
	if got := w.series()["Calls"]; got != 1 {
		t.Errorf("counted %v calls, want the one that CloudWatch takes", got)
	}
}

// TestTamperingIsCountedNow: an alarm looks at the last minutes, so a feed that is late, by hours or
// by weeks, must not hide it.
func TestTamperingIsCountedNow(t *testing.T) {
	for _, late := range []time.Duration{time.Minute, 6 * time.Hour, 20 * 24 * time.Hour} {
		w := newWorld(t)
		r := w.tampered(call{at: w.now.Add(-late), tool: "list_issues"}, "MODIFY", func(record map[string]any) {
			record["dynamodb"].(map[string]any)["ApproximateCreationDateTime"] = w.now.Add(-late).UnixMicro()
		})
		w.consume(w.monitor(), []monitor.Record{r})
		if got := w.series()["AuditTampering"]; got != 1 {
			t.Errorf("%s late: counted %v", late, got)
		}
		for _, l := range w.lines() {
			if at := time.UnixMilli(l.AWS.Timestamp); w.now.Sub(at) > time.Second {
				t.Errorf("%s late: counted %s ago", late, w.now.Sub(at))
			}
		}
	}
}

func TestLostMetricsAreSaid(t *testing.T) {
	w := newWorld(t)
	m := monitor.New(monitor.Config{Tables: w.db, Tools: tools(), Metrics: full{}, Logger: loggerTo(&w.log), Now: func() time.Time { return w.now }})
	w.consume(m, w.play(denials(25)...))
	if !strings.Contains(w.log.String(), "metrics are lost") || rulesOf(w.findings()) != string(monitor.DenialBurst) {
		t.Errorf("found %q, log:\n%s", rulesOf(w.findings()), w.log.String())
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errBroken }

// A denial is one line of the log, however often it is delivered; nothing else is.
func TestDenialsAreLogged(t *testing.T) {
	w := newWorld(t)
	m := w.monitor()
	records := w.play(
		call{at: start, tool: "get_issue"}, call{at: start, tool: "get_issue", fails: errBroken},
		call{at: start, tool: "delete_issue", fails: badArguments}, call{at: start, tool: "made_up", recorder: "_mcp", fails: noTool},
	)
	w.consume(m, records)
	w.consume(m, records)
	lines := w.log.String()
	if strings.Count(lines, `"msg":"call denied"`) != 2 || !strings.Contains(lines, `"tool":"delete_issue","reason":"invalid_arguments"`) ||
		!strings.Contains(lines, `"tool":"unknown","reason":"unknown_tool"`) {
		t.Errorf("log:\n%s", lines)
	}
}
