package trackertest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// must ends the test if a call failed.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		return v
	}
}

// wantFault requires a failure of this kind and reason, and returns it.
func wantFault(t *testing.T, err error, kind fault.Kind, reason fault.Reason) *fault.Fault {
	t.Helper()
	var f *fault.Fault
	switch {
	case err == nil:
		t.Fatalf("accepted; want %s, %s", kind, reason)
	case !errors.As(err, &f):
		t.Fatalf("failed inside: %v; want %s, %s", err, kind, reason)
	case f.Kind != kind || f.Reason != reason:
		t.Fatalf("refused with %s, %s (%v); want %s, %s", f.Kind, f.Reason, f, kind, reason)
	}
	return f
}

// wantField requires that the fault is about this argument.
func wantField(t *testing.T, f *fault.Fault, field string) {
	t.Helper()
	if got := f.Member("field"); got != field {
		t.Errorf("the fault is about %v, want %s", got, field)
	}
}

// choices are the choices of a fault.
func choices(t *testing.T, f *fault.Fault) []string {
	t.Helper()
	c, ok := f.Member("choices").([]string)
	if !ok {
		t.Fatalf("choices are %T, want a list of strings", f.Member("choices"))
	}
	return c
}

// allIssues walks the pages of a list, calling between (if not nil) after each page.
func allIssues(t *testing.T, f Fixture, user tracker.ID, q tracker.IssueQuery, between func(page int)) []tracker.Summary {
	t.Helper()
	var all []tracker.Summary
	for n := 0; ; n++ {
		page := must[tracker.IssuePage](t)(f.As(user).ListIssues(context.Background(), q))
		if page.Issues == nil || len(page.Issues) > q.Limit {
			t.Fatalf("a page of %d issues (nil: %v), the limit is %d", len(page.Issues), page.Issues == nil, q.Limit)
		}
		all = append(all, page.Issues...)
		if page.NextCursor == "" {
			return all
		}
		if n == 1000 {
			t.Fatal("the pages have no end")
		}
		if between != nil {
			between(n)
		}
		q.Cursor = page.NextCursor
	}
}

// allComments walks the pages of an issue's comments.
func allComments(t *testing.T, f Fixture, user tracker.ID, q tracker.CommentQuery) []tracker.Comment {
	t.Helper()
	var all []tracker.Comment
	for range 1000 {
		page := must[tracker.CommentPage](t)(f.As(user).ListComments(context.Background(), q))
		if page.Comments == nil || len(page.Comments) > q.Limit {
			t.Fatalf("a page of %d comments (nil: %v), the limit is %d", len(page.Comments), page.Comments == nil, q.Limit)
		}
		all = append(all, page.Comments...)
		if page.NextCursor == "" {
			return all
		}
		q.Cursor = page.NextCursor
	}
	t.Fatal("the pages have no end")
	return nil
}

func issueIDs(issues []tracker.Summary) []tracker.ID {
	ids := make([]tracker.ID, 0, len(issues))
	for _, i := range issues {
		ids = append(ids, i.ID)
	}
	return ids
}

func commentIDs(comments []tracker.Comment) []tracker.ID {
	ids := make([]tracker.ID, 0, len(comments))
	for _, c := range comments {
		ids = append(ids, c.ID)
	}
	return ids
}

// wantIDs requires these ids in this order.
func wantIDs(t *testing.T, what string, got []tracker.ID, want ...tracker.ID) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// create makes an issue as a member, with a title of its own.
func create(t *testing.T, f Fixture, user tracker.ID, in tracker.NewIssue) tracker.Summary {
	t.Helper()
	if in.Title == "" {
		in.Title = "Made for a test"
	}
	return must[tracker.CreatedIssue](t)(f.As(user).CreateIssue(context.Background(), in)).Issue
}

// comment adds a comment as a member.
func comment(t *testing.T, f Fixture, user tracker.ID, in tracker.NewComment) tracker.CommentHead {
	t.Helper()
	if in.Content == "" {
		in.Content = "Said for a test."
	}
	return must[tracker.CreatedComment](t)(f.As(user).CreateComment(context.Background(), in)).Comment
}
