package system

import (
	"bufio"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
)

// TestPageIsPublicButForTheLog: the page and what it loads need no token, hold no data, and can
// run or load nothing else.
func TestPageIsPublicButForTheLog(t *testing.T) {
	w := newWorld(t)
	for path, kind := range map[string]string{"/": "text/html", "/page.css": "text/css", "/page.js": "text/javascript"} {
		a := w.send(http.MethodGet, path, "", "")
		policy := a.header.Get("Content-Security-Policy")
		if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), kind) || policy != pagePolicy ||
			strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: status %d, headers %v", path, a.status, a.header)
		}
	}
	html := string(w.send(http.MethodGet, "/", "", "").body)
	for _, d := range catalog.All() {
		if !strings.Contains(html, d.Name) {
			t.Errorf("the page does not show %s", d.Name)
		}
	}
	for _, secret := range w.Tokens {
		if strings.Contains(html, secret) {
			t.Error("the page shows a token")
		}
	}
	if a := w.send(http.MethodPost, "/", "", ""); a.status != http.StatusNotFound {
		t.Errorf("POST / gives %d: only reading is the page's", a.status)
	}
	if a := w.send(http.MethodGet, "/", "", "", "Origin", "https://evil.example"); a.status != http.StatusForbidden {
		t.Errorf("a page of another origin gets %d", a.status)
	}
}

// TestFeedIsForThoseWhoMayReadTheLog: what GET /audit refuses, the feed refuses, in the same words
// and on the same record.
func TestFeedIsForThoseWhoMayReadTheLog(t *testing.T) {
	w := newWorld(t)
	member, _ := w.issue("editor", time.Now(), identity.AuditRead)
	for name, tt := range map[string]struct {
		secret string
		status int
		reason fault.Reason
	}{
		"nobody":           {"", http.StatusUnauthorized, ""},
		"a made-up token":  {"aac_pat_nothing", http.StatusUnauthorized, ""},
		"without scope":    {w.Tokens["editor"], http.StatusForbidden, fault.InsufficientScope},
		"only a member":    {member, http.StatusForbidden, fault.NotPermitted},
		"a bad filter too": {w.Tokens["owner"], http.StatusBadRequest, ""},
	} {
		path := feedPath
		if tt.status == http.StatusBadRequest {
			path += "?outcome=lost"
		}
		before := len(w.events("owner"))
		a := w.send(http.MethodGet, path, tt.secret, "")
		if a.status != tt.status {
			t.Errorf("%s: status %d, want %d: %s", name, a.status, tt.status, a.body)
		}
		var body struct{ Error string }
		if a.into(t, &body); body.Error == "" {
			t.Errorf("%s: no words: %s", name, a.body)
		}
		after := w.events("owner")[before:]
		if tt.reason == "" && len(after) != 0 || tt.reason != "" && (len(after) != 1 || after[0].Reason != tt.reason) {
			t.Errorf("%s: recorded %+v", name, after)
		}
	}
}

// live is an open feed.
type live struct {
	t      *testing.T
	events chan [2]string // kind and data
}

func (w *world) watch(secret, query string) *live {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.URL+feedPath+query, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	response, err := http.DefaultClient.Do(r)
	if err != nil || response.StatusCode != http.StatusOK {
		w.t.Fatalf("the feed does not open: %v, %v", response, err)
	}
	l := &live{w.t, make(chan [2]string, 100)}
	go func() {
		defer close(l.events)
		defer response.Body.Close()
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 4<<20)
		kind := ""
		for lines.Scan() {
			if k, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				kind = k
			} else if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				l.events <- [2]string{kind, data}
			}
		}
	}()
	return l
}

// until reads reports until one is as it should be.
func (l *live) until(what string, is func(liveReport) bool) liveReport {
	l.t.Helper()
	for event := range l.events {
		var r liveReport
		if event[0] != "report" {
			l.t.Fatalf("waiting for %s: %v", what, event)
		}
		if err := json.Unmarshal([]byte(event[1]), &r); err != nil {
			l.t.Fatal(err)
		}
		if is(r) {
			return r
		}
	}
	l.t.Fatalf("the feed ended before %s", what)
	return liveReport{}
}

