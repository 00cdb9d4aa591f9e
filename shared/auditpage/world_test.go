package auditpage_test

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/auditpage"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

var now = time.Date(2025, 6, 2, 12, 0, 0, 0, time.UTC)

// world is a log that is filled by calls.
type world struct {
	*testing.T
	db  *embedded.DB
	ids int
	log strings.Builder
}

func newWorld(t *testing.T) *world {
	db, err := embedded.OpenUnsynced(filepath.Join(t.TempDir(), "t.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &world{T: t, db: db}
}

func (w *world) settings(at time.Time) audit.Settings {
	return audit.Settings{Now: func() time.Time { return at }, Retention: audit.DefaultRetention, NewID: func() string {
		w.ids++
		return fmt.Sprintf("%026d", w.ids)
	}}
}

type call struct {
	ago         time.Duration
	workspace   string // w1
	actor, tool string
	client      string
	fails       error
}

var refused = fault.New(fault.Forbidden, fault.InsufficientScope, "no")

func (w *world) play(calls ...call) {
	w.Helper()
	for _, c := range calls {
		if c.workspace == "" {
			c.workspace = "w1"
		}
		begun := w.settings(now.Add(-c.ago)).Begin(audit.Start{
			Principal: &identity.Principal{WorkspaceID: c.workspace, UserID: c.actor, TokenID: "t", Role: identity.Owner},
			Tool:      c.tool, Recorder: "_mcp", Transport: audit.MCP, CallID: "c", Client: audit.Client{Name: c.client, Version: "1"}, SourceIP: "192.0.2.1",
		})
		if err := begun.Record(w.Context(), w.db, c.fails); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *world) widget() auditpage.Widget {
	return auditpage.NewWidget(w.db, w.settings(now), slog.New(slog.NewTextHandler(&w.log, nil)))
}

const endpoint = "arn:aws:lambda:eu-west-1:000000000000:function:aac-audit_widget"

func (w *world) serve(event string) *page {
	w.Helper()
	html, err := w.widget().Serve(w.Context(), endpoint, []byte(event))
	if err != nil {
		w.Fatal(err)
	}
	return parse(w.T, html)
}

// page is HTML as a browser sees it.
type page struct {
	html       string
	text       string // all text, without that of the style sheet
	elements   map[string]int
	attributes map[string][]string // values by element.name
}

// parse fails if anything is not closed, or closed by something else: this HTML is XML but for
// the elements without an end.
func parse(t *testing.T, html string) *page {
	t.Helper()
	p := &page{html: html, elements: map[string]int{}, attributes: map[string][]string{}}
	d := xml.NewDecoder(strings.NewReader("<root>" + strings.TrimPrefix(html, "<!DOCTYPE html>\n") + "</root>"))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta", "link", "input"}, xml.HTMLEntity
	var text strings.Builder
	depth := []string{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			p.text = text.String()
			return p
		}
		if err != nil {
			t.Fatalf("the HTML is malformed: %v\n%s", err, html)
		}
		switch token := token.(type) {
		case xml.StartElement:
			depth = append(depth, token.Name.Local)
			p.elements[token.Name.Local]++
			for _, a := range token.Attr {
				key := token.Name.Local + "." + a.Name.Local
				p.attributes[key] = append(p.attributes[key], a.Value)
			}
		case xml.EndElement:
			depth = depth[:len(depth)-1]
		case xml.CharData:
			if depth[len(depth)-1] != "style" {
				text.Write(token)
				text.WriteString("\n")
			}
		default:
			t.Errorf("there is something that is no element and no text: %T", token)
		}
	}
}

// keep keeps a finding, by way of a monitor that sees many refusals.
func (w *world) keep(actor string) {
	w.Helper()
	m := monitor.New(monitor.Config{Tables: w.db, Tools: map[string]bool{}, Metrics: io.Discard, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }})
	var records []monitor.Record
	w.db.Watch(func(items []table.Item) {
		for _, item := range items {
			data, err := monitor.RecordOf(item, now, false)
			if err != nil {
				w.Error(err)
			}
			records = append(records, monitor.Record{Sequence: fmt.Sprint(len(records)), Data: data})
		}
	})
	for i := range 30 {
		w.play(call{ago: time.Duration(30-i) * time.Second, actor: actor, tool: "list_issues", fails: refused})
	}
	m.Consume(w.Context(), records)
}

// broken is a table that nobody can read.
type broken struct{ table.Reader }

func (broken) Query(context.Context, table.Query) (table.Page, error) {
	return table.Page{}, errors.New("secret words of the engine")
}
