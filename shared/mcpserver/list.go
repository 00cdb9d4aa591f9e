package mcpserver

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// listed is a tool as tools/list shows it, to those who may call it and to those who may not
// yet.
type listed struct {
	granted, withheld shown
	scopes            []identity.Scope
}

// shown is an entry of tools/list: for the SDK, and as it is sent.
type shown struct {
	tool *mcp.Tool
	json []byte
}

// list builds what tools/list shows, at its first use: a call does without the schemas.
func (f *front) list() []listed {
	all := make([]listed, len(f.Tools))
	for i, d := range f.Tools {
		e := catalog.EntryOf(d)
		all[i] = listed{show(f.wireTool(e, d.Effect, true)), show(f.wireTool(e, d.Effect, false)), e.Scopes}
	}
	return all
}

func show(t *mcp.Tool) shown {
	b, err := json.Marshal(t)
	if err != nil {
		panic(fmt.Sprintf("encode tool %s: %v", t.Name, err)) // a mistake of the program
	}
	return shown{t, b}
}

// wireTool is the entry that GET /tools shows, under MCP's names. All four hints are there: a
// client takes an absent destructiveHint or openWorldHint for true.
func (f *front) wireTool(e catalog.Entry, effect tool.Effect, granted bool) *mcp.Tool {
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
		Meta:         f.wireMeta(e, effect, granted),
	}
}

// wireMeta holds what has no member of its own. Which scopes a tool needs, as the authorization
// server knows them, is read by OpenAI's clients; whether the token has them by nobody yet, but
// it spares a model a call that would be refused. The last two make Anthropic's and Cursor's
// clients ask the user at every call.
func (f *front) wireMeta(e catalog.Entry, effect tool.Effect, granted bool) mcp.Meta {
	meta := mcp.Meta{
		"securitySchemes":     []securityScheme{{Type: "oauth2", Scopes: f.SignIn.Scopes(e.Scopes)}},
		"aacworkflow/granted": granted,
	}
	if effect == tool.Destroys {
		meta["anthropic/requiresUserInteraction"] = true
		meta["cursor/requiresConfirmation"] = true
	}
	return meta
}

type securityScheme struct {
	Type   string   `json:"type"`
	Scopes []string `json:"scopes"`
}

// seen returns the tools that the caller sees. Who can get more scopes by itself sees all,
// since a client cannot ask for the scope of a tool that it does not know.
func (f *front) seen(p *identity.Principal) []shown {
	var all []shown
	for _, l := range f.listing() {
		switch {
		case identity.Require(p, l.scopes...) == nil:
			all = append(all, l.granted)
		case p.CanStepUp:
			all = append(all, l.withheld)
		}
	}
	return all
}

// visible is the same for the SDK.
func (f *front) visible(p *identity.Principal) *mcp.ListToolsResult {
	res := &mcp.ListToolsResult{Tools: []*mcp.Tool{}, Cacheable: mcp.Cacheable{TTLMs: listTTL, CacheScope: "private"}}
	for _, t := range f.seen(p) {
		res.Tools = append(res.Tools, t.tool)
	}
	return res
}
