package system

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/auditpage"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
)

// The page at / shows the tools to everyone, and the audit log, as it grows, to those who may
// read it. It is local mode's alone: a deployment has the dashboard, whose widget is made by the
// same code. The page itself holds no data; its script fetches feedPath with the token in the
// header.

// feedPath is the live audit log: server-sent events, each a whole report in JSON.
const feedPath = "/page/feed"

//go:embed page.js
var script string

// pagePolicy lets the page load its own style and script and talk to its own origin, and nothing
// else: a script that got into it some other way would not run.
const pagePolicy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// auditSite serves the page, and hands all else on.
type auditSite struct {
	next     http.Handler // the front door
	tables   auditpage.Tables
	verifier lambdarun.Verifier
	changes  *changes
	closing  <-chan struct{}
	now      func() time.Time
	log      *slog.Logger
}

func (p *auditSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		p.next.ServeHTTP(w, r)
		return
	}
	switch r.URL.Path {
	case "/":
		send(w, "text/html; charset=utf-8", auditpage.Document(catalog.Entries()))
	case auditpage.StylePath:
		send(w, "text/css; charset=utf-8", auditpage.Style+auditpage.PageStyle)
	case auditpage.ScriptPath:
		send(w, "text/javascript; charset=utf-8", script)
	case feedPath:
		p.feed(w, r)
	default:
		p.next.ServeHTTP(w, r)
	}
}

func send(w http.ResponseWriter, kind, body string) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	_, _ = w.Write([]byte(body)) // who has left misses nothing
}

// Limits of a feed.
const (
	feedEvery  = 250 * time.Millisecond // at most one report in that time
	feedRenews = 15 * time.Second       // a report without a change: the time asked for moves on
	feedWrite  = 10 * time.Second       // for a reader to take a report
)

// feed sends reports until the reader leaves or may not read any more. Whether they may is
// decided, and recorded, by the program that answers GET /audit: it is asked first. After that
// each report needs a token that is still good.
func (p *auditSite) feed(w http.ResponseWriter, r *http.Request) {
	fields := auditpage.Fields{}
	for name, values := range r.URL.Query() {
		fields[name] = values[0]
	}
	if _, err := auditpage.ReadFields(fields, p.now()); err != nil {
		refuse(w, fault.New(fault.Invalid, fault.InvalidArguments, err.Error()))
		return
	}
	if answer := p.ask(r); answer.status != http.StatusOK {
		answer.relay(w)
		return
	}
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	out := &stream{w: w, control: http.NewResponseController(w)}
	if err := out.open(); err != nil {
		p.log.Error("the feed of the page cannot be sent", "error", err.Error())
		return
	}
	for {
		changed := p.changes.next() // before the report: what comes meanwhile is not missed
		report, err := p.report(r.Context(), strings.TrimSpace(token), fields)
		if err == nil {
			err = out.send("report", report)
		}
		if err != nil {
			out.end(err)
			return
		}
		if !p.wait(r.Context(), changed) {
			return
		}
	}
}

// wait returns at the next change, though not at once, and when the report is old. It is false
// when there is nobody to report to.
func (p *auditSite) wait(ctx context.Context, changed <-chan struct{}) bool {
	soon, late := time.After(feedEvery), time.After(feedRenews)
	select {
	case <-soon:
	case <-ctx.Done():
		return false
	case <-p.closing:
		return false
	}
	select {
	case <-changed:
	case <-late:
	case <-ctx.Done():
		return false
	case <-p.closing:
		return false
	}
	return true
}

// ask puts the question to GET /audit, in the name of who asks for the feed.
func (p *auditSite) ask(r *http.Request) *keptAnswer {
	question := r.Clone(r.Context())
	question.URL.Path, question.URL.RawPath, question.URL.RawQuery = "/audit", "", "limit=1"
	question.RequestURI = question.URL.RequestURI()
	a := &keptAnswer{header: http.Header{}, status: http.StatusOK}
	p.next.ServeHTTP(a, question)
	return a
}

// liveReport is a report as the script gets it.
type liveReport struct {
	Summary  string            `json:"summary"`
	Sections map[string]string `json:"sections"` // HTML by id
}

func (p *auditSite) report(ctx context.Context, token string, fields auditpage.Fields) (liveReport, error) {
	reader, err := p.verifier.Verify(ctx, token)
	if err == nil {
		err = identity.Require(&reader, identity.AuditRead)
	}
	if err == nil && !reader.Role.Manages() {
		err = fault.New(fault.Forbidden, fault.NotPermitted, "only owners and administrators may read the audit log: ask one of them")
	}
	if err != nil {
		return liveReport{}, err
	}
	now := p.now()
	filter, err := auditpage.ReadFields(fields, now)
	if err != nil {
		return liveReport{}, err
	}
	report, err := auditpage.Read(ctx, p.tables, auditpage.Ask{Workspace: reader.WorkspaceID, Filter: filter, Now: now, Retention: audit.DefaultRetention})
	if err != nil {
		return liveReport{}, err
	}
	live := liveReport{Summary: report.Summary(), Sections: map[string]string{}}
	for _, s := range report.Sections() {
		live.Sections[s.ID] = s.HTML
	}
	return live, nil
}

// stream writes server-sent events (HTML Standard, "Server-sent events").
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// open lifts the time-outs of the server, which are for calls.
func (s *stream) open() error {
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("Cache-Control", "no-store")
	s.w.Header().Set("X-Content-Type-Options", "nosniff")
	return s.control.SetReadDeadline(time.Time{})
}

func (s *stream) send(event string, v any) error {
	data, err := json.Marshal(v) // one line
	if err != nil {
		return err
	}
	if err := s.control.SetWriteDeadline(time.Now().Add(feedWrite)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", event, data); err != nil {
		return err
	}
	return s.control.Flush()
}

// end says why there will be no more.
func (s *stream) end(cause error) {
	_ = s.send("end", fault.Of(cause).Text) // who has left misses nothing
}

// keptAnswer is what the front door answers, kept.
type keptAnswer struct {
	header http.Header
	status int
	wrote  bool
	body   []byte
}

func (a *keptAnswer) Header() http.Header { return a.header }

func (a *keptAnswer) WriteHeader(status int) {
	if !a.wrote {
		a.status, a.wrote = status, true
	}
}

func (a *keptAnswer) Write(b []byte) (int, error) {
	a.wrote = true
	a.body = append(a.body, b...)
	return len(b), nil
}

func (a *keptAnswer) relay(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // who has left misses nothing
}

// changes tells all who wait that there is something new to read.
type changes struct {
	mu      sync.Mutex
	waiting chan struct{}
}

func newChanges() *changes { return &changes{waiting: make(chan struct{})} }

func (c *changes) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.waiting)
	c.waiting = make(chan struct{})
}

// next is closed at the next change.
func (c *changes) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting
}
