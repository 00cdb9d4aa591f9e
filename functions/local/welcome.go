package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/aacworkflow/mcp-connector/functions/local/system"
)

// printWelcome says where the system is and how to try it. Tokens are printed only when they
// are new; after that local.json has those that walks and tests use.
func printWelcome(w io.Writer, s *system.System) {
	fmt.Fprintf(w, "\nAACWorkflow is running. MCP endpoint: %s\n", s.MCPURL())
	switch {
	case s.Replaced != "":
		fmt.Fprintf(w, "\n%s. New tokens were issued; the data are as they were.\n", s.Replaced)
	case len(s.Issued) > 0:
		fmt.Fprint(w, "\nThe demo data are loaded.\n")
	default:
		fmt.Fprintf(w, "\nThe data are as you left them. The tokens are in %s; RESET=1 begins anew.\n", s.TokenFile)
	}
	printTokens(w, s)
	printLines(w, s)
}

// printTokens lists the new tokens, which cannot be shown again.
func printTokens(w io.Writer, s *system.System) {
	if len(s.Issued) == 0 {
		return
	}
	fmt.Fprintf(w, "\nTokens, shown this once (the named ones are kept in %s):\n\n", s.TokenFile)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, t := range s.Issued {
		what := fmt.Sprintf("%s, %s, %d scopes", t.Holder, t.Role, len(t.Scopes))
		if t.WorkspaceID != s.WorkspaceID {
			what += ", another workspace"
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", t.Key, what, t.Secret)
	}
	_ = table.Flush() // what cannot be printed cannot be reported either
}

// printLines gives lines to paste. They hold the editor's token while it is new; later the
// first line takes it out of local.json.
func printLines(w io.Writer, s *system.System) {
	token := "$TOKEN"
	if len(s.Issued) > 0 {
		token = s.Tokens["editor"]
	} else {
		fmt.Fprintf(w, "\nFor the lines below:\n  TOKEN=$(sed -n 's/.*\"editor\": \"\\(.*\\)\".*/\\1/p' '%s')\n", s.TokenFile)
	}
	if s.SignsIn {
		fmt.Fprintf(w, `
Any client, signing in as one of the demo's people in the browser:
  claude mcp add --transport http aacworkflow %s
`, s.MCPURL())
	}
	fmt.Fprintf(w, `
Claude Code, with a token:
  claude mcp add --transport http aacworkflow %[1]s --header "Authorization: Bearer %[2]s"

MCP Inspector (with Node 22.19 or later):
  npx @modelcontextprotocol/inspector@latest --cli %[1]s --transport http --method tools/list --header "Authorization: Bearer %[2]s"

curl:
  curl -s %[3]s/tools/list_issues -H "Authorization: Bearer %[2]s" -H "Content-Type: application/json" -d '{"limit": 3}'

The audit log as it happens, in a browser (it asks for the owner's token):
  %[3]s/

Stop with Ctrl-C.
`, s.MCPURL(), token, s.URL)
}
