package monitor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

// attack is a script that one rule must find, and no other rule may.
type attack struct {
	rule  monitor.RuleName
	calls []call
	// decisive is how many of the calls from the end make the difference: without one of them
	// there is no finding.
	decisive int
	text     string // of the finding
}

// every makes n calls in even steps.
func every(step time.Duration, n int, f func(i int, at time.Time) call) (calls []call) {
	for i := range n {
		c := f(i, start.Add(time.Duration(i)*step))
		if c.at.IsZero() {
			c.at = start.Add(time.Duration(i) * step)
		}
		calls = append(calls, c)
	}
	return calls
}

// usedToRemove is a token's past: it previewed and removed something a while ago.
func usedToRemove() []call {
	long := start.Add(-40 * time.Minute)
	return []call{
		{at: long, tool: "delete_issue", target: "issue/old", dryRun: true},
		{at: long.Add(time.Minute), tool: "delete_issue", target: "issue/old", changed: gone},
	}
}

func attacks() []attack {
	return []attack{{
		rule: monitor.DenialBurst, decisive: 25, text: "Token token of u1 of u1 was refused 25 times on 2025-06-02 from 10:00:00 to 10:08:00 UTC.",
		calls: every(20*time.Second, 25, func(i int, _ time.Time) call { return call{tool: "get_issue", fails: notFound} }),
	}, {
		rule: monitor.Probing, decisive: 5, text: "Token token of u1 of u1 was refused 5 different tools that it may not call or that do not exist on 2025-06-02 from 10:00:00 to 10:04:00 UTC.",
		calls: every(time.Minute, 5, func(i int, _ time.Time) call {
			if i%2 == 0 {
				return call{tool: fmt.Sprintf("secret_tool_%d", i), recorder: "_mcp", fails: noTool}
			}
			return call{tool: toolNames()[5+i], recorder: "_authorizer", fails: noScope}
		}),
	}, {
		rule: monitor.DestructiveBurst, decisive: 20, text: "User u1 removed 10 things on 2025-06-02 from 10:00:30 to 10:09:30 UTC.",
		calls: append(usedToRemove(), every(30*time.Second, 20, func(i int, _ time.Time) call {
			target := fmt.Sprint("issue/", i/2)
			if i%2 == 0 {
				return call{tool: "get_issue", target: target}
			}
			return call{tool: "delete_issue", target: target, changed: gone}
		})...),
	}, {
		rule: monitor.DestructiveWithoutRead, decisive: 1, text: "User u1 removed 1 thing not looked at before on 2025-06-02 at 10:01:00 UTC.",
		calls: append(usedToRemove(),
			call{at: start, tool: "get_issue", target: "issue/other"},
			call{at: start, tool: "get_issue", target: "issue/target", actor: "u2"},         // somebody else
			call{at: start, tool: "get_issue", target: "issue/target", fails: errBroken},    // shown nothing
			call{at: start.Add(-25 * time.Hour), tool: "get_issue", target: "issue/target"}, // long ago
			call{at: start.Add(2 * time.Minute), tool: "get_issue", target: "issue/target"}, // afterwards
			call{at: start.Add(time.Minute), tool: "delete_issue", target: "issue/target", changed: gone},
		),
	}, {
		rule: monitor.FirstDestructiveUse, decisive: 1, text: "Token token of u1 of u1 removed something for the first time and without a preview on 2025-06-02 at 10:01:00 UTC.",
		calls: []call{
			{at: start, tool: "get_issue", target: "issue/target"},
			{at: start, tool: "delete_issue", target: "issue/other", dryRun: true}, // of something else
			{at: start.Add(time.Minute), tool: "delete_issue", target: "issue/target", changed: gone},
		},
	}, {
		rule: monitor.ManyNetworks, decisive: 10, text: "Token token of u1 of u1 was used from 10 networks from 2025-06-02 10:00:00 to 2025-06-03 04:00:00 UTC.",
		calls: every(2*time.Hour, 10, func(i int, _ time.Time) call {
			if i%2 == 0 {
				return call{tool: "list_issues", ip: fmt.Sprintf("198.51.%d.9", i)}
			}
			return call{tool: "list_issues", ip: fmt.Sprintf("2001:db8:%d::9", i)}
		}),
	}, {
		rule: monitor.CallsAfterRevocation, decisive: 5, text: "Token token of u1 of u1 was used 5 times after it had been revoked on 2025-06-02 from 10:00:00 to 10:56:00 UTC.",
		calls: every(14*time.Minute, 5, func(int, time.Time) call {
			return call{tool: "_mcp", recorder: "_authorizer", fails: revoked}
		}),
	}, {
		rule: monitor.SustainedErrors, decisive: 8, text: "The tool list_issues failed 8 times on 2025-06-02 from 10:00:00 to 10:14:00 UTC.",
		calls: every(2*time.Minute, 8, func(i int, _ time.Time) call {
			return call{tool: "list_issues", actor: fmt.Sprint("u", i), fails: errBroken}
		}),
	}}
}

