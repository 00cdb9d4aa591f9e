package records

import (
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

// What each act asks of the tables, one after the other. A round trip takes longer than all
// that a call computes, so a change here is a decision. next is not shown: it is one more for
// each new issue.
func TestWriteRequests(t *testing.T) {
	plain := tracker.IssueRef(trackertest.Plain)
	type act func(*store) error
	keyed := func(do act) act {
		return func(s *store) error {
			s.call.IdempotencyKey, s.call.Event.ArgumentsDigest = "k", "sha256:1"
			return do(s)
		}
	}
	create := func(in tracker.NewIssue) act {
		in.Title = "New"
		return func(s *store) error { _, err := s.CreateIssue(ctx, in); return err }
	}
	update := func(ref tracker.IssueRef, c tracker.IssueChange) act {
		return func(s *store) error { _, err := s.UpdateIssue(ctx, ref, c); return err }
	}
	comment := func(in tracker.NewComment) act {
		in.Content = "Words"
		return func(s *store) error { _, err := s.CreateComment(ctx, in); return err }
	}
	for _, tt := range []struct {
		what, want string
		do         act
	}{
		{"create", "batch of 1, commit", create(tracker.NewIssue{})},
		{"create, with a key", "batch of 2, commit", keyed(create(tracker.NewIssue{}))},
		{"create below a parent", "batch of 2, commit", create(tracker.NewIssue{Parent: "AAC-1"})},
		{"update by identifier", "batch of 2, commit", update("AAC-1", tracker.IssueChange{Status: tracker.Some(tracker.Done)})},
		{"update by id", "batch of 2, batch of 1, commit", update(plain, tracker.IssueChange{Status: tracker.Some(tracker.Done)})},
		{"update of the description", "batch of 3, commit", update("AAC-1", tracker.IssueChange{Description: tracker.Some[tracker.Description]("New")})},
		{"update without a difference", "batch of 2", update("AAC-1", tracker.IssueChange{Status: tracker.Some(tracker.Todo)})},
		{"comment", "batch of 2, commit", comment(tracker.NewComment{Issue: "AAC-1"})},
		{"comment, with a key", "batch of 3, commit", keyed(comment(tracker.NewComment{Issue: "AAC-1"}))},
		{"reply", "batch of 3, batch of 2, commit", comment(tracker.NewComment{Issue: "AAC-3", Parent: trackertest.Answer})},
		{"assign", "batch of 2, commit", func(s *store) error {
			_, err := s.AssignIssue(ctx, tracker.Assignment{Issue: "AAC-1", Agent: "Atlas"})
			return err
		}},
		{"trigger", "batch of 1, get, commit", func(s *store) error {
			_, err := s.TriggerAutopilot(ctx, tracker.AutopilotTrigger{Autopilot: "Plain run"})
			return err
		}},
		{"delete issue", "batch of 2, commit", func(s *store) error { _, err := s.DeleteIssue(ctx, "AAC-1"); return err }},
		{"delete comment", "batch of 2, batch of 3, commit", func(s *store) error {
			_, err := s.DeleteComment(ctx, tracker.CommentTarget{Comment: trackertest.Aside})
			return err
		}},
		{"delete comment with replies", "batch of 2, batch of 3, batch of 2, commit", func(s *store) error {
			_, err := s.DeleteComment(ctx, tracker.CommentTarget{Comment: trackertest.Question})
			return err
		}},
	} {
		r := &traced{Writer: worldTables(t)}
		if err := tt.do(acting(r, trackertest.Mira)); err != nil {
			t.Errorf("%s: %v", tt.what, err)
		}
		if got := strings.Join(r.requests, ", "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, got, tt.want)
		}
	}
}
