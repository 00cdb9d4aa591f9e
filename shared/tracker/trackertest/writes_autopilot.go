package trackertest

import (
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// ran expects a run with this outcome and reason, and checks that the answer is of one piece.
func ran(t *testing.T, out tracker.TriggeredRun, outcome, reason string) {
	t.Helper()
	ended := outcome != "started"
	if out.Outcome != outcome || out.Run.ReasonCode != reason || out.Message == "" || out.Replayed || out.Run.Source != "manual" {
		t.Fatalf("want a run %s %s, got %s", outcome, reason, toJSON(out))
	}
	if nothing := out.Run.TaskID == "" && out.Run.IssueID == "" && out.Run.CompletedAt != nil; nothing != ended {
		t.Errorf("what ran does not fit the outcome: %s", toJSON(out))
	}
}

var triggering = []testCase{
	{"a run can make an issue for its agent", func(t *testing.T, f Fixture) {
		mira := f.by(t, Mira)
		out := mira.trigger("backlog TRIAGE")
		ran(t, out, "started", "")
		if out.Run.Status != "issue_created" || out.Run.AutopilotID != Triage || !out.Run.TriggeredAt.Equal(Start) {
			t.Errorf("the run: %s", toJSON(out.Run))
		}
		got := mira.get(out.Run.IssueID)
		i := got.Issue
		if i.Title != "Triage 2025-06-22" || i.Status != tracker.Todo || i.Priority != tracker.NoPriority || i.CreatorType != tracker.AgentActor ||
			i.CreatorID != Atlas || i.AssigneeID != Atlas || i.Number <= 3 {
			t.Errorf("the issue: %s", toJSON(i))
		}
		if len(got.OpenTasks) != 1 || got.OpenTasks[0].ID != out.Run.TaskID {
			t.Errorf("its tasks: %s", toJSON(got.OpenTasks))
		}
		mira.give(out.Run.IssueID, Atlas, "unchanged")
	}},
	{"without a template the issue is called as the autopilot", func(t *testing.T, f Fixture) {
		tomas := f.by(t, Tomas)
		if got := tomas.get(tomas.trigger("Self-named").Run.IssueID).Issue.Title; got != "Self-named" {
			t.Errorf("title %q", got)
		}
	}},
	{"a run can make a task without an issue", func(t *testing.T, f Fixture) {
		out := f.by(t, Tomas).trigger(tracker.AutopilotRef(PlainRun))
		ran(t, out, "started", "")
		if out.Run.Status != "running" || out.Run.IssueID != "" || out.Run.TaskID == "" {
			t.Errorf("the run: %s", toJSON(out.Run))
		}
	}},
	{"what cannot be let in is skipped, with a run", func(t *testing.T, f Fixture) {
		mira := f.by(t, Mira)
		for range 2 { // a skipped run blocks nothing, and does not hide its reason
			ran(t, mira.trigger("Exhibit"), "skipped", "target_unavailable")
			ran(t, mira.trigger("Customer digest"), "skipped", "invocation_not_allowed")
			ran(t, mira.trigger("Night run"), "skipped", "runtime_offline")
		}
		ran(t, f.by(t, Priya).trigger("Customer digest"), "started", "")
	}},
	{"within a minute of a start a run is skipped", func(t *testing.T, f Fixture) {
		mira := f.by(t, Mira)
		ran(t, mira.trigger("Plain run"), "started", "")
		f.Clock.Advance(59 * time.Second)
		ran(t, mira.trigger("Plain run"), "skipped", "already_active")
		f.Clock.Advance(2 * time.Second)
		ran(t, mira.trigger("Plain run"), "started", "")
	}},
	{"of eight triggers at once one starts", func(t *testing.T, f Fixture) {
		outs, errs := make([]tracker.TriggeredRun, 8), make([]error, 8)
		atOnce(len(errs), func(i int) {
			outs[i], errs[i] = f.As(Mira).TriggerAutopilot(t.Context(), tracker.AutopilotTrigger{Autopilot: "Plain run"})
		})
		started := 0
		for i, err := range errs {
			switch {
			case err != nil:
				refusedAs(t, err, fault.RateLimited, fault.Contention)
			case outs[i].Outcome == "started":
				started++
			default:
				ran(t, outs[i], "skipped", "already_active")
			}
		}
		if started != 1 {
			t.Errorf("%d started", started)
		}
	}},
	{"a template without a valid title fails, with a run", func(t *testing.T, f Fixture) {
		tomas := f.by(t, Tomas)
		for range 2 {
			out := tomas.trigger("Untitled")
			ran(t, out, "failed", "template_invalid")
			if out.Run.FailureReason == "" || out.Run.Status != "failed" {
				t.Errorf("the run: %s", toJSON(out.Run))
			}
		}
	}},
	{"only its creator and administrators may start an autopilot that is active", func(t *testing.T, f Fixture) {
		trigger := func(user tracker.ID, ref tracker.AutopilotRef) error {
			_, err := f.As(user).TriggerAutopilot(t.Context(), tracker.AutopilotTrigger{Autopilot: ref})
			return err
		}
		refusedAs(t, trigger(Elin, "Backlog triage"), fault.Forbidden, fault.NotPermitted)
		refusedAs(t, trigger(Elin, "Dependency sweep"), fault.Forbidden, fault.NotPermitted)
		for ref, status := range map[tracker.AutopilotRef]string{"Dependency sweep": "paused", tracker.AutopilotRef(OldSweep): "archived"} {
			if got := refusedAs(t, trigger(Mira, ref), fault.Conflict, fault.AutopilotNotActive).Member("status"); got != status {
				t.Errorf("status %v, want %s", got, status)
			}
		}
		for _, ref := range []tracker.AutopilotRef{"No such", tracker.AutopilotRef(NoSuchID)} {
			refusedAs(t, trigger(Mira, ref), fault.NotFound, fault.TargetNotFound)
		}
		f.SetRole(t, Elin, identity.Admin)
		if err := trigger(Elin, "Backlog triage"); err != nil {
			t.Error(describe(err))
		}
	}},
}