// deliveries are the ways in which a stream may bring records: each hands batches to monitors.
var deliveries = map[string]func(w *world, records []monitor.Record){
	"at once": func(w *world, records []monitor.Record) { w.consume(w.monitor(), records) },
	"at once, twice": func(w *world, records []monitor.Record) {
		m := w.monitor()
		w.consume(m, records)
		w.consume(m, records)
	},
	"each twice in the batch": func(w *world, records []monitor.Record) {
		w.consume(w.monitor(), append(slices.Clone(records), records...))
	},
	"reversed": func(w *world, records []monitor.Record) {
		slices.Reverse(records)
		w.consume(w.monitor(), records)
	},
	"one by one": func(w *world, records []monitor.Record) {
		m := w.monitor()
		for _, r := range records {
			w.consume(m, []monitor.Record{r})
		}
	},
	"one by one, reversed, a restart after each": func(w *world, records []monitor.Record) {
		for _, r := range slices.Backward(records) {
			w.consume(w.monitor(), []monitor.Record{r})
		}
	},
	"shuffled, by threes, twice, a restart after each": func(w *world, records []monitor.Record) {
		records = append(slices.Clone(records), records...)
		rand.New(rand.NewPCG(4, 2)).Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		for batch := range slices.Chunk(records, 3) {
			w.consume(w.monitor(), batch)
		}
	},
	"with a broken record in front, until it is set aside": func(w *world, records []monitor.Record) {
		batch := append([]monitor.Record{{Sequence: "broken", Data: []byte(`{"eventName":`)}}, records...)
		m := w.monitor()
		for range 3 {
			if failed := m.Consume(context.Background(), batch); !slices.Equal(failed, []string{"broken"}) {
				w.t.Fatalf("failed: %v, want the broken one alone", failed)
			}
		}
		w.consume(m, records)
	},
}

// TestAttacks plays each attack in each way, and requires one finding of its rule and no other.
func TestAttacks(t *testing.T) {
	for _, a := range attacks() {
		for name, deliver := range deliveries {
			t.Run(string(a.rule)+"/"+name, func(t *testing.T) {
				w := newWorld(t)
				w.now = start.Add(24 * time.Hour)
				deliver(w, w.play(a.calls...))
				found := w.findings()
				if rulesOf(found) != string(a.rule) {
					t.Fatalf("found %q, want %s alone", rulesOf(found), a.rule)
				}
				f := found[0]
				if f.Text != a.text {
					t.Errorf("text %q\nwant %q", f.Text, a.text)
				}
				if len(f.EventIDs) == 0 || len(f.EventIDs) > monitor.MaxFindingEvents || f.Raised != 1 || f.ID == "" {
					t.Errorf("%+v", f)
				}
				if diff := cmp.Diff(found, w.published); diff != "" {
					t.Errorf("kept and published differ (-kept +published):\n%s", diff)
				}
				if n := strings.Count(w.log.String(), `"msg":"finding"`); n != 1 {
					t.Errorf("%d lines in the log", n)
				}
				if got := w.series()["Findings Rule="+string(a.rule)]; got != 1 {
					t.Errorf("metric Findings: %v", got)
				}
			})
		}
	}
	if n := len(attacks()) + 1; n != len(monitor.Rules()) { // and tampering, which has tests of its own
		t.Errorf("%d rules are attacked, there are %d", n, len(monitor.Rules()))
	}
}

// TestJustBelow takes one call that counts from each attack: nothing is found.
func TestJustBelow(t *testing.T) {
	for _, a := range attacks() {
		t.Run(string(a.rule), func(t *testing.T) {
			w := newWorld(t)
			w.now = start.Add(24 * time.Hour)
			w.consume(w.monitor(), w.play(a.calls[:len(a.calls)-1]...))
			if found := w.findings(); len(found) > 0 {
				t.Errorf("found %q", rulesOf(found))
			}
		})
	}
}

