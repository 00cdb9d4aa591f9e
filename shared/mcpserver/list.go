package mcpserver

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// listed is a tool as tools/list shows it.
type listed struct {
	tool   *mcp.Tool
	scopes []identity.Scope
}

// list builds what tools/list shows, at its first use: a call does without the schemas.
func (f *front) list() []listed {
	all := make([]listed, len(f.Tools))
	for i, d := range f.Tools {
		e := catalog.EntryOf(d)
		all[i] = listed{wireTool(e, d.Effect), e.Scopes}
	}
	return all
}

// wireTool is the entry that GET /tools shows, under MCP's names. All four hints are there: a
// client takes an absent destructiveHint or openWorldHint for true.
func wireTool(e catalog.Entry, effect tool.Effect) *mcp.Tool {
	return &mcp.Tool{
		Name: e.Name, Title: e.Title, Description: e.Description,
		Annotations: &mcp.ToolAnnotations{
			Title:           e.Title,
			ReadOnlyHint:    e.Annotations.ReadOnlyHint,
			DestructiveHint: &e.Annotations.DestructiveHint,
			IdempotentHint:  e.Annotations.IdempotentHint,
			OpenWorldHint:   &e.Annotations.OpenWorldHint,
		},
		InputSchema:  e.InputSchema,
		OutputSchema: e.OutputSchema,
		Meta:         wireMeta(e, effect),
	}
}

// wireMeta holds what has no member of its own. Which scopes a tool needs is read by OpenAI's
// clients; the other two make Anthropic's and Cursor's ask the user at every call.
func wireMeta(e catalog.Entry, effect tool.Effect) mcp.Meta {
	meta := mcp.Meta{"securitySchemes": []securityScheme{{Type: "oauth2", Scopes: e.Scopes}}}
	if effect == tool.Destroys {
		meta["anthropic/requiresUserInteraction"] = true
		meta["cursor/requiresConfirmation"] = true
	}
	return meta
}

type securityScheme struct {
	Type   string           `json:"type"`
	Scopes []identity.Scope `json:"scopes"`
}

// visible returns the tools that the caller sees. Who can get more scopes by itself sees all,
// since a client cannot ask for the scope of a tool that it does not know.
func (f *front) visible(p *identity.Principal) *mcp.ListToolsResult {
	res := &mcp.ListToolsResult{Tools: []*mcp.Tool{}, Cacheable: mcp.Cacheable{TTLMs: listTTL, CacheScope: "private"}}
	for _, l := range f.listing() {
		if p.CanStepUp || identity.Require(p, l.scopes...) == nil {
			res.Tools = append(res.Tools, l.tool)
		}
	}
	return res
}
