package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The page of the audit log: with the keyboard, by a token, while calls are made.

// soon is how long a call may take to be seen.
const soon = 2 * time.Second

// hostile is what a caller calls its program and its tool, to be something else than text.
const hostile = `<img src=x onerror="pwned=1"><script>pwned=1</script>`

// watchLog opens the page, shows the log by the owner's token and sees a denied call come in.
func (w *walker) watchLog(ctx context.Context) error {
	if err := w.traffic(ctx); err != nil {
		return err
	}
	t, err := w.open(ctx)
	if err != nil {
		return err
	}
	if err := t.navigate(ctx, w.sys.URL+"/"); err != nil {
		return err
	}
	if err := publicPart(ctx, t); err != nil {
		return err
	}
	if err := t.key(ctx, "Tab"); err != nil { // the first thing on the page
		return err
	}
	if err := enterToken(ctx, t, w.sys.Tokens["owner"]); err != nil {
		return err
	}
	if _, err := t.appears(ctx, "#events", "succeeded"); err != nil {
		return err
	}
	for _, step := range []func(context.Context, *tab) error{nothingKept, w.deniedCall, w.cover, w.hostileNames, w.filterByKeyboard, w.heard} {
		if err := step(ctx, t); err != nil {
			return err
		}
	}
	if err := w.quiet(t); err != nil { // before anything is refused: browsers log that
		return err
	}
	return w.refusedToken(ctx, t)
}

// publicPart requires the tools, and nothing of the log, before there is a token.
func publicPart(ctx context.Context, t *tab) error {
	nodes, err := t.accessible(ctx)
	if err != nil {
		return err
	}
	for _, want := range []node{
		{"heading", "AACWorkflow MCP connector", ""}, {"textbox", "Token", ""}, {"button", "Show the audit log", ""}, {"region", "Tools", ""},
		{"columnheader", "confirm", ""}, {"rowheader", "delete_issue", ""},
	} {
		if !slices.ContainsFunc(nodes, func(n node) bool { return n.Role == want.Role && n.Name == want.Name }) {
			return fmt.Errorf("a screen reader is not told of the %s %q", want.Role, want.Name)
		}
	}
	if slices.ContainsFunc(nodes, func(n node) bool { return n.Name == "Newest calls" }) {
		return errors.New("the log is shown without a token")
	}
	return nil
}

// enterToken types it where the focus is, and leaves with Enter.
func enterToken(ctx context.Context, t *tab, token string) error {
	if where, err := t.focused(ctx); err != nil || where != "token" {
		return errors.Join(err, fmt.Errorf("the focus is at %s, want the token", where))
	}
	if err := t.call(ctx, "Input.insertText", map[string]string{"text": token}, nil); err != nil {
		return err
	}
	return t.key(ctx, "Enter")
}

// nothingKept requires that the token is in no place that outlives the page or leaves it.
func nothingKept(ctx context.Context, t *tab) error {
	var kept string
	err := t.read(ctx, `[location.href, document.cookie, JSON.stringify({...localStorage}), JSON.stringify({...sessionStorage}), document.documentElement.outerHTML,
		...[...document.querySelectorAll("input")].map(e => e.value)].join(" ")`, &kept)
	if err == nil && strings.Contains(kept, "aac_pat_") {
		err = errors.New("the token is somewhere else than in the page's memory")
	}
	return err
}

func (w *walker) deniedCall(ctx context.Context, t *tab) error {
	if err := w.tool(ctx, "editor", "Walk/1.0", "delete_issue", `{"issue_id":"NOPE-1"}`); err != nil {
		return err
	}
	took, err := t.appears(ctx, "#events", "destructive_flag_missing")
	if err == nil && took > soon {
		err = fmt.Errorf("a denied call was seen after %s, want %s", took, soon)
	}
	return err
}

// cover takes the picture for the docs, docs/audit-page.png: what fits into a window.
func (w *walker) cover(ctx context.Context, t *tab) error {
	if w.shots == "" {
		return nil
	}
	if err := t.look(ctx, 1200, 1000, "light"); err != nil {
		return err
	}
	return t.shootWindow(ctx, filepath.Join(w.shots, "audit-page.png"))
}

// hostileNames has a program with a hostile name call a tool with a hostile name.
func (w *walker) hostileNames(ctx context.Context, t *tab) error {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, hostile)
	if err := w.request(ctx, "editor", hostile, "/mcp", body); err != nil {
		return err
	}
	if _, err := t.appears(ctx, "#events", `<img src=x`); err != nil {
		return fmt.Errorf("a hostile name is not shown as text: %w", err)
	}
	var found struct {
		Elements int
		Ran      bool
	}
	if err := t.read(ctx, `({elements: document.querySelectorAll("#live img, #live script, #live iframe").length, ran: "pwned" in window})`, &found); err != nil {
		return err
	}
	if found.Elements > 0 || found.Ran {
		return fmt.Errorf("a hostile name is markup: %+v", found)
	}
	return nil
}

