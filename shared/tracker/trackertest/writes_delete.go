package trackertest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// noSuchTarget expects the one refusal of destructive calls, with what the log alone says.
func noSuchTarget(t *testing.T, err error, detail fault.Detail) {
	t.Helper()
	f := refusedAs(t, err, fault.Forbidden, fault.NotPermitted)
	const want = `{"error":"no such target, or you may not delete it","reason":"not_permitted"}`
	if got := string(f.PublicJSON("")); got != want {
		t.Errorf("the refusal is %s", got)
	}
	if f.Detail != detail {
		t.Errorf("the log reads %q, want %q", f.Detail, detail)
	}
}

var deletingIssues = []testCase{
	{"a deleted issue is nowhere", func(t *testing.T, f Fixture) {
		priya := f.by(t, Priya)
		child := priya.create(tracker.NewIssue{Title: "Child", Parent: "AAC-1"}).Issue
		out := f.by(t, Priya).delete(child.ID)
		at, until := tracker.At(Start), tracker.At(Start.Add(30*24*time.Hour))
		equal(t, "the answer", tracker.IssueDeletion{
			Deleted: true, Issue: tracker.IssueName{ID: child.ID, Identifier: child.Identifier}, DeletedAt: &at, RestorableUntil: &until,
		}, out)
		if got := priya.get(Plain); got.SubIssueCount != 0 || got.Issue.Revision != 1 {
			t.Errorf("the parent: %s", toJSON(got))
		}
		_, err := priya.store().GetIssue(t.Context(), tracker.IssueRef(child.ID))
		refusedAs(t, err, fault.NotFound, fault.TargetNotFound)
		page := succeed(priya, func(ctx context.Context, s tracker.Store) (tracker.IssuePage, error) {
			return s.ListIssues(ctx, tracker.IssueQuery{Limit: tracker.MaxPage})
		})
		if len(page.Issues) != 3 {
			t.Errorf("%d issues are listed, want 3", len(page.Issues))
		}
	}},
	{"comments and tasks go, sub-issues stay", func(t *testing.T, f Fixture) {
		mira := f.by(t, Mira)
		mira.give(Talk, Atlas, "queued")
		mira.say(Talk, "", mention(Scribe))
		child := mira.create(tracker.NewIssue{Title: "Child", Parent: "AAC-3"}).Issue
		other := mira.create(tracker.NewIssue{Title: "Other", Parent: "AAC-3"}).Issue
		grandchild := mira.create(tracker.NewIssue{Title: "Grandchild", Parent: tracker.IssueRef(child.ID)}).Issue
		want := tracker.IssueRemoved{Comments: 6, CancelledTasks: 2, DetachedSubIssues: 2}
		preview := mira.previewDelete(Talk)
		equal(t, "the preview counts", want, preview.Removed)
		f.Clock.Advance(time.Minute)
		equal(t, "the deletion counts", want, mira.delete(Talk).Removed)
		for _, c := range []tracker.Summary{child, other} {
			got := mira.get(c.ID).Issue
			if got.ParentIssueID != "" || got.ParentIdentifier != "" || got.Revision != c.Revision+1 || !got.UpdatedAt.Equal(f.Clock.Now()) {
				t.Errorf("a sub-issue that stays: %s", toJSON(got))
			}
		}
		if got := mira.get(grandchild.ID).Issue; got.ParentIssueID != child.ID || got.Revision != 1 {
			t.Errorf("the grandchild: %s", toJSON(got))
		}
	}},
	{"deleting again gives the first answer", func(t *testing.T, f Fixture) {
		priya := f.by(t, Priya)
		priya.say(Plain, "", "With it")
		first := priya.delete(Plain)
		f.Clock.Advance(31 * 24 * time.Hour)
		equal(t, "again", first, priya.delete(Plain))
		equal(t, "by an administrator", first, f.by(t, Jonas).delete(Plain))
		preview := first
		preview.DryRun = true
		equal(t, "a preview of what is gone", preview, priya.previewDelete(Plain))
	}},
	{"eight deletions at once give one answer", func(t *testing.T, f Fixture) {
		outs, errs := make([]tracker.IssueDeletion, 8), make([]error, 8)
		atOnce(len(errs), func(i int) {
			outs[i], errs[i] = f.As(Mira).DeleteIssue(t.Context(), tracker.IssueRef(fmt.Sprintf("AAC-%d", 1)))
		})
		for i, err := range errs {
			if err != nil {
				t.Fatal(describe(err))
			}
			equal(t, "the answer", outs[0], outs[i])
		}
	}},
	{"missing, foreign and forbidden are refused alike, previewed or not", func(t *testing.T, f Fixture) {
		gone := f.by(t, Mira).issue("Gone")
		f.by(t, Mira).delete(gone.ID)
		for _, target := range []struct {
			ref    tracker.IssueRef
			detail fault.Detail
		}{
			{tracker.IssueRef(NoSuchID), fault.TargetMissing}, {"AAC-999999", fault.TargetMissing},
			{tracker.IssueRef(ForeignIssue), fault.TargetMissing}, {"NOR-1", fault.TargetMissing},
			{tracker.IssueRef(Plain), fault.TargetForbidden}, {"AAC-1", fault.TargetForbidden}, {"AAC-2", fault.TargetForbidden},
			{tracker.IssueRef(gone.ID), fault.TargetForbidden}, {tracker.IssueRef(gone.Identifier), fault.TargetForbidden},
		} {
			_, err := f.As(Elin).DeleteIssue(t.Context(), target.ref)
			noSuchTarget(t, err, target.detail)
			_, err = f.As(Elin).PreviewIssueDeletion(t.Context(), target.ref)
			noSuchTarget(t, err, target.detail)
		}
	}},
	{"the role counts that the caller has now", func(t *testing.T, f Fixture) {
		own := f.by(t, Jonas).issue("Own")
		f.SetRole(t, Jonas, identity.Member)
		_, err := f.As(Jonas).DeleteIssue(t.Context(), "AAC-1")
		noSuchTarget(t, err, fault.TargetForbidden)
		f.by(t, Jonas).delete(own.ID)
	}},
	{"a preview shows what would go and changes nothing", func(t *testing.T, f Fixture) {
		mira := f.by(t, Mira)
		mira.say(Talk, "", "Mine")
		mira.give(Talk, Atlas, "queued")
		child := mira.create(tracker.NewIssue{Title: "Child", Parent: "AAC-3"}).Issue
		before := mira.get(Talk)
		got := mira.previewDelete(Talk)
		equal(t, "the preview", tracker.IssueDeletion{
			DryRun: true, Issue: tracker.IssueName{ID: Talk, Identifier: "AAC-3"},
			Removed: tracker.IssueRemoved{Comments: 6, CancelledTasks: 1, DetachedSubIssues: 1},
			WouldDelete: &tracker.WouldDeleteIssue{
				Issue:       tracker.Ref{ID: Talk, Identifier: "AAC-3", Title: "Much talk", Status: tracker.InReview},
				CreatorName: "Tomas Rey", CommentsByOthers: 5,
				SubIssues: []tracker.Ref{{ID: child.ID, Identifier: child.Identifier, Title: "Child", Status: tracker.Todo}},
				Tasks:     []tracker.TaskPreview{{AgentName: "Atlas", Status: "queued"}},
			},
		}, got)
		equal(t, "the issue", before, mira.get(Talk))
	}},
	{"a sub-issue made while its parent is deleted is detached or refused", func(t *testing.T, f Fixture) {
		errs := make([]error, 8)
		made := make([]tracker.CreatedIssue, 8)
		atOnce(len(errs), func(i int) {
			if i == 0 {
				_, errs[0] = f.As(Mira).DeleteIssue(t.Context(), "AAC-1")
				return
			}
			made[i], errs[i] = f.As(Mira).CreateIssue(t.Context(), tracker.NewIssue{Title: "Meanwhile", Parent: "AAC-1"})
		})
		for i, err := range errs {
			switch {
			case err != nil && fault.Of(err).Reason == fault.Contention:
			case i == 0 && err != nil:
				t.Error(describe(err))
			case err != nil:
				refusedAs(t, err, fault.Invalid, fault.UnknownReference)
			}
		}
		mira := f.by(t, Mira)
		removed := mira.delete(Plain).Removed.DetachedSubIssues
		for i := 1; i < len(made); i++ {
			if errs[i] == nil {
				removed--
				if got := mira.get(made[i].Issue.ID).Issue; got.ParentIssueID != "" {
					t.Errorf("a sub-issue of a deleted issue: %s", toJSON(got))
				}
			}
		}
		if removed != 0 {
			t.Errorf("the deletion counts %d sub-issues too many", removed)
		}
	}},
}

