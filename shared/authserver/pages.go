package authserver

import (
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/authserver/page"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// consentView is what the consent page says.
type consentView struct {
	Action    string
	Flow      string
	Product   string
	Client    string
	Host      string // of its metadata document; empty: it proves nothing
	Place     string // where the answer goes
	Local     bool   // that is a program on this computer
	Workspace string
	Person    string
	Problem   string
	Scopes    []scopeView
}

// scopeView is one scope with what it opens.
type scopeView struct {
	Name        identity.Scope
	Words       string
	Ticked      bool
	Tools       []Tool
	Destructive []Tool
}

var consentPage = page.Parse(`
<h1>{{.Client}} asks to use {{.Product}} in your name</h1>
{{with .Problem}}<p class="problem" role="alert">{{.}}</p>{{end}}
<dl>
<dt>Program</dt><dd>{{.Client}}{{if .Host}}, described at <strong>{{.Host}}</strong>{{end}}</dd>
<dt>Answer goes to</dt><dd><strong>{{.Place}}</strong></dd>
<dt>Workspace</dt><dd>{{.Workspace}}</dd>
<dt>You are</dt><dd>{{.Person}}</dd>
</dl>
{{if .Local}}<p class="note">The answer goes to a program on this computer. Go on only if you have just started it yourself: any program here could ask under this name.</p>
{{else if not .Host}}<p class="note">The program chose its name itself, and nothing proves it. Go on only if you have just started this yourself, and know where the answer goes.</p>{{end}}
<form method="post" action="{{.Action}}">
<input type="hidden" name="flow" value="{{.Flow}}">
<fieldset>
<legend>It may do what is ticked:</legend>
{{range .Scopes}}<div class="choice">
<input type="checkbox" id="scope-{{.Name}}" name="scope" value="{{.Name}}"{{if .Ticked}} checked{{end}} aria-describedby="tools-{{.Name}}{{if .Destructive}} warn-{{.Name}}{{end}}">
<label for="scope-{{.Name}}">{{.Words}}</label>
<p class="more" id="tools-{{.Name}}">{{if .Tools}}Opens: {{range $i, $t := .Tools}}{{if $i}}, {{end}}{{$t.Title}}{{end}}.{{else}}Opens no tool.{{end}} Scope {{.Name}}</p>
{{if .Destructive}}<p class="warn" id="warn-{{.Name}}">Can destroy: {{range $i, $t := .Destructive}}{{if $i}}, {{end}}{{$t.Title}}{{end}}. Each time the program has to confirm it.</p>
{{end}}</div>
{{end}}</fieldset>
<p class="note">The program keeps this for at most 90 days. Everything it does is recorded in the audit log of the workspace, under your name.</p>
<div class="buttons">
<button class="main" type="submit" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="deny">Cancel</button>
<button class="quiet" type="submit" name="decision" value="switch">I am someone else</button>
</div>
</form>
`)

func (s *Server) showConsent(w http.ResponseWriter, id string, req request, ticked []identity.Scope, who Person, status int, problem string) error {
	v := consentView{
		Action: AuthorizePath, Flow: id, Product: s.Name, Client: req.Client.Name, Host: req.Client.Host, Place: place(req.Redirect),
		Local: !strings.HasPrefix(req.Redirect, "https:"), Workspace: who.WorkspaceName, Person: who.Name, Problem: problem,
	}
	for _, scope := range req.Scopes {
		v.Scopes = append(v.Scopes, s.viewOf(scope, slices.Contains(ticked, scope)))
	}
	title := "Allow " + req.Client.Name + "?"
	if problem != "" {
		title = "Nothing ticked: " + title
	}
	return consentPage.Write(w, page.Page{Status: status, Title: title, Data: v, SendsTo: []string{sourceOf(req.Redirect)}})
}

func (s *Server) viewOf(scope identity.Scope, ticked bool) scopeView {
	v := scopeView{Name: scope, Words: scopeWords[scope], Ticked: ticked}
	for _, t := range s.Tools {
		if !slices.Contains(t.Scopes, scope) {
			continue
		}
		v.Tools = append(v.Tools, t)
		if t.Destructive {
			v.Destructive = append(v.Destructive, t)
		}
	}
	return v
}

// errorView is what an error page says.
type errorView struct {
	refusal
	Client string // empty: there is no way back
	Place  string
	To     template.URL // checked by checkRedirect
}

var errorPage = page.Parse(`
<h1>Signing in did not work</h1>
<p class="problem" role="alert">{{.Text}}.</p>
<p class="note">Code: {{.Code}}</p>
{{if .Client}}<p>{{.Client}} can be told so. That leads you to <strong>{{.Place}}</strong>; go there only if you know it.</p>
<p><a class="button" href="{{.To}}">Go back to {{.Client}}</a></p>
{{else}}<p>You can close this page.</p>{{end}}
`)

func (s *Server) writeError(w http.ResponseWriter, r *http.Request, status int, v errorView) {
	v.Text = strings.TrimSuffix(v.Text, ".") // the library's end with one
	if err := errorPage.Write(w, page.Page{Status: status, Title: "Signing in did not work", Data: v}); err != nil {
		s.logFailure(r.Context(), err)
		w.WriteHeader(http.StatusInternalServerError)
	}
}
