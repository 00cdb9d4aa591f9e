package budget

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// row is one call of a tool, over the demo data.
type row struct {
	outcome string // for people
	of      class
	who     string           // first name of a member; left out: Priya
	also    []identity.Scope // held besides those that the tool needs
	without bool             // no scope that the tool needs; over MCP, for the authorizer stops it else
	before  []earlier        // calls by the same member, not counted
	args    string
	reason  fault.Reason // of a refusal
	over    string       // why the call takes more than the target; empty: it does not
}

type earlier struct{ tool, args string }

// class is what every tool of a kind must have a row of.
type class string

const (
	success   class = "success"
	notScoped class = "no scope"
	invalid   class = "invalid arguments"
	refusedBy class = "refused for what is there" // the other refusals
	noOp      class = "nothing to change"
	replay    class = "the same again"
	unasked   class = "not confirmed"
	preview   class = "dry run"
)

// Why some calls read more than once, one after the other.
const (
	byID      = "an id leads to the number of its issue, which is its key; an identifier has the number in it"
	prefixed  = "whether the identifier is of this workspace shows in the directory only"
	children  = "the issue lists its sub-issues, and they are read by that list"
	inThread  = "the id leads to the comment, its thread lists the replies, and they are read by that list"
	answering = "the id leads to the comment that is answered and to its thread"
	byTitle   = "the directory tells which autopilot is meant, then its last run is read"
	around    = "what hangs on the issue (sub-issues, parent, run) is read by what stands in the issue"
	counted   = around + "; the comments of others are counted"
	byComment = "the id leads to the comment, its thread and its issue"
	replies   = byComment + "; the replies are read by the list of the thread"
)

