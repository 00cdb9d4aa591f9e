package demo

import (
	"fmt"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// AAC-42 is the issue of the examples: its creator, its thread and the tasks on it are written
// out. Deleting the first comment takes three replies, all by others.

const boardIssue = 42

func boardComment(name string) tracker.ID { return id("comment/42/" + name) }

// boardComments is the dialogue of AAC-42, oldest first.
func (g *generator) boardComments() []records.CommentSnapshot {
	said := func(name string, by tracker.ID, answers string, days int, clock time.Duration, content string) records.CommentSnapshot {
		c := records.CommentSnapshot{ID: boardComment(name), AuthorType: tracker.MemberActor, AuthorID: by, Content: content,
			CreatedAt: records.MicrosOf(g.daysBefore(days, clock))}
		if answers != "" {
			c.ParentID = boardComment(answers)
		}
		return c
	}
	at := func(hour, minute int) time.Duration {
		return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
	}
	answer := said("atlas", agent("atlas"), "priya", 6, at(11, 2),
		"The browser sends one request per move, 800 ms after the last one. A reload within that time cancels it, "+
			"so the server never learns the new order. Sending each move at once closes the gap; see AAC-43.")
	answer.AuthorType = tracker.AgentActor
	return []records.CommentSnapshot{
		said("tomas", member("tomas"), "", 6, at(9, 41),
			"Same here, but only when I reload quickly. If I wait a few seconds the card stays where I put it."),
		said("priya", member("priya"), "tomas", 6, at(10, 17),
			fmt.Sprintf("That sounds like the order is saved too late. [@Atlas](mention://agent/%s) what does the browser send after a move?", agent("atlas"))),
		answer,
		said("jonas", member("jonas"), "tomas", 5, at(8, 55),
			"Waiting is no way out for people who move ten cards in a row. I would fix it on the server side."),
		said("mira", member("mira"), "", 2, at(14, 20),
			"Two customers on the largest plan wrote about this yesterday. Can we have it in the next release?"),
		said("elin", member("elin"), "mira", 2, at(15, 3),
			"Yes, if AAC-43 is merged by Thursday. I keep a slot free for testing it in two browsers, see AAC-44."),
	}
}

// boardTasks are what Atlas did when Priya called it, and what Jonas gave it last.
func (g *generator) boardTasks() {
	g.tasks = append(g.tasks, records.Task{
		ID: id("task/42/mention"), AgentID: agent("atlas"), IssueID: FixedIssueID, TriggerCommentID: boardComment("priya"),
		Source: "comment", Status: records.Completed, Priority: taskPriority(tracker.High), RequestedBy: member("priya"),
		CreatedAt: records.MicrosOf(g.daysBefore(6, 10*time.Hour+17*time.Minute)),
	})
}
