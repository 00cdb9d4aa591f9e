package records

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Admin does what no tool can: it makes workspaces and changes who and what is in them. It acts
// for an operator, who has access to the tables themselves and is no member.
//
// The principal of each call is an identity.Operator. Each act is one commit together with the
// call's event, as for tools; an act that changes nothing, or is refused, leaves its event to
// the caller (audit.Call.Record). The names of fields in refusals are those of the arguments
// here, in lower case.
type Admin struct{ stores *Stores }

// NewAdmin returns the Admin over a table. newID returns a new id at each call.
func NewAdmin(w table.Writer, newID func() tracker.ID) *Admin { return &Admin{NewStores(w, newID)} }

func (a *Admin) store(call *audit.Call) *store {
	s := newStore(a.stores, call)
	s.operator = true
	return s
}

// FindWorkspace returns the id of the workspace that has this slug or id.
//   - fault.NotFound
func (a *Admin) FindWorkspace(ctx context.Context, ref string) (tracker.ID, error) {
	id := tracker.ID(strings.ToLower(strings.TrimSpace(ref)))
	if !tracker.IsID(string(id)) {
		if !validSlug(string(id)) {
			return "", noWorkspace()
		}
		slug, err := get[slugRow](ctx, a.stores.w, slugKey(string(id)))
		if err != nil {
			return "", err
		}
		if !slug.found() {
			return "", noWorkspace()
		}
		id = slug.Doc.WorkspaceID
	}
	exists, err := Exists(ctx, a.stores.w, id)
	if err == nil && !exists {
		err = noWorkspace()
	}
	return id, err
}

func noWorkspace() error {
	return fault.New(fault.NotFound, fault.TargetNotFound,
		"workspace: there is none with this slug or id here: look at where you look, or create it").With("field", "workspace")
}

// NewWorkspace is a workspace to be made, with its first owner.
type NewWorkspace struct {
	ID     tracker.ID // new; the WorkspaceID of the call
	Name   string     // 1 to 100 characters
	Slug   string     // unique: a-z, 0-9 and single hyphens, at most 100
	Prefix string     // of issue identifiers: A-Z and 0-9, 1 to 10
	Owner  NewMember  // its role is owner, whatever it says
}

// CreateWorkspace makes a workspace that holds nothing but its owner.
//   - fault.Invalid: invalid_arguments
func (a *Admin) CreateWorkspace(ctx context.Context, call *audit.Call, in NewWorkspace) (Workspace, Member, error) {
	s := a.store(call)
	w := Workspace{ID: in.ID, Name: strings.TrimSpace(in.Name), Slug: in.Slug, IssuePrefix: strings.ToUpper(in.Prefix)}
	in.Owner.Role = identity.Owner
	if err := cmp.Or(checkWorkspace(w), in.Owner.check("owner")); err != nil {
		return Workspace{}, Member{}, err
	}
	owner := in.Owner.member(s.newID)
	call.Target("workspace", string(w.ID))
	_, err := act(ctx, s, nil, func() (none struct{}, p *plan, err error) {
		b, err := getBatch(ctx, s.t, directoryKey(w.ID), slugKey(w.Slug))
		if err != nil {
			return none, nil, err
		}
		if _, taken := b[slugKey(w.Slug)]; taken {
			return none, nil, refuseField("slug", "another workspace has it: choose another")
		}
		if _, taken := b[directoryKey(w.ID)]; taken {
			return none, nil, errExists
		}
		p = &plan{changed: []string{"workspace", "members"}}
		p.put(directoryKey(w.ID), 0, directoryRow{
			Workspace: w, Members: []Member{owner}, Agents: []Agent{}, Autopilots: []Autopilot{}, Labels: []Label{},
		}, nil)
		p.put(slugKey(w.Slug), 0, slugRow{w.ID}, nil)
		return none, p, nil
	})
	return w, owner, adminError(err)
}

// Directory is all that is small and shared in a workspace. An operator sees all of it.
type Directory struct {
	Workspace  Workspace
	Members    []Member // also those who left
	Agents     []Agent  // also archived ones
	Autopilots []Autopilot
	Labels     []Label
}

// Directory reads the directory of the call's workspace.
func (a *Admin) Directory(ctx context.Context, call *audit.Call) (Directory, error) {
	d, _, err := a.store(call).readDirectory(ctx, nil)
	if err != nil {
		return Directory{}, err
	}
	return Directory(d.directoryRow), nil
}

// RestoreIssue is Stores.RestoreIssue for an operator.
func (a *Admin) RestoreIssue(ctx context.Context, call *audit.Call, ref tracker.IssueRef) (tracker.Summary, error) {
	out, err := a.store(call).restoreIssue(ctx, ref)
	return out, adminError(err)
}

// change alters the directory of the call's workspace in one commit. What decide does to the
// directory is written if it names a change in the plan; other rows it puts into the plan
// itself.
func change[T any](ctx context.Context, s *store, decide func(*directory, *plan) (T, error)) (T, error) {
	out, err := act(ctx, s, nil, func() (out T, p *plan, err error) {
		s.call.Event.Target = "" // of an attempt that came too late
		d, _, err := s.readDirectory(ctx, nil)
		if err != nil {
			return out, nil, err
		}
		p = &plan{}
		if out, err = decide(d, p); err != nil || len(p.changed) == 0 {
			return out, nil, err
		}
		p.put(directoryKey(d.Workspace.ID), d.version, d.directoryRow, nil)
		return out, p, nil
	})
	return out, adminError(err)
}

// adminError says in an operator's words what act says in those of a tool.
func adminError(err error) error {
	var large *table.TooLarge
	if errors.As(err, &large) {
		return fault.New(fault.Conflict, fault.LimitReached,
			"the directory of this workspace is full: it holds members who left and what is archived too; use shorter texts").Because(err)
	}
	if f := fault.Of(err); err != nil && f.Reason == fault.Contention {
		busy := fault.New(fault.RateLimited, fault.Contention,
			"others kept changing this workspace and nothing was done: try again").Because(err)
		busy.RetryAfter = contentionRetry
		return busy
	}
	return err
}
