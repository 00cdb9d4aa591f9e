package monitor_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// start is when the tests' calls begin: a Monday.
var start = time.Date(2025, 6, 2, 10, 0, 0, 0, time.UTC)

// tools is the catalogue, as the monitor wants it.
func tools() map[string]bool {
	all := map[string]bool{}
	for _, d := range catalog.All() {
		all[d.Name] = d.Effect == tool.Destroys
	}
	return all
}

func toolNames() (names []string) {
	for _, d := range catalog.All() {
		names = append(names, d.Name)
	}
	return names
}

// call is a call to be recorded. The zero value of most members is something usual.
type call struct {
	at        time.Time
	workspace string // w1
	actor     string // u1
	token     string // that of the actor
	tool      string
	recorder  string // the tool
	target    string
	fails     error
	changed   []string
	dryRun    bool
	ip        string
	took      time.Duration
}

// world is an audit log and the monitors that watch it.
type world struct {
	t       *testing.T
	db      *embedded.DB
	now     time.Time
	events  int
	records int

	metrics   bytes.Buffer
	log       bytes.Buffer
	published []monitor.Finding
	refuse    int // how many publications fail
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db, err := embedded.OpenUnsynced(filepath.Join(t.TempDir(), "tables.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &world{t: t, db: db, now: start.Add(time.Hour)}
}

// Publish implements monitor.Publisher.
func (w *world) Publish(_ context.Context, f monitor.Finding) error {
	if w.refuse > 0 {
		w.refuse--
		return errors.New("the topic is gone")
	}
	w.published = append(w.published, f)
	return nil
}

// monitor starts one. Tables are those of the world unless others are given.
func (w *world) monitor(tables ...monitor.Tables) *monitor.Monitor {
	over := monitor.Tables(w.db)
	if len(tables) > 0 {
		over = tables[0]
	}
	return monitor.New(monitor.Config{
		Tables: over, Tools: tools(), Metrics: &w.metrics, Publisher: w,
		Logger: loggerTo(&w.log), Now: func() time.Time { return w.now },
	})
}

// record writes the call's event into the log and returns the item.
func (w *world) record(c call) table.Item {
	w.t.Helper()
	w.events++
	id, clock := fmt.Sprintf("01JE%022d", w.events), []time.Time{c.at, c.at.Add(c.took)}
	set := audit.Settings{NewID: func() string { return id }, Retention: audit.DefaultRetention, Now: func() time.Time {
		at := clock[0]
		if len(clock) > 1 {
			clock = clock[1:]
		}
		return at
	}}
	call := set.Begin(audit.Start{
		Principal: &identity.Principal{
			WorkspaceID: cmp.Or(c.workspace, "w1"), UserID: cmp.Or(c.actor, "u1"), TokenID: cmp.Or(c.token, "token of "+cmp.Or(c.actor, "u1")),
		},
		Tool: c.tool, Recorder: cmp.Or(c.recorder, c.tool), Transport: audit.MCP, CallID: "call", SourceIP: cmp.Or(c.ip, "192.0.2.7"),
	})
	call.Event.Target, call.Event.DryRun = c.target, c.dryRun
	var kept keeper
	if c.fails == nil {
		op, err := call.CommitOp(c.changed)
		if err != nil {
			w.t.Fatal(err)
		}
		kept.item = op.Item
	} else if err := call.Record(context.Background(), &kept, c.fails); err != nil {
		w.t.Fatal(err)
	}
	if err := w.db.Append(context.Background(), kept.item); err != nil {
		w.t.Fatal(err)
	}
	return kept.item
}

type keeper struct{ item table.Item }

func (k *keeper) Append(_ context.Context, item table.Item) error {
	k.item = item
	return nil
}

// recordOf is the item as the stream brings it.
func (w *world) recordOf(item table.Item) monitor.Record {
	w.t.Helper()
	data, err := monitor.RecordOf(item, w.now, false)
	if err != nil {
		w.t.Fatal(err)
	}
	w.records++
	return monitor.Record{Sequence: fmt.Sprintf("%09d", w.records), Data: data}
}

// play records the calls and returns their records, in order.
func (w *world) play(calls ...call) (records []monitor.Record) {
	w.t.Helper()
	for _, c := range calls {
		records = append(records, w.recordOf(w.record(c)))
	}
	return records
}

// consume hands a batch to a monitor and requires that nothing fails.
func (w *world) consume(m *monitor.Monitor, records []monitor.Record) {
	w.t.Helper()
	if failed := m.Consume(context.Background(), records); len(failed) > 0 {
		w.t.Fatalf("records failed: %v\n%s", failed, w.log.String())
	}
}

// findings reads what was found, oldest first.
func (w *world) findings() []monitor.Finding {
	w.t.Helper()
	return w.findingsOf("w1")
}

func (w *world) findingsOf(workspace string) []monitor.Finding {
	w.t.Helper()
	found, err := monitor.Findings(context.Background(), w.db, monitor.Query{Workspace: workspace, Limit: 1000, Now: w.now})
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Reverse(found)
	return found
}

// rulesOf names the rules of findings, sorted.
func rulesOf(found []monitor.Finding) string {
	var names []string
	for _, f := range found {
		names = append(names, string(f.Rule))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// line is a line of the embedded metric format.
type line struct {
	AWS struct {
		Timestamp         int64
		CloudWatchMetrics []struct {
			Namespace  string
			Dimensions [][]string
			Metrics    []struct{ Name, Unit string }
		}
	} `json:"_aws"`
	root map[string]any
}

func (w *world) lines() (all []line) {
	w.t.Helper()
	for text := range strings.Lines(w.metrics.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			w.t.Fatalf("%q: %v", text, err)
		}
		if err := json.Unmarshal([]byte(text), &l.root); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}

// series sums up what CloudWatch would make of the lines: "Calls Tool=x Outcome=y" and so on.
// Of values in a list it counts how many there are.
func (w *world) series() map[string]float64 {
	w.t.Helper()
	sums := map[string]float64{}
	for _, l := range w.lines() {
		for _, d := range l.AWS.CloudWatchMetrics {
			for _, set := range d.Dimensions {
				for _, m := range d.Metrics {
					name := m.Name
					for _, dimension := range set {
						name += " " + dimension + "=" + l.root[dimension].(string)
					}
					switch v := l.root[m.Name].(type) {
					case float64:
						sums[name] += v
					case []any:
						sums[name] += float64(len(v))
					default:
						w.t.Fatalf("%s is no value of %s", v, m.Name)
					}
				}
			}
		}
	}
	return sums
}

// Refusals that callers meet.
var (
	badArguments = fault.New(fault.Invalid, fault.InvalidArguments, "no")
	notFound     = fault.New(fault.NotFound, fault.TargetNotFound, "no")
	noConfirm    = fault.New(fault.Invalid, fault.ConfirmMissing, "no")
	noScope      = fault.New(fault.Forbidden, fault.InsufficientScope, "no")
	noTool       = fault.New(fault.NotFound, fault.UnknownTool, "no")
	revoked      = fault.New(fault.Unauthenticated, fault.TokenRevoked, "no")
	conflict     = fault.New(fault.Conflict, fault.RevisionConflict, "no")
	tooFast      = fault.New(fault.RateLimited, fault.ReasonRateLimited, "no")
	errBroken    = errors.New("the engine is down")
)

var gone = []string{"deleted_at"}

var discard = slog.New(slog.DiscardHandler)

func loggerTo(w io.Writer) *slog.Logger { return slog.New(slog.NewJSONHandler(w, nil)) }
