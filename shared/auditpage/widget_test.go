package auditpage_test

import (
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/auditpage"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
)

// hostile is what callers may call themselves and their tools, and try to be something else.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'-alert(1)-'`, `</td></table><h1>x`, `&lt;b&gt;`, `{{.}}`, `javascript:alert(1)`,
	`<cwdb-action action="call" endpoint="arn:evil">{}</cwdb-action>`, `]]><!--`, `</style><script>`, "`onload=x`",
}

// elements are all that a widget is made of.
var elements = []string{
	"root", "style", "div", "p", "h2", "h1", "form", "label", "select", "option", "input", "a", "cwdb-action", "dl", "dt", "dd", "span", "svg", "g", "title", "rect", "line", "text",
	"table", "caption", "thead", "tbody", "tr", "th", "td", "code", "bdi", "time", "strong",
}

func wantHarmless(t *testing.T, p *page, also ...string) {
	t.Helper()
	for name := range p.elements {
		if !slices.Contains(elements, name) && !slices.Contains(also, name) {
			t.Errorf("there is an element %s", name)
		}
	}
	for key, values := range p.attributes {
		_, name, _ := strings.Cut(key, ".")
		if strings.HasPrefix(name, "on") || name == "style" || !slices.Contains(also, "link") && (name == "src" || name == "href" || name == "xlink:href") {
			t.Errorf("there is an attribute %s: %v", key, values)
		}
	}
	if len(p.elements) < 10 {
		t.Errorf("saw only %v", p.elements)
	}
}

func TestHostileWordsStayText(t *testing.T) {
	w := newWorld(t)
	for i, words := range hostile {
		w.play(call{ago: time.Duration(i) * time.Second, actor: words, tool: words, client: words, fails: refused})
	}
	p := w.serve(`{"workspace":"w1","widgetContext":{"theme":"dark","forms":{"all":{"actor":"\"><script>x</script>","tool":"<b>","hours":"24"}}}}`)
	wantHarmless(t, p)
	p = w.serve(`{"workspace":"w1","widgetContext":{"theme":"\"><script>"}}`)
	wantHarmless(t, p)
	for _, words := range hostile {
		if n := strings.Count(p.text, strings.ReplaceAll(words, "\n", "")); n < 3 {
			t.Errorf("%s is shown %d times as it is, want for actor, tool and client", words, n)
		}
	}
	if got := p.attributes["cwdb-action.endpoint"]; len(got) != 2 || got[0] != endpoint || got[1] != endpoint {
		t.Errorf("buttons call %v", got)
	}
}

// What is invisible, and could turn text around, is made visible even if it came into the log by
// some other way.
func TestInvisibleWordsAreSeen(t *testing.T) {
	w := newWorld(t)
	w.play(call{actor: "u\u202e1\u200bx\x00", tool: "list_issues"})
	if p := w.serve(`{"workspace":"w1"}`); !strings.Contains(p.text, "u\ufffd1\ufffdx\ufffd") {
		t.Error("the actor is not shown with the characters replaced")
	}
}

func TestWidgetShowsWhatHappened(t *testing.T) {
	w := newWorld(t)
	w.keep("u2")
	w.play(
		call{ago: time.Minute, actor: "u1", tool: "create_issue"},
		call{ago: 2 * time.Minute, actor: "u1", tool: "get_issue", fails: fmt.Errorf("boom")},
		call{ago: 3 * time.Minute, actor: "u1", tool: "other", workspace: "w2"},
		call{ago: 30 * time.Hour, actor: "u3", tool: "list_issues"},
	)
	p := w.serve(`{"workspace":"w1"}`)
	wantHarmless(t, p)
	for _, want := range []string{"32 calls: 1 succeeded, 30 denied, 1 failed", "denial_burst", "Token t of u2 was refused", "insufficient_scope", "delete_issue", "required"} {
		if !strings.Contains(p.text, want) {
			t.Errorf("the widget does not say %q:\n%s", want, p.text)
		}
	}
	if strings.Contains(p.text, "u3") || strings.Contains(p.text, "w2") || strings.Contains(p.text, "boom") {
		t.Error("the widget shows what it should not")
	}
	if n := p.elements["tr"]; n < len(catalog.All())+30 {
		t.Errorf("%d rows", n)
	}
	words := p.attributes["svg.aria-label"]
	if len(words) != 1 || !strings.Contains(words[0], "1 succeeded, 30 denied, 1 failed") {
		t.Errorf("the chart is described as %v", words)
	}
}

