package records

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// NewMember is a person to be added.
type NewMember struct {
	UserID tracker.ID // empty: a new one, or that of the member who left and had the e-mail
	Name   string     // 1 to 100 characters, unique among those present
	Email  string     // unique among all; may be empty
	Role   identity.Role
}

// check refuses with the field id, email, role, or the one given for the name.
func (n *NewMember) check(name string) error {
	n.Name, n.Email = strings.TrimSpace(n.Name), strings.ToLower(strings.TrimSpace(n.Email))
	if n.UserID != "" && n.UserID.UnmarshalText([]byte(n.UserID)) != nil {
		return refuseField("id", "must be an id of the form xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, or be left out")
	}
	return cmp.Or(checkName(name, n.Name, maxName), checkEmail(n.Email), checkRole(n.Role))
}

func checkRole(r identity.Role) error {
	switch r {
	case identity.Owner, identity.Admin, identity.Member:
		return nil
	}
	return refuseField("role", "must be owner, admin or member")
}

func (n NewMember) member(newID func() tracker.ID) Member {
	if n.UserID == "" {
		n.UserID = newID()
	}
	return Member{UserID: n.UserID, Role: n.Role, Name: n.Name, Email: n.Email}
}

// AddMember adds a person, or takes back one who left, known by the same id or e-mail: with the
// id, and with none of the tokens of before.
//   - fault.Invalid: invalid_arguments
//   - fault.Conflict: limit_reached
func (a *Admin) AddMember(ctx context.Context, call *audit.Call, in NewMember) (Member, error) {
	if err := in.check("name"); err != nil {
		return Member{}, err
	}
	s := a.store(call)
	id := s.newID() // one for all attempts
	return change(ctx, s, func(d *directory, p *plan) (Member, error) {
		old, err := d.known(in)
		if err != nil {
			return Member{}, err
		}
		m := in.member(func() tracker.ID { return id })
		if old != nil {
			m.UserID = old.UserID
		}
		if err := checkUnique("name", m.Name, d.presentNames()); err != nil {
			return Member{}, err
		}
		if len(d.presentNames()) >= tracker.MaxMembers {
			return Member{}, limitReached("this workspace has all the members that it can have: remove one first", tracker.MaxMembers)
		}
		if old != nil {
			*old = m
		} else {
			d.Members = append(d.Members, m)
		}
		call.Target("member", string(m.UserID))
		p.changed = []string{"members"}
		return m, nil
	})
}

// known returns the member who left and is meant; nil for a new person.
func (d *directory) known(in NewMember) (*Member, error) {
	byID := d.find(func(m Member) bool { return m.UserID == in.UserID })
	byEmail := d.find(func(m Member) bool { return in.Email != "" && strings.EqualFold(m.Email, in.Email) })
	switch {
	case byID != nil && !byID.left():
		return nil, refuseField("id", "a member here has it: list the members")
	case byEmail != nil && !byEmail.left():
		return nil, refuseField("email", "a member here has it: list the members")
	case byEmail != nil && in.UserID != "" && byEmail.UserID != in.UserID:
		return nil, refuseField("email", "one who left has it under another id: leave the id out to take them back")
	case byID != nil:
		return byID, nil
	default:
		return byEmail, nil
	}
}

// find returns the member in the directory itself, or nil.
func (d *directory) find(is func(Member) bool) *Member {
	if i := slices.IndexFunc(d.Members, is); i >= 0 {
		return &d.Members[i]
	}
	return nil
}

// presentNames are those of the members who have not left.
func (d *directory) presentNames() []string {
	var names []string
	for _, m := range d.Members {
		if !m.left() {
			names = append(names, m.Name)
		}
	}
	return names
}

// SetMemberRole changes what a member may do, from their next request on.
//   - fault.Invalid: unknown_reference, ambiguous_reference, invalid_arguments
//   - fault.Conflict: target_unavailable, for the only owner
func (a *Admin) SetMemberRole(ctx context.Context, call *audit.Call, ref tracker.MemberRef, role identity.Role) (Member, error) {
	if err := checkRole(role); err != nil {
		return Member{}, err
	}
	return change(ctx, a.store(call), func(d *directory, p *plan) (Member, error) {
		m, err := d.memberToChange(call, ref)
		if err != nil || m.Role == role && !m.left() {
			return *m, err
		}
		if m.left() {
			return Member{}, fault.New(fault.Conflict, fault.TargetUnavailable, "this member has left: add them again")
		}
		if err := d.keepsOwner(m); err != nil {
			return Member{}, err
		}
		m.Role = role
		p.changed = []string{"role"}
		return *m, nil
	})
}

// RemoveMember makes a member one who left. Their name stays on what they did, and what they
// own stays theirs. also returns further operations for the same commit, given the user id: the
// revocation of their tokens. Removing one who has left changes nothing.
//   - fault.Invalid: unknown_reference, ambiguous_reference
//   - fault.Conflict: target_unavailable, for the only owner; limit_reached, for too many tokens
func (a *Admin) RemoveMember(ctx context.Context, call *audit.Call, ref tracker.MemberRef,
	also func(tracker.ID) ([]table.Op, error)) (Member, error) {
	return change(ctx, a.store(call), func(d *directory, p *plan) (Member, error) {
		m, err := d.memberToChange(call, ref)
		if err != nil || m.left() {
			return *m, err
		}
		if err := d.keepsOwner(m); err != nil {
			return Member{}, err
		}
		ops, err := also(m.UserID)
		if err != nil {
			return Member{}, err
		}
		const others = 2 // the directory and the event
		if len(ops) > table.MaxCommitOps-others {
			return Member{}, limitReached("this member has more tokens in force than can be revoked at once: revoke some first", table.MaxCommitOps-others)
		}
		m.LeftAt = microsOf(call.Now())
		p.ops, p.changed = ops, []string{"left_at"}
		if len(ops) > 0 {
			p.changed = append(p.changed, "revoked_at")
		}
		return *m, nil
	})
}

// memberToChange resolves a reference to any member, also one who left, and notes the target.
// It never returns nil.
func (d *directory) memberToChange(call *audit.Call, ref tracker.MemberRef) (*Member, error) {
	c, err := d.resolve("member", string(ref), d.people())
	if err != nil {
		return &Member{}, err
	}
	call.Target("member", string(c.id))
	return d.find(func(m Member) bool { return m.UserID == c.id }), nil
}

// keepsOwner refuses to take the role from the only owner.
func (d *directory) keepsOwner(m *Member) error {
	another := func(other Member) bool {
		return other.Role == identity.Owner && !other.left() && other.UserID != m.UserID
	}
	if m.Role != identity.Owner || d.find(another) != nil {
		return nil
	}
	return fault.New(fault.Conflict, fault.TargetUnavailable, "this is the only owner: make another member owner first")
}

// Holder finds the member whom a token is for. The operation makes a commit depend on them
// still being one, and makes whoever removes them meanwhile decide anew, so that no token is
// left behind.
//   - fault.Invalid: unknown_reference, ambiguous_reference
func (a *Admin) Holder(ctx context.Context, call *audit.Call, ref tracker.MemberRef) (Member, table.Op, error) {
	d, _, err := a.store(call).readDirectory(ctx, nil)
	if err != nil {
		return Member{}, table.Op{}, err
	}
	m, err := d.member("member", ref)
	if err != nil {
		return Member{}, table.Op{}, err
	}
	same, err := item(directoryKey(d.Workspace.ID), d.version+1, d.directoryRow, nil)
	return m, table.Put(same, table.IfVersion(d.version)), err
}
