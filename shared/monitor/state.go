package monitor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// What the rules remember is kept in the data table, one item for each subject and UTC day, so
// that it outlives the function and late events find the day that they belong to.
//
//	pk MON#<workspace>#<day>   sk <subject kind>/<subject id>   track, expires
//	pk MON#<workspace>#ever    sk <subject kind>/<subject id>   track of rules that keep one sighting for ever
//
// Several monitors may work on the same subject: every write is conditional on the version that
// was read. A finding is committed together with the note that it was raised, and the note says
// until it was announced that this is still to be done; so a function that dies in between
// announces it when the stream delivers the batch again.

// subject is whom or what a track is about.
type subject struct {
	workspace string
	kind      SubjectKind
	id        string
}

const ever = "ever"

// How long tracks are kept. A token lives for 365 days at most; what it did first must be known
// as long.
const (
	dayTracksKept  = 35 * 24 * time.Hour
	everTracksKept = 400 * 24 * time.Hour
)

// track is what is known of one subject on one day.
type track struct {
	Sightings map[RuleName][]Sighting `json:"sightings"`
	Raised    []mark                  `json:"raised,omitempty"`
}

// mark notes that a finding was raised. Times are microseconds since 1970.
type mark struct {
	Rule     RuleName `json:"rule"`
	First    int64    `json:"first"` // names the finding, with rule and subject
	Since    int64    `json:"since"`
	Until    int64    `json:"until"`
	Count    int      `json:"count"`
	Raised   int      `json:"raised"`
	Unspoken bool     `json:"unspoken,omitempty"` // not announced yet
}

// maxMarks bounds the findings remembered of a subject and day.
const maxMarks = 64

func (s subject) key(day string) table.Key {
	return table.Key{Table: table.Data, PK: "MON#" + s.workspace + "#" + day, SK: string(s.kind) + "/" + s.id}
}

// ledger is the tracks of a subject on neighbouring days, as read and as changed.
type ledger struct {
	subject
	days []*dayTrack // in order of time; or the one track for ever
}

type dayTrack struct {
	day     string
	version int64 // as read; 0: there is no item
	track
	changed bool
}

// load reads the tracks of these days.
func (m *Monitor) load(ctx context.Context, s subject, days []string) (*ledger, error) {
	l := &ledger{subject: s}
	keys := make([]table.Key, len(days))
	for i, d := range days {
		keys[i] = s.key(d)
		l.days = append(l.days, &dayTrack{day: d, track: track{Sightings: map[RuleName][]Sighting{}}})
	}
	items, err := m.tables.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read what the rules remember: %w", err)
	}
	for _, item := range items {
		d := l.days[slices.Index(keys, item.Key)]
		d.version = item.Version
		if err := json.Unmarshal(item.Doc, &d.track); err != nil {
			return nil, fmt.Errorf("decode what the rules remember: %w", err)
		}
		if d.Sightings == nil {
			d.Sightings = map[RuleName][]Sighting{}
		}
	}
	return l, nil
}

// on returns the track of a day that was loaded.
func (l *ledger) on(day string) *dayTrack {
	for _, d := range l.days {
		if d.day == day {
			return d
		}
	}
	return nil
}

// sightings returns those of a rule on all loaded days, in order of time.
func (l *ledger) sightings(r RuleName) (all []Sighting) {
	for _, d := range l.days {
		all = append(all, d.Sightings[r]...)
	}
	return all
}

// op writes the track if nobody else did meanwhile.
func (d *dayTrack) op(s subject) (table.Op, error) {
	doc, err := json.Marshal(d.track)
	if err != nil {
		return table.Op{}, fmt.Errorf("encode what the rules remember: %w", err)
	}
	item := table.Item{Key: s.key(d.day), Doc: doc, Version: d.version + 1, ExpiresAt: d.expires()}
	if d.version == 0 {
		return table.Put(item, table.IfAbsent()), nil
	}
	return table.Put(item, table.IfVersion(d.version)), nil
}

// expires counts from what the track is about, so that it does not depend on when it is written.
func (d *dayTrack) expires() time.Time {
	if day, err := time.Parse(time.DateOnly, d.day); err == nil {
		return day.Add(dayTracksKept)
	}
	latest := int64(0)
	for _, sightings := range d.Sightings {
		for _, s := range sightings {
			latest = max(latest, s.At)
		}
	}
	return time.UnixMicro(latest).UTC().Truncate(time.Second).Add(everTracksKept)
}

// save commits the changed tracks together with the findings that were raised.
func (m *Monitor) save(ctx context.Context, l *ledger, findings []raised) error {
	var ops []table.Op
	for _, d := range l.days {
		if !d.changed {
			continue
		}
		op, err := d.op(l.subject)
		if err != nil {
			return err
		}
		ops = append(ops, op)
	}
	for _, f := range findings {
		item, err := f.item(f.key)
		if err != nil {
			return err
		}
		ops = append(ops, table.Put(item, table.Guard{})) // its track guards it
	}
	if len(ops) == 0 {
		return nil
	}
	if err := m.tables.Commit(ctx, ops); err != nil {
		return fmt.Errorf("write what the rules remember: %w", err)
	}
	for _, d := range l.days {
		if d.changed {
			d.version, d.changed = d.version+1, false
		}
	}
	return nil
}

// maxTries bounds how often a track is read anew because somebody else wrote it.
const maxTries = 8

var errContention = errors.New("others kept writing what the rules remember of the same subject: deliver the records again")
