package system

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// marks stand for what callers write: they may be stored in the tracker and come back in answers,
// but may not turn up anywhere else.
const mark = "zanzibar"

// marked are calls with the mark in every kind of argument, right and wrong.
var marked = []struct{ tool, arguments string }{
	{"create_issue", `{"title":"zanzibar","description":"zanzibar","idempotency_key":"zanzibar"}`},
	{"create_issue", `{"title":"zanzibar","description":"zanzibar","idempotency_key":"zanzibar"}`},
	{"create_issue", `{"title":"zanzibar 2","idempotency_key":"zanzibar"}`},
	{"create_issue", `{"title":["zanzibar"]}`},
	{"create_issue", `{"title":"zanzibar\u0000"}`},
	{"create_issue", `{"title":"x","status":"zanzibar"}`},
	{"create_issue", `{"title":"x","assignee_id":"zanzibar"}`},
	{"create_issue", `{"title":"x","label_ids":["zanzibar"]}`},
	{"create_issue", `{"title":"x","parent_issue_id":"zanzibar"}`},
	{"create_issue", `{"title":"x","due_date":"zanzibar"}`},
	{"create_issue", `{"title":"x","idempotency_key":"zanzibar zanzibar"}`},
	{"create_issue", `{"no_such_argument":"zanzibar"}`}, // a name is told, so that it can be corrected
	{"create_issue", `{"title":"zanzibar","title":"zanzibar"}`},
	{"create_issue", `{"title":zanzibar}`},
	{"create_issue", `zanzibar`},
	{"update_issue", `{"issue_id":"AAC-63","title":"zanzibar again","description":"zanzibar"}`},
	{"update_issue", `{"issue_id":"AAC-63","clear":["zanzibar"]}`},
	{"update_issue", `{"issue_id":"AAC-63","title":"zanzibar","expected_revision":900}`},
	{"comment_issue", `{"issue_id":"AAC-63","content":"zanzibar"}`},
	{"comment_issue", `{"issue_id":"AAC-63","content":"zanzibar","parent_id":"zanzibar"}`},
	{"comment_issue", `{"issue_id":"zanzibar","content":"zanzibar"}`},
	{"get_issue", `{"issue_id":"zanzibar"}`},
	{"get_issue", `{"issue_id":"AAC-63"}`},
	{"list_issues", `{"q":"zanzibar"}`},
	{"list_issues", `{"cursor":"zanzibar"}`},
	{"list_issues", `{"creator_id":"zanzibar"}`},
	{"list_comments", `{"issue_id":"AAC-63"}`},
	{"list_comments", `{"issue_id":"AAC-63","since":"zanzibar"}`},
	{"assign_issue_to_agent", `{"issue_id":"AAC-63","agent_id":"zanzibar"}`},
	{"trigger_autopilot", `{"autopilot_id":"zanzibar"}`},
	{"dashboard_usage_daily", `{"days":"zanzibar"}`},
	{"delete_comment", `{"comment_id":"zanzibar","confirm":true}`},
	{"delete_issue", `{"issue_id":"AAC-63","confirm":"zanzibar"}`},
	{"delete_issue", `{"issue_id":"AAC-63","dry_run":true}`},
	{"delete_issue", `{"issue_id":"AAC-63","confirm":true}`},
}

