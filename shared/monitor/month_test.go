package monitor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

// month makes up thirty days of an ordinary workspace: people at their desks, on the way and at
// home, agents that work for them day and night, a job that runs every hour. They mistype, are
// refused, retry, lose a race, run into limits, forget to confirm; they delete what they have
// looked at, and sometimes clean up; the connector has two bad minutes; a token is replaced and
// the old one tried for a while. The same seed makes the same month.
type month struct {
	random *rand.Rand
	calls  []call
	issues int
}

// person is a member and what they call from.
type person struct {
	actor, token string
	networks     []string
	starts       int  // hour of the working day, UTC
	deletes      int  // the day from which they delete; they preview the first time
	readOnly     bool // their token lacks the writing scopes
	restless     bool // works at any hour, every day
	deleted      bool
}

func newMonth() *month {
	m := &month{random: rand.New(rand.NewPCG(2025, 6))}
	people := []*person{
		{actor: "mira", token: "mira-desk", networks: []string{"203.0.113.5", "198.51.100.77", "2001:db8:1:2::9"}, starts: 7, deletes: 0},
		{actor: "jonas", token: "jonas-desk", networks: []string{"203.0.113.9", "192.0.2.44"}, starts: 8, deletes: 3},
		{actor: "priya", token: "priya-desk", networks: []string{"203.0.113.31", "2001:db8:77::1", "192.0.2.200"}, starts: 4, deletes: 20},
		{actor: "tomas", token: "tomas-phone", networks: []string{"100.64.1.1", "100.64.9.1", "100.65.3.1", "203.0.113.31"}, starts: 9, deletes: 40},
		{actor: "elin", token: "elin-reader", networks: []string{"203.0.113.40", "198.51.100.8"}, starts: 8, deletes: 40, readOnly: true},
		// Agents: one behind a hosted client with addresses in eight networks, and two on machines.
		{actor: "mira", token: "mira-agent", networks: hosted(8), starts: 0, deletes: 2, restless: true},
		{actor: "jonas", token: "jonas-agent", networks: hosted(3), starts: 6, deletes: 10, restless: true},
		{actor: "priya", token: "ci", networks: []string{"198.51.100.9"}, starts: 0, deletes: 40, restless: true},
	}
	for day := range 30 {
		for _, p := range people {
			m.day(p, day)
		}
		m.incidents(day)
	}
	slices.SortStableFunc(m.calls, func(a, b call) int { return a.at.Compare(b.at) })
	return m
}

// hosted are the networks of a client that runs somewhere else.
func hosted(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("160.79.%d.10", 104+i))
	}
	return all
}

// day is one day of a person: some sessions, each a stretch of work.
func (m *month) day(p *person, day int) {
	midnight := start.Truncate(24*time.Hour).AddDate(0, 0, day)
	weekend := midnight.Weekday() == time.Saturday || midnight.Weekday() == time.Sunday
	if weekend && !p.restless && m.random.IntN(8) > 0 {
		return
	}
	hours, sessions := 9, 2+m.random.IntN(4)
	if p.restless {
		hours, sessions = 24, 4+m.random.IntN(4)
	}
	for range sessions {
		at := midnight.Add(time.Duration(p.starts)*time.Hour + time.Duration(m.random.IntN(hours*3600))*time.Second)
		m.session(p, day, at)
	}
}

// session is a stretch of work: look around, open some issues, do something about them.
func (m *month) session(p *person, day int, at time.Time) {
	s := &session{month: m, p: p, at: at, network: p.networks[m.random.IntN(len(p.networks))]}
	s.do(call{tool: "list_issues"})
	for range 1 + m.random.IntN(5) {
		issue := fmt.Sprint("issue/", m.random.IntN(200))
		s.do(call{tool: "get_issue", target: issue})
		if m.random.IntN(2) == 0 {
			s.do(call{tool: "list_comments", target: issue})
		}
		if p.readOnly {
			s.rarely(15, call{tool: "comment_issue", recorder: "_authorizer", fails: noScope})
			continue
		}
		s.write(issue)
		if day >= p.deletes {
			s.delete(issue)
		}
	}
	s.mishap()
	if m.random.IntN(6) == 0 {
		s.do(call{tool: "dashboard_usage_daily"})
	}
}

type session struct {
	*month
	p       *person
	at      time.Time
	network string
}

// do makes a call a while after the one before.
func (s *session) do(c call) {
	s.at = s.at.Add(time.Duration(500+s.random.IntN(60_000)) * time.Millisecond)
	c.at, c.actor, c.token, c.ip = s.at, s.p.actor, s.p.token, s.network
	c.took = time.Duration(3+s.random.IntN(80)) * time.Millisecond
	s.calls = append(s.calls, c)
}

func (s *session) rarely(oneIn int, c call) bool {
	if s.random.IntN(oneIn) > 0 {
		return false
	}
	s.do(c)
	return true
}

func (s *session) write(issue string) {
	if s.rarely(3, call{tool: "comment_issue", target: issue, changed: []string{"comments"}}) && s.random.IntN(20) == 0 {
		comment := fmt.Sprint("comment/", s.issues)
		s.do(call{tool: "delete_comment", target: comment, dryRun: true})
		s.do(call{tool: "delete_comment", target: comment, changed: []string{"comments"}})
		s.p.deleted = true
	}
	if s.rarely(12, call{tool: "update_issue", target: issue, fails: conflict}) {
		s.do(call{tool: "get_issue", target: issue})
	}
	s.rarely(3, call{tool: "update_issue", target: issue, changed: []string{"status"}})
	s.rarely(12, call{tool: "assign_issue_to_agent", target: issue, changed: []string{"assignee_id"}})
	if s.random.IntN(8) == 0 {
		s.issues++
		s.do(call{tool: "create_issue", target: fmt.Sprint("issue/new", s.issues), changed: []string{"title"}})
	}
	s.rarely(30, call{tool: "trigger_autopilot", target: "autopilot/1", changed: []string{"runs"}})
}

