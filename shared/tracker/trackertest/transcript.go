package trackertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Transcript makes so many calls, chosen by the seed, one after the other, and returns what each
// answered. Two implementations, or one over two storage engines, must give equal transcripts:
// ids and cursors are replaced by their order of appearance, and the clock is the test's.
//
// It fails the test if a call ends internally, or if some kind of call never succeeded or never
// was refused, for then the transcript says little.
func Transcript(t *testing.T, f Fixture, seed uint64, calls int) []string {
	t.Helper()
	p := &player{
		t: t, f: f, rand: rand.New(rand.NewPCG(seed, seed)),
		issues:   []tracker.ID{Plain, Working, Talk, ForeignIssue, NoSuchID},
		comments: []tracker.ID{Question, Answer, AgentAnswer, Notice, Aside, ForeignComment, NoSuchID},
		names:    map[string]string{}, succeeded: map[string]int{}, refused: map[string]int{},
	}
	var lines []string
	for n := range calls {
		lines = append(lines, p.line(n))
	}
	for _, m := range moves {
		if p.succeeded[m.name] == 0 || m.refusable && p.refused[m.name] == 0 {
			t.Errorf("%s: %d succeeded, %d refused: make more calls", m.name, p.succeeded[m.name], p.refused[m.name])
		}
	}
	return lines
}

// player makes random calls. It remembers what was made, so that later calls can be about it.
type player struct {
	t        *testing.T
	f        Fixture
	rand     *rand.Rand
	issues   []tracker.ID
	comments []tracker.ID
	names    map[string]string // of ids

	succeeded, refused map[string]int
}

type move struct {
	name      string
	weight    int
	refusable bool
	make      func(context.Context, *player, tracker.Store) (any, error)
}

var moves = []move{
	{"create", 4, true, func(ctx context.Context, p *player, s tracker.Store) (any, error) {
		in := tracker.NewIssue{Title: p.title(), Assignee: pick(p, tracker.MemberRef(""), "me", "Tomas Rey", "Atlas", "Nobody")}
		if p.chance(4) {
			in.Description = "Some text"
			in.Labels = []tracker.LabelRef{pick(p, tracker.LabelRef("bug"), "docs", "none such")}
		}
		if p.chance(3) {
			in.Parent = p.issue()
		}
		out, err := s.CreateIssue(ctx, in)
		if err == nil {
			p.issues = append(p.issues, out.Issue.ID)
		}
		return out, err
	}},
	{"update", 6, true, func(ctx context.Context, p *player, s tracker.Store) (any, error) {
		c := tracker.IssueChange{SuppressRun: p.chance(5)}
		switch p.rand.IntN(5) {
		case 0:
			c.Title = tracker.Some(p.title())
		case 1:
			c.Description = tracker.Some(pick(p, tracker.Description(""), "Other text"))
		case 2:
			c.Assignee = tracker.Some(pick(p, tracker.MemberRef("me"), "Elin Novak", "Scribe"))
		case 3:
			c.Clear = []tracker.Clearable{pick(p, tracker.ClearAssignee, tracker.ClearParent, tracker.ClearDueDate)}
		default:
			c.Status = tracker.Some(pick(p, tracker.Backlog, tracker.Backlog, tracker.Todo, tracker.InProgress, tracker.Done))
		}
		if p.chance(6) {
			c.ExpectedRevision = tracker.Revision(1 + p.rand.IntN(4))
		}
		return s.UpdateIssue(ctx, p.issue(), c)
	}},
	{"comment", 8, true, func(ctx context.Context, p *player, s tracker.Store) (any, error) {
		in := tracker.NewComment{Issue: p.issue(), SuppressRun: p.chance(8), Content: pick(p,
			tracker.Content("Plain words"), "/note Not for agents", mention(Atlas), mention(Scout)+mention(Scribe), mention(Relic))}
		if p.chance(2) {
			in.Parent = p.comment()
		}
		out, err := s.CreateComment(ctx, in)
		if err == nil {
			p.comments = append(p.comments, out.Comment.ID)
		}
		return out, err
	}},
	{"assign", 4, true, func(ctx context.Context, p *player, s tracker.Store) (any, error) {
		return s.AssignIssue(ctx, tracker.Assignment{
			Issue: p.issue(), Agent: pick(p, tracker.AgentRef("Atlas"), "Atlas", "Scribe", "Scout", "Relic"), SuppressRun: p.chance(5),
		})
	}},
	{"trigger", 2, true, func(ctx context.Context, p *player, s tracker.Store) (any, error) {
		ref := pick(p, tracker.AutopilotRef("Backlog triage"), "Customer digest", "Dependency sweep", "Untitled", "Plain run", "Night run")
		out, err := s.TriggerAutopilot(ctx, tracker.AutopilotTrigger{Autopilot: ref})
		if err == nil && out.Run.IssueID != "" {
			p.issues = append(p.issues, out.Run.IssueID)
		}
		return out, err
	}},
	{"preview of an issue's deletion", 1, true, func(ctx context.Context, p *player, s tracker.Store) (any, error) {
		return s.PreviewIssueDeletion(ctx, p.issue())
	}},
	{"delete issue", 1, true, func(ctx context.Context, p *player, s tracker.Store) (any, error) {
		return s.DeleteIssue(ctx, p.issue())
	}},
	{"preview of a comment's deletion", 2, true, func(ctx context.Context, p *player, s tracker.Store) (any, error) {
		return s.PreviewCommentDeletion(ctx, tracker.CommentTarget{Comment: p.comment()})
	}},
	{"delete comment", 2, true, func(ctx context.Context, p *player, s tracker.Store) (any, error) {
		return s.DeleteComment(ctx, tracker.CommentTarget{Comment: p.comment()})
	}},
	{"get", 2, true, func(ctx context.Context, p *player, s tracker.Store) (any, error) { return s.GetIssue(ctx, p.issue()) }},
	{"list", 2, false, func(ctx context.Context, p *player, s tracker.Store) (any, error) {
		out, err := s.ListIssues(ctx, tracker.IssueQuery{Limit: 1 + p.rand.IntN(9), Direction: pick(p, tracker.Ascending, tracker.Descending), Sort: pick(p, tracker.SortUpdated, tracker.SortCreated)})
		out.NextCursor = hasMore(out.NextCursor)
		return out, err
	}},
	{"comments", 2, true, func(ctx context.Context, p *player, s tracker.Store) (any, error) {
		q := tracker.CommentQuery{Issue: p.issue(), Limit: 1 + p.rand.IntN(9)}
		if p.chance(3) {
			q.Thread = p.comment()
		}
		out, err := s.ListComments(ctx, q)
		out.NextCursor = hasMore(out.NextCursor)
		return out, err
	}},
}

