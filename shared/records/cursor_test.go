package records

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

func TestCursorComesBack(t *testing.T) {
	for _, want := range []cursor{
		{Question: "q", At: "I#0000000001"},
		{Question: "q", At: "2025-06-22#a<b>&c#\"\u2028é", End: "2025-06-22"},
	} {
		text, err := nextCursor(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := openCursor(text, "q", compiled(`.`))
		if err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		if _, err := openCursor(text, "another", compiled(`.`)); fault.Of(err).Reason != fault.InvalidCursor {
			t.Errorf("of another question: %v", err)
		}
		if _, err := openCursor(text, "q", compiled(`^$`)); fault.Of(err).Reason != fault.InvalidCursor {
			t.Errorf("with a position of another form: %v", err)
		}
	}
	if text, err := nextCursor(cursor{Question: "q"}); text != "" || err != nil {
		t.Errorf("without a position: %q, %v", text, err)
	}
	if _, err := nextCursor(cursor{At: strings.Repeat("x", tracker.MaxCursor)}); err == nil {
		t.Error("a cursor over its limit was given out")
	}
}

func TestCursorAcceptsOneFormOnly(t *testing.T) {
	enc := base64.RawURLEncoding
	for _, text := range []string{
		"", "A", "AA", "=", "a b", enc.EncodeToString([]byte(`{}`)) + "=",
		enc.EncodeToString([]byte(`{"q":"q","p":"x"} `)), enc.EncodeToString([]byte(`{"p":"x","q":"q"}`)),
		enc.EncodeToString([]byte(`{"q":"q","p":"x","z":1}`)), enc.EncodeToString([]byte(`{"q":"q","q":"q","p":"x"}`)),
		enc.EncodeToString([]byte(`{"Q":"q","P":"x"}`)), enc.EncodeToString([]byte(`{"q":"q","p":"x"}{}`)),
		enc.EncodeToString([]byte(`{"q":"q","p":"x","e":"tomorrow"}`)), enc.EncodeToString([]byte(`null`)),
		base64.StdEncoding.EncodeToString([]byte(`{"q":"??>","p":"x"}`)),
		enc.EncodeToString([]byte(`{"q":"q","p":"` + strings.Repeat("x", tracker.MaxCursor) + `"}`)),
	} {
		if c, ok := decodeCursor(tracker.Cursor(text)); ok {
			t.Errorf("%q was taken as %+v", text, c)
		}
	}
	if _, ok := decodeCursor(tracker.Cursor(enc.EncodeToString([]byte(`{"q":"q","p":"x"}`)))); !ok {
		t.Error("the control was refused")
	}
}

func TestCursorPositionsHaveAForm(t *testing.T) {
	for form, cases := range map[*regexp.Regexp]struct{ good, bad []string }{
		updatedForm(): {[]string{updatedSK(issueRow{UpdatedAt: 1, Number: 2})}, []string{"I#0000000001", "x", "00000000000000000001#0000000002\n"}},
		createdForm(): {[]string{issueSK(7)}, []string{"ID#0000000001", "I#1", "DIR", "I#00000000011"}},
		commentForm(): {[]string{timedSK(trackertest.Start, trackertest.Question)}, []string{"x", timeSK(trackertest.Start)}},
		usageForm():   {[]string{"2025-06-22#a#b#c"}, []string{"2025-06-22", "2025-06-22#a", "today#a#b"}},
	} {
		for _, s := range cases.good {
			if !form.MatchString(s) {
				t.Errorf("%s refuses %q", form, s)
			}
		}
		for _, s := range cases.bad {
			if form.MatchString(s) {
				t.Errorf("%s accepts %q", form, s)
			}
		}
	}
}

// A list of my issues is another list for another member.
func TestCursorOfMyIssuesIsMine(t *testing.T) {
	db := worldTables(t)
	for name, q := range map[string]tracker.IssueQuery{
		"assignee": {Assignee: "me", Limit: 1}, "creator": {Creator: " Me ", Limit: 1},
	} {
		r := asking(db, trackertest.Mira)
		q.Cursor, _ = nextCursor(cursor{Question: r.issueList(q).question, At: updatedSK(issueRow{UpdatedAt: 1, Number: 2})})
		if _, err := r.ListIssues(ctx, q); err != nil {
			t.Errorf("%s: her own cursor: %v", name, err)
		}
		if _, err := asking(db, trackertest.Jonas).ListIssues(ctx, q); fault.Of(err).Reason != fault.InvalidCursor {
			t.Errorf("%s: the cursor of another member: %v", name, err)
		}
	}
}

// A window that no cursor of ours ends is refused, rather than counted from a made-up day.
func TestCursorOfUsageEndsNearToday(t *testing.T) {
	r := asking(worldTables(t), trackertest.Mira)
	today := trackertest.Start
	for end, good := range map[tracker.Day]bool{
		dayOf(today): true, dayOf(today.AddDate(0, 0, 1)): true, dayOf(today.AddDate(0, 0, -7)): true,
		dayOf(today.AddDate(0, 0, 2)): false, dayOf(today.AddDate(-2, 0, 0)): false, "9999-12-31": false, "0000-01-01": false, "": false,
	} {
		c, err := nextCursor(cursor{Question: r.question("dashboard_usage_daily", 7), At: string(dayOf(today)) + "#a#b", End: end})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.GetUsage(ctx, tracker.UsageQuery{Days: 7, Limit: 1, Cursor: c})
		if good != (err == nil) || !good && fault.Of(err).Reason != fault.InvalidCursor {
			t.Errorf("a window that ends on %q: %v", end, err)
		}
	}
}

// FuzzCursor gives a made-up cursor to every list: it is refused as invalid_cursor, or it
// continues the list; nothing fails inside.
func FuzzCursor(f *testing.F) {
	db := worldTables(f)
	page, err := asking(db, trackertest.Mira).ListIssues(ctx, tracker.IssueQuery{Limit: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(page.NextCursor))
	usage, err := asking(db, trackertest.Mira).GetUsage(ctx, tracker.UsageQuery{Days: 7, Limit: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(usage.NextCursor))
	comments, err := asking(db, trackertest.Mira).ListComments(ctx, tracker.CommentQuery{Issue: "AAC-3", Limit: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(comments.NextCursor))
	f.Add("")
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		c := tracker.Cursor(text)
		r := asking(db, trackertest.Mira)
		_, issuesErr := r.ListIssues(ctx, tracker.IssueQuery{Limit: 1, Cursor: c})
		_, commentsErr := r.ListComments(ctx, tracker.CommentQuery{Issue: "AAC-3", Limit: 1, Cursor: c})
		_, usageErr := r.GetUsage(ctx, tracker.UsageQuery{Days: 7, Limit: 1, Cursor: c})
		taken := 0
		for _, err := range []error{issuesErr, commentsErr, usageErr} {
			if err == nil {
				taken++
			} else if fault.Of(err).Reason != fault.InvalidCursor {
				t.Errorf("%q: %v", text, err)
			}
		}
		if text != "" && taken > 1 {
			t.Errorf("%q continues %d lists", text, taken)
		}
	})
}
