package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/tools/toolstest"
)

// request is one request of any kind. The status is that of both sides.
type request struct {
	what   string
	status int
	call
}

const (
	callGetIssue = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_issue","arguments":{"issue_id":"AAC-1"}}}`
	handshake    = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
)

// requests are all that is no call of a tool, or goes wrong before one.
func requests(secrets map[string]string) []request {
	get := func(what, path, who string, status int, headers ...string) request {
		return request{what, status, call{method: http.MethodGet, path: path, who: who, headers: headers}}
	}
	post := func(what, path, who, body string, status int, headers ...string) request {
		return request{what, status, call{method: http.MethodPost, path: path, who: who, body: body, headers: headers}}
	}
	other := func(what, method, path, who string, status int, headers ...string) request {
		return request{what, status, call{method: method, path: path, who: who, headers: headers}}
	}
	legacyHeader := []string{"MCP-Protocol-Version", string(legacy)}
	all := []request{
		get("health", "/health", "", 200),
		get("health with a token", "/health", "reader", 200),
		get("the tools", "/tools", "reader", 200),
		get("the tools, all granted", "/tools", "owner", 200),
		get("the tools, for nobody", "/tools", "", 401),
		get("no route", "/nothing", "reader", 404),
		get("no route, for nobody", "/nothing", "", 404),
		get("a slash too many", "/tools/", "reader", 404),
		get("an escaped letter", "/%74ools", "reader", 404),
		get("a tool, asked for", "/tools/get_issue", "reader", 404),
		get("no tool, asked for", "/tools/no_such_tool", "reader", 404),
		get("a bad query", "/tools?%zz", "reader", 400),
		get("the metadata of the resource", "/.well-known/oauth-protected-resource/mcp", "", 200),
		get("the metadata of the resource, at the root", "/.well-known/oauth-protected-resource", "", 200),
		get("no well-known document", "/.well-known/nothing", "", 404),
		other("a preflight", http.MethodOptions, "/mcp", "", 204, "Origin", "http://localhost:1234", "Access-Control-Request-Method", "POST"),
		other("another method", http.MethodPut, "/tools/get_issue", "reader", 404),
		other("a method that no path has", "BREW", "/tools", "reader", 404),

		post("no token", "/tools/get_issue", "", `{}`, 401),
		post("no token of ours", "/tools/get_issue", "made-up", `{}`, 401),
		post("an unknown token", "/tools/get_issue", secrets["unknown"], `{}`, 401),
		post("an expired token", "/tools/get_issue", secrets["expired"], `{}`, 401),
		post("a revoked token", "/tools/get_issue", secrets["revoked"], `{}`, 401),
		post("another scheme", "/tools/get_issue", "", `{}`, 401, "Authorization", "Basic b3duZXI6b3duZXI="),
		post("no scope", "/tools/create_issue", "reader", `{"title":"x"}`, 403),
		post("no tool", "/tools/no_such_tool", "reader", `{}`, 404),
		post("another content type", "/tools/list_issues", "reader", `{}`, 400, "Content-Type", "text/plain"),
		post("another charset", "/tools/list_issues", "reader", `{}`, 400, "Content-Type", "application/json; charset=latin1"),
		post("no content type", "/tools/list_issues", "reader", `{}`, 200, "Content-Type", ""),
		post("no body", "/tools/list_issues", "reader", ``, 200),
		post("no JSON", "/tools/list_issues", "reader", `{`, 400),
		post("far too much", "/tools/create_issue", "editor", `{"title":"`+strings.Repeat("x", 600<<10)+`"}`, 400),
		post("more than Lambda takes", "/tools/create_issue", "editor", `{"title":"`+strings.Repeat("x", 6<<20)+`"}`, 413),
		post("far too many headers", "/tools/list_issues", "reader", `{}`, 431, "X-Filling", strings.Repeat("x", 11<<10)),

		post("a handshake", "/mcp", "reader", handshake, 200),
		post("a handshake without a token", "/mcp", "", handshake, 401),
		post("a notification", "/mcp", "reader", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, legacyHeader...),
		post("no JSON over MCP", "/mcp", "reader", `{"jsonrpc":`, 400, legacyHeader...),
		post("many at once", "/mcp", "reader", `[`+callGetIssue+`]`, 400, legacyHeader...),
		post("a header that names another tool", "/mcp", "reader", callGetIssue, 400, append(legacyHeader, "Mcp-Name", "list_issues")...),
		post("an unknown version", "/mcp", "reader", callGetIssue, 400, "MCP-Protocol-Version", "1999-01-01"),
		post("a page of this machine", "/mcp", "reader", callGetIssue, 200, append(legacyHeader, "Origin", "http://localhost:1234")...),
		post("a page elsewhere", "/mcp", "reader", callGetIssue, 403, append(legacyHeader, "Origin", "https://evil.example")...),
		post("not acceptable", "/mcp", "reader", callGetIssue, 406, append(legacyHeader, "Accept", "text/html")...),
		get("a stream", "/mcp", "reader", 405),
		other("the end of a session", http.MethodDelete, "/mcp", "reader", 405),

		get("the log", "/audit?limit=100&since="+time.Now().UTC().Format("2006-01-02")+"T00:00:00Z", "owner", 200),
		get("the log of denials", "/audit?outcome=denied&limit=5", "owner", 200),
		get("the log, badly asked", "/audit?limit=0", "owner", 400),
		get("the log, asked for what there is not", "/audit?colour=red", "owner", 400),
		get("the log without the scope", "/audit", "reader", 403),
		get("the log without the role", "/audit", secrets["member"], 403),
		get("the log of others", "/audit", "outsider", 200),
	}
	for _, m := range []struct {
		method, params         string
		modernStatus, elsewise int // the newer era says by its status what the older one says in the answer alone
	}{
		{"tools/list", "", 200, 200}, {"server/discover", "", 200, 200}, {"ping", "", 404, 200}, {"no/such/method", "", 404, 200},
		{"resources/list", "", 404, 200}, {"tools/call", `"name":"no_such_tool"`, 400, 200}, {"tools/call", `"name":["get_issue"]`, 400, 200},
	} {
		all = append(all, request{"modern " + m.method, m.modernStatus, mcp(modern, "reader", m.method, m.params, "Mcp-Name", "no_such_tool")},
			request{"legacy " + m.method, m.elsewise, mcp(legacy, "reader", m.method, m.params)})
	}
	return append(all, request{"no scope, modern", 403, callOf(modern, "reader", "create_issue", `{"title":"x"}`)},
		request{"no scope, legacy", 403, callOf(legacy, "reader", "create_issue", `{"title":"x"}`)})
}

