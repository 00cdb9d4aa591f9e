package main

import (
	"context"
	"flag"
	"io"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

func agentCommands() []command {
	return []command{
		{name: "agent add", about: "add an agent", needs: []string{"name", "owner"}, setup: addAgent},
		{name: "agent list", about: "list the agents, also archived ones", setup: listAgents},
		{name: "agent archive", about: "take an agent out of use", needs: []string{"agent"},
			confirm: "an archived agent stays archived", setup: archiveAgent},
	}
}

type agentOut struct {
	ID             tracker.ID    `json:"id"`
	Name           string        `json:"name"`
	Description    string        `json:"description,omitempty"`
	PermissionMode string        `json:"permission_mode"`
	OwnerID        tracker.ID    `json:"owner_id"`
	Status         string        `json:"status"`
	ArchivedAt     *tracker.Time `json:"archived_at,omitempty"`
}

func outOfAgent(a records.Agent) agentOut {
	return agentOut{a.ID, a.Name, a.Description, a.PermissionMode, a.OwnerID, a.Status, timeOf(a.ArchivedAt)}
}

type agentsOut struct {
	Agents []agentOut `json:"agents"`
}

func (o agentsOut) writeText(w io.Writer) error {
	return writeTable(w, []string{"ID", "NAME", "MODE", "OWNER", "STATUS", ""}, o.Agents, func(a agentOut) []any {
		return []any{a.ID, a.Name, a.PermissionMode, a.OwnerID, a.Status, since("archived", a.ArchivedAt)}
	})
}

func oneAgent(a records.Agent, err error) (result, error) {
	return agentsOut{[]agentOut{outOfAgent(a)}}, err
}

func addAgent(f *flag.FlagSet) act {
	var in records.NewAgent
	f.StringVar(&in.Name, "name", "", "the `name`, 1 to 100 characters, unique among those in use")
	f.StringVar(&in.Description, "description", "", "what it is for, in one `line` of at most 255 characters")
	f.StringVar(&in.Mode, "mode", records.Private, "`private`: only its owner starts it; public_to: all members do")
	f.StringVar((*string)(&in.Owner), "owner", "", "the member who owns it, by `id, e-mail or name`")
	f.StringVar(&in.Status, "status", "idle", "`idle`, working, blocked, error or offline")
	return func(ctx context.Context, s *session) (result, error) {
		return oneAgent(record(ctx, s, "add_agent", func(call *audit.Call) (records.Agent, error) {
			return s.admin.AddAgent(ctx, call, in)
		}))
	}
}

func listAgents(*flag.FlagSet) act {
	return func(ctx context.Context, s *session) (result, error) {
		d, err := s.directory(ctx, "list_agents")
		out := agentsOut{[]agentOut{}}
		for _, a := range d.Agents {
			out.Agents = append(out.Agents, outOfAgent(a))
		}
		return out, err
	}
}

func archiveAgent(f *flag.FlagSet) act {
	ref := f.String("agent", "", "the agent, by `id or name`")
	return func(ctx context.Context, s *session) (result, error) {
		return oneAgent(record(ctx, s, "archive_agent", func(call *audit.Call) (records.Agent, error) {
			return s.admin.ArchiveAgent(ctx, call, tracker.AgentRef(*ref))
		}))
	}
}