// TestNothingTellsSecrets looks for tokens, titles, comments and arguments in all that is logged
// and recorded, and in the text of every refusal.
func TestNothingTellsSecrets(t *testing.T) {
	w := newWorld(t)
	var refusals bytes.Buffer
	keep := func(a answer) {
		if a.status >= 400 || bytes.Contains(a.body, []byte(`"isError":true`)) {
			fmt.Fprintf(&refusals, "%d %v %s\n", a.status, a.header, a.body)
		}
	}
	for _, c := range marked {
		keep(w.rest(c.tool, w.Tokens["editor"], c.arguments))
		if !json.Valid([]byte(c.arguments)) {
			continue // no MCP message could hold it
		}
		keep(w.mcpCall(modern, c.tool, w.Tokens["editor"], c.arguments))
		keep(w.mcpCall(legacy, c.tool, w.Tokens["editor"], c.arguments))
	}
	expired, _ := w.issue("owner", time.Now().AddDate(0, 0, -31), identity.Scopes()...)
	for _, secret := range []string{expired, "aac_pat_zanzibar", "zanzibar", w.Tokens["editor"] + "zanzibar"} {
		keep(w.rest("list_issues", secret, `{"q":"zanzibar"}`))
		keep(w.send("GET", "/audit?actor=zanzibar&cursor=zanzibar", secret, ""))
		keep(w.send("POST", "/tools/list_issues?access_token="+secret, "", `{}`))
		keep(w.send("GET", "/zanzibar/"+secret, secret, ""))
		keep(w.mcp(legacy, "zanzibar", secret, `"zanzibar":"zanzibar"`))
	}
	for _, secret := range []string{w.Tokens["editor"], expired, signedToken} {
		for _, a := range w.misplaced(secret) {
			keep(a)
		}
	}
	keep(w.send("GET", "/audit?reason=zanzibar", w.Tokens["owner"], ""))
	keep(w.send("GET", "/audit?zanzibar=1", w.Tokens["owner"], ""))

	recorded := fmt.Sprint(jsonOf(t, w.events("owner")), jsonOf(t, w.events("outsider")))
	places := map[string]string{"the log": w.log.String(), "the audit log": recorded, "the refusals": refusals.String()}
	secrets := append(w.secrets(), mark, expired, signedToken)
	for place, text := range places {
		if len(text) < 10000 {
			t.Errorf("%s has only %d bytes: this test sees nothing", place, len(text))
		}
		for _, secret := range secrets {
			if at := strings.Index(strings.ToLower(text), strings.ToLower(secret)); at >= 0 {
				t.Errorf("%s tells %q: …%s…", place, secret, text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
	if len(secrets) < 150 {
		t.Errorf("looked for only %d texts", len(secrets))
	}
}

// signedToken has the form of what an identity provider signs.
const signedToken = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"

// misplaced are calls with a secret wherever a caller can put it by mistake: where a name belongs
// that the audit log keeps, or one that a refusal repeats.
func (w *world) misplaced(secret string) []answer {
	caller := w.Tokens["editor"]
	argument := fmt.Sprintf(`{%q:1}`, secret)
	return []answer{
		w.rest(secret, caller, `{}`),
		w.rest("list_issues", caller, argument),
		w.mcpCall(modern, secret, caller, `{}`),
		w.mcpCall(legacy, secret, caller, `{}`),
		w.mcpCall(legacy, "list_issues", caller, argument),
		w.mcp(secret, "tools/list", caller, ""),
		w.send("POST", "/tools/list_issues", caller, `{}`, "User-Agent", secret+"/1"),
		w.send("POST", "/tools/list_issues", caller, `{}`, "User-Agent", "client/"+secret),
		w.send("POST", "/tools/list_issues", caller, `{}`, "X-Amzn-Trace-Id", "Root="+secret),
		w.send("POST", "/tools/list_issues", caller, `{}`, "traceparent", secret),
	}
}

// secrets are all tokens, titles and comments that there are, but the shortest, which are words
// of ours too.
func (w *world) secrets() (all []string) {
	for _, i := range w.Issued {
		all = append(all, i.Secret)
	}
	for _, s := range demo.Snapshots(time.Now()) {
		for _, i := range s.Issues {
			all = append(all, i.Title, i.Description)
			for _, c := range i.Comments {
				all = append(all, c.Content)
			}
		}
	}
	kept := all[:0]
	for _, secret := range all {
		if len(secret) >= 12 {
			kept = append(kept, secret)
		}
	}
	return kept
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
