// Package monitor turns the change records of the audit table into metrics and findings: what is
// called how often, and what an administrator should look at.
//
// It decides about no call: a finding stops nobody. It does not read streams or know Lambda;
// lambdarun.Feed hands it batches. Open this file first, then rules.go for what is a finding,
// window.go for how events are counted whatever their order, and state.go for what is kept.
package monitor

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Tables is what the monitor needs of the storage engine: to read the audit log, and to keep its
// own rows in the data table.
type Tables interface {
	table.Reader
	Commit(ctx context.Context, ops []table.Op) error
}

// Publisher tells people of a finding, for instance by mail.
type Publisher interface {
	Publish(ctx context.Context, f Finding) error
}

// Config is what a Monitor needs.
type Config struct {
	Tables Tables
	// Tools are the tools there are; true for those that destroy.
	Tools     map[string]bool
	Rules     []Rule    // nil: Rules()
	Metrics   io.Writer // takes lines of the embedded metric format
	Namespace string    // of the metrics, ValidNamespace; empty: Namespace
	Publisher Publisher // nil for none
	Logger    *slog.Logger
	Now       func() time.Time
	Retention time.Duration // how far back the audit log goes; 0: audit.DefaultRetention
}

// Monitor consumes batches, one at a time.
type Monitor struct {
	tables    Tables
	tools     map[string]bool
	rules     []Rule
	metrics   io.Writer
	namespace string
	publisher Publisher
	log       *slog.Logger
	now       func() time.Time
	retention time.Duration

	// What this process did already, so that a batch delivered again costs little and is not
	// counted twice. Forgetting it is harmless.
	counted *recent // record ids
	settled *recent // sightings
}

// remembered is how many ids a Monitor keeps of each kind; some 100 bytes each.
const remembered = 20_000

// New makes a monitor.
func New(cfg Config) *Monitor {
	m := &Monitor{
		tables: cfg.Tables, tools: cfg.Tools, rules: cfg.Rules, metrics: cfg.Metrics, namespace: cfg.Namespace, publisher: cfg.Publisher,
		log: cfg.Logger, now: cfg.Now, retention: cfg.Retention, counted: newRecent(remembered), settled: newRecent(remembered),
	}
	if m.rules == nil {
		m.rules = Rules()
	}
	if m.namespace == "" {
		m.namespace = Namespace
	}
	if m.retention == 0 {
		m.retention = audit.DefaultRetention
	}
	return m
}

// Record is one record of the stream.
type Record struct {
	Sequence string // names it to the stream
	Data     []byte
}

// Consume counts and judges a batch, in any order and however often it comes. It returns the
// sequences of the records that failed, in the order of the batch: poison, which will never do,
// and those that could not be kept for the moment. All others are done with, so that nobody
// waits for a broken record; coming again with it they change nothing.
func (m *Monitor) Consume(ctx context.Context, records []Record) (failed []string) {
	b := m.read(ctx, records)
	m.count(ctx, b)
	m.lookBackAll(ctx, b)
	for _, g := range m.groups(b) {
		err := ctx.Err()
		if err == nil {
			err = m.weigh(ctx, g)
		}
		if err != nil {
			b.fail(err, g.records...)
			continue
		}
		m.settle(g)
	}
	for _, err := range b.errors {
		m.log.ErrorContext(ctx, "records to be delivered again", "error", err.Error())
	}
	for i, r := range records {
		if b.failed[i] {
			failed = append(failed, r.Sequence)
		}
	}
	return failed
}

// batch is what came at once.
type batch struct {
	facts  []*received
	failed map[int]bool // positions
	errors []error      // each once
	poison int          // that was not counted yet
}

// received is a fact, and the record that it came in.
type received struct {
	fact
	record int
	id     string // of the record, for counting it once
	replay bool
}

// read decodes the records. Of an event that is in the batch twice the first is taken.
func (m *Monitor) read(ctx context.Context, records []Record) *batch {
	b := &batch{failed: map[int]bool{}}
	seen := map[string]bool{}
	for i, r := range records {
		change, err := Decode(r.Data)
		if err != nil {
			b.failed[i] = true
			m.setAside(ctx, b, r, err)
			continue
		}
		if f := m.factOf(change); f != nil && !seen[f.id] {
			seen[f.id] = true
			f.record = i
			b.facts = append(b.facts, f)
		}
	}
	return b
}

// setAside says of a broken record why.
func (m *Monitor) setAside(ctx context.Context, b *batch, r Record, err error) {
	if m.counted.add("poison/" + r.Sequence) {
		b.poison++
	}
	var p *Poison
	reason := NotJSON
	if errors.As(err, &p) {
		reason = p.Reason
	}
	m.log.ErrorContext(ctx, "record set aside", "sequence", r.Sequence, "reason", reason, "bytes", len(r.Data), "error", err.Error())
}

