package trackertest

import (
	"context"
	"slices"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// maxPages ends a walk through pages that have no end.
const maxPages = 1000

// list walks the pages of a list. between, if not nil, is called after each page but the last.
func (a actor) list(q tracker.IssueQuery, between func(page int)) []tracker.Summary {
	a.t.Helper()
	if q.Limit == 0 {
		q.Limit = tracker.MaxPage
	}
	var all []tracker.Summary
	for n := range maxPages {
		page := succeed(a, func(ctx context.Context, s tracker.Store) (tracker.IssuePage, error) { return s.ListIssues(ctx, q) })
		if page.Issues == nil || len(page.Issues) > q.Limit {
			a.t.Fatalf("a page of %d issues (nil: %v); the limit is %d", len(page.Issues), page.Issues == nil, q.Limit)
		}
		all = append(all, page.Issues...)
		if page.NextCursor == "" {
			return all
		}
		if between != nil {
			between(n)
		}
		q.Cursor = page.NextCursor
	}
	a.t.Fatal("the pages have no end")
	return nil
}

// read walks the pages of an issue's comments.
func (a actor) read(q tracker.CommentQuery) []tracker.Comment {
	a.t.Helper()
	if q.Limit == 0 {
		q.Limit = tracker.MaxPage
	}
	var all []tracker.Comment
	for range maxPages {
		page := succeed(a, func(ctx context.Context, s tracker.Store) (tracker.CommentPage, error) { return s.ListComments(ctx, q) })
		if page.Comments == nil || len(page.Comments) > q.Limit {
			a.t.Fatalf("a page of %d comments (nil: %v); the limit is %d", len(page.Comments), page.Comments == nil, q.Limit)
		}
		all = append(all, page.Comments...)
		if page.NextCursor == "" {
			return all
		}
		q.Cursor = page.NextCursor
	}
	a.t.Fatal("the pages have no end")
	return nil
}

func (a actor) usage(q tracker.UsageQuery) tracker.Usage {
	a.t.Helper()
	return succeed(a, func(ctx context.Context, s tracker.Store) (tracker.Usage, error) { return s.GetUsage(ctx, q) })
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
