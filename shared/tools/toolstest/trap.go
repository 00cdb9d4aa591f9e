package toolstest

import (
	"context"
	"errors"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// trap reads as the tracker does; every write fails the test. It has the writing methods, so
// that a read tool which asserts its reader to a tracker.Store gets one, and is caught.
type trap struct {
	tracker.Reader
	t    testing.TB
	tool string
}

var _ tracker.Store = trap{}

func (r trap) sprung(method string) error {
	r.t.Errorf("%s is read-only and called %s", r.tool, method)
	return errors.New("a read-only tool wrote")
}

func (r trap) CreateIssue(context.Context, tracker.NewIssue) (tracker.CreatedIssue, error) {
	return tracker.CreatedIssue{}, r.sprung("CreateIssue")
}

func (r trap) UpdateIssue(context.Context, tracker.IssueRef, tracker.IssueChange) (tracker.UpdatedIssue, error) {
	return tracker.UpdatedIssue{}, r.sprung("UpdateIssue")
}

func (r trap) CreateComment(context.Context, tracker.NewComment) (tracker.CreatedComment, error) {
	return tracker.CreatedComment{}, r.sprung("CreateComment")
}

func (r trap) AssignIssue(context.Context, tracker.Assignment) (tracker.AssignedIssue, error) {
	return tracker.AssignedIssue{}, r.sprung("AssignIssue")
}

func (r trap) TriggerAutopilot(context.Context, tracker.AutopilotTrigger) (tracker.TriggeredRun, error) {
	return tracker.TriggeredRun{}, r.sprung("TriggerAutopilot")
}

func (r trap) DeleteIssue(context.Context, tracker.IssueRef) (tracker.IssueDeletion, error) {
	return tracker.IssueDeletion{}, r.sprung("DeleteIssue")
}

func (r trap) DeleteComment(context.Context, tracker.CommentTarget) (tracker.CommentDeletion, error) {
	return tracker.CommentDeletion{}, r.sprung("DeleteComment")
}
