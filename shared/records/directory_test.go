package records

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

// seenBy is the directory of the Home workspace as a member sees it.
func seenBy(t *testing.T, user tracker.ID) *directory {
	t.Helper()
	s := snapshotOf(trackertest.World()[0])
	d, err := asking(nil, user).openDirectory(row[directoryRow]{Version: 3, Doc: directoryRow{
		Workspace: s.Workspace, Members: s.Members, Agents: s.Agents, Autopilots: s.Autopilots, Labels: s.Labels,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDirectoryIsForMembersOfNow(t *testing.T) {
	for _, user := range []tracker.ID{trackertest.Left, trackertest.Ada, ""} {
		_, err := asking(nil, user).openDirectory(row[directoryRow]{Version: 1, Doc: seenBy(t, trackertest.Mira).directoryRow})
		if f := fault.Of(err); err == nil || f.Reason != fault.TokenRevoked {
			t.Errorf("opened for %q: %v", user, err)
		}
	}
	if _, err := asking(nil, trackertest.Mira).openDirectory(row[directoryRow]{}); fault.KindOf(err) != fault.Internal {
		t.Errorf("without a directory: %v", err)
	}
}

func TestMemberReferences(t *testing.T) {
	d := seenBy(t, trackertest.Tomas)
	for _, tt := range []struct {
		ref    tracker.MemberRef
		want   tracker.ID
		reason fault.Reason
	}{
		{"me", trackertest.Tomas, ""},
		{" Me ", trackertest.Tomas, ""},
		{"mira okafor", trackertest.Mira, ""},
		{"MIRA@example.com", trackertest.Mira, ""},
		{tracker.MemberRef(trackertest.Mira), trackertest.Mira, ""},
		{"Same Name", "", fault.AmbiguousReference},
		{"twin1@example.com", trackertest.Twin1, ""},
		{"Mira", "", fault.UnknownReference},
		{"Former Member", "", fault.UnknownReference},
		{tracker.MemberRef(trackertest.Left), "", fault.UnknownReference},
		{tracker.MemberRef(trackertest.Ada), "", fault.UnknownReference},
		{"Atlas", "", fault.InvalidArguments},
		{tracker.MemberRef(trackertest.Relic), "", fault.InvalidArguments},
		{"Scout", "", fault.UnknownReference}, // private: there is no such agent
		{tracker.MemberRef(trackertest.Scout), "", fault.UnknownReference},
	} {
		got, err := d.member("assignee_id", tt.ref)
		if got.UserID != tt.want || tt.reason != "" && fault.Of(err).Reason != tt.reason || (err == nil) != (tt.reason == "") {
			t.Errorf("%s: %s, %v; want %s %s", tt.ref, got.UserID, err, tt.want, tt.reason)
		}
		if err != nil && fault.Of(err).Member("field") != "assignee_id" {
			t.Errorf("%s: the fault names no field", tt.ref)
		}
	}
	if _, err := d.member("assignee_id", "Atlas"); !strings.Contains(err.Error(), "assign_issue_to_agent") {
		t.Errorf("the refusal of an agent does not say what to call: %v", err)
	}
}

func TestAgentReferences(t *testing.T) {
	for user, sees := range map[tracker.ID]bool{
		trackertest.Priya: true, trackertest.Jonas: true, trackertest.Mira: true, trackertest.Tomas: false,
	} {
		d := seenBy(t, user)
		for _, ref := range []tracker.AgentRef{"scout", tracker.AgentRef(trackertest.Scout)} {
			a, err := d.agent("agent_id", ref)
			if sees != (err == nil) || sees != (a.ID == trackertest.Scout) {
				t.Errorf("%s as %s: %s, %v", ref, user, a.ID, err)
			}
			if err != nil && slices.Contains(fault.Of(err).Member("choices").([]string), "Scout") {
				t.Error("the choices name a private agent")
			}
		}
		if got := d.name(tracker.AgentActor, trackertest.Scout); (got == "Scout") != sees {
			t.Errorf("the private agent is called %q as %s", got, user)
		}
		if a, err := d.agent("agent_id", "relic"); err != nil || a.ID != trackertest.Relic {
			t.Errorf("an archived agent: %v", err)
		}
		if _, err := d.agent("agent_id", "me"); err == nil {
			t.Error("me is an agent")
		}
	}
	scout, _ := seenBy(t, trackertest.Mira).agentByID(trackertest.Scout)
	for user, may := range map[tracker.ID]bool{trackertest.Priya: true, trackertest.Mira: false, trackertest.Tomas: false} {
		if seenBy(t, user).mayStart(scout) != may {
			t.Errorf("%s may start the private agent: want %v", user, may)
		}
	}
}

func TestAutopilotReferences(t *testing.T) {
	d := seenBy(t, trackertest.Tomas)
	for _, ref := range []tracker.AutopilotRef{"backlog TRIAGE", tracker.AutopilotRef(trackertest.Triage)} {
		if a, err := d.autopilot(ref); err != nil || a.ID != trackertest.Triage {
			t.Errorf("%s: %s, %v", ref, a.ID, err)
		}
	}
	_, err := d.autopilot("Backlog")
	f := fault.Of(err)
	if f.Kind != fault.NotFound || f.Reason != fault.TargetNotFound {
		t.Fatalf("an unknown autopilot: %v", err)
	}
	choices, _ := f.Member("choices").([]string)
	if len(choices) == 0 || choices[0] != "Backlog triage" || slices.Contains(choices, "Old sweep") {
		t.Errorf("choices: %v", choices)
	}
	d.Autopilots = append(d.Autopilots, Autopilot{ID: nextID(), Title: "Backlog triage", Status: AutopilotPaused})
	if _, err := d.autopilot("Backlog triage"); fault.Of(err).Reason != fault.AmbiguousReference {
		t.Errorf("two of one title: %v", err)
	}
	d.Autopilots[len(d.Autopilots)-1].Status = AutopilotArchived
	if a, err := d.autopilot("Backlog triage"); err != nil || a.ID != trackertest.Triage {
		t.Errorf("one of one title, besides an archived one: %v", err)
	}
}

func TestChoicesAreFewAndNearestFirst(t *testing.T) {
	d := seenBy(t, trackertest.Tomas)
	for n := range 50 {
		d.Members = append(d.Members, Member{UserID: nextID(), Name: fmt.Sprintf("Person %02d", 50-n), Email: "x@example.com"})
	}
	_, err := d.member("assignee_id", "novak")
	f := fault.Of(err)
	choices, _ := f.Member("choices").([]string)
	if len(choices) != maxChoices || choices[0] != "Elin Novak" || !slices.IsSorted(choices[1:]) {
		t.Errorf("choices: %v", choices)
	}
	if public := string(f.PublicJSON("")); strings.Contains(public, "@") || strings.Contains(public, "novak") {
		t.Errorf("the refusal tells an e-mail or repeats the argument: %s", public)
	}
}

func TestThrottlingIsRateLimited(t *testing.T) {
	err := engineError("read", &table.Throttled{RetryAfter: 0})
	f := fault.Of(err)
	if f.Kind != fault.RateLimited || f.Reason != fault.ReasonRateLimited || f.RetryAfterSeconds() < 1 {
		t.Errorf("throttled: %v", err)
	}
	if err := engineError("read", &table.Conflict{}); !table.IsConflict(err) {
		t.Error("a conflict gets lost")
	}
}

func TestBrokenRowsAreInternal(t *testing.T) {
	_, err := decode[issueRow](table.Item{Doc: []byte(`{"id":"no id"}`), Version: 1})
	if err == nil || fault.KindOf(err) != fault.Internal {
		t.Errorf("a broken row: %v", err)
	}
}

func TestUSD(t *testing.T) {
	for ticks, want := range map[int64]string{
		0: "0.00", 1: "0.0000000001", 10_000_000_000: "1.00", 12_300_000_000: "1.23", 12_345_678_901: "1.2345678901",
		-5_000_000_000: "-0.50", 9_223_372_036_854_775_807: "922337203.6854775807",
	} {
		if got := usd(ticks); got != want {
			t.Errorf("%d ticks: %s, want %s", ticks, got, want)
		}
	}
}