var rows = map[string][]row{
	"list_issues": {
		{outcome: "a page of 25", of: success, args: `{}`},
		{outcome: "a page of 100, the whole workspace", of: success, args: `{"limit":100}`},
		{outcome: "of one status", of: success, args: `{"statuses":["in_progress"]}`},
		{outcome: "of one assignee", of: success, args: `{"assignee_id":"me"}`},
		{outcome: "by words of the title", of: success, args: `{"q":"board order"}`},
		{outcome: "by identifier", of: success, args: `{"q":"AAC-42"}`, over: prefixed},
		{outcome: "sub-issues", of: success, args: `{"parent_issue_id":"AAC-42"}`, over: children},
		{outcome: "by date of creation", of: success, args: `{"sort":"created_at"}`},
		{outcome: "unknown assignee", of: refusedBy, args: `{"assignee_id":"Nobody"}`, reason: fault.UnknownReference},
		{outcome: "invalid cursor", of: refusedBy, args: `{"cursor":"made-up"}`, reason: fault.InvalidCursor},
		{outcome: "invalid arguments", of: invalid, args: `{"limit":0}`, reason: fault.InvalidArguments},
		{outcome: "scope missing", of: notScoped, without: true, args: `{}`, reason: fault.InsufficientScope},
	},
	"get_issue": {
		{outcome: "by identifier", of: success, args: `{"issue_id":"AAC-42"}`},
		{outcome: "by id", of: success, args: `{"issue_id":"` + string(demo.FixedIssueID) + `"}`, over: byID},
		{outcome: "with a long description (60 KiB)", of: success, who: "Mira", also: []identity.Scope{identity.IssuesWrite},
			before: []earlier{{"update_issue", `{"issue_id":"AAC-42","description":"` + strings.Repeat("x", 60<<10) + `"}`}}, args: `{"issue_id":"AAC-42"}`},
		{outcome: "not found", of: refusedBy, args: `{"issue_id":"AAC-999"}`, reason: fault.TargetNotFound},
		{outcome: "not found, by id", of: refusedBy, args: `{"issue_id":"00000000-0000-4000-8000-000000000000"}`, reason: fault.TargetNotFound, over: byID},
		{outcome: "deleted", of: refusedBy, args: `{"issue_id":"AAC-13"}`, reason: fault.TargetNotFound},
		{outcome: "invalid arguments", of: invalid, args: `{}`, reason: fault.InvalidArguments},
		{outcome: "scope missing", of: notScoped, without: true, args: `{"issue_id":"AAC-42"}`, reason: fault.InsufficientScope},
	},
	"list_comments": {
		{outcome: "all of an issue", of: success, args: `{"issue_id":"AAC-42"}`},
		{outcome: "all of an issue, by id", of: success, args: `{"issue_id":"` + string(demo.FixedIssueID) + `"}`, over: byID},
		{outcome: "one thread", of: success, args: `{"issue_id":"AAC-42","thread":"` + comment(1) + `"}`, over: inThread},
		{outcome: "since a time", of: success, args: `{"issue_id":"AAC-42","since":"2025-06-20T00:00:00Z"}`},
		{outcome: "not found", of: refusedBy, args: `{"issue_id":"AAC-999"}`, reason: fault.TargetNotFound},
		{outcome: "unknown thread", of: refusedBy, args: `{"issue_id":"AAC-42","thread":"00000000-0000-4000-8000-000000000000"}`, reason: fault.UnknownReference},
		{outcome: "invalid arguments", of: invalid, args: `{"issue_id":"AAC-42","limit":0}`, reason: fault.InvalidArguments},
		{outcome: "scope missing", of: notScoped, without: true, args: `{"issue_id":"AAC-42"}`, reason: fault.InsufficientScope},
	},
	"dashboard_usage_daily": {
		{outcome: "30 days", of: success, args: `{}`},
		{outcome: "today", of: success, args: `{"days":1}`},
		{outcome: "a year, one row", of: success, args: `{"days":365,"limit":1}`},
		{outcome: "invalid cursor", of: refusedBy, args: `{"cursor":"made-up"}`, reason: fault.InvalidCursor},
		{outcome: "invalid arguments", of: invalid, args: `{"days":0}`, reason: fault.InvalidArguments},
		{outcome: "scope missing", of: notScoped, without: true, args: `{}`, reason: fault.InsufficientScope},
	},
	"create_issue": {
		{outcome: "title alone", of: success, args: `{"title":"One"}`},
		{outcome: "with a key", of: success, args: `{"title":"One","idempotency_key":"k"}`},
		{outcome: "with labels, assignee and a short description", of: success,
			args: `{"title":"One","description":"Some words.","label_ids":["bug","ux"],"assignee_id":"me"}`},
		{outcome: "with a long description (60 KiB)", of: success, args: `{"title":"One","description":"` + strings.Repeat("x", 60<<10) + `"}`},
		{outcome: "below a parent", of: success, args: `{"title":"One","parent_issue_id":"AAC-62"}`},
		{outcome: "below a parent, by id", of: success, args: `{"title":"One","parent_issue_id":"` + string(demo.FixedIssueID) + `"}`, over: byID},
		{outcome: "replayed", of: replay, before: []earlier{{"create_issue", `{"title":"One","idempotency_key":"k"}`}},
			args: `{"title":"One","idempotency_key":"k"}`},
		{outcome: "key used with other arguments", of: refusedBy, before: []earlier{{"create_issue", `{"title":"One","idempotency_key":"k"}`}},
			args: `{"title":"Two","idempotency_key":"k"}`, reason: fault.IdempotencyConflict},
		{outcome: "unknown label", of: refusedBy, args: `{"title":"One","label_ids":["no such label"]}`, reason: fault.UnknownReference},
		{outcome: "invalid arguments", of: invalid, args: `{}`, reason: fault.InvalidArguments},
		{outcome: "scope missing", of: notScoped, without: true, args: `{"title":"One"}`, reason: fault.InsufficientScope},
	},
	"update_issue": {
		{outcome: "status, by identifier", of: success, args: `{"issue_id":"AAC-42","status":"done"}`},
		{outcome: "status, by id", of: success, args: `{"issue_id":"` + string(demo.FixedIssueID) + `","status":"done"}`, over: byID},
		{outcome: "short description", of: success, args: `{"issue_id":"AAC-42","description":"Some words."}`},
		{outcome: "long description (60 KiB)", of: success, args: `{"issue_id":"AAC-42","description":"` + strings.Repeat("x", 60<<10) + `"}`},
		{outcome: "out of the backlog, starts its agent", of: success, also: []identity.Scope{identity.AgentsWrite},
			args: `{"issue_id":"AAC-19","status":"in_progress"}`},
		{outcome: "no difference", of: noOp, before: []earlier{{"update_issue", `{"issue_id":"AAC-42","status":"done"}`}},
			args: `{"issue_id":"AAC-42","status":"done"}`},
		{outcome: "changed since", of: refusedBy, args: `{"issue_id":"AAC-42","status":"done","expected_revision":900}`, reason: fault.RevisionConflict},
		{outcome: "unknown assignee", of: refusedBy, args: `{"issue_id":"AAC-42","assignee_id":"Nobody"}`, reason: fault.UnknownReference},
		{outcome: "not found", of: refusedBy, args: `{"issue_id":"AAC-999","status":"done"}`, reason: fault.TargetNotFound},
		{outcome: "invalid arguments", of: invalid, args: `{"issue_id":"AAC-42"}`, reason: fault.InvalidArguments},
		{outcome: "scope missing", of: notScoped, without: true, args: `{"issue_id":"AAC-42","status":"done"}`, reason: fault.InsufficientScope},
	},
	"comment_issue": {
		{outcome: "a comment", of: success, args: `{"issue_id":"AAC-42","content":"Some words."}`},
		{outcome: "a comment, by id", of: success, args: `{"issue_id":"` + string(demo.FixedIssueID) + `","content":"Some words."}`, over: byID},
		{outcome: "with a key", of: success, args: `{"issue_id":"AAC-42","content":"Some words.","idempotency_key":"k"}`},
		{outcome: "a reply", of: success, args: `{"issue_id":"AAC-42","content":"Some words.","parent_id":"` + comment(1) + `"}`, over: answering},
		{outcome: "a long one (32 KiB)", of: success, args: `{"issue_id":"AAC-42","content":"` + strings.Repeat("x", 32<<10) + `"}`},
		{outcome: "starts an agent", of: success, also: []identity.Scope{identity.AgentsWrite},
			args: `{"issue_id":"AAC-62","content":"[@Scribe](mention://agent/` + agent("Scribe") + `) please."}`},
		{outcome: "replayed", of: replay, before: []earlier{{"comment_issue", `{"issue_id":"AAC-42","content":"Some words.","idempotency_key":"k"}`}},
			args: `{"issue_id":"AAC-42","content":"Some words.","idempotency_key":"k"}`},
		{outcome: "not found", of: refusedBy, args: `{"issue_id":"AAC-999","content":"Some words."}`, reason: fault.TargetNotFound},
		{outcome: "unknown parent", of: refusedBy, args: `{"issue_id":"AAC-42","content":"x","parent_id":"00000000-0000-4000-8000-000000000000"}`,
			reason: fault.UnknownReference},
		{outcome: "invalid arguments", of: invalid, args: `{"issue_id":"AAC-42"}`, reason: fault.InvalidArguments},
		{outcome: "scope missing", of: notScoped, without: true, args: `{"issue_id":"AAC-42","content":"x"}`, reason: fault.InsufficientScope},
	},
	"assign_issue_to_agent": {
		{outcome: "assigned and started", of: success, args: `{"issue_id":"AAC-62","agent_id":"Scribe"}`},
		{outcome: "assigned and started, by id", of: success, args: `{"issue_id":"` + string(demo.FixedIssueID) + `","agent_id":"Scribe"}`, over: byID},
		{outcome: "assigned, not started", of: success, args: `{"issue_id":"AAC-62","agent_id":"Scribe","suppress_run":true}`},
		{outcome: "no difference", of: noOp, before: []earlier{{"assign_issue_to_agent", `{"issue_id":"AAC-62","agent_id":"Scribe"}`}},
			args: `{"issue_id":"AAC-62","agent_id":"Scribe"}`},
		{outcome: "archived agent", of: refusedBy, args: `{"issue_id":"AAC-62","agent_id":"Relic"}`, reason: fault.TargetUnavailable},
		{outcome: "unknown agent", of: refusedBy, args: `{"issue_id":"AAC-62","agent_id":"Nobody"}`, reason: fault.UnknownReference},
		{outcome: "not found", of: refusedBy, args: `{"issue_id":"AAC-999","agent_id":"Scribe"}`, reason: fault.TargetNotFound},
		{outcome: "invalid arguments", of: invalid, args: `{"issue_id":"AAC-42"}`, reason: fault.InvalidArguments},
		{outcome: "scope missing", of: notScoped, without: true, args: `{"issue_id":"AAC-62","agent_id":"Scribe"}`, reason: fault.InsufficientScope},
	},
	"trigger_autopilot": {
		{outcome: "a run with an issue", of: success, who: "Mira", args: `{"autopilot_id":"Backlog triage"}`, over: byTitle},
		{outcome: "a run without an issue", of: success, args: `{"autopilot_id":"Customer digest"}`, over: byTitle},
		{outcome: "with a key", of: success, args: `{"autopilot_id":"Customer digest","idempotency_key":"k"}`, over: byTitle},
		{outcome: "replayed", of: replay, before: []earlier{{"trigger_autopilot", `{"autopilot_id":"Customer digest","idempotency_key":"k"}`}},
			args: `{"autopilot_id":"Customer digest","idempotency_key":"k"}`},
		{outcome: "skipped", of: success, who: "Mira", args: `{"autopilot_id":"Customer digest"}`, over: byTitle},
		{outcome: "paused", of: refusedBy, who: "Jonas", args: `{"autopilot_id":"Dependency sweep"}`, reason: fault.AutopilotNotActive},
		{outcome: "somebody else's", of: refusedBy, who: "Tomas", args: `{"autopilot_id":"Backlog triage"}`, reason: fault.NotPermitted},
		{outcome: "not found", of: refusedBy, args: `{"autopilot_id":"Nothing"}`, reason: fault.TargetNotFound},
		{outcome: "invalid arguments", of: invalid, args: `{}`, reason: fault.InvalidArguments},
		{outcome: "scope missing", of: notScoped, without: true, args: `{"autopilot_id":"Customer digest"}`, reason: fault.InsufficientScope},
	},
	"delete_issue": {
		{outcome: "deleted", of: success, who: "Mira", args: `{"issue_id":"AAC-62","confirm":true}`},
		{outcome: "deleted, by id, with sub-issues and a task", of: success, who: "Mira", args: `{"issue_id":"` + string(demo.FixedIssueID) + `","confirm":true}`,
			over: byID + "; " + around},
		{outcome: "deleted, with sub-issues and a task", of: success, who: "Mira", args: `{"issue_id":"AAC-42","confirm":true}`, over: around},
		{outcome: "deleted before", of: replay, who: "Mira", before: []earlier{{"delete_issue", `{"issue_id":"AAC-62","confirm":true}`}},
			args: `{"issue_id":"AAC-62","confirm":true}`},
		{outcome: "dry run", of: preview, who: "Mira", args: `{"issue_id":"AAC-42","dry_run":true}`, over: counted},
		{outcome: "not confirmed", of: unasked, who: "Mira", args: `{"issue_id":"AAC-42"}`, reason: fault.ConfirmMissing},
		{outcome: "not the caller's", of: refusedBy, args: `{"issue_id":"AAC-41","confirm":true}`, reason: fault.NotPermitted},
		{outcome: "not found", of: refusedBy, args: `{"issue_id":"AAC-999","confirm":true}`, reason: fault.NotPermitted},
		{outcome: "invalid arguments", of: invalid, args: `{"confirm":true}`, reason: fault.InvalidArguments},
		{outcome: "scope missing", of: notScoped, without: true, args: `{"issue_id":"AAC-42","confirm":true}`, reason: fault.InsufficientScope},
	},
	"delete_comment": {
		{outcome: "deleted", of: success, who: "Elin", args: `{"comment_id":"` + comment(6) + `","confirm":true}`, over: byComment},
		{outcome: "deleted, with three replies", of: success, who: "Tomas", args: `{"comment_id":"` + comment(1) + `","confirm":true}`, over: replies},
		{outcome: "deleted before", of: replay, who: "Elin", before: []earlier{{"delete_comment", `{"comment_id":"` + comment(6) + `","confirm":true}`}},
			args: `{"comment_id":"` + comment(6) + `","confirm":true}`, over: byComment},
		{outcome: "dry run", of: preview, who: "Tomas", args: `{"comment_id":"` + comment(1) + `","dry_run":true}`, over: byComment},
		{outcome: "not confirmed", of: unasked, who: "Elin", args: `{"comment_id":"` + comment(6) + `"}`, reason: fault.ConfirmMissing},
		{outcome: "not the caller's", of: refusedBy, args: `{"comment_id":"` + comment(6) + `","confirm":true}`, reason: fault.NotPermitted, over: byComment},
		{outcome: "not found", of: refusedBy, args: `{"comment_id":"00000000-0000-4000-8000-000000000000","confirm":true}`, reason: fault.NotPermitted, over: byComment},
		{outcome: "invalid arguments", of: invalid, args: `{"confirm":true}`, reason: fault.InvalidArguments},
		{outcome: "scope missing", of: notScoped, without: true, args: `{"comment_id":"` + comment(6) + `","confirm":true}`, reason: fault.InsufficientScope},
	},
}

