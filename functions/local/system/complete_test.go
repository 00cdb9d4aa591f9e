package system

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
)

// sent is one request and what must be in the log of it.
type sent struct {
	name   string
	send   func() answer
	status int
	// event is "<tool> <outcome> <reason> <transport> <recorder>", with - for no reason; empty:
	// the request is no call, or nobody's, and leaves no event.
	event string
}

// TestEveryCallLeavesOneEvent sends calls of every kind and compares the log with what was sent:
// one event a call, in order, no more, no less.
func TestEveryCallLeavesOneEvent(t *testing.T) {
	w := newWorld(t)
	outsiders := w.outsidersCalls()
	for _, calls := range []struct {
		key string
		all []sent
	}{
		{"owner", joinSent(w.restCalls(), w.tokenCalls(), w.mcpCalls(), w.auditCalls())},
		{"outsider", outsiders},
	} {
		want, got := w.sendAll(calls.all), []string(nil)
		for _, e := range w.events(calls.key) {
			got = append(got, eventLine(e)+" "+e.CallID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the log of the workspace of %s (-sent +recorded):\n%s", calls.key, diff)
		}
		if len(want) < 3 {
			t.Errorf("only %d calls were sent", len(want))
		}
	}
}

func joinSent(lists ...[]sent) (all []sent) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// sendAll sends in order and returns the lines that the log must have.
func (w *world) sendAll(all []sent) (want []string) {
	w.t.Helper()
	for _, s := range all {
		a := s.send()
		if a.status != s.status {
			w.t.Errorf("%s: status %d, want %d: %s", s.name, a.status, s.status, a.body)
		}
		if s.event != "" {
			want = append(want, s.event+" "+a.header.Get("X-Amzn-Requestid"))
		}
	}
	return want
}

func eventLine(e audit.Event) string {
	reason := string(e.Reason)
	if reason == "" {
		reason = "-"
	}
	line := fmt.Sprintf("%s %s %s %s %s", e.Tool, e.Outcome, reason, e.Transport, e.Recorder)
	if e.DryRun {
		line += " dry_run"
	}
	if e.Replayed {
		line += " replayed"
	}
	return line
}

// restCalls are calls by POST /tools/{name}.
func (w *world) restCalls() []sent {
	call := func(name, tool, key, arguments string, status int, event string) sent {
		return sent{name, func() answer { return w.rest(tool, w.Tokens[key], arguments) }, status, event}
	}
	const foreign = `{"issue_id":"00000000-0000-4000-8000-000000000000","confirm":true}`
	return []sent{
		call("a list", "list_issues", "reader", `{"limit":1}`, 200, "list_issues success - rest list_issues"),
		call("no body", "list_issues", "reader", ``, 200, "list_issues success - rest list_issues"),
		call("a read", "get_issue", "reader", `{"issue_id":"AAC-42"}`, 200, "get_issue success - rest get_issue"),
		call("nothing there", "get_issue", "reader", `{"issue_id":"AAC-999"}`, 404, "get_issue denied not_found rest get_issue"),
		call("a deleted one", "get_issue", "reader", `{"issue_id":"AAC-13"}`, 404, "get_issue denied not_found rest get_issue"),
		call("no JSON", "get_issue", "reader", `{"issue_id":`, 400, "get_issue denied invalid_arguments rest get_issue"),
		call("no object", "get_issue", "reader", `[]`, 400, "get_issue denied invalid_arguments rest get_issue"),
		call("two of one member", "get_issue", "reader", `{"issue_id":"AAC-1","issue_id":"AAC-2"}`, 400, "get_issue denied invalid_arguments rest get_issue"),
		call("no UTF-8", "create_issue", "editor", "{\"title\":\"\xff\xfe\"}", 400, "create_issue denied invalid_arguments rest create_issue"),
		call("another case", "get_issue", "reader", `{"Issue_Id":"AAC-1"}`, 400, "get_issue denied invalid_arguments rest get_issue"),
		call("null", "get_issue", "reader", `{"issue_id":null}`, 400, "get_issue denied invalid_arguments rest get_issue"),
		call("bytes behind it", "get_issue", "reader", `{"issue_id":"AAC-1"} {}`, 400, "get_issue denied invalid_arguments rest get_issue"),
		call("a bad cursor", "list_issues", "reader", `{"cursor":"made-up"}`, 400, "list_issues denied invalid_cursor rest list_issues"),
		call("an unknown name", "list_issues", "reader", `{"assignee_id":"Nobody"}`, 400, "list_issues denied unknown_reference rest list_issues"),
		call("far too much", "create_issue", "editor", `{"title":"`+strings.Repeat("x", 600<<10)+`"}`, 400, "create_issue denied invalid_arguments rest create_issue"),
		{"another content type", func() answer {
			return w.send(http.MethodPost, "/tools/list_issues", w.Tokens["reader"], `{}`, "Content-Type", "text/plain")
		}, 400, "list_issues denied invalid_request rest list_issues"},
		call("no scope", "create_issue", "reader", `{"title":"x"}`, 403, "create_issue denied insufficient_scope rest _authorizer"),
		call("made", "create_issue", "editor", `{"title":"One","idempotency_key":"k"}`, 200, "create_issue success - rest create_issue"),
		call("made before", "create_issue", "editor", `{"title":"One","idempotency_key":"k"}`, 200, "create_issue success - rest create_issue replayed"),
		call("another under its key", "create_issue", "editor", `{"title":"Two","idempotency_key":"k"}`, 409, "create_issue denied idempotency_conflict rest create_issue"),
		call("changed", "update_issue", "editor", `{"issue_id":"AAC-63","status":"done"}`, 200, "update_issue success - rest update_issue"),
		call("changed to the same", "update_issue", "editor", `{"issue_id":"AAC-63","status":"done"}`, 200, "update_issue success - rest update_issue"),
		call("changed since", "update_issue", "editor", `{"issue_id":"AAC-63","status":"todo","expected_revision":1}`, 409, "update_issue denied revision_conflict rest update_issue"),
		call("said", "comment_issue", "editor", `{"issue_id":"AAC-63","content":"x"}`, 200, "comment_issue success - rest comment_issue"),
		call("given to an agent", "assign_issue_to_agent", "editor", `{"issue_id":"AAC-63","agent_id":"Atlas"}`, 200, "assign_issue_to_agent success - rest assign_issue_to_agent"),
		call("given to nobody", "assign_issue_to_agent", "editor", `{"issue_id":"AAC-63","agent_id":"Relic"}`, 409, "assign_issue_to_agent denied target_unavailable rest assign_issue_to_agent"),
		call("skipped", "trigger_autopilot", "owner", `{"autopilot_id":"Customer digest"}`, 200, "trigger_autopilot success - rest trigger_autopilot"),
		call("paused", "trigger_autopilot", "owner", `{"autopilot_id":"Dependency sweep"}`, 409, "trigger_autopilot denied autopilot_not_active rest trigger_autopilot"),
		call("not confirmed", "delete_issue", "editor", `{"issue_id":"AAC-63"}`, 400, "delete_issue denied destructive_flag_missing rest delete_issue"),
		call("confirmed by a word", "delete_issue", "editor", `{"issue_id":"AAC-63","confirm":"true"}`, 400, "delete_issue denied destructive_flag_missing rest delete_issue"),
		call("tried out", "delete_issue", "editor", `{"issue_id":"AAC-63","dry_run":true}`, 200, "delete_issue success - rest delete_issue dry_run"),
		call("deleted", "delete_issue", "editor", `{"issue_id":"AAC-63","confirm":true}`, 200, "delete_issue success - rest delete_issue"),
		call("deleted again", "delete_issue", "editor", `{"issue_id":"AAC-63","confirm":true}`, 200, "delete_issue success - rest delete_issue"),
		call("another's", "delete_issue", "editor", `{"issue_id":"AAC-41","confirm":true}`, 403, "delete_issue denied not_permitted rest delete_issue"),
		call("nobody's", "delete_issue", "editor", foreign, 403, "delete_issue denied not_permitted rest delete_issue"),
		call("nobody's, tried out", "delete_issue", "editor", `{"issue_id":"AAC-999","dry_run":true}`, 403, "delete_issue denied not_permitted rest delete_issue dry_run"),
		call("no tool", "no_such_tool", "reader", `{}`, 404, "no_such_tool denied unknown_tool rest _mcp"),
		call("spelt otherwise", "%6Cist_issues", "reader", `{}`, 404, "%6Cist_issues denied unknown_tool rest _mcp"),
		call("no tool, with a long name", strings.Repeat("n", 600), "reader", `{}`, 404, strings.Repeat("n", 64)+" denied unknown_tool rest _mcp"),
		{"from a page elsewhere", func() answer {
			return w.send(http.MethodPost, "/tools/get_issue", w.Tokens["reader"], `{"issue_id":"AAC-42"}`, "Content-Type", "application/json", "Origin", "https://evil.example")
		}, 403, "get_issue denied origin_not_allowed rest get_issue"},
		{"no tool, from a page elsewhere", func() answer {
			return w.send(http.MethodPost, "/tools/no_such_tool", w.Tokens["reader"], `{}`, "Origin", "https://evil.example")
		}, 403, "no_such_tool denied origin_not_allowed rest _mcp"},
		{"no tool, asked for", func() answer { return w.send(http.MethodGet, "/tools/no_such_tool", w.Tokens["reader"], "") }, 404, "no_such_tool denied unknown_tool rest _mcp"},
		// Not calls: nothing is asked of a tool.
		{"the list of tools", func() answer { return w.send(http.MethodGet, "/tools", w.Tokens["reader"], "") }, 200, ""},
		{"health", func() answer { return w.send(http.MethodGet, "/health", "", "") }, 200, ""},
		{"no route", func() answer { return w.send(http.MethodGet, "/nothing", w.Tokens["reader"], "") }, 404, ""},
	}
}

// tokenCalls are calls with tokens that are not in force.
func (w *world) tokenCalls() []sent {
	expired, _ := w.issue("owner", time.Now().AddDate(0, 0, -31), identity.Scopes()...)
	revoked, record := w.issue("owner", time.Now(), identity.Scopes()...)
	if _, err := token.Revoke(context.Background(), w.Tables, record.WorkspaceID, record.ID, time.Now()); err != nil {
		w.t.Fatal(err)
	}
	stranger, err := token.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return []sent{
		{"an expired token", func() answer { return w.rest("delete_issue", expired, `{}`) }, 401, "delete_issue denied token_expired rest _authorizer"},
		{"a revoked token", func() answer { return w.rest("list_issues", revoked, `{}`) }, 401, "list_issues denied token_revoked rest _authorizer"},
		{"an expired token over MCP", func() answer { return w.mcpCall(modern, "get_issue", expired, `{"issue_id":"AAC-1"}`) }, 401, "get_issue denied token_expired mcp _authorizer"},
		{"a revoked token over older MCP", func() answer { return w.mcpCall(legacy, "get_issue", revoked, `{"issue_id":"AAC-1"}`) }, 401, "_mcp denied token_revoked mcp _authorizer"},
		{"an expired token for the log", func() answer { return w.send(http.MethodGet, "/audit", expired, "") }, 401, "_audit denied token_expired rest _authorizer"},
		// Nobody's: there is no log that it could be in.
		{"no token", func() answer { return w.rest("list_issues", "", `{}`) }, 401, ""},
		{"a mistyped token", func() answer { return w.rest("list_issues", expired[:len(expired)-1]+"!", `{}`) }, 401, ""},
		{"a token of nobody", func() answer { return w.rest("list_issues", stranger.Secret(), `{}`) }, 401, ""},
		{"a token in the address", func() answer {
			return w.send(http.MethodPost, "/tools/list_issues?access_token="+w.Tokens["owner"], "", `{}`)
		}, 401, ""},
	}
}

// mcpCalls are calls by POST /mcp, in both eras.
func (w *world) mcpCalls() (all []sent) {
	for _, version := range []string{modern, legacy} {
		call := func(name, tool, key, arguments string, status int, event string) sent {
			return sent{version + ": " + name, func() answer { return w.mcpCall(version, tool, w.Tokens[key], arguments) }, status, event}
		}
		// The older protocol has no header that the authorizer could believe, and answers an
		// unknown tool in band.
		denier, unknown := "_authorizer", 400
		if version == legacy {
			denier, unknown = "create_issue", 200
		}
		all = append(all,
			call("a list", "list_issues", "reader", `{"limit":1}`, 200, "list_issues success - mcp list_issues"),
			call("nothing there", "get_issue", "reader", `{"issue_id":"AAC-999"}`, 200, "get_issue denied not_found mcp get_issue"),
			call("two of one member", "get_issue", "reader", `{"issue_id":"AAC-1","issue_id":"AAC-2"}`, 200, "get_issue denied invalid_arguments mcp get_issue"),
			call("no UTF-8", "create_issue", "editor", "{\"title\":\"\xff\xfe\"}", 200, "create_issue denied invalid_arguments mcp create_issue"),
			call("no scope", "create_issue", "reader", `{"title":"x"}`, 403, "create_issue denied insufficient_scope mcp "+denier),
			call("made", "create_issue", "editor", `{"title":"x"}`, 200, "create_issue success - mcp create_issue"),
			call("not confirmed", "delete_issue", "owner", `{"issue_id":"AAC-40"}`, 200, "delete_issue denied destructive_flag_missing mcp delete_issue"),
			call("deleted", "delete_issue", "owner", `{"issue_id":"AAC-40","confirm":true}`, 200, "delete_issue success - mcp delete_issue"),
			call("no tool", "no_such_tool", "reader", `{}`, unknown, "no_such_tool denied unknown_tool mcp _mcp"),
			sent{version + ": the list of tools", func() answer { return w.mcp(version, "tools/list", w.Tokens["reader"], "") }, 200, ""},
		)
	}
	plain := func(name, key, body string, status int, event string, headers ...string) sent {
		return sent{name, func() answer { return w.send(http.MethodPost, "/mcp", w.Tokens[key], body, headers...) }, status, event}
	}
	const calling = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_issue","arguments":{"issue_id":"AAC-40","confirm":true}}}`
	return append(all,
		plain("a header that names another tool", "owner", calling, 400, "delete_issue denied invalid_request mcp _mcp", "MCP-Protocol-Version", legacy, "Mcp-Name", "list_issues"),
		plain("arguments that are no object", "owner", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_issue","arguments":[]}}`, 200,
			"get_issue denied invalid_request mcp _mcp", "MCP-Protocol-Version", legacy),
		plain("no name", "owner", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}`, 200,
			"_mcp denied invalid_request mcp _mcp", "MCP-Protocol-Version", legacy),
		plain("a handshake", "owner", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, 200, ""),
		plain("a notification", "owner", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, "", "MCP-Protocol-Version", legacy),
		// What cannot be read is a call if it says so.
		plain("many at once", "owner", `[`+calling+`]`, 400, "delete_issue denied invalid_request mcp _mcp"),
		plain("cut off", "owner", calling[:len(calling)-9], 400, "delete_issue denied invalid_request mcp _mcp"),
		plain("something behind it", "owner", calling+calling, 400, "delete_issue denied invalid_request mcp _mcp"),
		plain("two names", "owner", strings.Replace(calling, `"name":`, `"name":"list_issues","name":`, 1), 400, "_mcp denied invalid_request mcp _mcp"),
		plain("too large", "owner", strings.Replace(calling, "AAC-40", strings.Repeat("x", 1<<20), 1), 413, "delete_issue denied payload_too_large mcp _mcp"),
		plain("no JSON to believe the header", "owner", `{"jsonrpc":`, 400, "get_issue denied invalid_request mcp _mcp",
			"MCP-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", "get_issue"),
		plain("no JSON", "owner", `{"jsonrpc":`, 400, ""),
		sent{"a stream", func() answer { return w.send(http.MethodGet, "/mcp", w.Tokens["owner"], "") }, 405, ""},
		sent{"a page elsewhere", func() answer {
			return w.send(http.MethodPost, "/mcp", w.Tokens["owner"], calling, "Origin", "https://evil.example")
		}, 403, "delete_issue denied origin_not_allowed mcp _mcp"},
	)
}

// auditCalls read the log itself.
func (w *world) auditCalls() []sent {
	member, _ := w.issue("editor", time.Now(), identity.AuditRead)
	read := func(name, secret, query string, status int, event string) sent {
		return sent{name, func() answer { return w.send(http.MethodGet, "/audit"+query, secret, "") }, status, event}
	}
	return []sent{
		read("the log", w.Tokens["owner"], "?limit=1", 200, "_audit success - rest _audit"),
		read("the log, badly asked", w.Tokens["owner"], "?limit=0", 400, "_audit denied invalid_arguments rest _audit"),
		read("the log without the scope", w.Tokens["reader"], "", 403, "_audit denied insufficient_scope rest _authorizer"),
		read("the log without the role", member, "", 403, "_audit denied not_permitted rest _audit"),
	}
}

// outsidersCalls come from another workspace; their events are there.
func (w *world) outsidersCalls() []sent {
	call := func(name, tool, arguments string, status int, event string) sent {
		return sent{name, func() answer { return w.rest(tool, w.Tokens["outsider"], arguments) }, status, event}
	}
	return []sent{
		call("their own", "list_issues", `{}`, 200, "list_issues success - rest list_issues"),
		call("of the others", "get_issue", `{"issue_id":"550e8400-e29b-41d4-a716-446655440000"}`, 404, "get_issue denied not_found rest get_issue"),
		call("deleting of the others", "delete_issue", `{"issue_id":"550e8400-e29b-41d4-a716-446655440000","confirm":true}`, 403, "delete_issue denied not_permitted rest delete_issue"),
	}
}

// TestNothingIsAnErrorOfOurs: no call of a client, however wrong, is a failure of the connector.
func TestNothingIsAnErrorOfOurs(t *testing.T) {
	w := newWorld(t)
	w.sendAll(w.restCalls())
	for _, e := range w.events("owner") {
		if e.Outcome == fault.Failed {
			t.Errorf("%+v", e)
		}
	}
	if strings.Contains(w.log.String(), `"level":"ERROR"`) {
		t.Errorf("errors were logged:\n%s", w.log)
	}
}