// delete deletes the issue at hand now and then, and rarely a few in a row. The first time people
// look at what would go; later only sometimes.
func (s *session) delete(issue string) {
	if s.random.IntN(25) > 0 {
		return
	}
	some := 1
	if s.random.IntN(5) == 0 {
		some += s.random.IntN(5)
	}
	for i := range some {
		if i > 0 {
			issue = fmt.Sprint("issue/", s.random.IntN(200))
			s.do(call{tool: "get_issue", target: issue})
		}
		if !s.p.deleted || s.random.IntN(2) == 0 {
			s.do(call{tool: "delete_issue", target: issue, dryRun: true})
		}
		s.rarely(3, call{tool: "delete_issue", fails: noConfirm})
		s.do(call{tool: "delete_issue", target: issue, changed: gone})
		s.p.deleted = true
	}
}

// mishap is what goes wrong in a session: sometimes several times, as models try again.
func (s *session) mishap() {
	switch s.random.IntN(12) {
	case 0:
		for range 1 + s.random.IntN(6) {
			s.do(call{tool: "list_issues", fails: badArguments})
		}
	case 1:
		for range 1 + s.random.IntN(3) {
			s.do(call{tool: "get_issue", fails: notFound})
		}
	case 2:
		s.do(call{tool: "search_issues", recorder: "_mcp", fails: noTool})
		s.do(call{tool: "list_issues"})
	case 3:
		for range 2 + s.random.IntN(8) {
			s.do(call{tool: "update_issue", fails: tooFast})
		}
	}
}

// incidents are what is not any person's doing.
func (m *month) incidents(day int) {
	noon := start.AddDate(0, 0, day).Add(2 * time.Hour)
	switch day {
	case 9: // two bad minutes
		for i := range 12 {
			m.calls = append(m.calls, call{at: noon.Add(time.Duration(i) * 9 * time.Second), tool: "list_issues", actor: "tomas", token: "tomas-phone", fails: errBroken})
		}
	case 14: // a token is replaced, and the old one tried by a laptop that wakes up
		for i := range 12 {
			m.calls = append(m.calls, call{at: noon.Add(time.Duration(i) * 31 * time.Minute), tool: "_mcp", recorder: "_authorizer", actor: "jonas", token: "jonas-old", fails: revoked})
		}
	case 21: // an operator
		m.calls = append(m.calls, call{at: noon, tool: "token_revoke", recorder: "_admin", actor: "operator:root", token: "cli", changed: []string{"revoked_at"}})
	}
}

// TestOrdinaryMonth finds nothing in it, however the stream brings it.
func TestOrdinaryMonth(t *testing.T) {
	calls := newMonth().calls
	what := map[string]int{}
	for _, c := range calls {
		switch {
		case c.fails != nil:
			what["refused"]++
		case tools()[c.tool] && len(c.changed) > 0:
			what["removed"]++
		}
	}
	t.Logf("%d calls, %v", len(calls), what)
	if len(calls) < 5000 || what["refused"] < 300 || what["removed"] < 50 {
		t.Fatalf("%d calls, %v: this is no month", len(calls), what)
	}
	w := newWorld(t)
	records, random, m := w.play(calls...), rand.New(rand.NewPCG(1, 1)), w.monitor()
	for i := 0; i < len(records); {
		n := min(1+random.IntN(120), len(records)-i)
		w.now = calls[i+n-1].at.Add(5 * time.Second)
		batch := slices.Clone(records[i : i+n])
		random.Shuffle(n, func(a, b int) { batch[a], batch[b] = batch[b], batch[a] })
		w.consume(m, append(batch, batch[0]))
		if i += n; random.IntN(20) == 0 {
			m = w.monitor() // a restart, and the batch once more
			w.consume(m, batch)
		}
	}
	for _, f := range w.findings() {
		t.Errorf("%s: %s", f.Rule, f.Text)
	}
	if len(w.published) > 0 {
		t.Errorf("%d findings were published", len(w.published))
	}
}

// TestAttacksInAnOrdinaryMonth plays every attack in the middle of it: each is found, and nothing
// else. The attackers use tokens of their own. Of the month only the days around are played.
func TestAttacksInAnOrdinaryMonth(t *testing.T) {
	calls := slices.DeleteFunc(newMonth().calls, func(c call) bool {
		return c.at.Before(start.AddDate(0, 0, 14)) || c.at.After(start.AddDate(0, 0, 19))
	})
	var want []monitor.Finding
	for i, a := range attacks() {
		want = append(want, monitor.Finding{Rule: a.rule})
		for _, c := range a.calls {
			if c.actor == "" {
				c.actor = fmt.Sprint("attacker", i)
			}
			if a.rule == monitor.SustainedErrors {
				c.tool = "dashboard_usage_daily"
			}
			c.at = c.at.AddDate(0, 0, 16)
			calls = append(calls, c)
		}
	}
	slices.SortStableFunc(calls, func(a, b call) int { return a.at.Compare(b.at) })
	w := newWorld(t)
	records, m := w.play(calls...), w.monitor()
	for i, n := 0, 100; i < len(records); i += n {
		n = min(n, len(records)-i)
		w.now = calls[i+n-1].at.Add(5 * time.Second)
		w.consume(m, records[i:i+n])
	}
	if got := rulesOf(w.findings()); got != rulesOf(want) {
		t.Errorf("found %q\nwant  %q", got, rulesOf(want))
	}
}
