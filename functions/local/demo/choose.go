package demo

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Every choice comes from a label of its own, such as issue/17/priority, and from nothing else:
// there is no stream of random numbers in which a new choice would shift the later ones.

// choose picks one of n for the label: 0 to n-1.
func choose(label string, n int) int {
	sum := sha256.Sum256([]byte(label))
	return int(binary.BigEndian.Uint64(sum[:8]) % uint64(n))
}

// namespace is the UUID namespace of all demo ids (RFC 9562, section 5.5).
var namespace = uuid.MustParse("0621240b-32db-5af3-9ed0-71f357026968")

// id returns the id for a label, such as issue/17.
func id(label string) tracker.ID { return tracker.ID(uuid.NewSHA1(namespace, []byte(label)).String()) }

// minutes picks a whole number of minutes from low to high.
func (g *generator) minutes(label string, low, high int) time.Duration {
	return time.Duration(low+g.choose(label, high-low+1)) * time.Minute
}

// Office hours, in UTC, into which what people do is moved.
const (
	opens  = 8
	closes = 19
)

// later returns when the next thing happens after t: some hours or days on, in office hours. Too
// close to the anchor it is minutes on, so that all is in the past.
func (g *generator) later(t time.Time, label string) time.Time {
	next := t.Add(g.minutes(label+"/after", 20, 400)).AddDate(0, 0, g.choose(label+"/days", 4))
	switch h := next.Hour(); {
	case h < opens:
		next = next.Truncate(24 * time.Hour).Add(opens*time.Hour + g.minutes(label+"/morning", 0, 90))
	case h >= closes:
		next = next.Truncate(24 * time.Hour).Add((24+opens)*time.Hour + g.minutes(label+"/morning", 0, 90))
	}
	if next.Before(g.anchor.Add(-5 * time.Hour)) {
		return next
	}
	return t.Add(g.minutes(label+"/soon", 7, 21))
}

// lately returns when work that still goes on was last moved: some day of the last nine, but
// after t.
func (g *generator) lately(t time.Time, label string) time.Time {
	at := g.daysBefore(1+g.choose(label+"/day", 9), opens*time.Hour+g.minutes(label+"/minute", 0, 500))
	if at.After(t) {
		return at
	}
	return g.later(t, label)
}

func timeOf(m records.Micros) time.Time { return time.UnixMicro(int64(m)).UTC() }
