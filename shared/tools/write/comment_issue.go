package write

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

type commentIssueIn struct {
	IssueID     tracker.IssueRef `json:"issue_id" jsonschema:"The issue: id, or identifier such as AAC-42."`
	Content     tracker.Content  `json:"content" jsonschema:"The comment, Markdown, at most 32 KiB, not blank. Begin with /note to call no agent."`
	ParentID    tracker.ID       `json:"parent_id,omitempty" jsonschema:"The comment of this issue that you answer, by id; left out: a comment of its own."`
	SuppressRun bool             `json:"suppress_run,omitempty" jsonschema:"true: start no agent. Default false."`
}

// CommentIssue adds a comment to an issue.
var CommentIssue = tool.Write(tool.Spec{
	Name: "comment_issue", Title: "Comment on issue", Scope: identity.CommentsWrite,
	Doc: `Adds a comment to one issue, in your name, for all members to read. Use it to report, ask or answer. It cannot be edited afterwards.

A comment can call agents: those mentioned as [@Name](mention://agent/<id>), else the agent whose comment you answer, else, at the top level, the agent that has the issue. A comment that begins with /note, mentions a member or mention://all/all, or answers anyone else calls nobody. Starting needs the scope agents:write; without it the comment is stored and the start is blocked. suppress_run true starts nobody.

Returns the comment without its text, the issue's new revision, and trigger_outcomes: per agent, what became of the start. Each call adds another comment: to be safe when you repeat a call after an error, give an idempotency_key and repeat it unchanged.`,
}, commentIssue)

func commentIssue(ctx context.Context, s tracker.Store, in commentIssueIn) (tracker.CreatedComment, error) {
	return s.CreateComment(ctx, tracker.NewComment{
		Issue: in.IssueID, Content: in.Content, Parent: in.ParentID, SuppressRun: in.SuppressRun,
	})
}
