package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

func workspaceCommands() []command {
	return []command{
		{name: "workspace create", about: "make a workspace with its owner", creates: true,
			needs: []string{"name", "slug", "prefix", "owner"}, setup: createWorkspace},
		{name: "workspace show", about: "show a workspace, and how much is in it", setup: showWorkspace},
	}
}

// workspaceOut is a workspace with its owner, or with the numbers of what is in force in it.
type workspaceOut struct {
	records.Workspace
	Owner *memberOut      `json:"owner,omitempty"`
	Count *workspaceCount `json:"count,omitempty"`
}

type workspaceCount struct {
	Members    int `json:"members"`
	Agents     int `json:"agents"`
	Autopilots int `json:"autopilots"`
	Labels     int `json:"labels"`
}

func (o workspaceOut) writeText(w io.Writer) error {
	err := writePairs(w, "id", o.ID, "name", o.Name, "slug", o.Slug, "issues", o.IssuePrefix+"-1, …")
	switch {
	case err == nil && o.Owner != nil:
		err = writePairs(w, "owner", fmt.Sprintf("%s (%s)", o.Owner.Name, o.Owner.UserID))
	case err == nil && o.Count != nil:
		c := o.Count
		err = writePairs(w, "members", c.Members, "agents", c.Agents, "autopilots", c.Autopilots, "labels", c.Labels)
	}
	return err
}

func createWorkspace(f *flag.FlagSet) act {
	var in records.NewWorkspace
	f.StringVar(&in.Name, "name", "", "the display `name`, 1 to 100 characters")
	f.StringVar(&in.Slug, "slug", "", "the `word` that names it here: a-z, 0-9 and single hyphens, unique, for good")
	f.StringVar(&in.Prefix, "prefix", "", "the `letters` before the numbers of its issues: A-Z and 0-9, 1 to 10, for good")
	f.StringVar(&in.Owner.Name, "owner", "", "the display `name` of its first owner")
	f.StringVar(&in.Owner.Email, "email", "", "the `address` of the owner, unique in the workspace")
	f.StringVar((*string)(&in.Owner.UserID), "id", "", "the user `id` of the owner, if they have one (default: a new one)")
	return func(ctx context.Context, s *session) (result, error) {
		in.ID = newID()
		s.workspace = in.ID
		call, err := s.begin("create_workspace")
		if err != nil {
			return nil, err
		}
		// A refusal is not recorded: there is no workspace in whose log it could stand.
		w, owner, err := s.admin.CreateWorkspace(ctx, call, in)
		if err != nil {
			return nil, s.explain(err)
		}
		made := outOfMember(owner)
		return workspaceOut{Workspace: w, Owner: &made}, nil
	}
}

func showWorkspace(*flag.FlagSet) act {
	return func(ctx context.Context, s *session) (result, error) {
		d, err := s.directory(ctx, "show_workspace")
		if err != nil {
			return nil, err
		}
		out := workspaceOut{Workspace: d.Workspace, Count: &workspaceCount{Labels: len(d.Labels)}}
		for _, m := range d.Members {
			out.Count.Members += one(m.LeftAt == 0)
		}
		for _, a := range d.Agents {
			out.Count.Agents += one(a.ArchivedAt == 0)
		}
		for _, a := range d.Autopilots {
			out.Count.Autopilots += one(a.Status != records.AutopilotArchived)
		}
		return out, nil
	}
}

func one(counts bool) int {
	if counts {
		return 1
	}
	return 0
}

// directory reads the directory of the workspace, under its own event.
func (s *session) directory(ctx context.Context, tool string) (records.Directory, error) {
	return record(ctx, s, tool, func(call *audit.Call) (records.Directory, error) {
		call.Target("workspace", string(s.workspace))
		return s.admin.Directory(ctx, call)
	})
}

func labelCommands() []command {
	return []command{
		{name: "label add", about: "add a label", needs: []string{"name", "color"}, setup: addLabel},
		{name: "label list", about: "list the labels", setup: listLabels},
	}
}

type labelsOut struct {
	Labels []records.Label `json:"labels"`
}

func (o labelsOut) writeText(w io.Writer) error {
	return writeTable(w, []string{"ID", "NAME", "COLOR"}, o.Labels, func(l records.Label) []any {
		return []any{l.ID, l.Name, l.Color}
	})
}

func addLabel(f *flag.FlagSet) act {
	name := f.String("name", "", "the `name`, 1 to 50 characters, unique")
	color := f.String("color", "", "the `color`, such as #d1382c")
	return func(ctx context.Context, s *session) (result, error) {
		l, err := record(ctx, s, "add_label", func(call *audit.Call) (records.Label, error) {
			return s.admin.AddLabel(ctx, call, *name, *color)
		})
		return labelsOut{[]records.Label{l}}, err
	}
}

func listLabels(*flag.FlagSet) act {
	return func(ctx context.Context, s *session) (result, error) {
		d, err := s.directory(ctx, "list_labels")
		return labelsOut{append([]records.Label{}, d.Labels...)}, err
	}
}

func issueCommands() []command {
	return []command{
		{name: "issue restore", about: "take back the deletion of an issue, within 30 days", needs: []string{"issue"}, setup: restoreIssue},
		{name: "issue purge", about: "remove the content of all issues that can no longer be restored",
			confirm: "what is purged cannot be restored", setup: purgeIssues},
	}
}

type issueOut struct {
	ID           tracker.ID     `json:"id"`
	Identifier   string         `json:"identifier"`
	Title        string         `json:"title"`
	Status       tracker.Status `json:"status"`
	CommentCount int            `json:"comment_count"`
}

func (o issueOut) writeText(w io.Writer) error {
	return writePairs(w, "issue", o.Identifier, "id", o.ID, "title", o.Title, "status", o.Status, "comments", o.CommentCount)
}

func restoreIssue(f *flag.FlagSet) act {
	ref := f.String("issue", "", "the issue, by `id or identifier`, such as AAC-13")
	return func(ctx context.Context, s *session) (result, error) {
		i, err := record(ctx, s, "restore_issue", func(call *audit.Call) (tracker.Summary, error) {
			var issue tracker.IssueRef
			if err := issue.UnmarshalText([]byte(*ref)); err != nil {
				return tracker.Summary{}, err
			}
			return s.admin.RestoreIssue(ctx, call, issue)
		})
		return issueOut{i.ID, i.Identifier, i.Title, i.Status, i.CommentCount}, err
	}
}

type purgedOut struct {
	Numbers []int `json:"purged"`
}

func (o purgedOut) writeText(w io.Writer) error {
	for _, n := range o.Numbers {
		if err := writePairs(w, "purged", n); err != nil {
			return err
		}
	}
	return writePairs(w, "issues purged", len(o.Numbers))
}

// purgeIssues finds what is past its time under one event, and purges each issue under its own:
// a large one under several, for it takes several commits.
func purgeIssues(*flag.FlagSet) act {
	return func(ctx context.Context, s *session) (result, error) {
		numbers, err := record(ctx, s, "list_purgeable", func(call *audit.Call) ([]int, error) {
			call.Target("workspace", string(s.workspace))
			return s.admin.Purgeable(ctx, call)
		})
		for n := 0; n < len(numbers) && err == nil; {
			var done bool
			done, err = record(ctx, s, "purge_issue", func(call *audit.Call) (bool, error) {
				return s.admin.Purge(ctx, call, numbers[n])
			})
			n += one(done)
		}
		return purgedOut{numbers}, err
	}
}
