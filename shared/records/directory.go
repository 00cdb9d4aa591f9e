package records

import (
	"errors"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// directory is a workspace as one caller sees it, as of one read: who is who, who may what, and
// which names may be shown. Its version guards a right until a commit.
type directory struct {
	directoryRow
	version int64
	caller  Member // as of now: the role in the token may be older
}

var errNoWorkspace = errors.New("the workspace of the token has no directory: load it, or revoke its tokens")

// openDirectory takes the directory for the caller. An operator may what an owner may.
//   - fault.Unauthenticated, token_revoked: the caller is no member, or not any more
func (r *reader) openDirectory(from row[directoryRow]) (*directory, error) {
	if !from.found() {
		return nil, errNoWorkspace
	}
	d := &directory{directoryRow: from.Doc, version: from.Version}
	if r.operator {
		d.caller = Member{UserID: r.userID(), Role: identity.Owner, Name: r.principal().Name}
		return d, nil
	}
	caller, ok := d.memberByID(r.userID())
	if !ok || caller.left() {
		return nil, fault.New(fault.Unauthenticated, fault.TokenRevoked,
			"the owner of this token has left the workspace: sign in again")
	}
	d.caller = caller
	return d, nil
}

func (m Member) left() bool { return m.LeftAt != 0 }

func (a Agent) archived() bool { return a.ArchivedAt != 0 }

// sees tells whether the caller may know that there is such an agent.
func (d *directory) sees(a Agent) bool {
	return d.mayStart(a) || d.caller.Role.Manages()
}

// mayStart tells whether the caller may give work to the agent, if it is not archived.
func (d *directory) mayStart(a Agent) bool {
	return a.PermissionMode != Private || a.OwnerID == d.caller.UserID
}

func (d *directory) memberByID(id tracker.ID) (Member, bool) {
	return lookup(d.Members, func(m Member) bool { return m.UserID == id })
}

// agentByID finds any agent, seen by the caller or not.
func (d *directory) agentByID(id tracker.ID) (Agent, bool) {
	return lookup(d.Agents, func(a Agent) bool { return a.ID == id })
}

func (d *directory) labelByID(id tracker.ID) (Label, bool) {
	return lookup(d.Labels, func(l Label) bool { return l.ID == id })
}

func lookup[T any](all []T, is func(T) bool) (T, bool) {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], true
	}
	var none T
	return none, false
}

// name is the display name of an actor; empty for the system, for a private agent that the
// caller may not see, and for nobody. Members who left keep theirs.
func (d *directory) name(kind tracker.ActorType, id tracker.ID) string {
	switch kind {
	case tracker.MemberActor:
		m, _ := d.memberByID(id)
		return m.Name
	case tracker.AgentActor:
		if a, ok := d.agentByID(id); ok && d.sees(a) {
			return a.Name
		}
	}
	return ""
}

// sameName compares names as people do: trimmed, in any case.
func sameName(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}