// TestSameRequests compares what both sides answer to requests that are not just calls of tools.
func TestSameRequests(t *testing.T) {
	sides := startBoth(t)
	now := time.Now().UTC()
	var normals [2]normal
	var lists [2][]request
	for i, s := range sides {
		normals[i] = normal{side: s, names: toolstest.NewNames(demo.Snapshots(now)), began: now.Truncate(24 * time.Hour)}
		lists[i] = requests(s.secrets(now))
	}
	for k := range lists[0] {
		var texts [2]string
		for i, s := range sides {
			r := lists[i][k]
			a := s.send(r.call)
			if a.status != r.status {
				t.Errorf("%s, %s: status %d, want %d: %s", r.what, s.name, a.status, r.status, a.body)
			}
			texts[i] = normals[i].write(a)
		}
		same(t, lists[0][k].what, texts[0], texts[1])
	}
}

// secrets are tokens that are not in local.json.
func (s *side) secrets(now time.Time) map[string]string {
	all := people(demo.Snapshots(now))
	secrets := map[string]string{}
	secrets["expired"], _ = s.issue(all["Mira"], now.AddDate(0, 0, -31), identity.IssuesRead)
	secrets["member"], _ = s.issue(all["Priya"], now, identity.AuditRead)
	secret, record := s.issue(all["Mira"], now, identity.IssuesRead)
	if _, err := token.Revoke(s.t.Context(), s.tables, record.WorkspaceID, record.ID, now); err != nil {
		s.t.Fatal(err)
	}
	secrets["revoked"] = secret
	unknown, err := token.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	secrets["unknown"] = unknown.Secret()
	return secrets
}
