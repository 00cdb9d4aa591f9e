package monitor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// denials are n refusals of one token.
func denials(n int) []call {
	return every(10*time.Second, n, func(int, time.Time) call { return call{tool: "get_issue", fails: badArguments} })
}

// disturbed are tables where something happens before a commit.
type disturbed struct {
	monitor.Tables
	before func() error
}

func (d *disturbed) Commit(ctx context.Context, ops []table.Op) error {
	if err := d.before(); err != nil {
		return err
	}
	return d.Tables.Commit(ctx, ops)
}

// TestTwoMonitorsOnOneToken lets another monitor write the same track between reading and
// writing: neither's half is lost, and what they make together is found once.
func TestTwoMonitorsOnOneToken(t *testing.T) {
	w := newWorld(t)
	records := w.play(denials(25)...)
	other, met := w.monitor(), false
	m := w.monitor(&disturbed{w.db, func() error {
		if !met {
			met = true
			w.consume(other, records[13:])
		}
		return nil
	}})
	w.consume(m, records[:13])
	if got := rulesOf(w.published); got != string(monitor.DenialBurst) || w.published[0].Count != 25 {
		t.Errorf("published %q: %+v", got, w.published)
	}
}

// TestEngineFailures: what could not be kept comes again, and nothing is told that is not kept.
func TestEngineFailures(t *testing.T) {
	for name, err := range map[string]error{
		"throttled": &table.Throttled{}, "in doubt": errors.New("time-out"), "always somebody else": &table.Conflict{},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			records := append(w.play(denials(25)...), w.play(call{at: start, tool: "list_issues", actor: "u2", ip: "not an address"})...)
			m := w.monitor(&disturbed{w.db, func() error { return err }})
			failed := m.Consume(context.Background(), records)
			if len(failed) != 25 || failed[0] != records[0].Sequence {
				t.Errorf("failed: %v, want the 25 that make a finding", failed)
			}
			if len(w.published) > 0 || len(w.findings()) > 0 {
				t.Errorf("published %v", w.published)
			}
			w.consume(w.monitor(), records)
			if len(w.published) != 1 {
				t.Errorf("published %d times", len(w.published))
			}
		})
	}
}

// TestOutOfTime: a batch that the deadline cuts off comes again.
func TestOutOfTime(t *testing.T) {
	w := newWorld(t)
	records := w.play(denials(25)...)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if failed := w.monitor().Consume(ctx, records); len(failed) != 25 {
		t.Errorf("%d failed", len(failed))
	}
}

// TestRemovalThatCannotBeJudged: if the log cannot be read, a removal is neither found nor
// forgotten.
func TestRemovalThatCannotBeJudged(t *testing.T) {
	w := newWorld(t)
	records := w.play(
		call{at: start, tool: "list_issues"},
		call{at: start.Add(time.Second), tool: "delete_issue", target: "issue/1", changed: gone},
	)
	if failed := w.monitor(&blind{w.db}).Consume(context.Background(), records); !slices.Equal(failed, []string{records[1].Sequence}) {
		t.Errorf("failed: %v, want the removal alone", failed)
	}
	if len(w.published) > 0 {
		t.Errorf("found %q", rulesOf(w.published))
	}
	w.consume(w.monitor(), records)
	if got := rulesOf(w.published); got != "destructive_without_read first_destructive_use" {
		t.Errorf("found %q", got)
	}
}

// blind are tables whose log cannot be read.
type blind struct{ monitor.Tables }

func (blind) Query(context.Context, table.Query) (table.Page, error) {
	return table.Page{}, errors.New("down")
}

// TestPublishingFails: the batch comes again until somebody was told, also after a restart.
func TestPublishingFails(t *testing.T) {
	w := newWorld(t)
	records, m := w.play(denials(25)...), w.monitor()
	w.refuse = 2
	for range 2 {
		if failed := m.Consume(context.Background(), records); len(failed) != 25 {
			t.Fatalf("failed: %v", failed)
		}
	}
	if len(w.findings()) != 1 {
		t.Errorf("%d findings are kept", len(w.findings()))
	}
	m = w.monitor()
	w.consume(m, records)
	w.consume(m, records)
	w.consume(w.monitor(), records)
	if diff := cmp.Diff(w.findings(), w.published); diff != "" {
		t.Errorf("-kept +published\n%s", diff)
	}
}

