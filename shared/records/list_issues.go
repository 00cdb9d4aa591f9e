package records

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// How a list of issues is read. The first plan that fits is taken; what it does not decide is
// filtered in memory, so a page that few issues match may be short.
//
//	q is an identifier of ours   that one issue
//	parent                       its sub-issues, named in its row
//	sort created_at              the issues in the table, in the order of their numbers
//	one status                   byStatus
//	assignee, or unassigned      byAssignee
//	else                         byUpdated

// sieveItems is how many issues a query reads of which some will be dropped.
const sieveItems = 300

var (
	updatedForm = compiled(`^[0-9]{20}#[0-9]{10}$`)
	createdForm = compiled(`^I#[0-9]{10}$`)
)

// ListIssues implements tracker.Reader.
func (r *reader) ListIssues(ctx context.Context, q tracker.IssueQuery) (tracker.IssuePage, error) {
	l := r.issueList(q)
	c, err := openCursor(q.Cursor, l.question, l.form)
	if err != nil {
		return tracker.IssuePage{}, err
	}
	l.after = c.At
	if err := l.read(ctx); err != nil {
		return tracker.IssuePage{}, err
	}
	return l.result()
}

// issueList is one call of ListIssues.
type issueList struct {
	r        *reader
	q        tracker.IssueQuery
	question string
	after    string // position behind which the page begins
	byNumber bool
	form     func() *regexp.Regexp

	dir  *directory
	rows []issueRow
	next string // position
}

func (r *reader) issueList(q tracker.IssueQuery) *issueList {
	asked := q
	asked.Limit, asked.Cursor = 0, ""
	asked.Sort, asked.Direction = cmp.Or(q.Sort, tracker.SortUpdated), cmp.Or(q.Direction, tracker.Descending)
	asked.Assignee, asked.Creator = r.named(q.Assignee), r.named(q.Creator)
	l := &issueList{r: r, q: asked, question: r.question("list_issues", asked), form: updatedForm}
	l.q.Limit = pageLimit(q.Limit)
	if asked.Sort == tracker.SortCreated {
		l.byNumber, l.form = true, createdForm
	}
	return l
}

// named puts the caller's id for me, so that a cursor does not mean another list in the hands of
// another member.
func (r *reader) named(ref tracker.AssigneeRef) tracker.AssigneeRef {
	if strings.EqualFold(strings.TrimSpace(string(ref)), tracker.Me) {
		return tracker.AssigneeRef(r.userID())
	}
	return ref
}

func (l *issueList) read(ctx context.Context) error {
	_, number, isIdentifier := tracker.IssueRef(l.q.Query).Identifier()
	switch {
	case l.q.Parent != "":
		return l.readChildren(ctx)
	case isIdentifier:
		return l.readOne(ctx, number)
	}
	if assignee, known := l.assigneeAsWritten(); known {
		return l.readRange(ctx, assignee)
	}
	if err := l.openDirectory(ctx); err != nil {
		return err
	}
	f, err := l.dir.filter(l.q)
	if err != nil {
		return err
	}
	return l.readRange(ctx, f.assignee)
}

func (l *issueList) openDirectory(ctx context.Context) error {
	row, err := get[directoryRow](ctx, l.r.t, directoryKey(l.r.workspace()))
	if err == nil {
		l.dir, err = l.r.openDirectory(row)
	}
	return err
}

// assigneeAsWritten is the id of the assignee asked for, if it shows without the directory.
func (l *issueList) assigneeAsWritten() (tracker.ID, bool) {
	ref := strings.TrimSpace(string(l.q.Assignee))
	switch {
	case ref == "":
		return "", true
	case tracker.IsID(ref):
		return tracker.ID(strings.ToLower(ref)), true
	}
	return "", false
}

// readRange goes through a range. The directory is read next to the first query, unless it is
// there already.
func (l *issueList) readRange(ctx context.Context, assignee tracker.ID) error {
	query, sieve := l.plan(assignee)
	s := &scan[issueRow]{t: l.r.t, query: query, limit: l.q.Limit, at: l.at}
	if sieve {
		s.query.Limit = max(sieveItems, s.query.Limit)
	}
	fetch := func() error { return s.fetch(ctx) }
	var err error
	if l.dir == nil {
		err = together(func() error { return l.openDirectory(ctx) }, fetch)
	} else {
		err = fetch()
	}
	if err != nil {
		return err
	}
	f, err := l.dir.filter(l.q)
	if err != nil || f.assignee != "" && f.unassigned { // nobody's and somebody's: none, so look no further
		return err
	}
	s.wanted = f.matches
	l.rows, l.next, err = s.finish(ctx)
	return err
}