// TestSpreadOut plays the attacks on windows so slowly that no window holds enough.
func TestSpreadOut(t *testing.T) {
	for _, rule := range monitor.Rules() {
		if rule.Threshold < 2 {
			continue
		}
		t.Run(string(rule.Name), func(t *testing.T) {
			w := newWorld(t)
			w.now = start.AddDate(0, 0, 20)
			i := slices.IndexFunc(attacks(), func(a attack) bool { return a.rule == rule.Name })
			calls := attacks()[i].calls
			var slow []call
			step := rule.Window/time.Duration(rule.Threshold-1) + rule.Window/slotsOfARule + time.Second
			if rule.Name == monitor.DestructiveBurst {
				step /= 2 // every second call is a read
			}
			for j, c := range calls {
				c.at = start.Add(time.Duration(j) * step)
				slow = append(slow, c)
			}
			w.consume(w.monitor(), w.play(slow...))
			if found := w.findings(); len(found) > 0 {
				t.Errorf("found %q: %s", rulesOf(found), found[0].Text)
			}
		})
	}
}

// slotsOfARule is how finely values are kept in a window: docs/monitoring.md says so.
const slotsOfARule = 24

// TestErrorsAtOnceAreNotSustained has the errors of one short outage.
func TestErrorsAtOnceAreNotSustained(t *testing.T) {
	w := newWorld(t)
	w.consume(w.monitor(), w.play(every(5*time.Second, 20, func(int, time.Time) call { return call{tool: "list_issues", fails: errBroken} })...))
	if found := w.findings(); len(found) > 0 {
		t.Errorf("found %q", rulesOf(found))
	}
}

// TestWhatIsNoRemoval: previews, repetitions and refused removals remove nothing.
func TestWhatIsNoRemoval(t *testing.T) {
	w := newWorld(t)
	w.consume(w.monitor(), w.play(
		call{at: start, tool: "delete_issue", target: "issue/1", dryRun: true},
		call{at: start, tool: "delete_issue", target: "issue/2"}, // gone already
		call{at: start, tool: "delete_issue", target: "issue/3", fails: noConfirm},
		call{at: start, tool: "update_issue", target: "issue/4", changed: []string{"status"}},
		call{at: start, tool: "no_such_tool", target: "issue/5", changed: gone},
	))
	if found := w.findings(); len(found) > 0 {
		t.Errorf("found %q", rulesOf(found))
	}
}

// TestCommentsAreReadWithTheirIssue: the log does not say which comments a list has shown.
func TestCommentsAreReadWithTheirIssue(t *testing.T) {
	for _, before := range []string{"list_comments", "comment_issue"} {
		if _, ok := tools()[before]; !ok {
			t.Fatalf("the monitor believes in %s, which is no tool", before)
		}
		w := newWorld(t)
		w.consume(w.monitor(), w.play(append(usedToRemove(),
			call{at: start, tool: before, target: "issue/1", changed: []string{"comments"}},
			call{at: start.Add(time.Minute), tool: "delete_comment", target: "comment/7", changed: []string{"comments"}},
		)...))
		if found := w.findings(); len(found) > 0 {
			t.Errorf("after %s found %q", before, rulesOf(found))
		}
	}
}

// TestAgainOnlyWhenDoubled: a long burst is one finding in each window, raised again each time
// it has doubled.
func TestAgainOnlyWhenDoubled(t *testing.T) {
	w := newWorld(t)
	w.now = start.Add(time.Hour)
	m := w.monitor()
	for _, r := range w.play(every(4*time.Second, 300, func(int, time.Time) call { return call{tool: "get_issue", fails: badArguments} })...) {
		w.consume(m, []monitor.Record{r})
	}
	var got []string
	for _, f := range w.published {
		got = append(got, fmt.Sprintf("%s %s %d %d", f.ID[:4], f.Until.Format(time.TimeOnly), f.Count, f.Raised))
	}
	first, second := w.findings()[0].ID[:4], w.findings()[1].ID[:4]
	want := []string{
		first + " 10:01:36 25 1", first + " 10:03:16 50 2", first + " 10:06:36 100 3", // 128 is all that is counted
		second + " 10:15:08 128 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if found := w.findings(); len(found) != 2 {
		t.Errorf("%d findings are kept, want one for each window", len(found))
	}
	if text := w.published[3].Text; !strings.Contains(text, "at least 128 times") {
		t.Errorf("%q hides that the count is not complete", text)
	}
}

