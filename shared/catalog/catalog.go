// Package catalog is the list of tools and what the outside sees of them. MCP's tools/list, the
// REST route GET /tools, the docs and the dashboard are all views of it.
//
// It runs no tool: a front reaches one through a tool.Invoker. Open this file first; entry.go
// is the public form of a tool.
package catalog

import (
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tools/read"
	"github.com/aacworkflow/mcp-connector/shared/tools/write"
)

// readers and writers are the list, in the order in which tools are shown everywhere. A tool
// that is in neither does not exist; a write tool among the readers does not compile.
var (
	readers = []tool.ReadTool{
		read.ListIssues,
		read.GetIssue,
		read.ListComments,
		read.DashboardUsageDaily,
	}
	writers = []tool.WriteTool{
		write.CreateIssue,
		write.UpdateIssue,
		write.CommentIssue,
		write.AssignIssueToAgent,
		write.TriggerAutopilot,
		write.DeleteIssue,
		write.DeleteComment,
	}
)

// Readers returns the tools that change nothing, in order.
func Readers() []tool.ReadTool { return append([]tool.ReadTool(nil), readers...) }

// Writers returns the tools that add, change or remove, in order.
func Writers() []tool.WriteTool { return append([]tool.WriteTool(nil), writers...) }

// All returns every tool, readers first, in one fixed order. The definitions are shared: read
// them only.
func All() []*tool.Definition {
	all := make([]*tool.Definition, 0, len(readers)+len(writers))
	for i := range readers {
		all = append(all, &readers[i].Definition)
	}
	for i := range writers {
		all = append(all, &writers[i].Definition)
	}
	return all
}

// Find returns the tool with this exact name.
func Find(name string) (*tool.Definition, bool) {
	for _, d := range All() {
		if d.Name == name {
			return d, true
		}
	}
	return nil, false
}

// ScopesOf returns all scopes that a call of the tool needs, and whether there is such a tool.
// Without one there is nothing to grant: a caller must refuse.
func ScopesOf(name string) ([]identity.Scope, bool) {
	d, ok := Find(name)
	if !ok {
		return nil, false
	}
	return d.Scopes(), true
}