// home is the demo workspace, for the ids in it.
var home = demo.Snapshots(start)[0]

// comment is the id of the n-th comment of AAC-42, from 1.
func comment(n int) string {
	i := slices.IndexFunc(home.Issues, func(i records.IssueSnapshot) bool { return i.ID == demo.FixedIssueID })
	all := slices.SortedFunc(slices.Values(home.Issues[i].Comments), func(a, b records.CommentSnapshot) int {
		return cmp.Compare(a.CreatedAt, b.CreatedAt)
	})
	return string(all[n-1].ID)
}

func agent(name string) string {
	i := slices.IndexFunc(home.Agents, func(a records.Agent) bool { return a.Name == name })
	return string(home.Agents[i].ID)
}

// call makes the call of a row and counts it.
func (w *world) call(d *tool.Definition, r row) measured {
	w.t.Helper()
	who, scopes := cmp.Or(r.who, "Priya"), append(d.Scopes(), r.also...)
	if r.without {
		scopes = slices.DeleteFunc(identity.Scopes(), func(s identity.Scope) bool { return slices.Contains(d.Scopes(), s) })
	}
	secret, _ := w.token(who, start, scopes...)
	for _, e := range r.before {
		earlierScopes, _ := catalog.ScopesOf(e.tool)
		earlierSecret, _ := w.token(who, start, earlierScopes...)
		if got := w.send(newRequest(http.MethodPost, "/tools/"+e.tool, earlierSecret, e.args)); got.status != http.StatusOK {
			w.t.Fatalf("%s, %s: a call before it was refused: %d %s", d.Name, r.outcome, got.status, got.reason)
		}
	}
	if r.without { // over REST the authorizer would stop it
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, d.Name, r.args)
		return w.measure(newRequest(http.MethodPost, "/mcp", secret, body))
	}
	return w.measure(newRequest(http.MethodPost, "/tools/"+d.Name, secret, r.args))
}
