package monitor

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Finding is something that an administrator should look at. It names ids and nothing that a
// caller can write: no titles, no texts, no names of tools that do not exist.
type Finding struct {
	ID          string   `json:"finding_id"`
	Rule        RuleName `json:"rule"`
	Severity    Severity `json:"severity"`
	WorkspaceID string   `json:"workspace_id"`
	Actor       string   `json:"actor,omitempty"`    // of a rule about tokens or actors
	TokenID     string   `json:"token_id,omitempty"` // of a rule about tokens
	Tool        string   `json:"tool,omitempty"`     // of a rule about tools
	// Count is of what the rule counts; the rule keeps no more than maxSightings of a day.
	Count int       `json:"count"`
	Since time.Time `json:"since"` // the first event, microseconds
	Until time.Time `json:"until"` // the last one
	// EventIDs are the newest of the events, at most MaxFindingEvents.
	EventIDs []string `json:"event_ids"`
	Text     string   `json:"text"`   // one sentence
	Raised   int      `json:"raised"` // how often it was raised: again each time it had doubled
}

// MaxFindingEvents is how many events a finding names.
const MaxFindingEvents = 20

// findingsKept is how long findings can be read.
const findingsKept = 400 * 24 * time.Hour

// Layout of findings, in the data table: what the monitor writes must not lie in the audit
// table, which nobody may change.
//
//	pk FIND#<workspace>#<day>   sk <time, µs>#<finding id>   Finding, expires
//
// Day and time are those of the last event when the finding was first raised; a finding that
// grows stays where it is.

func findingKey(workspace string, at time.Time, id string) table.Key {
	return table.Key{Table: table.Data, PK: findingsPK(workspace, at), SK: timeKey(at) + "#" + id}
}

func findingsPK(workspace string, day time.Time) string {
	return "FIND#" + workspace + "#" + day.UTC().Format(time.DateOnly)
}

// timeKey sorts as the time does, to the microsecond.
func timeKey(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// findingID is the same for whoever raises the finding first.
func findingID(r RuleName, subject subject, at time.Time) string {
	return digest(string(r) + "\x00" + subject.workspace + "\x00" + string(subject.kind) + "\x00" + subject.id + "\x00" + timeKey(at))
}

// newFinding describes a window. first is when the finding was raised first: the end of the
// window that it was raised for.
func newFinding(r Rule, s subject, actor string, w window, first time.Time) Finding {
	f := Finding{
		ID: findingID(r.Name, s, first), Rule: r.Name, Severity: r.Severity, WorkspaceID: s.workspace,
		Count: w.count, Since: w.since(), Until: w.until(), EventIDs: eventIDs(w.sightings), Raised: 1,
	}
	switch s.kind {
	case ByToken:
		f.TokenID, f.Actor = s.id, actor
	case ByActor:
		f.Actor = s.id
	case ByTool:
		f.Tool = s.id
	}
	f.Text = r.sentence(f)
	return f
}

// eventIDs returns the newest, oldest first.
func eventIDs(sightings []Sighting) []string {
	ids := []string{}
	for _, s := range sightings[max(0, len(sightings)-MaxFindingEvents):] {
		if s.Event != "" {
			ids = append(ids, s.Event)
		}
	}
	return ids
}

// sentence says who did what how often and since when.
func (r Rule) sentence(f Finding) string {
	who := "The workspace"
	switch r.Subject {
	case ByToken:
		who = "Token " + f.TokenID
		if f.Actor != "" {
			who += " of " + f.Actor
		}
	case ByActor:
		who = "User " + f.Actor
	case ByTool:
		who = "The tool " + f.Tool
	}
	count := strconv.Itoa(f.Count)
	if f.Count >= maxSightings {
		count = "at least " + count
	}
	return who + " " + r.tell(count) + " " + during(f.Since, f.Until) + "."
}

func during(since, until time.Time) string {
	const clock = "15:04:05"
	since, until = since.UTC(), until.UTC()
	day := until.Format(time.DateOnly)
	switch {
	case since.Truncate(time.Second).Equal(until.Truncate(time.Second)):
		return fmt.Sprintf("on %s at %s UTC", day, until.Format(clock))
	case since.Format(time.DateOnly) == day:
		return fmt.Sprintf("on %s from %s to %s UTC", day, since.Format(clock), until.Format(clock))
	default:
		return fmt.Sprintf("from %s to %s UTC", since.Format(time.DateOnly+" "+clock), until.Format(time.DateOnly+" "+clock))
	}
}

// item is the finding as it is kept.
func (f Finding) item(key table.Key) (table.Item, error) {
	doc, err := json.Marshal(f)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode a finding: %w", err)
	}
	return table.Item{Key: key, Doc: doc, Version: 1, ExpiresAt: f.Until.Add(findingsKept)}, nil
}

// Query chooses findings of a workspace, by the time at which they were first raised.
type Query struct {
	Workspace string
	Since     time.Time // at or after it; zero: as far back as findings are kept
	Until     time.Time // before it; zero: Now
	Limit     int       // at most this many; at least 1
	Now       time.Time
}

// maxFindingDays bounds the work of one Findings: each day is a query.
const maxFindingDays = 62

// Findings returns the newest findings, newest first. It looks at no more than 62 days, from
// Until back: for older ones ask with an earlier Until.
func Findings(ctx context.Context, r table.Reader, q Query) ([]Finding, error) {
	if q.Until.IsZero() {
		q.Until = q.Now.Add(time.Minute) // clocks differ
	}
	if oldest := q.Until.AddDate(0, 0, -maxFindingDays+1); q.Since.Before(oldest) {
		q.Since = oldest
	}
	found := []Finding{}
	last := day(q.Until.Add(-time.Microsecond))
	for d := last; !d.Before(day(q.Since)) && len(found) < q.Limit; d = d.AddDate(0, 0, -1) {
		var err error
		if found, err = q.ofDay(ctx, r, d, found); err != nil {
			return nil, fmt.Errorf("read findings: %w", err)
		}
	}
	return found, nil
}

// ofDay appends the findings of one day.
func (q Query) ofDay(ctx context.Context, r table.Reader, d time.Time, found []Finding) ([]Finding, error) {
	ask := table.Query{
		Table: table.Data, PK: findingsPK(q.Workspace, d),
		From: timeKey(q.Since), To: timeKey(q.Until), Desc: true, // no sort key is a bare time
	}
	for len(found) < q.Limit {
		ask.Limit = q.Limit - len(found)
		page, err := r.Query(ctx, ask)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			ask.After = item.SK
			if !item.ExpiresAt.After(q.Now) {
				continue
			}
			var f Finding
			if err := json.Unmarshal(item.Doc, &f); err != nil {
				return nil, fmt.Errorf("decode a finding: %w", err)
			}
			found = append(found, f)
		}
		if !page.More {
			break
		}
	}
	return found, nil
}

func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