// plan chooses the range, and tells whether it holds issues that the filters will drop.
func (l *issueList) plan(assignee tracker.ID) (q table.Query, sieve bool) {
	w, rest := l.r.workspace(), l.q
	q = table.Query{Table: table.Data, After: l.after, Desc: l.q.Direction == tracker.Descending, Limit: l.q.Limit}
	switch {
	case l.byNumber:
		q.PK, q.From, q.To = workspacePK(w), issueSK(0), issueSK(tracker.MaxIssueNumber)
	case len(l.q.Statuses) == 1:
		q.Index, q.PK = table.ByStatus, statusPK(w, l.q.Statuses[0])
		rest.Statuses = nil
	case assignee != "":
		q.Index, q.PK = table.ByAssignee, assigneePK(w, string(assignee))
		rest.Assignee = ""
	case l.q.Unassigned:
		q.Index, q.PK = table.ByAssignee, assigneePK(w, noAssignee)
		rest.Unassigned = false
	default:
		q.Index, q.PK = table.ByUpdated, updatedPK(w)
	}
	return q, rest.Unassigned || rest.Assignee != "" || rest.Creator != "" || rest.Query != "" ||
		len(rest.Statuses)+len(rest.Priorities)+len(rest.Labels) > 0
}

// readChildren reads the sub-issues of the parent, all of them.
func (l *issueList) readChildren(ctx context.Context) error {
	f, err := l.r.findIssue(ctx, l.q.Parent)
	if err != nil {
		return err
	}
	l.dir = f.dir
	if !f.live() {
		return noSuchReference("parent_issue_id", "issue")
	}
	return l.readThese(ctx, f.issue.Doc.ID, f.issue.Doc.SubIssues)
}

// readOne reads the one issue of an identifier; if it is not one of ours, it is words after all.
func (l *issueList) readOne(ctx context.Context, number int) error {
	if err := l.openDirectory(ctx); err != nil {
		return err
	}
	f, err := l.dir.filter(l.q)
	if err != nil {
		return err
	}
	if f.number == 0 {
		return l.readRange(ctx, f.assignee)
	}
	return l.readThese(ctx, "", []subIssue{{Number: number}})
}

func (l *issueList) readThese(ctx context.Context, parent tracker.ID, issues []subIssue) error {
	f, err := l.dir.filter(l.q)
	if err != nil || len(issues) == 0 {
		return err
	}
	f.parent = parent
	keys := make([]table.Key, 0, len(issues))
	for _, s := range issues {
		keys = append(keys, issueKey(l.r.workspace(), s.Number))
	}
	b, err := getBatch(ctx, l.r.t, keys...)
	if err != nil {
		return err
	}
	for key := range b {
		r, err := pick[issueRow](b, key)
		if err != nil {
			return err
		}
		if f.matches(r.Doc) && l.isBehind(r.Doc) {
			l.rows = append(l.rows, r.Doc)
		}
	}
	slices.SortFunc(l.rows, func(a, b issueRow) int { return l.compare(l.at(a), l.at(b)) })
	if len(l.rows) > l.q.Limit {
		l.rows = l.rows[:l.q.Limit]
		l.next = l.at(l.rows[l.q.Limit-1])
	}
	return nil
}

// at is the position of an issue in the order asked for.
func (l *issueList) at(r issueRow) string {
	if l.byNumber {
		return issueSK(r.Number)
	}
	return updatedSK(r)
}

func (l *issueList) compare(a, b string) int {
	if l.q.Direction == tracker.Descending {
		a, b = b, a
	}
	return cmp.Compare(a, b)
}

func (l *issueList) isBehind(r issueRow) bool {
	return l.after == "" || l.compare(l.at(r), l.after) > 0
}

func (l *issueList) result() (tracker.IssuePage, error) {
	page := tracker.IssuePage{Issues: make([]tracker.Summary, 0, len(l.rows))}
	for _, r := range l.rows {
		page.Issues = append(page.Issues, l.dir.summary(r))
	}
	var err error
	page.NextCursor, err = nextCursor(cursor{Question: l.question, At: l.next})
	return page, err
}
