package trackertest

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

var commentCases = []testCase{
	{"comments come by time, both ways, in pages", commentsInOrder},
	{"comments are shown whole", showsComments},
	{"a thread is a comment and all below it", commentsOfThread},
	{"comments since a time", commentsSince},
	{"a removed comment leaves no trace", hidesRemovedComment},
	{"a page of comments ends at 200 KiB", pagesOfLongComments},
	{"a cursor continues its own comments and no other", commentCursors},
}

var usageCases = []testCase{
	{"usage has exactly the days asked for", usageDays},
	{"the totals are the sum of the pages", usageTotals},
	{"midnight does not move a window between pages", usageAtMidnight},
	{"usage outlives what caused it", usageOutlives},
	{"usage is that of one workspace", usageIsOwn},
}

func commentsInOrder(t *testing.T, f Fixture) {
	want := []tracker.ID{Question, Answer, AgentAnswer, Notice, Aside}
	for limit := 1; limit <= 6; limit++ {
		q := tracker.CommentQuery{Issue: "AAC-3", Limit: limit}
		wantIDs(t, fmt.Sprint("by default in pages of ", limit), commentIDs(f.by(t, Tomas).read(q)), want...)
		q.Direction = tracker.Descending
		got := commentIDs(f.by(t, Tomas).read(q))
		slices.Reverse(got)
		wantIDs(t, fmt.Sprint("turned around in pages of ", limit), got, want...)
	}
	if got := f.by(t, Tomas).read(tracker.CommentQuery{Issue: "AAC-1"}); len(got) != 0 {
		t.Errorf("an issue without comments has %d", len(got))
	}
}

