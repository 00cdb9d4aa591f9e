package main

import (
	"context"
	"flag"
	"io"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

func autopilotCommands() []command {
	one := []string{"autopilot"}
	return []command{
		{name: "autopilot add", about: "add an autopilot, active at once", needs: []string{"title", "agent", "creator"}, setup: addAutopilot},
		{name: "autopilot list", about: "list the autopilots, also archived ones", setup: listAutopilots},
		{name: "autopilot pause", about: "let no run of an autopilot start", needs: one,
			setup: setAutopilot("pause_autopilot", records.AutopilotPaused)},
		{name: "autopilot resume", about: "let a paused autopilot run again", needs: one,
			setup: setAutopilot("resume_autopilot", records.AutopilotActive)},
		{name: "autopilot archive", about: "take an autopilot out of use", needs: one,
			confirm: "an archived autopilot stays archived", setup: setAutopilot("archive_autopilot", records.AutopilotArchived)},
	}
}

type autopilotsOut struct {
	Autopilots []records.Autopilot `json:"autopilots"`
}

func (o autopilotsOut) writeText(w io.Writer) error {
	return writeTable(w, []string{"ID", "TITLE", "AGENT", "MODE", "STATUS"}, o.Autopilots, func(a records.Autopilot) []any {
		return []any{a.ID, a.Title, a.AssigneeID, a.ExecutionMode, a.Status}
	})
}

func oneAutopilot(a records.Autopilot, err error) (result, error) {
	return autopilotsOut{[]records.Autopilot{a}}, err
}

func addAutopilot(f *flag.FlagSet) act {
	var in records.NewAutopilot
	f.StringVar(&in.Title, "title", "", "the `title`, 1 to 200 characters, unique among those in use")
	f.StringVar((*string)(&in.Agent), "agent", "", "the agent that does its work, by `id or name`")
	f.StringVar(&in.Mode, "mode", "create_issue", "`create_issue`: each run makes an issue; run_only: a task alone")
	f.StringVar(&in.Template, "template", "", "the `title` of its issues, with {{date}} for the day (default: the title)")
	f.StringVar((*string)(&in.Creator), "creator", "", "the member who may trigger it besides administrators, by `id, e-mail or name`")
	return func(ctx context.Context, s *session) (result, error) {
		return oneAutopilot(record(ctx, s, "add_autopilot", func(call *audit.Call) (records.Autopilot, error) {
			return s.admin.AddAutopilot(ctx, call, in)
		}))
	}
}

func listAutopilots(*flag.FlagSet) act {
	return func(ctx context.Context, s *session) (result, error) {
		d, err := s.directory(ctx, "list_autopilots")
		return autopilotsOut{append([]records.Autopilot{}, d.Autopilots...)}, err
	}
}

func setAutopilot(tool, status string) func(*flag.FlagSet) act {
	return func(f *flag.FlagSet) act {
		ref := f.String("autopilot", "", "the autopilot, by `id or title`")
		return func(ctx context.Context, s *session) (result, error) {
			return oneAutopilot(record(ctx, s, tool, func(call *audit.Call) (records.Autopilot, error) {
				return s.admin.SetAutopilotStatus(ctx, call, tracker.AutopilotRef(*ref), status)
			}))
		}
	}
}
