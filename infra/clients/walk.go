package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The issue that the demo data fixes, by identifier and by id.
const (
	knownIssue   = "AAC-42"
	knownIssueID = "550e8400-e29b-41d4-a716-446655440000"
)

// allTools is how many there are.
const allTools = 11

// eras are the protocol versions that the walk asks for, one of each kind of handshake.
var eras = []string{"2026-07-28", "2025-11-25"}

// holder is what a token of the demo data is expected to be able to do.
type holder struct {
	name   string
	writes bool // has the writing scopes
	sees   bool // is in the workspace of knownIssue
	tools  int
}

var holders = []holder{
	{name: "reader", sees: true, tools: 4},
	{name: "editor", writes: true, sees: true, tools: 11},
	{name: "owner", writes: true, sees: true, tools: 11},
	{name: "outsider", writes: true, tools: 11},
}

// walkGo walks with the Go SDK and returns how many tool calls it made.
func walkGo(ctx context.Context, l local, _ string) (made outcome, err error) {
	for _, era := range eras {
		for _, h := range holders {
			w := &walker{holder: h, local: l, era: era}
			if err := w.walk(ctx); err != nil {
				return made, fmt.Errorf("%s, as %s: %w", era, h.name, err)
			}
			made.calls += w.calls
		}
	}
	return made, nil
}

// bearer adds the token to each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

type walker struct {
	holder
	local   local
	era     string
	session *mcp.ClientSession
	calls   int
}

func (w *walker) walk(ctx context.Context) error {
	for _, part := range []func(context.Context) error{w.list, w.read, w.writeAndDelete, w.foreign} {
		if err := w.connect(ctx); err != nil {
			return err
		}
		if err := part(ctx); err != nil {
			return err
		}
	}
	return w.session.Close()
}

// connect opens a new session. This client takes an HTTP 403 for the end of its session.
func (w *walker) connect(ctx context.Context) (err error) {
	if w.session != nil {
		_ = w.session.Close() // after a 403 it is closed already
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "walk-go", Version: "1"}, nil)
	w.session, err = client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: w.local.MCPURL, HTTPClient: &http.Client{Transport: bearer(w.local.Tokens[w.name])}, MaxRetries: -1,
	}, &mcp.ClientSessionOptions{ProtocolVersion: w.era})
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if got := w.session.InitializeResult(); got == nil || got.ProtocolVersion != w.era {
		return fmt.Errorf("negotiated %+v, want %s", got, w.era)
	}
	return nil
}

// list checks which tools are offered, and that each carries all four hints.
func (w *walker) list(ctx context.Context) error {
	listed, err := w.session.ListTools(ctx, nil)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	if len(listed.Tools) != w.tools {
		return fmt.Errorf("list: %d tools, want %d", len(listed.Tools), w.tools)
	}
	for _, t := range listed.Tools {
		a := t.Annotations
		if a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil {
			return fmt.Errorf("list: %s lacks hints", t.Name)
		}
		if *a.DestructiveHint != strings.HasPrefix(t.Name, "delete_") || *a.OpenWorldHint {
			return fmt.Errorf("list: %s has the hints %+v", t.Name, a)
		}
	}
	return nil
}

func (w *walker) read(ctx context.Context) error {
	if _, err := w.expect(ctx, "list_issues", "", args{"limit": 5}); err != nil {
		return err
	}
	if !w.sees {
		_, err := w.expect(ctx, "get_issue", "not_found", args{"issue_id": knownIssue})
		return err
	}
	got, err := w.expect(ctx, "get_issue", "", args{"issue_id": strings.ToLower(knownIssue)})
	if err != nil {
		return err
	}
	if issue, _ := got["issue"].(map[string]any); issue["id"] != knownIssueID {
		return fmt.Errorf("get_issue: %s has the id %v", knownIssue, issue["id"])
	}
	return nil
}

