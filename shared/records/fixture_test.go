package records

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

// emptyTables opens tables that hold nothing.
func emptyTables(t testing.TB) *embedded.DB {
	t.Helper()
	db, err := embedded.OpenUnsynced(filepath.Join(t.TempDir(), "aac.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// worldTables opens tables that hold trackertest's world.
func worldTables(t testing.TB) *embedded.DB {
	t.Helper()
	db := emptyTables(t)
	loadWorld(t, db)
	return db
}

func loadWorld(t testing.TB, db table.Writer) {
	t.Helper()
	for _, w := range trackertest.World() {
		if err := Load(context.Background(), db, snapshotOf(w)); err != nil {
			t.Fatal(err)
		}
	}
}

// callOf begins a call. Ids are counted through the test program, so that none comes twice.
func callOf(c trackertest.Caller, now func() time.Time) *audit.Call {
	call := audit.Settings{Now: now, NewID: nextEventID, Retention: audit.DefaultRetention}.Begin(audit.Start{
		Principal: &identity.Principal{
			WorkspaceID: string(c.Workspace), UserID: string(c.User), TokenID: "token", Scopes: c.Scopes,
		},
		Tool: c.Tool, Recorder: c.Tool, Transport: audit.REST,
	})
	call.IdempotencyKey, call.Event.ArgumentsDigest = string(c.Key), c.Digest
	return call
}

var idCount atomic.Int64

func nextEventID() string { return fmt.Sprintf("event-%d", idCount.Add(1)) }

func nextID() tracker.ID {
	return tracker.ID(fmt.Sprintf("00000000-0000-7000-9000-%012d", idCount.Add(1)))
}

// asking is a reader for one call of a member of the Home workspace, at trackertest.Start.
func asking(t table.Reader, user tracker.ID) *reader {
	c := trackertest.Caller{Workspace: trackertest.Home, User: user, Scopes: identity.Scopes(), Tool: "test"}
	return &reader{t: t, call: callOf(c, func() time.Time { return trackertest.Start })}
}

func snapshotOf(w trackertest.Workspace) Snapshot {
	s := Snapshot{
		Workspace:  Workspace{ID: w.ID, Name: w.Name, Slug: w.Slug, IssuePrefix: w.Prefix},
		Usage:      w.Usage,
		NextNumber: len(w.Issues) + 1,
	}
	for _, m := range w.Members {
		member := Member{UserID: m.ID, Role: m.Role, Name: m.Name, Email: m.Email}
		if m.Left {
			member.LeftAt = microsOf(trackertest.Start.Add(-time.Hour))
		}
		s.Members = append(s.Members, member)
	}
	for _, a := range w.Agents {
		agent := Agent{ID: a.ID, Name: a.Name, OwnerID: a.Owner, Status: a.Status, PermissionMode: PublicTo}
		if a.Private {
			agent.PermissionMode = Private
		}
		if a.Archived {
			agent.ArchivedAt = microsOf(trackertest.Start.Add(-time.Hour))
		}
		s.Agents = append(s.Agents, agent)
	}
	for _, a := range w.Autopilots {
		s.Autopilots = append(s.Autopilots, Autopilot{
			ID: a.ID, Title: a.Title, AssigneeID: a.Agent, Status: a.Status, ExecutionMode: a.Mode,
			IssueTitleTemplate: a.Template, CreatedByID: a.Creator,
		})
	}
	for _, l := range w.Labels {
		s.Labels = append(s.Labels, Label(l))
	}
	for _, i := range w.Issues {
		s.addIssue(i)
	}
	return s
}

func (s *Snapshot) addIssue(i trackertest.Issue) {
	issue := IssueSnapshot{
		ID: i.ID, Number: i.Number, Title: i.Title, Description: i.Description, Status: i.Status, Priority: i.Priority,
		CreatorType: i.CreatorType, CreatorID: i.Creator, AssigneeType: i.AssigneeType, AssigneeID: i.Assignee,
		LabelIDs: i.Labels, Revision: 1, CreatedAt: microsOf(i.CreatedAt), UpdatedAt: microsOf(i.CreatedAt),
	}
	for _, c := range i.Comments {
		issue.Comments = append(issue.Comments, CommentSnapshot{
			ID: c.ID, AuthorType: c.AuthorType, AuthorID: c.Author, Content: c.Content, ParentID: c.Parent,
			CreatedAt: microsOf(c.CreatedAt),
		})
	}
	if i.RunningTask != "" {
		s.Tasks = append(s.Tasks, Task{
			ID: i.RunningTask, AgentID: i.Assignee, IssueID: i.ID, Source: "assign", Status: Running,
			CreatedAt: microsOf(i.CreatedAt),
		})
	}
	s.Issues = append(s.Issues, issue)
}