// factOf is nil for a row whose time was over.
func (m *Monitor) factOf(c Change) *received {
	switch c.Kind {
	case Recorded:
		f := fact{Event: c.Event, tool: m.toolWord(c.Event), destroys: m.removed(c.Event)}
		return &received{fact: f, id: c.Event.WorkspaceID + "/" + c.Event.EventID, replay: c.Replay}
	case Tampered:
		f := fact{Event: c.Event, tampered: digest(c.ID)}
		f.Timestamp = c.At // when it happened
		return &received{fact: f, id: "tampered/" + f.tampered, replay: c.Replay}
	default:
		return nil
	}
}

// Words for calls that are no tool's, and for tools that do not exist: whoever calls chooses the
// name, and a metric must not grow with it.
const wordUnknown = "unknown"

// OtherCalls are the words for calls of no tool: the names that the fronts record them under, and
// the recorders that have names of their own for what they do.
var OtherCalls = []string{"_mcp", "_tools", "_audit", "_other", "_oauth", "_admin"}

func (m *Monitor) toolWord(e audit.Event) string {
	if e.Recorder == "_admin" || e.Recorder == "_oauth" {
		return e.Recorder
	}
	if _, known := m.tools[e.Tool]; known || slices.Contains(OtherCalls, e.Tool) {
		return e.Tool
	}
	return wordUnknown
}

func (b *batch) eventsOf(workspace, actor string) (all []audit.Event) {
	for _, f := range b.facts {
		if f.WorkspaceID == workspace && f.Actor == actor && f.tampered == "" {
			all = append(all, f.Event)
		}
	}
	return all
}

func (b *batch) fail(err error, records ...int) {
	for _, i := range records {
		b.failed[i] = true
	}
	if !slices.ContainsFunc(b.errors, func(e error) bool { return e.Error() == err.Error() }) {
		b.errors = append(b.errors, err)
	}
}

// drop takes facts out of the batch: they must come again.
func (b *batch) drop(err error, facts []*fact) {
	b.facts = slices.DeleteFunc(b.facts, func(f *received) bool {
		if !slices.Contains(facts, &f.fact) {
			return false
		}
		b.fail(err, f.record)
		return true
	})
}

// groups sorts what the rules see in the batch by subject and day, leaving out what this process
// has dealt with.
func (m *Monitor) groups(b *batch) []group {
	groups := map[subject]map[string]*group{}
	for _, f := range b.facts {
		for _, r := range m.rules {
			s, ok := r.sight(f.fact)
			if !ok {
				continue
			}
			of, day := subject{f.WorkspaceID, r.Subject, r.subject(f.fact)}, s.time().Format(time.DateOnly)
			if r.once {
				day = ever
			}
			if m.settled.has(settledID(of, day, r.Name, s)) {
				continue
			}
			if groups[of] == nil {
				groups[of] = map[string]*group{}
			}
			g := groups[of][day]
			if g == nil {
				g = &group{subject: of, day: day, actor: f.Actor}
				groups[of][day] = g
			}
			g.sighted = append(g.sighted, sighted{r, s})
			g.records = append(g.records, f.record)
		}
	}
	return inOrder(groups)
}

func inOrder(groups map[subject]map[string]*group) []group {
	var all []group
	for _, days := range groups {
		for _, g := range days {
			all = append(all, *g)
		}
	}
	name := func(g group) string {
		return strings.Join([]string{g.workspace, string(g.kind), g.id, g.day}, "\x00")
	}
	slices.SortFunc(all, func(a, b group) int { return strings.Compare(name(a), name(b)) })
	return all
}

func (m *Monitor) settle(g group) {
	for _, s := range g.sighted {
		m.settled.add(settledID(g.subject, g.day, s.rule.Name, s.Sighting))
	}
}

// settledID names a sighting. One that is kept once for ever or once a slot is not worth a second
// look unless it is earlier, which its time tells.
func settledID(of subject, day string, r RuleName, s Sighting) string {
	id := strings.Join([]string{of.workspace, string(of.kind), of.id, day, string(r), s.Key}, "\x00")
	if day == ever {
		id += "\x00" + s.Event
	}
	return id
}

// tell announces a finding: a line in the log, a metric, and whoever wants to be told.
func (m *Monitor) tell(ctx context.Context, f Finding) error {
	m.log.WarnContext(ctx, "finding", "finding_id", f.ID, "rule", string(f.Rule), "severity", string(f.Severity),
		"workspace_id", f.WorkspaceID, "actor", f.Actor, "token_id", f.TokenID, "subject_tool", f.Tool, "count", f.Count,
		"since", f.Since, "until", f.Until, "raised", f.Raised, "event_ids", f.EventIDs, "text", f.Text)
	m.countFinding(f)
	if m.publisher == nil {
		return nil
	}
	if err := m.publisher.Publish(ctx, f); err != nil {
		return errors.Join(errors.New("a finding could not be published"), err)
	}
	return nil
}

// isDenied is what the metric Denials counts.
func isDenied(e audit.Event) bool { return e.Outcome == fault.Denied }
