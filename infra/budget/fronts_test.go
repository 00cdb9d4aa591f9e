package budget

import (
	"net/http"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
)

// frontRow is one request, for what another function than a tool's takes of it.
type frontRow struct {
	function string
	outcome  string
	request  func(*world) *http.Request
	status   int
	over     string // as in row
}

const (
	stillMember = "whether its owner is still a member, and with which role, is read once the token has named them, " +
		"so that a member who leaves is out with the next request"
	linkedMember = "a signature needs no read, but it names an account: the member linked to it and the deny list are read, then, " +
		"as for a personal token, whether that is still a member"
	dayByDay = "the log is a partition for each day, asked one day after the other, newest first, until the page is full; " +
		"a page takes at most 64 days"
	listing = `{}`
)

const unknownTool = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_such_tool","arguments":{}}}`

const callListIssues = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_issues","arguments":{}}}`

var fronts = []frontRow{
	{function: authorizer, outcome: "a personal token in force", status: 200, over: stillMember, request: with(list, theirs)},
	{function: authorizer, outcome: "a personal token in force, the tool's scope missing", status: 403, over: stillMember, request: func(w *world) *http.Request {
		secret, _ := w.token("Priya", start, identity.IssuesRead)
		return newRequest(http.MethodPost, "/tools/create_issue", secret, listing)
	}},
	{function: authorizer, outcome: "no token", status: 401, request: with(list, func(*world) string { return "" })},
	{function: authorizer, outcome: "no token of ours", status: 401, request: with(list, func(*world) string { return "made-up" })},
	{function: authorizer, outcome: "an unknown personal token", status: 401, request: with(list, stranger)},
	{function: authorizer, outcome: "an expired personal token", status: 401, request: with(list, func(w *world) string {
		secret, _ := w.token("Priya", start.AddDate(0, 0, -31), identity.IssuesRead)
		return secret
	})},
	{function: authorizer, outcome: "a revoked personal token", status: 401, request: with(list, revoked)},
	{function: authorizer, outcome: "an access token in force", status: 200, over: linkedMember,
		request: with(list, func(w *world) string { return w.accessToken(true) })},
	{function: authorizer, outcome: "an access token of an account that is not linked", status: 401,
		request: with(list, func(w *world) string { return w.accessToken(false) })},
	{function: mcpFront, outcome: "a call of a tool", status: 200, request: with(mcpCall(callListIssues), theirs)},
	{function: mcpFront, outcome: "an unknown tool", status: 200, request: with(mcpCall(unknownTool), theirs)},
	{function: mcpFront, outcome: "a header that names another tool", status: 400, request: func(w *world) *http.Request {
		r := with(mcpCall(callListIssues), theirs)(w)
		r.Header.Set("Mcp-Name", "get_issue")
		return r
	}},
	{function: mcpFront, outcome: "the list of tools", status: 200,
		request: with(mcpCall(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`), theirs)},
	{function: discovery, outcome: "the list of tools", status: 200, request: with(func(secret string) *http.Request {
		return newRequest(http.MethodGet, "/tools", secret, "")
	}, theirs)},
	{function: auditQuery, outcome: "a page of 50 events", status: 200, request: func(w *world) *http.Request {
		for range 50 {
			w.send(list(theirs(w)))
		}
		return log(owner(w))
	}},
	{function: auditQuery, outcome: "a page without events", status: 200, over: dayByDay, request: with(log, owner)},
	{function: auditQuery, outcome: "not for this role", status: 403, request: with(log, theirs)},
}

// with makes a request with somebody's secret.
func with(request func(secret string) *http.Request, whose func(*world) string) func(*world) *http.Request {
	return func(w *world) *http.Request { return request(whose(w)) }
}

func list(secret string) *http.Request {
	return newRequest(http.MethodPost, "/tools/list_issues", secret, listing)
}

func log(secret string) *http.Request { return newRequest(http.MethodGet, "/audit", secret, "") }

func mcpCall(body string) func(string) *http.Request {
	return func(secret string) *http.Request { return newRequest(http.MethodPost, "/mcp", secret, body) }
}

// theirs is a member's token with all scopes.
func theirs(w *world) string {
	secret, _ := w.token("Priya", start, identity.Scopes()...)
	return secret
}

func owner(w *world) string {
	secret, _ := w.token("Mira", start, identity.Scopes()...)
	return secret
}

// stranger is a well-formed token that nobody has.
func stranger(w *world) string {
	t, err := token.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return t.Secret()
}

func revoked(w *world) string {
	secret, record := w.token("Priya", start, identity.IssuesRead)
	if _, err := token.Revoke(w.t.Context(), writer.Open(w.conn), record.WorkspaceID, record.ID, start.Add(time.Second)); err != nil {
		w.t.Fatal(err)
	}
	return secret
}