// writeAndDelete creates an issue, is refused its deletion, previews, confirms, and repeats.
func (w *walker) writeAndDelete(ctx context.Context) error {
	if !w.writes {
		if err := w.refusedForScope(ctx, "create_issue", args{"title": "Never made"}); err != nil {
			return err
		}
		return w.refusedForScope(ctx, "delete_issue", args{"issue_id": knownIssue, "confirm": true})
	}
	created, err := w.expect(ctx, "create_issue", "", args{"title": "Made by a walk", "idempotency_key": "walk-go-" + w.era})
	if err != nil {
		return err
	}
	issue, _ := created["issue"].(map[string]any)
	id := issue["identifier"]
	if _, err := w.expect(ctx, "delete_issue", "destructive_flag_missing", args{"issue_id": id}); err != nil {
		return err
	}
	preview, err := w.expect(ctx, "delete_issue", "", args{"issue_id": id, "dry_run": true})
	if err != nil {
		return err
	}
	if preview["deleted"] != false || preview["dry_run"] != true {
		return fmt.Errorf("the preview says %v", preview)
	}
	first, err := w.expect(ctx, "delete_issue", "", args{"issue_id": id, "confirm": true})
	if err != nil {
		return err
	}
	second, err := w.expect(ctx, "delete_issue", "", args{"issue_id": id, "confirm": true})
	if err != nil {
		return err
	}
	if first["deleted"] != true || first["deleted_at"] == nil || fmt.Sprint(first) != fmt.Sprint(second) {
		return fmt.Errorf("deleted as %v, then as %v", first, second)
	}
	_, err = w.expect(ctx, "get_issue", "not_found", args{"issue_id": id})
	return err
}

// foreign tries what is in another workspace, and what is nowhere: one answer.
func (w *walker) foreign(ctx context.Context) error {
	if w.sees {
		return nil
	}
	var answers []string
	for _, id := range []string{knownIssueID, "00000000-0000-4000-8000-000000000000"} {
		got, err := w.expect(ctx, "delete_issue", "not_permitted", args{"issue_id": id, "confirm": true})
		if err != nil {
			return err
		}
		delete(got, "call_id")
		answers = append(answers, fmt.Sprint(got))
	}
	if answers[0] != answers[1] {
		return fmt.Errorf("foreign and missing differ: %q", answers)
	}
	return nil
}

type args map[string]any

// expect calls a tool and compares the reason of its refusal, "" for success. It returns the
// answer, or the error, as JSON.
func (w *walker) expect(ctx context.Context, tool, reason string, a args) (map[string]any, error) {
	w.calls++
	result, err := w.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: a})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	if len(result.Content) != 1 {
		return nil, fmt.Errorf("%s: %d pieces of content", tool, len(result.Content))
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		return nil, fmt.Errorf("%s: the content is %T", tool, result.Content[0])
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(text.Text), &body); err != nil {
		return nil, fmt.Errorf("%s: the text is no JSON: %w", tool, err)
	}
	got, _ := body["reason"].(string)
	if result.IsError != (reason != "") || got != reason {
		return nil, fmt.Errorf("%s: isError %v, reason %q, want %q: %v", tool, result.IsError, got, reason, body["error"])
	}
	if !result.IsError {
		if structured, _ := json.Marshal(result.StructuredContent); !sameJSON(structured, []byte(text.Text)) {
			return nil, fmt.Errorf("%s: text and structured content differ", tool)
		}
	}
	return body, nil
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

// refusedForScope wants HTTP 403, which the client reports as a failure of the call.
func (w *walker) refusedForScope(ctx context.Context, tool string, a args) error {
	if err := w.connect(ctx); err != nil {
		return err
	}
	w.calls++
	result, err := w.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: a})
	if err == nil {
		return fmt.Errorf("%s: not refused: %+v", tool, result)
	}
	if !strings.Contains(err.Error(), "Forbidden") {
		return fmt.Errorf("%s: refused otherwise than for a scope: %w", tool, err)
	}
	return nil
}
