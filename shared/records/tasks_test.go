package records

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

func TestTask21IsOverTheQuota(t *testing.T) {
	db := worldTables(t)
	assign := func(agent tracker.AgentRef) tracker.TriggerOutcome {
		t.Helper()
		out, err := acting(db, trackertest.Mira).AssignIssue(ctx, tracker.Assignment{Issue: "AAC-1", Agent: agent})
		if err != nil {
			t.Fatal(err)
		}
		return out.TriggerOutcomes[0]
	}
	assign("Scribe")
	rewrite(t, db, issueKey(trackertest.Home, 1), func(r *issueRow) {
		for len(r.Tasks) < tracker.MaxActiveTasks {
			r.Tasks = append(r.Tasks, Task{ID: nextID(), AgentID: trackertest.Night, Status: Running})
		}
	})
	if got := assign("Atlas"); got.Status != startBlocked || got.ReasonCode != reasonQuota || got.TaskID != "" {
		t.Errorf("task 21: %+v", got)
	}
	if got := assign("Scribe"); got.Status != startCoalesced {
		t.Errorf("an open task takes a start also when there are 20: %+v", got)
	}
	assign("Atlas")
	rewrite(t, db, issueKey(trackertest.Home, 1), func(r *issueRow) { r.Tasks = r.Tasks[:1] })
	if got := assign("Atlas"); got.Status != startQueued {
		t.Errorf("with room again, the agent that was not started: %+v", got)
	}
}

func TestTasksInTheIssueAndOnTheirOwnAreEqual(t *testing.T) {
	db := worldTables(t)
	say := func(issue tracker.IssueRef) {
		t.Helper()
		content := tracker.Content(link("agent", trackertest.Atlas) + link("agent", trackertest.Scribe))
		if _, err := acting(db, trackertest.Mira).CreateComment(ctx, tracker.NewComment{Issue: issue, Content: content}); err != nil {
			t.Fatal(err)
		}
	}
	say("AAC-3")
	for range maxCoalesced + 3 {
		say("AAC-3")
	}
	tasks := stored[issueRow](t, db, issueKey(trackertest.Home, 3)).Doc.Tasks
	if len(tasks) != 2 {
		t.Fatalf("%d tasks", len(tasks))
	}
	for _, task := range tasks {
		if diff := cmp.Diff(task, stored[Task](t, db, taskKey(trackertest.Home, task.ID)).Doc); diff != "" {
			t.Errorf("in the issue and on its own (-issue +own):\n%s", diff)
		}
		if len(task.Coalesced) != maxCoalesced {
			t.Errorf("%d coalesced", len(task.Coalesced))
		}
	}
}

func TestWhatATaskLosesWithComments(t *testing.T) {
	c := func(n int) tracker.ID {
		return []tracker.ID{trackertest.Question, trackertest.Answer, trackertest.Aside}[n]
	}
	by := func(n int) taskOrigin { return taskOrigin{sourceComment, c(n)} }
	gone := func(ns ...int) (entries []threadEntry) {
		for _, n := range ns {
			entries = append(entries, threadEntry{ID: c(n)})
		}
		return entries
	}
	full := Task{Status: Queued, Source: sourceComment, TriggerCommentID: c(0)}
	for len(full.Coalesced) < maxCoalesced {
		full.Coalesced = append(full.Coalesced, by(0))
	}
	for _, tt := range []struct {
		name  string
		task  Task
		gone  []threadEntry
		want  Task
		cut   bool
		alone bool
	}{
		{"its only cause", Task{Status: Queued, Source: sourceComment, TriggerCommentID: c(0)}, gone(1, 0), Task{}, true, true},
		{"all its causes", Task{Status: Dispatched, Source: sourceComment, TriggerCommentID: c(0), Coalesced: []taskOrigin{by(1)}}, gone(0, 1), Task{}, true, true},
		{
			"the first of two", Task{Status: Queued, Source: sourceComment, TriggerCommentID: c(0), Coalesced: []taskOrigin{by(1)}}, gone(0),
			Task{Status: Queued, Source: sourceComment, TriggerCommentID: c(1), Coalesced: []taskOrigin{}}, true, false,
		},
		{
			"one beside an assignment", Task{Status: Queued, Source: sourceAssign, Coalesced: []taskOrigin{by(0), by(2)}}, gone(0),
			Task{Status: Queued, Source: sourceAssign, Coalesced: []taskOrigin{by(2)}}, true, false,
		},
		{"none", Task{Status: Queued, Source: sourceAssign}, gone(0), Task{Status: Queued, Source: sourceAssign}, false, false},
		{
			"a task that runs", Task{Status: Running, Source: sourceComment, TriggerCommentID: c(0)}, gone(0),
			Task{Status: Running, Source: sourceComment, TriggerCommentID: c(0)}, false, false,
		},
		{"a task that has forgotten causes", full, gone(0), full, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, cut, alone := tt.task.without(tt.gone)
			if cut != tt.cut || alone != tt.alone {
				t.Errorf("changed %v, alone %v", cut, alone)
			}
			if !alone {
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("left (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestTaskPriority(t *testing.T) {
	for p, want := range map[tracker.Priority]int{
		tracker.Urgent: 4, tracker.High: 3, tracker.Medium: 2, tracker.Low: 1, tracker.NoPriority: 0, "unheard of": 0,
	} {
		if got := taskPriority(p); got != want {
			t.Errorf("%s: %d, want %d", p, got, want)
		}
	}
}
