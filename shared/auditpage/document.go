package auditpage

import (
	"github.com/aacworkflow/mcp-connector/shared/catalog"
)

// Paths of what the document loads.
const (
	StylePath  = "/page.css"
	ScriptPath = "/page.js"
)

// Document is the page of local mode as it is before anybody has said who they are: the tools,
// which are no secret, a form for a token and places for the rest. The script at ScriptPath
// fills them in.
//
// The field for the token has no name, so no form can send it anywhere: the script reads it, and
// keeps it in memory.
func Document(tools []catalog.Entry) string {
	places := []part{at("id", "live"), at("hidden", "hidden"),
		el("h2", text("Audit log")),
		el("form", append(append([]part{at("id", "filters"), at("aria-label", "Filter")}, filterFields(nil, tools)...), periodField(nil),
			el("button", at("type", "button"), at("id", "leave"), text("Forget the token")))...),
	}
	for _, s := range (Report{}).Sections() {
		places = append(places, el("h2", at("id", "h-"+s.ID), text(s.Heading)),
			el("div", at("id", s.ID), at("role", "region"), at("aria-labelledby", "h-"+s.ID), at("tabindex", "0"), class("aac-scroll")))
	}
	return "<!DOCTYPE html>\n" + render(el("html", at("lang", "en"),
		el("head",
			el("meta", at("charset", "utf-8")),
			el("meta", at("name", "viewport"), at("content", "width=device-width, initial-scale=1")),
			el("meta", at("name", "color-scheme"), at("content", "light dark")),
			el("meta", at("name", "robots"), at("content", "noindex")),
			el("title", text("AACWorkflow MCP connector")),
			el("link", at("rel", "stylesheet"), at("href", StylePath)),
			el("script", at("src", ScriptPath), at("defer", "defer")),
		),
		el("body", class("aac aac-page"),
			el("main",
				el("h1", text("AACWorkflow MCP connector")),
				el("p", text("What programs did with this workspace, as it happens. The audit log is for owners and administrators whose token has the scope "), code("audit:read"), text(".")),
				el("form", at("id", "enter"), at("aria-label", "Token"),
					el("div", el("label", at("for", "token"), text("Token")),
						el("input", at("id", "token"), at("type", "password"), at("size", "40"), at("autocomplete", "off"), at("spellcheck", "false"), at("aria-describedby", "token-note"))),
					el("button", at("type", "submit"), text("Show the audit log"))),
				el("p", at("id", "token-note"), class("aac-note"), text("It stays in this page's memory, and is gone when the page is. "),
					text("Local mode writes tokens to local.json; the owner's has the scope.")),
				el("noscript", el("p", class("aac-note"), text("The audit log needs a script of this page; the tools below do not."))),
				el("p", at("id", "problem"), class("aac-problem"), at("role", "alert"), at("hidden", "hidden")),
				el("p", at("id", "status"), at("role", "status"), class("aac-note")),
				el("div", places...),
				el("h2", at("id", "h-tools"), text("Tools")),
				el("div", at("id", "tools"), at("role", "region"), at("aria-labelledby", "h-tools"), at("tabindex", "0"), class("aac-scroll"), group(toolsBody(tools))),
			)))) + "\n"
}
