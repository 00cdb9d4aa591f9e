package catalog

import (
	"encoding/json"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// Entry is all that the outside sees of a tool. GET /tools writes it as it is; MCP's tools/list
// is built from the same value, under the names that MCP has for the members. Nothing about a
// tool may reach a client by another way, so that the two cannot disagree.
type Entry struct {
	Name         string           `json:"name"`
	Title        string           `json:"title"`
	Description  string           `json:"description"`
	Annotations  tool.Annotations `json:"annotations"` // all four hints, always
	Scopes       []identity.Scope `json:"scopes"`      // all that a call needs
	Confirm      string           `json:"confirm"`     // required or none
	InputSchema  json.RawMessage  `json:"input_schema"`
	OutputSchema json.RawMessage  `json:"output_schema"`
}

// EntryOf returns the public form of a tool.
func EntryOf(d *tool.Definition) Entry {
	return Entry{
		Name: d.Name, Title: d.Title, Description: d.Doc,
		Annotations: d.Annotations(), Scopes: d.Scopes(), Confirm: d.Confirm(),
		InputSchema: d.InputSchema(), OutputSchema: d.OutputSchema(),
	}
}

// Entries returns the public form of every tool, in the order of All.
func Entries() []Entry {
	all := All()
	entries := make([]Entry, len(all))
	for i, d := range all {
		entries[i] = EntryOf(d)
	}
	return entries
}
