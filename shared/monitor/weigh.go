package monitor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// group is the new sightings of one subject on one day.
type group struct {
	subject
	day     string // or ever
	actor   string // of the subject's events, if there is one
	sighted []sighted
	records []int // positions in the batch, to be reported if this fails
}

type sighted struct {
	rule Rule
	Sighting
}

// raised is a finding and where it is kept.
type raised struct {
	Finding
	key table.Key
}

// weigh adds the group to what is known, raises what follows from it, and announces it.
func (m *Monitor) weigh(ctx context.Context, g group) error {
	days := g.daysAround(m.now())
	for range maxTries {
		l, err := m.load(ctx, g.subject, days)
		if err != nil {
			return err
		}
		findings := l.take(g)
		err = m.save(ctx, l, findings)
		if table.IsConflict(err) {
			continue
		}
		if err != nil {
			return err
		}
		return m.announce(ctx, l, findings)
	}
	return errContention
}

// daysAround returns the days that windows with one of these sightings can reach into, those to
// come left out.
func (g group) daysAround(now time.Time) []string {
	if g.day == ever {
		return []string{ever}
	}
	days := []string{g.day}
	for _, s := range g.sighted {
		for _, at := range []time.Time{s.time().Add(-s.rule.Window), s.time().Add(s.rule.Window)} {
			d := at.Format(time.DateOnly)
			if !slices.Contains(days, d) && d <= now.UTC().Format(time.DateOnly) {
				days = append(days, d)
			}
		}
	}
	slices.Sort(days)
	return days
}

// take merges the group into its day and judges each rule that saw something new.
func (l *ledger) take(g group) (findings []raised) {
	d := l.on(g.day)
	fresh := map[RuleName]map[string]bool{}
	for _, s := range g.sighted {
		kept, changed := s.rule.merge(d.Sightings[s.rule.Name], s.Sighting)
		if !changed {
			continue
		}
		d.Sightings[s.rule.Name], d.changed = kept, true
		if fresh[s.rule.Name] == nil {
			fresh[s.rule.Name] = map[string]bool{}
		}
		fresh[s.rule.Name][s.Key] = true
	}
	judged := map[RuleName]bool{}
	for _, s := range g.sighted {
		if r := s.rule; !judged[r.Name] && fresh[r.Name] != nil {
			judged[r.Name] = true
			if w, ok := r.find(l.sightings(r.Name), fresh[r.Name]); ok {
				findings = append(findings, l.raise(r, g.actor, w)...)
			}
		}
	}
	return findings
}

func (r Rule) merge(kept []Sighting, s Sighting) ([]Sighting, bool) {
	if r.once && len(kept) > 0 && byTime(kept[0], s) > 0 {
		return []Sighting{s}, true
	}
	return merge(kept, s) // the key is the same for all, so there is one
}

// find returns what the rule finds among the sightings, with something fresh in it.
func (r Rule) find(sightings []Sighting, fresh map[string]bool) (window, bool) {
	if !r.once {
		return r.worst(sightings, fresh)
	}
	return window{sightings, 1}, len(sightings) == 1 && sightings[0].Value == firstUnprepared
}

// raise makes the finding of a window, unless one was raised for a window that shares time with
// it and this one has not grown by GrowthFactor.
func (l *ledger) raise(r Rule, actor string, w window) []raised {
	since, until := w.since().UnixMicro(), w.until().UnixMicro()
	d, before := l.marked(r, since, until)
	if before == nil {
		d = l.on(w.until().Format(time.DateOnly))
		if r.once {
			d = l.on(ever)
		}
		d.Raised = append(d.Raised, mark{Rule: r.Name, First: until, Since: since, Until: until})
		d.Raised = d.Raised[max(0, len(d.Raised)-maxMarks):]
		before = &d.Raised[len(d.Raised)-1]
	} else if r.once || w.count < GrowthFactor*before.Count {
		return nil
	}
	before.Since, before.Until = min(before.Since, since), max(before.Until, until)
	before.Count, before.Unspoken = w.count, true
	before.Raised++
	d.changed = true

	first := time.UnixMicro(before.First).UTC()
	f := newFinding(r, l.subject, actor, w, first)
	f.Since, f.Until, f.Raised = time.UnixMicro(before.Since).UTC(), time.UnixMicro(before.Until).UTC(), before.Raised
	f.Text = r.sentence(f)
	return []raised{{f, findingKey(l.workspace, first, f.ID)}}
}

// marked returns the largest finding of the rule that shares time with a window, and its track.
func (l *ledger) marked(r Rule, since, until int64) (in *dayTrack, found *mark) {
	for _, d := range l.days {
		for i := range d.Raised {
			k := &d.Raised[i]
			if k.Rule == r.Name && (r.once || k.Since <= until && since <= k.Until) && (found == nil || k.Count > found.Count) {
				in, found = d, k
			}
		}
	}
	return in, found
}

// announce tells of the findings that nobody was told of, and notes that it was done. It may
// tell twice, after a failure in between; it does not forget.
func (m *Monitor) announce(ctx context.Context, l *ledger, fresh []raised) error {
	var told []mark
	for _, d := range l.days {
		for _, k := range d.Raised {
			if !k.Unspoken {
				continue
			}
			f, err := m.finding(ctx, l.subject, k, fresh)
			if err != nil {
				return err
			}
			if err := m.tell(ctx, f); err != nil {
				return err
			}
			told = append(told, k)
		}
	}
	if len(told) == 0 {
		return nil
	}
	return m.noteTold(ctx, l, told)
}

// finding returns the finding of a mark: the one just made, or the one kept when it was raised.
func (m *Monitor) finding(ctx context.Context, s subject, k mark, fresh []raised) (Finding, error) {
	first := time.UnixMicro(k.First).UTC()
	id := findingID(k.Rule, s, first)
	for _, f := range fresh {
		if f.ID == id {
			return f.Finding, nil
		}
	}
	item, found, err := m.tables.Get(ctx, findingKey(s.workspace, first, id))
	if err != nil {
		return Finding{}, fmt.Errorf("read a finding: %w", err)
	}
	if !found {
		return Finding{}, fmt.Errorf("a finding of %s was noted and is not there: restore the table", k.Rule)
	}
	var f Finding
	if err := json.Unmarshal(item.Doc, &f); err != nil {
		return Finding{}, fmt.Errorf("decode a finding: %w", err)
	}
	return f, nil
}

// noteTold takes the marks' Unspoken away.
func (m *Monitor) noteTold(ctx context.Context, l *ledger, told []mark) error {
	days := make([]string, len(l.days))
	for i, d := range l.days {
		days[i] = d.day
	}
	for range maxTries {
		for _, d := range l.days {
			for i := range d.Raised {
				if slices.Contains(told, d.Raised[i]) {
					d.Raised[i].Unspoken, d.changed = false, true
				}
			}
		}
		err := m.save(ctx, l, nil)
		if !table.IsConflict(err) {
			return err
		}
		if l, err = m.load(ctx, l.subject, days); err != nil {
			return err
		}
	}
	return errContention
}