func showsComments(t *testing.T, f Fixture) {
	page, err := f.As(Elin).ListComments(t.Context(), tracker.CommentQuery{Issue: tracker.IssueRef(Talk), Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the issue", tracker.Ref{ID: Talk, Identifier: "AAC-3", Title: "Much talk", Status: tracker.InReview}, page.Issue)
	at := func(hours int) tracker.Time { return tracker.At(Start.Add(-time.Duration(hours) * time.Hour)) }
	head := func(id tracker.ID, kind tracker.ActorType, author tracker.ID, name string, parent tracker.ID, hours int) tracker.CommentHead {
		return tracker.CommentHead{
			ID: id, IssueID: Talk, AuthorType: kind, AuthorID: author, AuthorName: name, Type: "comment", ParentID: parent,
			CreatedAt: at(hours), UpdatedAt: at(hours),
		}
	}
	equal(t, "the comments", []tracker.Comment{
		{CommentHead: head(Question, tracker.MemberActor, Tomas, "Tomas Rey", "", 5), Content: "Is it so?"},
		{CommentHead: head(Answer, tracker.MemberActor, Priya, "Priya Raman", Question, 4), Content: "It is."},
		{CommentHead: head(AgentAnswer, tracker.AgentActor, Atlas, "Atlas", Answer, 3), Content: "Confirmed."},
		{CommentHead: head(Notice, tracker.SystemActor, "", "", "", 2), Content: "Moved to review."},
	}, page.Comments)
}

func commentsOfThread(t *testing.T, f Fixture) {
	late := f.by(t, Elin).say(Talk, Answer, "Is that all?").Comment.ID
	for what, tt := range map[string]struct {
		thread tracker.ID
		want   []tracker.ID
	}{
		"a root":                 {Question, []tracker.ID{Question, Answer, AgentAnswer, late}},
		"a reply with replies":   {Answer, []tracker.ID{Answer, AgentAnswer, late}},
		"the last reply":         {late, []tracker.ID{late}},
		"a root without replies": {Notice, []tracker.ID{Notice}},
	} {
		for limit := 1; limit <= 5; limit++ {
			q := tracker.CommentQuery{Issue: "AAC-3", Thread: tt.thread, Limit: limit}
			wantIDs(t, what, commentIDs(f.by(t, Tomas).read(q)), tt.want...)
			q.Direction = tracker.Descending
			got := commentIDs(f.by(t, Tomas).read(q))
			slices.Reverse(got)
			wantIDs(t, what+", turned around", got, tt.want...)
		}
	}
	since := tracker.CommentQuery{Issue: "AAC-3", Thread: Question, Since: tracker.At(Start.Add(-3 * time.Hour))}
	wantIDs(t, "a root since a time", commentIDs(f.by(t, Tomas).read(since)), AgentAnswer, late)
	for _, thread := range []tracker.ID{NoSuchID, ForeignComment, Plain} {
		_, err := f.As(Tomas).ListComments(t.Context(), tracker.CommentQuery{Issue: "AAC-3", Thread: thread, Limit: 10})
		wantField(t, refusedAs(t, err, fault.Invalid, fault.UnknownReference), "thread")
	}
	_, err := f.As(Tomas).ListComments(t.Context(), tracker.CommentQuery{Issue: "AAC-1", Thread: Question, Limit: 10})
	wantField(t, refusedAs(t, err, fault.Invalid, fault.UnknownReference), "thread")
}

func commentsSince(t *testing.T, f Fixture) {
	ask := func(since time.Time, want ...tracker.ID) {
		t.Helper()
		for limit := 1; limit <= 3; limit++ {
			q := tracker.CommentQuery{Issue: "AAC-3", Since: tracker.At(since), Limit: limit}
			wantIDs(t, since.String(), commentIDs(f.by(t, Tomas).read(q)), want...)
			q.Direction = tracker.Descending
			got := commentIDs(f.by(t, Tomas).read(q))
			slices.Reverse(got)
			wantIDs(t, since.String()+", turned around", got, want...)
		}
	}
	ask(Start.Add(-2*time.Hour), Notice, Aside)
	ask(Start.Add(-2*time.Hour).Add(time.Second), Aside)
	ask(Start)
}

func hidesRemovedComment(t *testing.T, f Fixture) {
	f.by(t, Mira).remove(Answer)
	want := []tracker.ID{Question, Notice, Aside}
	for limit := 1; limit <= 4; limit++ {
		got := f.by(t, Tomas).read(tracker.CommentQuery{Issue: "AAC-3", Limit: limit})
		wantIDs(t, "what is left", commentIDs(got), want...)
	}
	wantIDs(t, "what is left of the thread", commentIDs(f.by(t, Tomas).read(tracker.CommentQuery{Issue: "AAC-3", Thread: Question})), Question)
	for _, thread := range []tracker.ID{Answer, AgentAnswer} {
		_, err := f.As(Tomas).ListComments(t.Context(), tracker.CommentQuery{Issue: "AAC-3", Thread: thread, Limit: 10})
		wantField(t, refusedAs(t, err, fault.Invalid, fault.UnknownReference), "thread")
	}
	if got := f.by(t, Tomas).get(Talk).Issue.CommentCount; got != len(want) {
		t.Errorf("comment_count is %d, want %d", got, len(want))
	}
}

func pagesOfLongComments(t *testing.T, f Fixture) {
	const most = 200 << 10
	long := tracker.Content(strings.Repeat("x", tracker.MaxContent))
	root := f.by(t, Elin).say(Plain, "", long).Comment.ID
	want := []tracker.ID{root}
	for range 14 {
		f.Clock.Advance(time.Second)
		want = append(want, f.by(t, Elin).say(Plain, root, long).Comment.ID)
	}
	for _, thread := range []tracker.ID{"", root} {
		for _, dir := range []tracker.Direction{tracker.Ascending, tracker.Descending} {
			q := tracker.CommentQuery{Issue: "AAC-1", Thread: thread, Direction: dir, Limit: tracker.MaxPage}
			page, err := f.As(Elin).ListComments(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			content := 0
			for _, c := range page.Comments {
				content += len(c.Content)
			}
			if content > most || content+tracker.MaxContent <= most || page.NextCursor == "" {
				t.Errorf("a page of %d bytes, next cursor %q", content, page.NextCursor)
			}
			got := commentIDs(f.by(t, Elin).read(q))
			if dir == tracker.Descending {
				slices.Reverse(got)
			}
			wantIDs(t, "all pages", got, want...)
		}
	}
}

func commentCursors(t *testing.T, f Fixture) {
	base := tracker.CommentQuery{Issue: "AAC-3", Limit: 1}
	first, err := f.As(Tomas).ListComments(t.Context(), base)
	if err != nil || first.NextCursor == "" {
		t.Fatalf("no cursor: %v", err)
	}
	for what, change := range map[string]func(*tracker.CommentQuery){
		"issue":     func(q *tracker.CommentQuery) { q.Issue = "AAC-1" },
		"thread":    func(q *tracker.CommentQuery) { q.Thread = Question },
		"since":     func(q *tracker.CommentQuery) { q.Since = tracker.At(Start) },
		"direction": func(q *tracker.CommentQuery) { q.Direction = tracker.Descending },
		"cursor":    func(q *tracker.CommentQuery) { q.Cursor = "AAAA" },
	} {
		q := base
		q.Cursor = first.NextCursor
		change(&q)
		if _, err := f.As(Tomas).ListComments(t.Context(), q); err == nil {
			t.Errorf("with another %s: accepted", what)
		} else {
			refusedAs(t, err, fault.Invalid, fault.InvalidCursor)
		}
	}
}

func usageDays(t *testing.T, f Fixture) {
	for _, days := range []int{1, 2, 30, 40, 41, 365} {
		got := f.by(t, Elin).usage(tracker.UsageQuery{Days: days, Limit: tracker.MaxPage})
		end := tracker.Day(Start.Format(time.DateOnly))
		start := tracker.Day(Start.AddDate(0, 0, 1-days).Format(time.DateOnly))
		if got.StartDate != start || got.EndDate != end || got.TZ != "UTC" {
			t.Errorf("%d days: %s to %s in %s", days, got.StartDate, got.EndDate, got.TZ)
		}
		if want := 2 * min(days, 40); len(got.Rows) != want {
			t.Errorf("%d days: %d rows, want %d", days, len(got.Rows), want)
		}
		for i, r := range got.Rows {
			model := []string{"claude-sonnet-4", "qwen2.5-coder"}[i%2]
			if day := tracker.Day(Start.AddDate(0, 0, -i/2).Format(time.DateOnly)); r.Date != day || r.Model != model {
				t.Errorf("%d days: row %d is of %s, %s; want %s, %s", days, i, r.Date, r.Model, day, model)
			}
		}
	}
}

func usageTotals(t *testing.T, f Fixture) {
	for _, limit := range []int{1, 7, 60, 100} {
		q := tracker.UsageQuery{Days: 30, Limit: limit}
		var sum tracker.UsageSums
		rows := 0
		for {
			page := f.by(t, Elin).usage(q)
			for _, r := range page.Rows {
				sum = plus(sum, r.UsageSums)
				rows++
			}
			if page.NextCursor == "" {
				if diff := cmp.Diff(sum, page.Totals.UsageSums); diff != "" {
					t.Errorf("in pages of %d the sum and the totals differ: %s", limit, diff)
				}
				wantUSD(t, page.Totals)
				break
			}
			if len(page.Rows) != limit || rows > 60 {
				t.Fatalf("a page of %d rows after %d, the limit is %d", len(page.Rows), rows, limit)
			}
			q.Cursor = page.NextCursor
		}
		if rows != 60 {
			t.Errorf("in pages of %d: %d rows, want 60", limit, rows)
		}
	}
}

// wantUSD requires that the decimal is exactly the ticks.
func wantUSD(t *testing.T, totals tracker.UsageTotals) {
	t.Helper()
	got, ok := new(big.Rat).SetString(totals.CostUSD)
	if want := big.NewRat(totals.CostUSDTicks, 10_000_000_000); !ok || got.Cmp(want) != 0 || strings.ContainsAny(totals.CostUSD, "eE/") {
		t.Errorf("%d ticks are %q USD", totals.CostUSDTicks, totals.CostUSD)
	}
}

func plus(a, b tracker.UsageSums) tracker.UsageSums {
	a.InputTokens += b.InputTokens
	a.OutputTokens += b.OutputTokens
	a.CacheReadTokens += b.CacheReadTokens
	a.CacheWriteTokens += b.CacheWriteTokens
	a.CostUSDTicks += b.CostUSDTicks
	a.UncostedInputTokens += b.UncostedInputTokens
	a.UncostedOutputTokens += b.UncostedOutputTokens
	a.UncostedCacheReadTokens += b.UncostedCacheReadTokens
	a.UncostedCacheWriteTokens += b.UncostedCacheWriteTokens
	a.TaskCount += b.TaskCount
	return a
}

func usageAtMidnight(t *testing.T, f Fixture) {
	q := tracker.UsageQuery{Days: 3, Limit: 4}
	first := f.by(t, Elin).usage(q)
	f.Clock.Set(Start.Truncate(24 * time.Hour).Add(24 * time.Hour))
	if now := f.by(t, Elin).usage(q); now.StartDate == first.StartDate {
		t.Error("after midnight a new window must begin a day later")
	}
	q.Cursor = first.NextCursor
	second := f.by(t, Elin).usage(q)
	if second.StartDate != first.StartDate || second.EndDate != first.EndDate || second.NextCursor != "" || len(second.Rows) != 2 {
		t.Errorf("the second page: %s to %s, %d rows, next %q", second.StartDate, second.EndDate, len(second.Rows), second.NextCursor)
	}
	equal(t, "the totals", first.Totals, second.Totals)

	q.Days = 4
	_, err := f.As(Elin).GetUsage(t.Context(), q)
	refusedAs(t, err, fault.Invalid, fault.InvalidCursor)
}

func usageOutlives(t *testing.T, f Fixture) {
	q := tracker.UsageQuery{Days: 30, Limit: tracker.MaxPage}
	before := f.by(t, Elin).usage(q)
	f.by(t, Mira).delete(Working)
	equal(t, "usage after a deletion", before, f.by(t, Elin).usage(q))
}

func usageIsOwn(t *testing.T, f Fixture) {
	got, err := f.Abroad().GetUsage(t.Context(), tracker.UsageQuery{Days: 365, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if got.Rows == nil || len(got.Rows) != 0 || got.Totals.CostUSD != "0.00" || got.NextCursor != "" {
		t.Errorf("a workspace without usage has %s", toJSON(got))
	}
}