// TestDiedBeforeTelling: the finding was kept, and the process ended before anybody was told.
func TestDiedBeforeTelling(t *testing.T) {
	w := newWorld(t)
	records := w.play(denials(25)...)
	func() {
		defer func() { _ = recover() }()
		monitor.New(monitor.Config{Tables: w.db, Tools: tools(), Metrics: &w.metrics, Publisher: dying{}, Logger: discard,
			Now: func() time.Time { return w.now }}).Consume(context.Background(), records)
		t.Error("it did not die")
	}()
	w.consume(w.monitor(), records)
	if diff := cmp.Diff(w.findings(), w.published); diff != "" || len(w.published) != 1 {
		t.Errorf("%d published; -kept +published\n%s", len(w.published), diff)
	}
}

type dying struct{}

func (dying) Publish(context.Context, monitor.Finding) error { panic("killed") }

// tampered makes a record of a row that was changed or removed.
func (w *world) tampered(c call, change string, edit func(record map[string]any)) monitor.Record {
	w.t.Helper()
	r := w.recordOf(w.record(c))
	var record map[string]any
	if err := json.Unmarshal(r.Data, &record); err != nil {
		w.t.Fatal(err)
	}
	record["eventName"], record["eventID"] = change, r.Sequence
	d := record["dynamodb"].(map[string]any)
	d["OldImage"] = d["NewImage"]
	if change == "REMOVE" {
		delete(d, "NewImage")
	}
	if edit != nil {
		edit(record)
	}
	data, err := json.Marshal(record)
	if err != nil {
		w.t.Fatal(err)
	}
	return monitor.Record{Sequence: r.Sequence, Data: data}
}

func byTheTable(record map[string]any) {
	record["userIdentity"] = map[string]any{"type": "Service", "principalId": "dynamodb.amazonaws.com"}
}

func oldImage(record map[string]any) map[string]any {
	return record["dynamodb"].(map[string]any)["OldImage"].(map[string]any)
}

func TestTampering(t *testing.T) {
	old := call{at: start.AddDate(0, 0, -401), tool: "list_issues"} // its time is over
	young := call{at: start, tool: "list_issues"}
	for name, tt := range map[string]struct {
		call   call
		change string
		edit   func(map[string]any)
		want   int
	}{
		"changed":                       {young, "MODIFY", nil, 1},
		"removed":                       {young, "REMOVE", nil, 1},
		"removed by a user, late":       {old, "REMOVE", nil, 1},
		"removed by the table":          {old, "REMOVE", byTheTable, 0},
		"removed by the table, early":   {young, "REMOVE", byTheTable, 1},
		"changed by the table":          {old, "MODIFY", byTheTable, 1},
		"removed by another service":    {old, "REMOVE", func(r map[string]any) { r["userIdentity"] = map[string]any{"type": "Service", "principalId": "x"} }, 1},
		"removed, no time to expire at": {old, "REMOVE", func(r map[string]any) { byTheTable(r); delete(oldImage(r), "ttl") }, 1},
		"removed, not readable":         {young, "REMOVE", func(r map[string]any) { oldImage(r)["tool"] = map[string]any{"B": "AA=="} }, 1},
		"removed, no event":             {young, "REMOVE", func(r map[string]any) { delete(oldImage(r), "event_id") }, 1},
		"removed, no old image":         {young, "REMOVE", func(r map[string]any) { delete(r["dynamodb"].(map[string]any), "OldImage") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := w.tampered(tt.call, tt.change, tt.edit)
			w.consume(w.monitor(), []monitor.Record{r, r})
			w.consume(w.monitor(), []monitor.Record{r})
			found := w.findings()
			if len(found) != tt.want || len(w.published) != tt.want {
				t.Fatalf("%d findings, %d published, want %d", len(found), len(w.published), tt.want)
			}
			if tt.want > 0 && (found[0].Rule != monitor.AuditTampering || found[0].Severity != monitor.Critical || found[0].Count != 1) {
				t.Errorf("%+v", found[0])
			}
			if got := w.series()["AuditTampering"]; got != float64(2*tt.want) { // once for each process
				t.Errorf("metric AuditTampering: %v", got)
			}
			if got := w.series()["Calls"]; got != 0 {
				t.Errorf("%v calls counted, and there was none", got)
			}
		})
	}
}

