package catalog

import "github.com/aacworkflow/mcp-connector/shared/tool"

// Destroying tells of every tool by name whether it destroys, for those who must not know tools
// as such.
func Destroying() map[string]bool {
	all := map[string]bool{}
	for _, d := range All() {
		all[d.Name] = d.Effect == tool.Destroys
	}
	return all
}