func TestFeedShowsCallsAsTheyHappen(t *testing.T) {
	w := newWorld(t)
	begun := len(w.events("owner"))
	l := w.watch(w.Tokens["owner"], "?hours=1")
	l.until("its own event", func(r liveReport) bool { return strings.Contains(r.Sections["events"], audit.RecorderAudit) })
	w.rest("create_issue", w.Tokens["reader"], `{"title":"x"}`)
	l.until("a denied call", func(r liveReport) bool {
		return strings.Contains(r.Sections["events"], "create_issue") && strings.Contains(r.Sections["reasons"], "insufficient_scope")
	})
	for _, d := range catalog.All() {
		w.rest(d.Name, w.Tokens["outsider"], `{}`) // of another workspace
	}
	for _, name := range []string{"<img src=x onerror=alert(1)>", "nope1", "nope2", "nope3", "nope4", "nope5"} {
		w.mcpCall(modern, strings.ReplaceAll(name, " ", "_"), w.Tokens["editor"], `{}`)
	}
	r := l.until("a finding", func(r liveReport) bool { return strings.Contains(r.Sections["findings"], "probing") })
	if strings.Contains(r.Sections["events"], "<img") {
		t.Error("the name of a tool is markup")
	}
	if outsider := string(grantOf(t, "outsider").UserID); strings.Contains(r.Sections["actors"], outsider) {
		t.Error("the feed shows another workspace")
	}
	reads := 0
	for _, e := range w.events("owner")[begun:] {
		if e.Tool == audit.RecorderAudit {
			reads++
		}
	}
	if reads != 1 {
		t.Errorf("one look at the log left %d events", reads)
	}
}

func TestFeedFilters(t *testing.T) {
	w := newWorld(t)
	w.rest("list_issues", w.Tokens["reader"], `{}`)
	w.rest("create_issue", w.Tokens["reader"], `{"title":"x"}`)
	l := w.watch(w.Tokens["owner"], "?outcome=denied&tool=create_issue")
	r := l.until("a report", func(liveReport) bool { return true })
	if !strings.Contains(r.Summary, "1 call: 0 succeeded, 1 denied") || strings.Contains(r.Sections["events"], "list_issues") {
		t.Errorf("%s\n%s", r.Summary, r.Sections["events"])
	}
}

// TestFeedEndsWithTheToken: a token that is revoked shows nothing more.
func TestFeedEndsWithTheToken(t *testing.T) {
	w := newWorld(t)
	secret, record := w.issue("owner", time.Now(), identity.AuditRead)
	l := w.watch(secret, "")
	l.until("a report", func(liveReport) bool { return true })
	if _, err := token.Revoke(t.Context(), w.Tables, record.WorkspaceID, record.ID, time.Now()); err != nil {
		t.Fatal(err)
	}
	w.rest("list_issues", w.Tokens["reader"], `{}`) // something to tell
	var last [2]string
	for event := range l.events {
		last = event
	}
	if last[0] != "end" || strings.Contains(last[1], "list_issues") {
		t.Errorf("the feed ended with %v", last)
	}
}

// TestCloseEndsFeeds: an open page does not hold the system up.
func TestCloseEndsFeeds(t *testing.T) {
	s, err := Start(t.Context(), Config{Addr: "127.0.0.1:0", Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{System: s, t: t}
	l := w.watch(s.Tokens["owner"], "")
	l.until("a report", func(liveReport) bool { return true })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if kinds := slices.Collect(func(yield func(string) bool) {
		for event := range l.events {
			if !yield(event[0]) {
				return
			}
		}
	}); slices.Contains(kinds, "end") {
		t.Errorf("after the close: %v", kinds)
	}
}

// TestAuditPagesHoldStillWhileCallsAreMade walks GET /audit in small pages, each of which is itself
// an event, while others call: what there was at the start comes once each, in order.
func TestAuditPagesHoldStillWhileCallsAreMade(t *testing.T) {
	w := newWorld(t)
	for range 30 {
		w.rest("list_issues", w.Tokens["reader"], `{}`)
	}
	var want []string
	for _, e := range w.events("owner") {
		want = append(want, e.EventID)
	}
	slices.Reverse(want)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				w.rest("list_issues", w.Tokens["editor"], `{"limit":0}`)
			}
		}
	}()
	var got []string
	for cursor := ""; ; {
		var page struct {
			Events []audit.Event `json:"events"`
			Next   string        `json:"next_cursor"`
		}
		path := "/audit?limit=3"
		if cursor != "" {
			path += "&cursor=" + cursor
		}
		w.send(http.MethodGet, path, w.Tokens["owner"], "").into(t, &page)
		for _, e := range page.Events {
			got = append(got, e.EventID)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	close(stop)
	<-stopped
	if first := slices.Index(got, want[0]); first < 0 || !slices.Equal(got[first:], want) {
		t.Errorf("the pages show %d events that were there, want these %d once each", len(got)-max(first, 0), len(want))
	}
	slices.Sort(got)
	if all := len(got); len(slices.Compact(got)) != all {
		t.Error("an event came twice")
	}
}
