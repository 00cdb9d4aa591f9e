package records

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// GetIssue implements tracker.Reader.
func (r *reader) GetIssue(ctx context.Context, ref tracker.IssueRef) (tracker.IssueDetail, error) {
	f, err := liveOnly(r.findWith(ctx, ref, true))
	if err != nil {
		return tracker.IssueDetail{}, err
	}
	issue := f.issue.Doc
	return tracker.IssueDetail{
		Issue:         f.dir.issue(issue, f.body.Doc.Description),
		SubIssueCount: len(issue.SubIssues),
		OpenTasks:     f.dir.openTasks(issue.Tasks),
	}, nil
}
