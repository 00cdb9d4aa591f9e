package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity/subject"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

func linkCommands() []command {
	return []command{
		{name: "link add", about: "let a person of an identity provider act as a member", needs: []string{"member", "issuer", "subject"}, setup: addLink},
		{name: "link list", about: "list whom persons of identity providers act as", setup: listLinks},
		{name: "link remove", about: "end a link at once", needs: []string{"issuer", "subject"},
			confirm: "the person is shut out until there is a new link", setup: removeLink},
		{name: "link deny", about: "end an access token of an identity provider before its time", needs: []string{"issuer", "token", "until"},
			confirm: "a token on the deny list stays there until it has expired", setup: denyToken},
	}
}

type linkOut struct {
	UserID   string       `json:"user_id"`
	Issuer   string       `json:"issuer"`
	Subject  string       `json:"subject"`
	ClientID string       `json:"client_id,omitempty"`
	LinkedAt tracker.Time `json:"linked_at"`
}

type linksOut struct {
	Links []linkOut `json:"links"`
}

func (o linksOut) writeText(w io.Writer) error {
	return writeTable(w, []string{"USER ID", "ISSUER", "SUBJECT", "CLIENT"}, o.Links, func(l linkOut) []any {
		return []any{l.UserID, l.Issuer, l.Subject, l.ClientID}
	})
}

func outOfLinks(links ...subject.Link) linksOut {
	out := linksOut{[]linkOut{}}
	for _, l := range links {
		out.Links = append(out.Links, linkOut{l.UserID, l.Issuer, l.Subject, l.ClientID, tracker.At(l.LinkedAt)})
	}
	return out
}

// linkFlags name a person of an identity provider.
func linkFlags(f *flag.FlagSet) *subject.Link {
	l := &subject.Link{}
	f.StringVar(&l.Issuer, "issuer", "", "the identity provider, the `address` in the claim iss of its tokens")
	f.StringVar(&l.Subject, "subject", "", "the person, the `text` in the claim sub")
	f.StringVar(&l.ClientID, "client", "", "through this client only, the `id` in the claim client_id or azp (default: any)")
	return l
}

func addLink(f *flag.FlagSet) act {
	l, ref := linkFlags(f), memberFlag(f)
	return func(ctx context.Context, s *session) (result, error) {
		return record(ctx, s, "add_link", func(call *audit.Call) (linksOut, error) {
			if err := s.notLinkedElsewhere(ctx, *l); err != nil {
				return linksOut{}, err
			}
			l.WorkspaceID, l.LinkedAt = string(s.workspace), call.Now()
			about := func(m records.Member) {
				l.UserID = string(m.UserID)
				call.Target("member", l.UserID)
			}
			err := s.forHolder(ctx, call, tracker.MemberRef(*ref), "links", about, func(_ records.Member, with ...table.Op) error {
				return subject.Make(ctx, s.tables, *l, with...)
			})
			return outOfLinks(*l), err
		})
	}
}

// notLinkedElsewhere keeps a link of another workspace from going without an event there.
func (s *session) notLinkedElsewhere(ctx context.Context, l subject.Link) error {
	found, err := subject.Find(ctx, s.tables, subject.Presented{Issuer: l.Issuer, Subject: l.Subject, ClientID: l.ClientID})
	if err == nil && found.Linked && found.Link.ClientID == l.ClientID && found.Link.WorkspaceID != string(s.workspace) {
		err = fault.New(fault.Conflict, fault.TargetUnavailable, "this person is linked to a member of another workspace: remove that link first")
	}
	return err
}

func listLinks(*flag.FlagSet) act {
	return func(ctx context.Context, s *session) (result, error) {
		return record(ctx, s, "list_links", func(call *audit.Call) (linksOut, error) {
			call.Target("workspace", string(s.workspace))
			links, err := subject.List(ctx, s.tables, string(s.workspace))
			return outOfLinks(links...), err
		})
	}
}

func removeLink(f *flag.FlagSet) act {
	l := linkFlags(f)
	return func(ctx context.Context, s *session) (result, error) {
		return record(ctx, s, "remove_link", func(call *audit.Call) (linksOut, error) {
			for range maxAttempts {
				gone, err := s.removeLink(ctx, call, *l)
				if !table.IsConflict(err) {
					return outOfLinks(gone), err
				}
			}
			return linksOut{}, busy()
		})
	}
}

type deniedOut struct {
	TokenID string       `json:"token_id"`
	Until   tracker.Time `json:"until"`
}

func (o deniedOut) writeText(w io.Writer) error {
	return writePairs(w, "token", o.TokenID, "denied", "until "+o.Until.Format(time.RFC3339))
}

const maxTokenID = 255 // bytes

// denyToken needs no member: the token is nobody's of ours any more, whoever it was.
func denyToken(f *flag.FlagSet) act {
	issuer := f.String("issuer", "", "the identity provider, the `address` in the claim iss of the token")
	id := f.String("token", "", "the `id` of the token, as the audit log has it in token_id")
	until := f.String("until", "", "when the token expires by itself: a `time` such as 2025-06-22T15:30:00Z, or a day")
	return func(ctx context.Context, s *session) (result, error) {
		at, err := parseTime("until", *until)
		if err == nil && (len(*id) > maxTokenID || strings.ContainsFunc(*id, func(r rune) bool { return !unicode.IsGraphic(r) })) {
			err = usageError(fmt.Sprintf("-token: must be at most %d printable characters, as token_id in the audit log", maxTokenID))
		}
		if err != nil {
			return nil, err
		}
		return record(ctx, s, "deny_token", func(call *audit.Call) (deniedOut, error) {
			call.Target("token", *id)
			event, err := call.CommitOp([]string{"revoked_at"})
			if err != nil {
				return deniedOut{}, err
			}
			err = subject.Revoke(ctx, s.tables, *issuer, *id, at, event)
			if err == nil {
				call.Committed()
			}
			return deniedOut{*id, tracker.At(at)}, err
		})
	}
}

// removeLink tries once.
func (s *session) removeLink(ctx context.Context, call *audit.Call, l subject.Link) (subject.Link, error) {
	call.Event.Target = ""
	found, err := subject.Find(ctx, s.tables, subject.Presented{Issuer: l.Issuer, Subject: l.Subject, ClientID: l.ClientID})
	if err != nil {
		return subject.Link{}, err
	}
	if found.Linked && found.Link.WorkspaceID == string(s.workspace) && found.Link.ClientID == l.ClientID {
		call.Target("member", found.Link.UserID)
	}
	event, err := call.CommitOp([]string{"links"})
	if err != nil {
		return subject.Link{}, err
	}
	gone, err := subject.Remove(ctx, s.tables, string(s.workspace), l.Issuer, l.Subject, l.ClientID, event)
	if table.FailedAt(err, 0) {
		return subject.Link{}, errAnswerLost
	}
	if err == nil {
		call.Committed()
	}
	return gone, err
}