// filterByKeyboard chooses the outcome denied, and sees nothing else.
func (w *walker) filterByKeyboard(ctx context.Context, t *tab) error {
	if err := w.picture(ctx, t, "audit"); err != nil {
		return err
	}
	if err := t.read(ctx, `(document.getElementById("aac-tool").focus(), true)`, new(bool)); err != nil {
		return err
	}
	if err := t.key(ctx, "Tab"); err != nil {
		return err
	}
	if where, err := t.focused(ctx); err != nil || where != "aac-outcome" {
		return errors.Join(err, fmt.Errorf("after the tool the focus goes to %s, want the outcome", where))
	}
	for range 2 { // all, succeeded, denied
		if err := t.key(ctx, "ArrowDown"); err != nil {
			return err
		}
	}
	if err := t.holds(ctx, `document.getElementById("aac-outcome").value === "denied" &&
		[...document.querySelectorAll("#events tbody tr")].length > 0 &&
		[...document.querySelectorAll("#events tbody tr")].every(row => row.cells[1].textContent.startsWith("denied"))`); err != nil {
		return fmt.Errorf("the filter does not filter: %w", err)
	}
	// A report that comes in meanwhile leaves the focus where it is.
	if err := w.tool(ctx, "reader", "Walk/1.0", "create_issue", `{"title":"x"}`); err != nil {
		return err
	}
	if _, err := t.appears(ctx, "#reasons", "insufficient_scope"); err != nil {
		return err
	}
	if where, err := t.focused(ctx); err != nil || where != "aac-outcome" {
		return errors.Join(err, fmt.Errorf("a report moved the focus to %s", where))
	}
	return nil
}

// heard compares what a screen reader is told of the log with what is on it.
func (w *walker) heard(ctx context.Context, t *tab) error {
	nodes, err := t.accessible(ctx)
	if err != nil {
		return err
	}
	for _, want := range []node{
		{"region", "Newest calls", ""}, {"region", "Findings", ""}, {"combobox", "Outcome", ""}, {"textbox", "Actor", ""}, {"button", "Forget the token", ""},
		{"status", "", ""}, {"columnheader", "actor", ""},
	} {
		if !slices.ContainsFunc(nodes, func(n node) bool { return n.Role == want.Role && (n.Name == want.Name || want.Name == "") }) {
			return fmt.Errorf("a screen reader is not told of the %s %q", want.Role, want.Name)
		}
	}
	if !slices.ContainsFunc(nodes, func(n node) bool { return (n.Role == "image" || n.Role == "img") && strings.Contains(n.Name, "denied") }) {
		return errors.New("the chart has no words")
	}
	return nil
}

// refusedToken forgets the owner's token, which takes the log away, and tries one that may not
// read it.
func (w *walker) refusedToken(ctx context.Context, t *tab) error {
	if err := t.read(ctx, `(document.getElementById("leave").focus(), true)`, new(bool)); err != nil {
		return err
	}
	if err := t.key(ctx, "Enter"); err != nil {
		return err
	}
	if err := t.holds(ctx, `document.getElementById("live").hidden && document.getElementById("events").textContent === "" && document.activeElement.id === "token"`); err != nil {
		return fmt.Errorf("the log stays when the token is forgotten: %w", err)
	}
	if err := enterToken(ctx, t, w.sys.Tokens["reader"]); err != nil {
		return err
	}
	if _, err := t.appears(ctx, "#problem:not([hidden])", "scope"); err != nil {
		return err
	}
	return t.holds(ctx, `document.getElementById("live").hidden`)
}

// traffic makes some calls, for there to be something to see.
func (w *walker) traffic(ctx context.Context) error {
	for i, c := range []struct{ who, program, tool, arguments string }{
		{"editor", "claude-code/2.1", "list_issues", `{}`}, {"editor", "claude-code/2.1", "create_issue", `{"title":"Light the third beacon"}`},
		{"reader", "ChatGPT/1.0", "list_issues", `{"limit":5}`}, {"reader", "ChatGPT/1.0", "create_issue", `{"title":"x"}`},
		{"owner", "curl/8.5", "dashboard_usage_daily", `{}`}, {"editor", "claude-code/2.1", "get_issue", `{"issue_id":"NOPE-7"}`},
		{"editor", "claude-code/2.1", "list_issues", `{"limit":0}`}, {"editor", "claude-code/2.1", "list_issues", `{"status":"todo"}`},
	} {
		if err := w.tool(ctx, c.who, c.program, c.tool, c.arguments); err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
	}
	for i := range 6 { // probing: a finding
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"export_%d","arguments":{}}}`, i)
		if err := w.request(ctx, "reader", "ChatGPT/1.0", "/mcp", body); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) tool(ctx context.Context, who, program, tool, arguments string) error {
	return w.request(ctx, who, program, "/tools/"+tool, arguments)
}

// request makes one; how it is answered does not matter.
func (w *walker) request(ctx context.Context, who, program, path, body string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.sys.URL+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+w.sys.Tokens[who])
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	r.Header.Set("User-Agent", program)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return errors.Join(err, response.Body.Close())
}