// TestTamperingWithoutAWorkspace: a row of nobody is still told of.
func TestTamperingWithoutAWorkspace(t *testing.T) {
	w := newWorld(t)
	r := w.tampered(call{at: start, tool: "list_issues"}, "REMOVE", func(r map[string]any) {
		d := r["dynamodb"].(map[string]any)
		delete(d, "OldImage")
		d["Keys"] = map[string]any{"pk": map[string]any{"S": "made up"}, "sk": map[string]any{"S": "x"}}
	})
	w.consume(w.monitor(), []monitor.Record{r})
	if found := w.findingsOf("unknown"); len(found) != 1 || len(w.published) != 1 {
		t.Errorf("%+v", w.published)
	}
}

// TestPoison sets aside each kind of broken record with its reason, and does the rest.
func TestPoison(t *testing.T) {
	edit := func(w *world, change func(record, dynamo, image map[string]any)) []byte {
		r := w.tampered(call{at: start, tool: "list_issues"}, "INSERT", func(record map[string]any) {
			d := record["dynamodb"].(map[string]any)
			change(record, d, d["NewImage"].(map[string]any))
		})
		return r.Data
	}
	value := func(kind string, v any) map[string]any { return map[string]any{kind: v} }
	for name, tt := range map[string]struct {
		reason string
		data   func(w *world) []byte
	}{
		"empty":     {monitor.NotJSON, func(*world) []byte { return nil }},
		"cut off":   {monitor.NotJSON, func(w *world) []byte { return edit(w, func(_, _, _ map[string]any) {})[:200] }},
		"no object": {monitor.NotJSON, func(*world) []byte { return []byte(`[1]`) }},
		"no record": {monitor.OtherFormat, func(*world) []byte { return []byte(`{"tool":"list_issues"}`) }},
		"a new form": {monitor.OtherFormat, func(w *world) []byte {
			return edit(w, func(r, _, _ map[string]any) { r["recordFormat"] = "application/avro" })
		}},
		"a new verb": {monitor.UnknownName, func(w *world) []byte { return edit(w, func(r, _, _ map[string]any) { r["eventName"] = "TRUNCATE" }) }},
		"no time": {monitor.NoTime, func(w *world) []byte {
			return edit(w, func(_, d, _ map[string]any) { delete(d, "ApproximateCreationDateTime") })
		}},
		"no image": {monitor.NotAnEvent, func(w *world) []byte { return edit(w, func(_, d, _ map[string]any) { delete(d, "NewImage") }) }},
		"a set": {monitor.BadImage, func(w *world) []byte {
			return edit(w, func(_, _, i map[string]any) { i["changed"] = value("SS", []string{"x"}) })
		}},
		"two types": {monitor.BadImage, func(w *world) []byte {
			return edit(w, func(_, _, i map[string]any) { i["tool"] = map[string]any{"S": "x", "N": "1"} })
		}},
		"no number": {monitor.BadImage, func(w *world) []byte {
			return edit(w, func(_, _, i map[string]any) { i["duration_ms"] = value("N", "NaN") })
		}},
		"deep": {monitor.BadImage, func(w *world) []byte { return edit(w, func(_, _, i map[string]any) { i["x"] = nested(100) }) }},
		"other type": {monitor.NotAnEvent, func(w *world) []byte {
			return edit(w, func(_, _, i map[string]any) { i["duration_ms"] = value("S", "long") })
		}},
		"no tool": {monitor.NotAnEvent, func(w *world) []byte { return edit(w, func(_, _, i map[string]any) { delete(i, "tool") }) }},
		"no outcome": {monitor.NotAnEvent, func(w *world) []byte {
			return edit(w, func(_, _, i map[string]any) { i["outcome"] = value("S", "fine") })
		}},
		"a huge id": {monitor.NotAnEvent, func(w *world) []byte {
			return edit(w, func(_, _, i map[string]any) { i["event_id"] = value("S", strings.Repeat("x", 65)) })
		}},
		"another key": {monitor.KeyMismatch, func(w *world) []byte {
			return edit(w, func(_, _, i map[string]any) { i["workspace_id"] = value("S", "w2") })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			good := w.play(denials(25)...)
			batch := slices.Insert(slices.Clone(good), 12, monitor.Record{Sequence: "broken", Data: tt.data(w)})
			if failed := w.monitor().Consume(context.Background(), batch); !slices.Equal(failed, []string{"broken"}) {
				t.Errorf("failed: %v", failed)
			}
			if !strings.Contains(w.log.String(), fmt.Sprintf(`"reason":%q`, tt.reason)) {
				t.Errorf("the log does not say %s:\n%s", tt.reason, w.log.String())
			}
			if got := w.series()["PoisonRecords"]; got != 1 {
				t.Errorf("metric PoisonRecords: %v", got)
			}
			if got := rulesOf(w.findings()); got != string(monitor.DenialBurst) {
				t.Errorf("found %q", got)
			}
		})
	}
}