// line makes one call and says what came of it.
func (p *player) line(n int) string {
	p.t.Helper()
	p.f.Clock.Advance(time.Duration(p.rand.IntN(90)) * time.Second)
	m := p.move()
	user := pick(p, Mira, Jonas, Priya, Tomas, Elin)
	with := []func(*Caller){func(*Caller) {}}
	if p.chance(6) {
		with = append(with, Without(identity.AgentsWrite))
	}
	out, err := m.make(p.t.Context(), p, p.f.As(user, with...))
	if err == nil {
		p.succeeded[m.name]++
		return fmt.Sprintf("%d %s: %s", n, m.name, p.anonymous(toJSON(out)))
	}
	if fault.KindOf(err) == fault.Internal {
		p.t.Fatalf("call %d, %s: %s", n, m.name, describe(err))
	}
	p.refused[m.name]++
	return fmt.Sprintf("%d %s: %s", n, m.name, p.anonymous(describe(err)))
}

func (p *player) move() move {
	total := 0
	for _, m := range moves {
		total += m.weight
	}
	at := p.rand.IntN(total)
	for _, m := range moves {
		if at -= m.weight; at < 0 {
			return m
		}
	}
	return moves[0]
}

var idForm = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// anonymous replaces ids by the order in which they appeared.
func (p *player) anonymous(s string) string {
	return idForm.ReplaceAllStringFunc(s, func(id string) string {
		if p.names[id] == "" {
			p.names[id] = fmt.Sprintf("id-%d", len(p.names)+1)
		}
		return p.names[id]
	})
}

func hasMore(c tracker.Cursor) tracker.Cursor {
	if c == "" {
		return ""
	}
	return "more"
}

func (p *player) chance(oneIn int) bool { return p.rand.IntN(oneIn) == 0 }

func (p *player) title() tracker.Title {
	return tracker.Title(fmt.Sprintf("Title %d", p.rand.IntN(30)))
}

// issue refers to one of the younger issues most of the time, so that calls meet.
func (p *player) issue() tracker.IssueRef {
	return tracker.IssueRef(p.among(p.issues))
}

func (p *player) comment() tracker.ID { return p.among(p.comments) }

func (p *player) among(ids []tracker.ID) tracker.ID {
	if young := len(ids) - 8; young > 0 && !p.chance(4) {
		ids = ids[young:]
	}
	return ids[p.rand.IntN(len(ids))]
}

func pick[T any](p *player, values ...T) T { return values[p.rand.IntN(len(values))] }