var deletingComments = []testCase{
	{"a comment goes with all replies below it", func(t *testing.T, f Fixture) {
		tomas := f.by(t, Tomas)
		jonas := f.by(t, Jonas).say(Talk, Question, "Me too").Comment.ID
		want := tracker.CommentRemoved{Replies: 3, RepliesByOthers: 3}
		preview := tomas.previewRemove(Question)
		equal(t, "the preview counts", want, preview.Removed)
		out := tomas.remove(Question)
		at, until := tracker.At(Start), tracker.At(Start.Add(30*24*time.Hour))
		equal(t, "the answer", tracker.CommentDeletion{
			Deleted: true, CommentID: Question, Issue: tracker.IssueName{ID: Talk, Identifier: "AAC-3"},
			DeletedAt: &at, RestorableUntil: &until, Removed: want,
		}, out)
		left := tomas.comments(Talk)
		if len(left) != 2 || left[0].ID != Notice || left[1].ID != Aside {
			t.Errorf("left: %s", toJSON(left))
		}
		issue := tomas.get(Talk).Issue
		if issue.CommentCount != 2 || issue.Revision != 3 {
			t.Errorf("the issue: %s", toJSON(issue))
		}
		f.Clock.Advance(time.Hour)
		equal(t, "again", out, tomas.remove(Question))
		for _, reply := range []tracker.ID{Answer, AgentAnswer, jonas} {
			if got := f.by(t, Mira).remove(reply); !got.Deleted || !got.DeletedAt.Truncate(time.Second).Equal(Start) {
				t.Errorf("a reply that is gone: %s", toJSON(got))
			}
		}
		equal(t, "the issue", issue, tomas.get(Talk).Issue)
	}},
	{"what is beside and above stays", func(t *testing.T, f Fixture) {
		mira := f.by(t, Mira)
		side := mira.say(Talk, Question, "/note Beside").Comment.ID
		deep := mira.say(Talk, AgentAnswer, "/note Below").Comment.ID
		equal(t, "removed", tracker.CommentRemoved{Replies: 2, RepliesByOthers: 1}, f.by(t, Mira).remove(Answer).Removed)
		var left []tracker.ID
		for _, c := range mira.comments(Talk) {
			left = append(left, c.ID)
		}
		equal(t, "left", []tracker.ID{Question, Notice, Aside, side}, left)
		_, err := mira.store().CreateComment(t.Context(), tracker.NewComment{Issue: "AAC-3", Content: "Late", Parent: deep})
		refusedAs(t, err, fault.Invalid, fault.UnknownReference)
	}},
	{"a preview shows the comment and whose replies would go", func(t *testing.T, f Fixture) {
		f.by(t, Priya).say(Talk, Answer, "More")
		newest := tracker.At(Start)
		got := f.by(t, Tomas).previewRemove(Question)
		equal(t, "the preview", tracker.CommentDeletion{
			DryRun: true, CommentID: Question, Issue: tracker.IssueName{ID: Talk, Identifier: "AAC-3"},
			Removed: tracker.CommentRemoved{Replies: 3, RepliesByOthers: 3},
			WouldDelete: &tracker.WouldDeleteComment{
				AuthorName: "Tomas Rey", Excerpt: "Is it so?", CreatedAt: tracker.At(Start.Add(-5 * time.Hour)),
				ReplyAuthors:  []tracker.ReplyAuthor{{Type: tracker.MemberActor, Name: "Priya Raman", Count: 2}, {Type: tracker.AgentActor, Name: "Atlas", Count: 1}},
				NewestReplyAt: &newest,
			},
		}, got)
		if n := len(f.by(t, Tomas).comments(Talk)); n != 6 {
			t.Errorf("%d comments after the preview", n)
		}
		long := f.by(t, Tomas).say(Plain, "", tracker.Content(repeat("ä", 300))).Comment.ID
		if got := f.by(t, Tomas).previewRemove(long).WouldDelete.Excerpt; got != repeat("ä", 200) {
			t.Errorf("an excerpt of %d bytes", len(got))
		}
	}},
	{"an open task goes if the comment alone caused it", func(t *testing.T, f Fixture) {
		tomas := f.by(t, Tomas)
		alone := tomas.say(Plain, "", mention(Atlas)).Comment.ID
		if got := tomas.remove(alone).Removed.CancelledTasks; got != 1 || tomas.openTasks(Plain, Atlas) != 0 {
			t.Errorf("%d tasks cancelled", got)
		}
		first := tomas.say(Plain, "", mention(Atlas)).Comment.ID
		second := tomas.say(Plain, "", mention(Atlas)).Comment.ID
		if got := tomas.remove(first).Removed.CancelledTasks; got != 0 || tomas.openTasks(Plain, Atlas) != 1 {
			t.Errorf("%d tasks cancelled that another comment caused too", got)
		}
		if got := tomas.remove(second).Removed.CancelledTasks; got != 1 || tomas.openTasks(Plain, Atlas) != 0 {
			t.Errorf("%d tasks cancelled with the last comment", got)
		}
		tomas.give(Plain, Scribe, "queued")
		also := tomas.say(Plain, "", "And this").Comment.ID
		if got := tomas.remove(also).Removed.CancelledTasks; got != 0 || tomas.openTasks(Plain, Scribe) != 1 {
			t.Errorf("%d tasks cancelled that an assignment caused", got)
		}
	}},
	{"missing, foreign and forbidden comments are refused alike, previewed or not", func(t *testing.T, f Fixture) {
		mira := f.by(t, Mira)
		gone := mira.say(Plain, "", "Gone").Comment.ID
		mira.remove(gone)
		buried := f.by(t, Elin).say(Working, "", "/note Buried").Comment.ID
		mira.delete(Working)
		for _, target := range []struct {
			comment tracker.ID
			issue   tracker.IssueRef
			detail  fault.Detail
		}{
			{NoSuchID, "", fault.TargetMissing}, {ForeignComment, "", fault.TargetMissing}, {Talk, "", fault.TargetMissing},
			{Question, "", fault.TargetForbidden}, {AgentAnswer, "", fault.TargetForbidden}, {Notice, "", fault.TargetForbidden},
			{gone, "", fault.TargetForbidden}, {buried, "", fault.TargetMissing},
			{Aside, "AAC-1", fault.TargetMissing}, {Aside, "NOR-3", fault.TargetMissing}, {Aside, tracker.IssueRef(Plain), fault.TargetMissing},
		} {
			c := tracker.CommentTarget{Comment: target.comment, Issue: target.issue}
			_, err := f.As(Elin).DeleteComment(t.Context(), c)
			noSuchTarget(t, err, target.detail)
			_, err = f.As(Elin).PreviewCommentDeletion(t.Context(), c)
			noSuchTarget(t, err, target.detail)
		}
		for _, ref := range []tracker.IssueRef{"AAC-3", tracker.IssueRef(Talk)} {
			if _, err := f.As(Elin).DeleteComment(t.Context(), tracker.CommentTarget{Comment: Aside, Issue: ref}); err != nil {
				t.Error(describe(err))
			}
		}
		mira.remove(Notice)
		mira.remove(AgentAnswer)
	}},
	{"a reply made while its root is removed goes with it or is refused", func(t *testing.T, f Fixture) {
		errs := make([]error, 8)
		atOnce(len(errs), func(i int) {
			if i == 0 {
				_, errs[0] = f.As(Mira).DeleteComment(t.Context(), tracker.CommentTarget{Comment: Question})
				return
			}
			_, errs[i] = f.As(Priya).CreateComment(t.Context(), tracker.NewComment{Issue: "AAC-3", Content: "Meanwhile", Parent: Answer})
		})
		for i, err := range errs {
			if err != nil && i > 0 && fault.Of(err).Reason != fault.Contention {
				refusedAs(t, err, fault.Invalid, fault.UnknownReference)
			}
		}
		mira := f.by(t, Mira)
		mira.remove(Question)
		left := mira.comments(Talk)
		if len(left) != 2 || mira.get(Talk).Issue.CommentCount != 2 {
			t.Errorf("left: %s", toJSON(left))
		}
	}},
}

func repeat(s string, n int) string {
	out := ""
	for range n {
		out += s
	}
	return out
}
