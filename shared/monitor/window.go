package monitor

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Sighting is an event as one rule keeps it.
type Sighting struct {
	// Key tells sightings of one rule and subject apart: the same key is the same sighting.
	Key string `json:"k"`
	// At is the time of the event, in microseconds since 1970.
	At int64 `json:"t"`
	// Event is the event's id.
	Event string `json:"e"`
	// Value is what the rule counts: distinct values.
	Value string `json:"n"`
}

func (s Sighting) time() time.Time { return time.UnixMicro(s.At).UTC() }

func byTime(a, b Sighting) int {
	return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Key, b.Key))
}

// maxSightings bounds what is kept for one rule, subject and day. Counts beyond it read "at
// least": a flood is a flood.
const maxSightings = 128

// merge adds a sighting to those kept, which are in order of time, and tells whether that
// changed them. Of two with the same key the earlier stays; of too many the newest stay. So the
// result does not depend on the order in which sightings come, nor on how often.
func merge(kept []Sighting, s Sighting) ([]Sighting, bool) {
	if i := slices.IndexFunc(kept, func(k Sighting) bool { return k.Key == s.Key }); i >= 0 {
		if k := kept[i]; k.At < s.At || k.At == s.At && k.Event <= s.Event {
			return kept, false
		}
		kept = slices.Delete(slices.Clone(kept), i, i+1)
	}
	i, _ := slices.BinarySearchFunc(kept, s, byTime)
	if len(kept) < maxSightings {
		return slices.Insert(slices.Clone(kept), i, s), true
	}
	if i == 0 {
		return kept, false // older than all that are kept
	}
	return slices.Insert(slices.Clone(kept[1:]), i-1, s), true
}

// window is a stretch of sightings that a rule found to be too much.
type window struct {
	sightings []Sighting
	count     int
}

func (w window) since() time.Time { return w.sightings[0].time() }
func (w window) until() time.Time { return w.sightings[len(w.sightings)-1].time() }

// worst returns the window with the highest count among those that end at a sighting, hold a
// fresh one and are a finding; of equals the latest.
func (r Rule) worst(sightings []Sighting, fresh map[string]bool) (worst window, found bool) {
	first, lastFresh := 0, -1
	for i, s := range sightings {
		if fresh[s.Key] {
			lastFresh = i
		}
		for sightings[first].At <= s.At-r.Window.Microseconds() {
			first++
		}
		if lastFresh < first {
			continue
		}
		w := sightings[first : i+1]
		if count, ok := r.Judge(w); ok && count >= worst.count {
			worst, found = window{w, count}, true
		}
	}
	return worst, found
}

// Judge tells whether the sightings of one window, in order of time, are a finding, and how many
// distinct values they have.
func (r Rule) Judge(w []Sighting) (count int, finding bool) {
	if len(w) < r.Threshold {
		return len(w), false
	}
	values := make(map[string]bool, len(w))
	for _, s := range w {
		values[s.Value] = true
	}
	spread := time.Duration(w[len(w)-1].At-w[0].At) * time.Microsecond
	return len(values), len(values) >= r.Threshold && spread >= r.Spread
}
