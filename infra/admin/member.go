package main

import (
	"context"
	"flag"
	"io"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

func memberCommands() []command {
	return []command{
		{name: "member add", about: "add a person, or take back one who left", needs: []string{"name"}, setup: addMember},
		{name: "member list", about: "list the members, also those who left", setup: listMembers},
		{name: "member role", about: "change what a member may do", needs: []string{"member", "role"}, setup: setRole},
		{name: "member remove", about: "take a member out, and revoke their personal tokens", needs: []string{"member"},
			confirm: "the tokens of the member are revoked for good", setup: removeMember},
	}
}

type memberOut struct {
	UserID tracker.ID    `json:"user_id"`
	Name   string        `json:"name"`
	Email  string        `json:"email,omitempty"`
	Role   identity.Role `json:"role"`
	LeftAt *tracker.Time `json:"left_at,omitempty"`
}

func outOfMember(m records.Member) memberOut {
	return memberOut{m.UserID, m.Name, m.Email, m.Role, timeOf(m.LeftAt)}
}

type membersOut struct {
	Members []memberOut `json:"members"`
}

func (o membersOut) writeText(w io.Writer) error {
	return writeTable(w, []string{"USER ID", "NAME", "E-MAIL", "ROLE", ""}, o.Members, func(m memberOut) []any {
		return []any{m.UserID, m.Name, m.Email, m.Role, since("left", m.LeftAt)}
	})
}

func oneMember(m records.Member, err error) (result, error) {
	return membersOut{[]memberOut{outOfMember(m)}}, err
}

func addMember(f *flag.FlagSet) act {
	var in records.NewMember
	f.StringVar(&in.Name, "name", "", "the display `name`, 1 to 100 characters, unique among those present")
	f.StringVar(&in.Email, "email", "", "the `address`, unique; that of one who left brings them back")
	f.StringVar((*string)(&in.Role), "role", "member", "`owner, admin or member`")
	f.StringVar((*string)(&in.UserID), "id", "", "the user `id`, if they have one (default: a new one)")
	return func(ctx context.Context, s *session) (result, error) {
		return oneMember(record(ctx, s, "add_member", func(call *audit.Call) (records.Member, error) {
			return s.admin.AddMember(ctx, call, in)
		}))
	}
}

func listMembers(*flag.FlagSet) act {
	return func(ctx context.Context, s *session) (result, error) {
		d, err := s.directory(ctx, "list_members")
		out := membersOut{[]memberOut{}}
		for _, m := range d.Members {
			out.Members = append(out.Members, outOfMember(m))
		}
		return out, err
	}
}

func memberFlag(f *flag.FlagSet) *string {
	return f.String("member", "", "the member, by `id, e-mail or name`")
}

func setRole(f *flag.FlagSet) act {
	ref := memberFlag(f)
	role := f.String("role", "", "`owner, admin or member`")
	return func(ctx context.Context, s *session) (result, error) {
		return oneMember(record(ctx, s, "set_member_role", func(call *audit.Call) (records.Member, error) {
			return s.admin.SetMemberRole(ctx, call, tracker.MemberRef(*ref), identity.Role(*role))
		}))
	}
}

func removeMember(f *flag.FlagSet) act {
	ref := memberFlag(f)
	return func(ctx context.Context, s *session) (result, error) {
		return oneMember(record(ctx, s, "remove_member", func(call *audit.Call) (records.Member, error) {
			return s.admin.RemoveMember(ctx, call, tracker.MemberRef(*ref), func(id tracker.ID) ([]table.Op, error) {
				return token.Revocations(ctx, s.tables, string(s.workspace), string(id), call.Now())
			})
		}))
	}
}
