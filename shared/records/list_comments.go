package records

import (
	"cmp"
	"context"
	"slices"

	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// maxPageContent bounds the content of a page of comments, in bytes. One comment always fits.
const maxPageContent = 200 << 10

var commentForm = compiled(`^[0-9]{20}#[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// ListComments implements tracker.Reader.
func (r *reader) ListComments(ctx context.Context, q tracker.CommentQuery) (tracker.CommentPage, error) {
	l := &commentList{r: r, q: q, desc: q.Direction == tracker.Descending}
	l.q.Limit = pageLimit(q.Limit)
	if !q.Since.IsZero() {
		l.since = microsOf(q.Since.Time)
	}
	l.question = r.question("list_comments", q.Issue, q.Thread, l.since, l.desc)
	c, err := openCursor(q.Cursor, l.question, commentForm)
	if err != nil {
		return tracker.CommentPage{}, err
	}
	l.after = c.At
	if q.Thread != "" {
		err = l.readThread(ctx)
	} else {
		err = l.readAll(ctx)
	}
	if err != nil {
		return tracker.CommentPage{}, err
	}
	return l.result()
}

// commentList is one call of ListComments.
type commentList struct {
	r        *reader
	q        tracker.CommentQuery
	desc     bool
	since    micros // 0: from the start
	question string
	after    string // position behind which the page begins
	content  int    // bytes on the page so far

	issue found
	rows  []commentRow
	next  string // position
}

// readAll goes through the issue's comments; the first query runs next to the reading of the
// issue.
func (l *commentList) readAll(ctx context.Context) error {
	s := &scan[commentRow]{
		t: l.r.t, limit: l.q.Limit, at: commentAt, fits: l.fits,
		wanted: func(c commentRow) bool { return !c.deleted() },
	}
	beside := func(number int) error {
		s.query = table.Query{
			Table: table.Data, PK: commentsPK(l.r.workspace(), number), From: l.from(),
			After: l.after, Desc: l.desc, Limit: l.q.Limit,
		}
		return s.fetch(ctx)
	}
	var err error
	if l.issue, err = liveOnly(l.r.find(ctx, search{ref: l.q.Issue, beside: beside})); err != nil {
		return err
	}
	l.rows, l.next, err = s.finish(ctx)
	return err
}

func (l *commentList) from() string {
	if l.since == 0 {
		return ""
	}
	return timeSK(l.since.time())
}

// fits counts a comment in if the page has place for its content.
func (l *commentList) fits(c commentRow) bool {
	if l.content > 0 && l.content+len(c.Content) > maxPageContent {
		return false
	}
	l.content += len(c.Content)
	return true
}

// readThread reads one comment and all below it: at most tracker.MaxThreadComments.
func (l *commentList) readThread(ctx context.Context) error {
	w := l.r.workspace()
	pointer := commentPointerKey(w, l.q.Thread)
	var err error
	if l.issue, err = liveOnly(l.r.find(ctx, search{ref: l.q.Issue, with: []table.Key{pointer}})); err != nil {
		return err
	}
	to, err := pick[pointerRow](l.issue.with, pointer)
	if err != nil {
		return err
	}
	number := l.issue.issue.Doc.Number
	if !to.found() || to.Doc.Number != number {
		return noSuchReference("thread", "comment under this issue")
	}
	entries, err := l.subtree(ctx, number, to.Doc.SK)
	if err != nil {
		return err
	}
	return l.readEntries(ctx, number, l.choose(entries))
}

// subtree lists the live comments at and below the one under a sort key.
//   - fault.Invalid: unknown_reference, if that one is deleted
func (l *commentList) subtree(ctx context.Context, number int, sk string) ([]threadEntry, error) {
	w := l.r.workspace()
	key, threads := data(commentsPK(w, number), sk), threadKey(w, number, l.q.Thread)
	b, err := getBatch(ctx, l.r.t, key, threads) // most often the comment is a root
	if err != nil {
		return nil, err
	}
	c, err := pick[commentRow](b, key)
	if err != nil {
		return nil, err
	}
	thread, err := pick[threadRow](b, threads)
	if err == nil && c.found() && c.Doc.RootID != c.Doc.ID {
		thread, err = get[threadRow](ctx, l.r.t, threadKey(w, number, c.Doc.RootID))
	}
	if err != nil {
		return nil, err
	}
	if !c.found() || c.Doc.deleted() {
		return nil, noSuchReference("thread", "comment under this issue")
	}
	self := threadEntry{ID: c.Doc.ID, CreatedAt: c.Doc.CreatedAt}
	return below(self, thread.Doc.Live), nil
}

// below returns the entry and all live ones under it. A reply is younger than what it answers,
// but clocks may disagree, so the order of the list does not count.
func below(top threadEntry, live []threadEntry) []threadEntry {
	children := map[tracker.ID][]threadEntry{}
	for _, e := range live {
		children[e.ParentID] = append(children[e.ParentID], e)
	}
	all := []threadEntry{top}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i].ID]...)
	}
	return all
}

// choose takes the entries that the page can hold, in order, and one more to tell whether there
// is a next page.
func (l *commentList) choose(entries []threadEntry) []threadEntry {
	at := func(e threadEntry) string { return timedSK(e.CreatedAt.time(), e.ID) }
	less := func(a, b string) int {
		if l.desc {
			a, b = b, a
		}
		return cmp.Compare(a, b)
	}
	entries = slices.DeleteFunc(entries, func(e threadEntry) bool {
		return e.CreatedAt < l.since || l.after != "" && less(at(e), l.after) <= 0
	})
	slices.SortFunc(entries, func(a, b threadEntry) int { return less(at(a), at(b)) })
	return entries[:min(len(entries), l.q.Limit+1)]
}

// readEntries fills the page. A comment deleted since the list was read is passed over.
func (l *commentList) readEntries(ctx context.Context, number int, entries []threadEntry) error {
	if len(entries) == 0 {
		return nil
	}
	keys := make([]table.Key, 0, len(entries))
	for _, e := range entries {
		keys = append(keys, commentKey(l.r.workspace(), number, e.CreatedAt.time(), e.ID))
	}
	b, err := getBatch(ctx, l.r.t, keys...)
	if err != nil {
		return err
	}
	last := ""
	for _, key := range keys {
		c, err := pick[commentRow](b, key)
		switch {
		case err != nil:
			return err
		case !c.found() || c.Doc.deleted():
		case len(l.rows) == l.q.Limit || !l.fits(c.Doc):
			l.next = last
			return nil
		default:
			l.rows = append(l.rows, c.Doc)
		}
		last = key.SK
	}
	return nil
}

func commentAt(c commentRow) string { return timedSK(c.CreatedAt.time(), c.ID) }

func (l *commentList) result() (tracker.CommentPage, error) {
	d, issue := l.issue.dir, l.issue.issue.Doc
	page := tracker.CommentPage{Issue: d.ref(issue), Comments: make([]tracker.Comment, 0, len(l.rows))}
	for _, c := range l.rows {
		page.Comments = append(page.Comments, d.comment(issue.ID, c))
	}
	var err error
	page.NextCursor, err = nextCursor(cursor{Question: l.question, At: l.next})
	return page, err
}
