package toolstest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// Nobody gets an answer: no look at the data, and no event, for there is nobody to write it of.
func TestNobody(t *testing.T) {
	w := openWorld(t, nil, false)
	arguments := good(t)
	for _, d := range catalog.All() {
		for _, p := range []*identity.Principal{nil, {}, {Scopes: identity.Scopes()}} {
			o := w.observe(t, func() tool.Reply { return w.invoke(t.Context(), d.Name, p, w.names.read(arguments[d.Name])) })
			if o.reply.Fault == nil || o.reply.Fault.Kind != fault.Unauthenticated {
				t.Errorf("%s as %+v: got %+v, want unauthenticated", d.Name, p, o.reply)
			}
			if len(o.events)+o.stored+len(o.changed)+len(o.trace) > 0 {
				t.Errorf("%s as nobody left traces: %+v", d.Name, o)
			}
		}
	}
}

// Who has left the workspace is refused by every tool that looks at the members, though the
// token still has its scopes. Usage has no names in it; there the authorizer alone refuses,
// which it does at the next request.
func TestWhoHasLeft(t *testing.T) {
	w := openWorld(t, []string{"Elin has left"}, false)
	arguments := good(t)
	for _, d := range catalog.All() {
		if d.Name == "dashboard_usage_daily" {
			continue
		}
		c := call{Who: "Elin", Arguments: []byte(arguments[d.Name])}
		r, err := w.run(t, c, d)
		if err != nil {
			t.Fatal(err)
		}
		if r.reason != fault.TokenRevoked || r.status != 401 {
			t.Errorf("%s: got %s, want 401 token_revoked", d.Name, r.reply)
		}
	}
}

// Every scope but its own opens no tool, and its own alone does.
func TestScopesStandAlone(t *testing.T) {
	arguments := good(t)
	for _, d := range catalog.All() {
		w := openWorld(t, nil, false)
		others := slices.DeleteFunc(identity.Scopes(), func(s identity.Scope) bool { return slices.Contains(d.Scopes(), s) })
		c := call{Who: "Mira", Arguments: []byte(arguments[d.Name])}
		for _, scopes := range [][]identity.Scope{{}, others} {
			c.Scopes = identity.Names(scopes)
			r, err := w.run(t, c, d)
			if err != nil {
				t.Fatal(err)
			}
			if r.reason != fault.InsufficientScope || r.data != dataNotRead {
				t.Errorf("%s with %v: got %s, data %s", d.Name, scopes, r.reply, r.data)
			}
		}
		c.Scopes = nil
		if r, err := w.run(t, c, d); err != nil || r.status != 200 {
			t.Errorf("%s with %v: got %s, %v", d.Name, d.Scopes(), r.reply, err)
		}
	}
}

// A destructive tool answers alike to a target that is missing, foreign or forbidden; so must
// the work before the answer be, or the time that it takes tells them apart.
func TestNoSuchTargetTakesTheSameWork(t *testing.T) {
	targets := map[string][]string{
		"delete_issue": {
			`{"issue_id": "00000000-0000-4000-8000-000000000000", "confirm": true}`,
			`{"issue_id": "<NOR-1>", "confirm": true}`,
			`{"issue_id": "<AAC-61>", "confirm": true}`,
		},
		"delete_comment": {
			`{"comment_id": "00000000-0000-4000-8000-000000000000", "confirm": true}`,
			`{"comment_id": "<AAC-42 comment 1>", "confirm": true}`,
			`{"comment_id": "<AAC-13 comment 4>", "confirm": true}`,
		},
	}
	w := openWorld(t, nil, false)
	for name, all := range targets {
		d, _ := catalog.Find(name)
		p, err := w.principal(call{Who: "Priya"}, d)
		if err != nil {
			t.Fatal(err)
		}
		var first observed
		for i, arguments := range all {
			o := w.observe(t, func() tool.Reply { return w.invoke(t.Context(), name, p, w.names.read(arguments)) })
			slices.Sort(o.trace) // requests made side by side come in any order
			if o.reply.Fault == nil || len(o.trace) == 0 {
				t.Fatalf("%s %s: got %s after %v, want a refusal after a look", name, arguments, o.reply.Value, o.trace)
			}
			if i == 0 {
				first = o
				continue
			}
			if diff := cmp.Diff(string(first.reply.Fault.PublicJSON("")), string(o.reply.Fault.PublicJSON(""))); diff != "" {
				t.Errorf("%s %s: another answer than to a missing target:\n%s", name, arguments, diff)
			}
			if diff := cmp.Diff(first.trace, o.trace); diff != "" {
				t.Errorf("%s %s: other work than for a missing target:\n%s", name, arguments, diff)
			}
		}
	}
}