func nested(depth int) any {
	v := any(map[string]any{"NULL": true})
	for range depth {
		v = map[string]any{"L": []any{v}}
	}
	return v
}

// TestFindingsQuery reads by time and page.
func TestFindingsQuery(t *testing.T) {
	w := newWorld(t)
	w.now = start.AddDate(0, 0, 10)
	m := w.monitor()
	var at []time.Time
	for i := range 5 {
		t0 := start.AddDate(0, 0, 2*i)
		at = append(at, t0)
		w.consume(m, w.play(call{at: t0, tool: "delete_issue", target: "issue/1", changed: gone, actor: fmt.Sprint("u", i), token: "t"}))
	}
	if got := rulesOf(w.findings()); got != strings.TrimSpace(strings.Repeat("destructive_without_read ", 5)+"first_destructive_use") {
		t.Fatalf("found %q", got)
	}
	ask := func(q monitor.Query) (times []time.Time) {
		q.Workspace, q.Now = "w1", w.now
		found, err := monitor.Findings(context.Background(), w.db, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if f.Rule == monitor.DestructiveWithoutRead {
				times = append(times, f.Until)
			}
		}
		return times
	}
	for name, tt := range map[string]struct {
		q    monitor.Query
		want []time.Time
	}{
		"the newest two":     {monitor.Query{Limit: 2}, []time.Time{at[4], at[3]}},
		"since is inclusive": {monitor.Query{Limit: 9, Since: at[3]}, []time.Time{at[4], at[3]}},
		"until is exclusive": {monitor.Query{Limit: 9, Until: at[2], Since: at[1]}, []time.Time{at[1]}},
		"nothing":            {monitor.Query{Limit: 9, Since: at[4].Add(time.Second)}, nil},
	} {
		if diff := cmp.Diff(tt.want, ask(tt.q)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	w.now = start.AddDate(0, 0, 405) // the first ones' time is over
	if got := ask(monitor.Query{Limit: 9, Until: at[4].AddDate(0, 0, 1)}); len(got) != 2 {
		t.Errorf("%d findings, want the two that are kept", len(got))
	}
	if _, err := monitor.Findings(context.Background(), &blind{w.db}, monitor.Query{Workspace: "w1", Limit: 1, Now: w.now}); fault.KindOf(err) != fault.Internal {
		t.Errorf("%v", err)
	}
}