// TestSubjectsAreApart: what several tokens do together is nobody's burst.
func TestSubjectsAreApart(t *testing.T) {
	w := newWorld(t)
	w.consume(w.monitor(), w.play(every(5*time.Second, 48, func(i int, _ time.Time) call {
		return call{tool: "get_issue", token: fmt.Sprint("t", i%2), workspace: fmt.Sprint("w", 1+i/2%2), fails: badArguments}
	})...))
	if found := append(w.findingsOf("w1"), w.findingsOf("w2")...); len(found) > 0 {
		t.Errorf("found %q", rulesOf(found))
	}
}

// TestRenewedTokensAreOneHolder: who renews the token in the middle of it is seen all the same.
func TestRenewedTokensAreOneHolder(t *testing.T) {
	w := newWorld(t)
	w.consume(w.monitor(), w.play(every(5*time.Second, 30, func(i int, _ time.Time) call {
		return call{tool: "get_issue", token: fmt.Sprintf("0197a1b2.%d", i/5+1), fails: badArguments}
	})...))
	if got := rulesOf(w.findings()); got != string(monitor.DenialBurst) {
		t.Errorf("found %q", got)
	}
	w = newWorld(t)
	w.consume(w.monitor(), w.play(append(usedToRemove(), every(5*time.Second, 24, func(i int, _ time.Time) call {
		return call{tool: "delete_issue", token: fmt.Sprint("jti-", i/3), target: fmt.Sprint("issue/", i), changed: gone}
	})...)...))
	if got := rulesOf(w.findings()); !strings.Contains(got, string(monitor.DestructiveBurst)) {
		t.Errorf("found %q", got)
	}
}

// TestFindingsNameNothingThatCallersWrite sends hostile names through every member that a caller
// can choose.
func TestFindingsNameNothingThatCallersWrite(t *testing.T) {
	w := newWorld(t)
	const evil = "<script>alert(1)</script>"
	m := w.monitor()
	w.consume(m, w.play(every(time.Second, 60, func(i int, _ time.Time) call {
		return call{tool: fmt.Sprint(evil, i), recorder: "_mcp", fails: noTool}
	})...))
	w.consume(m, w.play(every(30*time.Second, 30, func(i int, _ time.Time) call {
		return call{tool: evil, recorder: "_mcp", ip: evil, fails: errBroken}
	})...))
	if got := rulesOf(w.published); got != "denial_burst probing sustained_errors" {
		t.Fatalf("found %q", got)
	}
	for name, text := range map[string]string{"findings": fmt.Sprintf("%+v", w.findings()), "the log": w.log.String(), "metrics": w.metrics.String()} {
		if strings.Contains(text, "script") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestRulesHaveParameters lowers a threshold.
func TestRulesHaveParameters(t *testing.T) {
	rules := monitor.Rules()
	rules[0].Threshold = 2
	w := newWorld(t)
	m := monitor.New(monitor.Config{Tables: w.db, Tools: tools(), Rules: rules, Metrics: &w.metrics, Publisher: w, Logger: discard, Now: func() time.Time { return w.now }})
	w.consume(m, w.play(every(time.Second, 2, func(int, time.Time) call { return call{tool: "get_issue", fails: badArguments} })...))
	if got := rulesOf(w.findings()); got != string(monitor.DenialBurst) {
		t.Errorf("found %q", got)
	}
}

// TestReplay judges again what is in the table, and counts nothing twice.
func TestReplay(t *testing.T) {
	w := newWorld(t)
	var records []monitor.Record
	for _, c := range attacks()[0].calls {
		data, err := monitor.RecordOf(w.record(c), start, true)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, monitor.Record{Sequence: fmt.Sprint(len(records)), Data: data})
	}
	w.consume(w.monitor(), records)
	if got := rulesOf(w.findings()); got != string(attacks()[0].rule) {
		t.Errorf("found %q", got)
	}
	if n := w.series()["Calls"]; n != 0 {
		t.Errorf("%v calls were counted again", n)
	}
	w.consume(w.monitor(), records)
	if len(w.published) != 1 {
		t.Errorf("published %d times", len(w.published))
	}
}
