package records

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

// conflicting is a table in which another commit is always in the way.
type conflicting struct{ *embedded.DB }

func (conflicting) Commit(context.Context, []table.Op) error { return &table.Conflict{} }

// office is where an operator works: tables, and the calls made so far.
type office struct {
	*embedded.DB
	*Admin
	t   testing.TB
	now time.Time
}

func newOffice(t testing.TB) *office {
	db := worldTables(t)
	return &office{DB: db, Admin: NewAdmin(db, nextID), t: t, now: trackertest.Start}
}

// call begins an act in the Home workspace.
func (o *office) call() *audit.Call { return o.callIn(trackertest.Home) }

func (o *office) callIn(workspace tracker.ID) *audit.Call {
	o.t.Helper()
	p, err := identity.Operator(string(workspace), "ops")
	if err != nil {
		o.t.Fatal(err)
	}
	now := o.now
	return audit.Settings{Now: func() time.Time { return now }, NewID: nextEventID, Retention: audit.DefaultRetention}.Begin(audit.Start{
		Principal: p, Tool: "admin.test", Recorder: audit.RecorderAdmin, Transport: audit.CLI,
	})
}

// events are those that operators left in the Home workspace so far, oldest first.
func (o *office) events() (events []audit.Event) {
	o.t.Helper()
	x := audit.Export{Workspace: string(trackertest.Home), Now: o.now, Retention: audit.DefaultRetention}
	err := x.Each(ctx, o.DB, func(e audit.Event) error {
		if e.Recorder == audit.RecorderAdmin {
			events = append(events, e)
		}
		return nil
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return events
}

func (o *office) directory() Directory {
	o.t.Helper()
	d, err := o.Directory(ctx, o.call())
	if err != nil {
		o.t.Fatal(err)
	}
	return d
}

func noTokens(tracker.ID) ([]table.Op, error) { return nil, nil }

// acts are what an operator can do to a directory, each with the changes its event names.
var acts = []struct {
	name    string
	act     func(*office, *audit.Call) error
	changed string
	target  string // the kind
	again   bool   // doing it once more changes nothing, and is no error
}{
	{"add a member", func(o *office, c *audit.Call) error {
		_, err := o.AddMember(ctx, c, NewMember{Name: "Nia Cole", Email: "nia@example.com", Role: identity.Member})
		return err
	}, "members", "member", false},
	{"take a member back", func(o *office, c *audit.Call) error {
		_, err := o.AddMember(ctx, c, NewMember{UserID: trackertest.Left, Name: "Back Again", Role: identity.Admin})
		return err
	}, "members", "member", false},
	{"change a role", func(o *office, c *audit.Call) error {
		_, err := o.SetMemberRole(ctx, c, "Priya Raman", identity.Admin)
		return err
	}, "role", "member", true},
	{"remove a member", func(o *office, c *audit.Call) error {
		_, err := o.RemoveMember(ctx, c, tracker.MemberRef(trackertest.Elin), noTokens)
		return err
	}, "left_at", "member", true},
	{"add an agent", func(o *office, c *audit.Call) error {
		_, err := o.AddAgent(ctx, c, NewAgent{Name: "Herald", Mode: Private, Owner: "Mira Okafor", Status: "idle"})
		return err
	}, "agents", "agent", false},
	{"archive an agent", func(o *office, c *audit.Call) error {
		_, err := o.ArchiveAgent(ctx, c, "Scout")
		return err
	}, "archived_at", "agent", true},
	{"add an autopilot", func(o *office, c *audit.Call) error {
		_, err := o.AddAutopilot(ctx, c, NewAutopilot{Title: "Weekly", Agent: "Atlas", Mode: "create_issue", Template: "Week of {{ date }}", Creator: "Jonas Lind"})
		return err
	}, "autopilots", "autopilot", false},
	{"pause an autopilot", func(o *office, c *audit.Call) error {
		_, err := o.SetAutopilotStatus(ctx, c, tracker.AutopilotRef(trackertest.Triage), AutopilotPaused)
		return err
	}, "status", "autopilot", true},
	{"archive an autopilot", func(o *office, c *audit.Call) error {
		_, err := o.SetAutopilotStatus(ctx, c, tracker.AutopilotRef(trackertest.Digest), AutopilotArchived)
		return err
	}, "status", "autopilot", true},
	{"add a label", func(o *office, c *audit.Call) error {
		_, err := o.AddLabel(ctx, c, " infra ", "#AABBCC")
		return err
	}, "labels", "label", false},
	{"import usage", func(o *office, c *audit.Call) error {
		_, err := o.ImportUsage(ctx, c, []tracker.UsageRow{{Date: "2025-06-01", Provider: "openai", Model: "gpt#x"}})
		return err
	}, "usage", "workspace", true},
}

func TestEachActLeavesOneEvent(t *testing.T) {
	o := newOffice(t)
	for n, a := range acts {
		call := o.call()
		if err := a.act(o, call); err != nil {
			t.Fatalf("%s: %v", a.name, err)
		}
		if !call.Recorded() {
			t.Errorf("%s: its event was not committed with it", a.name)
		}
		events := o.events()
		if len(events) != n+1 {
			t.Fatalf("%s: %d events, want %d", a.name, len(events), n+1)
		}
		e := eventOf(events, call)
		if e.Outcome != fault.Success || strings.Join(e.Changed, ",") != a.changed || !strings.HasPrefix(e.Target, a.target+"/") ||
			e.Actor != "operator:ops" || e.TokenID != "-" || e.Transport != audit.CLI || len(e.ScopesProvided) != 0 {
			t.Errorf("%s: %+v", a.name, e)
		}
	}
	// Once more: no change, and no event but the one that the caller records.
	before, rows := o.directory(), dump(t, o.DB)
	for _, a := range acts {
		call := o.call()
		if err := a.act(o, call); (err == nil) != a.again {
			t.Errorf("%s, again: %v", a.name, err)
		}
		if call.Recorded() {
			t.Errorf("%s, again: an event says that it changed something", a.name)
		}
	}
	if diff := cmp.Diff(before, o.directory()); diff != "" || dump(t, o.DB) != rows || len(o.events()) != len(acts) {
		t.Errorf("the second time changed something:\n%s", diff)
	}
}

func eventOf(events []audit.Event, call *audit.Call) audit.Event {
	e, _ := lookup(events, func(e audit.Event) bool { return e.EventID == call.Event.EventID })
	return e
}

func TestActsRefuse(t *testing.T) {
	o := newOffice(t)
	member := func(change func(*NewMember)) func(*audit.Call) error {
		return func(c *audit.Call) error {
			in := NewMember{Name: "Nia Cole", Email: "nia@example.com", Role: identity.Member}
			change(&in)
			_, err := o.AddMember(ctx, c, in)
			return err
		}
	}
	agent := func(change func(*NewAgent)) func(*audit.Call) error {
		return func(c *audit.Call) error {
			in := NewAgent{Name: "Herald", Mode: Private, Owner: "Mira Okafor", Status: "idle"}
			change(&in)
			_, err := o.AddAgent(ctx, c, in)
			return err
		}
	}
	autopilot := func(change func(*NewAutopilot)) func(*audit.Call) error {
		return func(c *audit.Call) error {
			in := NewAutopilot{Title: "Weekly", Agent: "Atlas", Mode: "run_only", Creator: "Jonas Lind"}
			change(&in)
			_, err := o.AddAutopilot(ctx, c, in)
			return err
		}
	}
	label := func(name, color string) func(*audit.Call) error {
		return func(c *audit.Call) error { _, err := o.AddLabel(ctx, c, name, color); return err }
	}
	role := func(ref tracker.MemberRef, r identity.Role) func(*audit.Call) error {
		return func(c *audit.Call) error { _, err := o.SetMemberRole(ctx, c, ref, r); return err }
	}
	remove := func(ref tracker.MemberRef, also func(tracker.ID) ([]table.Op, error)) func(*audit.Call) error {
		return func(c *audit.Call) error { _, err := o.RemoveMember(ctx, c, ref, also); return err }
	}
	usage := func(change func(*tracker.UsageRow)) func(*audit.Call) error {
		return func(c *audit.Call) error {
			u := tracker.UsageRow{Date: "2025-06-01", Provider: "p", Model: "m"}
			change(&u)
			_, err := o.ImportUsage(ctx, c, []tracker.UsageRow{u})
			return err
		}
	}
	tests := []struct {
		name   string
		act    func(*audit.Call) error
		reason fault.Reason
		field  string
	}{
		{"member without a name", member(func(n *NewMember) { n.Name = " " }), fault.InvalidArguments, "name"},
		{"member called me", member(func(n *NewMember) { n.Name = "Me" }), fault.InvalidArguments, "name"},
		{"member called like an id", member(func(n *NewMember) { n.Name = string(trackertest.NoSuchID) }), fault.InvalidArguments, "name"},
		{"member of two lines", member(func(n *NewMember) { n.Name = "a\nb" }), fault.InvalidArguments, "name"},
		{"member with an escape", member(func(n *NewMember) { n.Name = "a\x1b[2J" }), fault.InvalidArguments, "name"},
		{"member with a turned name", member(func(n *NewMember) { n.Name = "a\u202eb" }), fault.InvalidArguments, "name"},
		{"member with a long name", member(func(n *NewMember) { n.Name = strings.Repeat("é", 101) }), fault.InvalidArguments, "name"},
		{"member of bytes", member(func(n *NewMember) { n.Name = "a\xff" }), fault.InvalidArguments, "name"},
		{"member with a taken name", member(func(n *NewMember) { n.Name = "mira OKAFOR" }), fault.InvalidArguments, "name"},
		{"member with a taken e-mail", member(func(n *NewMember) { n.Email = "Mira@Example.com" }), fault.InvalidArguments, "email"},
		{"member without an e-mail's host", member(func(n *NewMember) { n.Email = "mira@" }), fault.InvalidArguments, "email"},
		{"member with a taken id", member(func(n *NewMember) { n.UserID = trackertest.Jonas }), fault.InvalidArguments, "id"},
		{"member with an id that is none", member(func(n *NewMember) { n.UserID = "7" }), fault.InvalidArguments, "id"},
		{"member without a role", member(func(n *NewMember) { n.Role = "" }), fault.InvalidArguments, "role"},
		{"role that is none", role("Mira Okafor", "king"), fault.InvalidArguments, "role"},
		{"role of nobody", role("Nobody", identity.Admin), fault.UnknownReference, "member"},
		{"role of me", role("me", identity.Admin), fault.UnknownReference, "member"},
		{"role of one who left", role(tracker.MemberRef(trackertest.Left), identity.Admin), fault.TargetUnavailable, ""},
		{"role of the only owner", role("Mira Okafor", identity.Admin), fault.TargetUnavailable, ""},
		{"removing the only owner", remove("Mira Okafor", noTokens), fault.TargetUnavailable, ""},
		{"removing a foreign member", remove(tracker.MemberRef(trackertest.Ada), noTokens), fault.UnknownReference, "member"},
		{"removing with too many tokens", remove("Tomas Rey", func(tracker.ID) ([]table.Op, error) { return make([]table.Op, 99), nil }), fault.LimitReached, ""},
		{"agent with a taken name", agent(func(n *NewAgent) { n.Name = " ATLAS " }), fault.InvalidArguments, "name"},
		{"agent with a long description", agent(func(n *NewAgent) { n.Description = strings.Repeat("x", 256) }), fault.InvalidArguments, "description"},
		{"agent of nobody", agent(func(n *NewAgent) { n.Owner = "Nobody" }), fault.UnknownReference, "owner"},
		{"agent of one who left", agent(func(n *NewAgent) { n.Owner = tracker.MemberRef(trackertest.Left) }), fault.UnknownReference, "owner"},
		{"agent of an agent", agent(func(n *NewAgent) { n.Owner = "Atlas" }), fault.InvalidArguments, "owner"},
		{"agent of no mode", agent(func(n *NewAgent) { n.Mode = "public" }), fault.InvalidArguments, "mode"},
		{"agent of no status", agent(func(n *NewAgent) { n.Status = "" }), fault.InvalidArguments, "status"},
		{"autopilot with a taken title", autopilot(func(n *NewAutopilot) { n.Title = "backlog TRIAGE" }), fault.InvalidArguments, "title"},
		{"autopilot of an archived agent", autopilot(func(n *NewAutopilot) { n.Agent = "Relic" }), fault.TargetUnavailable, ""},
		{"autopilot of nobody", autopilot(func(n *NewAutopilot) { n.Creator = "" }), fault.UnknownReference, "creator"},
		{"autopilot of no mode", autopilot(func(n *NewAutopilot) { n.Mode = "" }), fault.InvalidArguments, "mode"},
		{"autopilot with an unknown variable", autopilot(func(n *NewAutopilot) { n.Template = "{{week}}" }), fault.InvalidArguments, "template"},
		{"autopilot with a long template", autopilot(func(n *NewAutopilot) { n.Template = strings.Repeat("x", 501) }), fault.InvalidArguments, "template"},
		{"resuming an archived autopilot", func(c *audit.Call) error {
			_, err := o.SetAutopilotStatus(ctx, c, tracker.AutopilotRef(trackertest.OldSweep), AutopilotActive)
			return err
		}, fault.AutopilotNotActive, ""},
		{"pausing what is not there", func(c *audit.Call) error {
			_, err := o.SetAutopilotStatus(ctx, c, "Nothing", AutopilotPaused)
			return err
		}, fault.TargetNotFound, ""},
		{"label with a taken name", label("BUG", "#000000"), fault.InvalidArguments, "name"},
		{"label without a color", label("infra", "red"), fault.InvalidArguments, "color"},
		{"label with a long name", label(strings.Repeat("x", 51), "#000000"), fault.InvalidArguments, "name"},
		{"usage of no day", usage(func(u *tracker.UsageRow) { u.Date = "2025-02-30" }), fault.InvalidArguments, "date"},
		{"usage of a provider with #", usage(func(u *tracker.UsageRow) { u.Provider = "a#b" }), fault.InvalidArguments, "provider"},
		{"usage of a provider of two lines", usage(func(u *tracker.UsageRow) { u.Provider = "a\nb" }), fault.InvalidArguments, "provider"},
		{"usage of no model", usage(func(u *tracker.UsageRow) { u.Model = "" }), fault.InvalidArguments, "model"},
		{"usage below nothing", usage(func(u *tracker.UsageRow) { u.TaskCount = -1 }), fault.InvalidArguments, "task_count"},
		{"usage beyond counting", usage(func(u *tracker.UsageRow) { u.UncostedCacheReadTokens = 1 << 53 }), fault.InvalidArguments, "uncosted_cache_read_tokens"},
		{"restoring what never was", func(c *audit.Call) error { _, err := o.RestoreIssue(ctx, c, "AAC-999"); return err }, fault.TargetNotFound, ""},
		{"a token for one who left", func(c *audit.Call) error {
			_, _, err := o.Holder(ctx, c, tracker.MemberRef(trackertest.Left))
			return err
		}, fault.UnknownReference, "member"},
	}
	before := dump(t, o.DB)
	for _, tt := range tests {
		call := o.call()
		err := tt.act(call)
		f := fault.Of(err)
		if field, _ := f.Member("field").(string); err == nil || f.Reason != tt.reason || field != tt.field {
			t.Errorf("%s: %v (%s, field %v), want %s, field %q", tt.name, err, f.Reason, f.Member("field"), tt.reason, tt.field)
		}
		if call.Recorded() {
			t.Errorf("%s: an event was committed", tt.name)
		}
	}
	if got := dump(t, o.DB); got != before || len(o.events()) != 0 {
		t.Errorf("a refusal changed something:\n%s", cmp.Diff(before, got))
	}
}

func TestLimitsCountWhatIsInForce(t *testing.T) {
	o := newOffice(t)
	add := map[string]func(n int) error{
		"agents": func(n int) error {
			_, err := o.AddAgent(ctx, o.call(), NewAgent{Name: fmt.Sprint("agent ", n), Mode: Private, Owner: "Mira Okafor", Status: "idle"})
			return err
		},
		"autopilots": func(n int) error {
			_, err := o.AddAutopilot(ctx, o.call(), NewAutopilot{Title: fmt.Sprint("pilot ", n), Agent: "Atlas", Mode: "run_only", Creator: "Mira Okafor"})
			return err
		},
		"labels": func(n int) error {
			_, err := o.AddLabel(ctx, o.call(), fmt.Sprint("label ", n), "#000000")
			return err
		},
		"members": func(n int) error {
			_, err := o.AddMember(ctx, o.call(), NewMember{Name: fmt.Sprint("member ", n), Role: identity.Member})
			return err
		},
	}
	want := map[string]int{"agents": 100, "autopilots": 100, "labels": 100, "members": 200}
	inForce := func() map[string]int {
		d, got := o.directory(), map[string]int{}
		for _, m := range d.Members {
			if !m.left() {
				got["members"]++
			}
		}
		for _, a := range d.Agents {
			if !a.archived() {
				got["agents"]++
			}
		}
		for _, a := range d.Autopilots {
			if a.Status != AutopilotArchived {
				got["autopilots"]++
			}
		}
		got["labels"] = len(d.Labels)
		return got
	}
	o.fill(func(d *directoryRow) { // a few are left to add
		for n := range 180 {
			d.Members = append(d.Members, Member{UserID: nextID(), Name: fmt.Sprint("filled ", n), Role: identity.Member})
			if n < 80 {
				d.Agents = append(d.Agents, Agent{ID: nextID(), OwnerID: trackertest.Mira, Name: fmt.Sprint("filled ", n)})
				d.Autopilots = append(d.Autopilots, Autopilot{ID: nextID(), AssigneeID: trackertest.Atlas, CreatedByID: trackertest.Mira, Title: fmt.Sprint("filled ", n)})
				d.Labels = append(d.Labels, Label{ID: nextID(), Name: fmt.Sprint("filled ", n)})
			}
		}
	})
	for kind, one := range add {
		var err error
		for n := 0; err == nil; n++ {
			err = one(n)
		}
		if fault.Of(err).Reason != fault.LimitReached {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if diff := cmp.Diff(want, inForce()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := o.RemoveMember(ctx, o.call(), "member 1", noTokens); err != nil {
		t.Fatal(err)
	}
	if err := add["members"](1); err != nil {
		t.Errorf("in the place of one who left: %v", err)
	}
}

func TestADirectoryThatIsFull(t *testing.T) {
	o := newOffice(t)
	o.fill(func(d *directoryRow) {
		for len(d.Agents) < 480 { // nearly 400 KB
			d.Agents = append(d.Agents, Agent{ID: nextID(), OwnerID: trackertest.Mira, Description: strings.Repeat("語", 210), ArchivedAt: 1})
		}
	})
	for n := 0; ; n++ {
		_, err := o.AddAgent(ctx, o.call(), NewAgent{Name: fmt.Sprint("agent ", n), Description: strings.Repeat("語", 255), Mode: Private, Owner: "Mira Okafor", Status: "idle"})
		if n > 0 && fault.Of(err).Reason == fault.LimitReached && fault.Of(err).Member("limit") == nil {
			return
		}
		if err != nil {
			t.Fatalf("agent %d: %v", n, err)
		}
	}
}

// fill changes the directory of the Home workspace by hand.
func (o *office) fill(change func(*directoryRow)) {
	o.t.Helper()
	key := directoryKey(trackertest.Home)
	d, err := get[directoryRow](ctx, o.DB, key)
	if err != nil {
		o.t.Fatal(err)
	}
	change(&d.Doc)
	it, err := item(key, d.Version+1, d.Doc, nil)
	if err == nil {
		err = o.Commit(ctx, []table.Op{table.Put(it, table.IfVersion(d.Version))})
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

func TestWhoLeavesAndComesBack(t *testing.T) {
	o := newOffice(t)
	active := func() bool {
		_, _, active, err := Members(o.DB).Member(ctx, string(trackertest.Home), string(trackertest.Tomas))
		if err != nil {
			t.Fatal(err)
		}
		return active
	}
	revoked := table.Put(table.Item{Key: data("TOK#x", "META"), Doc: json.RawMessage("{}"), Version: 1}, table.IfAbsent())
	call := o.call()
	if _, err := o.RemoveMember(ctx, call, "Tomas Rey", func(id tracker.ID) ([]table.Op, error) {
		if id != trackertest.Tomas {
			t.Errorf("tokens of %s", id)
		}
		return []table.Op{revoked}, nil
	}); err != nil || active() {
		t.Fatalf("active %v, %v", active(), err)
	}
	if _, found, err := o.Get(ctx, revoked.Item.Key); !found || err != nil {
		t.Errorf("what was to be committed too is not there: %v", err)
	}
	if diff := cmp.Diff([]string{"left_at", "revoked_at"}, eventOf(o.events(), call).Changed); diff != "" {
		t.Error(diff)
	}
	if _, err := o.AddMember(ctx, o.call(), NewMember{UserID: trackertest.NoSuchID, Name: "Tomas Rey", Email: "TOMAS@example.com", Role: identity.Admin}); fault.Of(err).Member("field") != "email" {
		t.Errorf("with another id: %v", err)
	}
	m, err := o.AddMember(ctx, o.call(), NewMember{Name: "Tomas Rey", Email: "TOMAS@example.com", Role: identity.Admin})
	if err != nil || m.UserID != trackertest.Tomas || m.Role != identity.Admin || !active() {
		t.Errorf("back again: %+v, active %v, %v", m, active(), err)
	}
	if d := o.directory(); len(d.Members) != len(trackertest.World()[0].Members) {
		t.Errorf("%d members", len(d.Members))
	}
}

// TestNobodyIsAnOperatorByName holds that only Admin treats the principal of an operator as one
// who may anything.
func TestNobodyIsAnOperatorByName(t *testing.T) {
	o := newOffice(t)
	if _, err := NewReaders(o.DB).Reader(o.call()).GetIssue(ctx, "AAC-1"); fault.KindOf(err) != fault.Unauthenticated {
		t.Errorf("a reader: %v", err)
	}
	if _, err := storesOver(o.DB).Store(o.call()).DeleteIssue(ctx, "AAC-1"); fault.KindOf(err) != fault.Unauthenticated {
		t.Errorf("a store: %v", err)
	}
	if _, err := storesOver(o.DB).RestoreIssue(ctx, o.call(), "AAC-1"); fault.KindOf(err) != fault.Unauthenticated {
		t.Errorf("restoring as a member: %v", err)
	}
}

func newWorkspace(slug string) NewWorkspace {
	return NewWorkspace{ID: nextID(), Name: "Fjord", Slug: slug, Prefix: "fjo", Owner: NewMember{Name: "Ida Moe", Email: "Ida@example.com"}}
}

func TestCreateWorkspace(t *testing.T) {
	o := newOffice(t)
	in := newWorkspace("fjord")
	call := o.callIn(in.ID)
	w, owner, err := o.CreateWorkspace(ctx, call, in)
	if err != nil || !call.Recorded() {
		t.Fatalf("recorded %v, %v", call.Recorded(), err)
	}
	if diff := cmp.Diff(Workspace{ID: in.ID, Name: "Fjord", Slug: "fjord", IssuePrefix: "FJO"}, w); diff != "" {
		t.Error(diff)
	}
	for _, ref := range []string{"fjord", " Fjord ", string(w.ID), strings.ToUpper(string(w.ID))} {
		if id, err := o.FindWorkspace(ctx, ref); id != w.ID || err != nil {
			t.Errorf("by %q: %s, %v", ref, id, err)
		}
	}
	c := trackertest.Caller{Workspace: w.ID, User: owner.UserID, Scopes: identity.Scopes(), Tool: "create_issue"}
	s := storesOver(o.DB).Store(callOf(c, func() time.Time { return o.now }))
	made, err := s.CreateIssue(ctx, tracker.NewIssue{Title: "The first"})
	if err != nil || made.Issue.Identifier != "FJO-1" || made.Issue.CreatorName != "Ida Moe" {
		t.Errorf("the owner's first issue: %+v, %v", made, err)
	}
	for _, ref := range []string{"", "other", "Fj ord", "../", string(trackertest.NoSuchID)} {
		if _, err := o.FindWorkspace(ctx, ref); fault.Of(err).Reason != fault.TargetNotFound {
			t.Errorf("by %q: %v", ref, err)
		}
	}
}

func TestCreateWorkspaceRefuses(t *testing.T) {
	o := newOffice(t)
	for field, change := range map[string]func(*NewWorkspace){
		"name":   func(n *NewWorkspace) { n.Name = "" },
		"slug":   func(n *NewWorkspace) { n.Slug = "Fjord" },
		"prefix": func(n *NewWorkspace) { n.Prefix = "TOO-LONG" },
		"owner":  func(n *NewWorkspace) { n.Owner.Name = "me" },
		"email":  func(n *NewWorkspace) { n.Owner.Email = "x" },
		"id":     func(n *NewWorkspace) { n.Owner.UserID = "x" },
	} {
		in := newWorkspace("fjord")
		change(&in)
		if _, _, err := o.CreateWorkspace(ctx, o.callIn(in.ID), in); fault.Of(err).Member("field") != field {
			t.Errorf("%s: %v", field, err)
		}
		if exists, err := Exists(ctx, o.DB, in.ID); exists || err != nil {
			t.Errorf("%s: exists %v, %v", field, exists, err)
		}
	}
	in := newWorkspace(trackertest.World()[0].Slug)
	if _, _, err := o.CreateWorkspace(ctx, o.callIn(in.ID), in); fault.Of(err).Member("field") != "slug" {
		t.Errorf("a slug that is taken: %v", err)
	}
}

func TestOneSlugManyAtOnce(t *testing.T) {
	o := newOffice(t)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for n := range errs {
		in := newWorkspace("fjord")
		call := o.callIn(in.ID)
		wg.Go(func() { _, _, errs[n] = o.CreateWorkspace(ctx, call, in) })
	}
	wg.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		} else if fault.Of(err).Member("field") != "slug" {
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("%d workspaces have the slug", made)
	}
}

func TestManyLabelsAtOnce(t *testing.T) {
	o := newOffice(t)
	before := len(o.directory().Labels)
	var wg sync.WaitGroup
	errs := make([]error, 6)
	for n := range errs {
		call := o.call()
		wg.Go(func() { _, errs[n] = o.AddLabel(ctx, call, fmt.Sprint("label ", n%3), "#000000") })
	}
	wg.Wait()
	made := 0
	for _, err := range errs {
		switch f := fault.Of(err); {
		case err == nil:
			made++
		case f.Member("field") != "name" && f.Reason != fault.Contention:
			t.Error(err)
		}
	}
	if after := len(o.directory().Labels); after-before != made || made > 3 || len(o.events()) != made {
		t.Errorf("%d labels more, %d made, %d events", after-before, made, len(o.events()))
	}
}

func TestContentionInTheWordsOfAnOperator(t *testing.T) {
	o := newOffice(t)
	o.Admin = NewAdmin(conflicting{o.DB}, nextID)
	_, err := o.AddLabel(ctx, o.call(), "infra", "#000000")
	if f := fault.Of(err); f.Reason != fault.Contention || !strings.Contains(f.Text, "workspace") {
		t.Errorf("%v", err)
	}
	o.Admin = NewAdmin(&breaking{o.DB, 0}, nextID)
	if _, err := o.AddLabel(ctx, o.call(), "infra", "#000000"); !errors.Is(err, errBroken) {
		t.Errorf("%v", err)
	}
}