func TestWidgetFilters(t *testing.T) {
	w := newWorld(t)
	w.play(
		call{ago: time.Minute, actor: "u1", tool: "create_issue"},
		call{ago: 2 * time.Minute, actor: "u2", tool: "create_issue", fails: refused},
		call{ago: 3 * time.Minute, actor: "u1", tool: "get_issue"},
		call{ago: 30 * time.Hour, actor: "u3", tool: "list_issues"},
	)
	ms := func(ago time.Duration) int64 { return now.Add(-ago).UnixMilli() }
	for name, tt := range map[string]struct{ event, want string }{
		"a tool":                    {`{"workspace":"w1","widgetContext":{"forms":{"all":{"tool":"create_issue"}}}}`, "2 calls: 1 succeeded, 1 denied"},
		"an actor":                  {`{"workspace":"w1","widgetContext":{"forms":{"all":{"actor":" u2 "}}}}`, "1 call: 0 succeeded, 1 denied"},
		"a button":                  {`{"outcome":"denied","widgetContext":{"params":{"workspace":"w1"},"forms":{"all":{"outcome":"success"}}}}`, "1 call: 0 succeeded, 1 denied"},
		"a reason":                  {`{"workspace":"w1","widgetContext":{"forms":{"all":{"reason":"not_found"}}}}`, "No calls match."},
		"the dashboard's time":      {fmt.Sprintf(`{"workspace":"w1","widgetContext":{"timeRange":{"start":%d,"end":%d}}}`, ms(40*time.Hour), ms(20*time.Hour)), "1 call: 1 succeeded"},
		"the dashboard's time, now": {fmt.Sprintf(`{"workspace":"w1","widgetContext":{"timeRange":{"start":%d,"end":%d}}}`, ms(40*time.Hour), ms(-time.Minute)), "4 calls: 3 succeeded"},
		"a part of it":              {fmt.Sprintf(`{"workspace":"w1","widgetContext":{"timeRange":{"start":1,"end":%d,"zoom":{"start":%d,"end":%d}}}}`, ms(0), ms(150*time.Second), ms(90*time.Second)), "1 call: 0 succeeded"},
		"a typed workspace":         {`{"widgetContext":{"forms":{"all":{"workspace":"w1"}}}}`, "3 calls"},
		"the dashboard's workspace": {`{"workspace":"w1","widgetContext":{"forms":{"all":{"workspace":"w2"}}}}`, "3 calls"},
		"another workspace":         {`{"workspace":"w2"}`, "No calls match."},
		"no workspace":              {`{}`, "Enter the id of a workspace."},
		"a part of a key":           {`{"workspace":"w1#2025-06-02"}`, "letters, digits, hyphens and underscores only"},
		"an unknown outcome":        {`{"workspace":"w1","outcome":"lost"}`, "one of the outcomes in the list"},
		"an unknown reason":         {`{"workspace":"w1","widgetContext":{"forms":{"all":{"reason":"lost"}}}}`, "one of the reasons in the list"},
		"an unknown time":           {`{"workspace":"w1","widgetContext":{"forms":{"all":{"hours":"25"}}}}`, "one of the times in the list"},
		"a long actor":              {`{"workspace":"w1","widgetContext":{"forms":{"all":{"actor":"` + strings.Repeat("x", 200) + `"}}}}`, "at most 128 bytes"},
		"a number in a form":        {`{"workspace":"w1","widgetContext":{"forms":{"all":{"actor":7}}}}`, "3 calls"},
	} {
		t.Run(name, func(t *testing.T) {
			if p := w.serve(tt.event); !strings.Contains(p.text, tt.want) {
				t.Errorf("the widget does not say %q:\n%s", tt.want, p.text)
			}
		})
	}
}

func TestWidgetDescribesItself(t *testing.T) {
	w := newWorld(t)
	got, err := w.widget().Serve(t.Context(), endpoint, []byte(`{"describe":true}`))
	if err != nil || !strings.HasPrefix(got, "## ") || !strings.Contains(got, "workspace:") {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := w.widget().Serve(t.Context(), endpoint, []byte(`[]`)); err == nil {
		t.Error("an event that is none was taken")
	}
}

func TestWidgetKeepsFailuresToTheLog(t *testing.T) {
	w := newWorld(t)
	html, err := auditpage.NewWidget(broken{}, w.settings(now), slog.New(slog.NewTextHandler(&w.log, nil))).Serve(t.Context(), endpoint, []byte(`{"workspace":"w1"}`))
	if err != nil || strings.Contains(html, "secret words") || !strings.Contains(html, "cannot be read just now") || !strings.Contains(w.log.String(), "secret words") {
		t.Errorf("answer %q, error %v, log %s", html, err, w.log.String())
	}
}

// TestManyEvents: the report says what it is about when it is not about all.
func TestManyEvents(t *testing.T) {
	w := newWorld(t)
	calls := make([]call, auditpage.MaxEvents+50)
	for i := range calls {
		calls[i] = call{ago: time.Duration(i) * time.Second, actor: "u1", tool: "list_issues"}
	}
	w.play(calls...)
	p := w.serve(`{"workspace":"w1"}`)
	if !strings.Contains(p.text, "At least 1000 calls") || !strings.Contains(p.text, "newest 1000") || p.elements["rect"] < 20 {
		t.Errorf("the widget does not say that it is about a part: %s", p.text[:400])
	}
}

func TestDocument(t *testing.T) {
	p := parse(t, auditpage.Document(catalog.Entries()))
	wantHarmless(t, p, "html", "head", "meta", "title", "link", "script", "body", "main", "button", "noscript")
	if strings.TrimSpace(p.text) == "" || p.elements["script"] != 1 || p.attributes["script.src"][0] != auditpage.ScriptPath {
		t.Errorf("scripts: %v", p.attributes["script.src"])
	}
	for _, d := range catalog.All() {
		if !strings.Contains(p.text, d.Name) {
			t.Errorf("%s is not shown", d.Name)
		}
	}
	if regexp.MustCompile(`<input[^>]*id="token"[^>]*\bname=`).MatchString(p.html) {
		t.Error("the field of the token has a name, so a form could send it")
	}
	for _, s := range (auditpage.Report{}).Sections() {
		if !slices.Contains(p.attributes["div.id"], s.ID) {
			t.Errorf("there is no place for %s", s.ID)
		}
	}
}
