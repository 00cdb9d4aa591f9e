package demo

import (
	"fmt"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// triageIssue makes an issue of the autopilot "Backlog triage", by and for Atlas, with the run
// that made it and the task that worked on it.
func (g *generator) triageIssue(n int) records.IssueSnapshot {
	created := g.createdAt(n)
	run, task := id(fmt.Sprintf("run/triage/%d", n)), id(fmt.Sprintf("task/%d", n))
	i := records.IssueSnapshot{
		ID: issueID(n), Number: n, Title: "Triage " + created.Format(time.DateOnly), Status: status(n), Priority: tracker.NoPriority,
		CreatorType: tracker.AgentActor, CreatorID: agent("atlas"), AssigneeType: tracker.AgentActor, AssigneeID: agent("atlas"),
		Revision: 1, CreatedAt: records.MicrosOf(created), OriginRunID: run,
	}
	last := g.move(&i, created)
	i.UpdatedAt = records.MicrosOf(last)
	g.tasks = append(g.tasks, records.Task{
		ID: task, AgentID: agent("atlas"), IssueID: i.ID, AutopilotRunID: run, Source: "autopilot", Status: records.Completed,
		Priority: taskPriority(i.Priority), RequestedBy: member("mira"), CreatedAt: i.CreatedAt,
	})
	r := records.RunSnapshot{
		ID: run, AutopilotID: autopilot("triage"), Source: "schedule", Status: "issue_created", IssueID: i.ID, TaskID: task,
		TriggeredBy: member("mira"), TriggeredAt: i.CreatedAt,
	}
	if i.Status == tracker.Done {
		r.Status, r.CompletedAt = records.Completed, i.UpdatedAt
	}
	g.runs = append(g.runs, r)
	return i
}

// Runs of the autopilot "Customer digest": once a week, one of them skipped.
const (
	digestRuns    = 5
	skippedDigest = 2 // counted from the oldest, 0
)

// digestRuns adds the runs of the autopilot that makes no issue, and their tasks.
func (g *generator) digestRuns() {
	for k := range digestRuns {
		name := fmt.Sprintf("run/digest/%d", k)
		at := g.daysBefore(7*(digestRuns-k)-4, 6*time.Hour+30*time.Minute)
		r := records.RunSnapshot{ID: id(name), AutopilotID: autopilot("digest"), Source: "schedule",
			TriggeredBy: member("priya"), TriggeredAt: records.MicrosOf(at)}
		if k == skippedDigest {
			r.Status, r.CompletedAt = "skipped", r.TriggeredAt
			r.ReasonCode, r.FailureReason = "runtime_offline", "the agent was offline; nothing ran"
			g.runs = append(g.runs, r)
			continue
		}
		r.Status, r.TaskID = records.Completed, id("task/digest/"+fmt.Sprint(k))
		r.CompletedAt = records.MicrosOf(at.Add(g.minutes(name+"/took", 6, 25)))
		g.tasks = append(g.tasks, records.Task{
			ID: r.TaskID, AgentID: agent("scout"), AutopilotRunID: r.ID, Source: "autopilot", Status: records.Completed,
			RequestedBy: member("priya"), CreatedAt: r.TriggeredAt,
		})
		g.runs = append(g.runs, r)
	}
}
