package auditpage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Widget answers the custom widget of a CloudWatch dashboard: an event in, a text of HTML out,
// without scripts. Who may call it is a matter of IAM alone (lambda:InvokeFunction): an event
// says nothing of who looks, so a widget must not be given to somebody who may see one workspace
// and not another. Looking leaves no event in the audit log; CloudTrail can record it.
//
// Source: Amazon CloudWatch User Guide, "Custom widgets".
type Widget struct {
	tables   Tables
	tools    []catalog.Entry
	settings audit.Settings
	log      *slog.Logger
}

// NewWidget makes a widget that reads both tables, and names the tools of the catalogue.
func NewWidget(r table.Reader, settings audit.Settings, log *slog.Logger) Widget {
	return Widget{tables: Tables{Audit: r, Findings: r}, tools: catalog.Entries(), settings: settings, log: log}
}

// FieldWorkspace is the parameter and the field that names the workspace.
const FieldWorkspace = "workspace"

// widgetEvent is as much of the event as matters here.
type widgetEvent struct {
	Describe bool `json:"describe"`
	params
	Context *widgetContext `json:"widgetContext"`
}

// params are those of the dashboard, or of a button.
type params struct {
	Workspace string `json:"workspace,omitempty"`
	Outcome   string `json:"outcome,omitempty"` // of a button
}

type widgetContext struct {
	Theme     string `json:"theme"`
	Params    params `json:"params"` // of the dashboard, whatever button was used
	TimeRange struct {
		instants
		Zoom *instants `json:"zoom"`
	} `json:"timeRange"`
	Forms struct {
		All map[string]any `json:"all"`
	} `json:"forms"`
}

// instants are in milliseconds since 1970.
type instants struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// description is what CloudWatch shows to whoever makes a dashboard, in Markdown.
const description = `## AACWorkflow MCP audit log

The newest calls of one workspace, how they ended, who called most, and what was found.

Parameters, all but the first with a field in the widget:

` + "```yaml" + `
workspace: the id of the workspace; without it the widget asks for one
` + "```" + `

Whoever may invoke the function may see every workspace.`

// Serve answers one event. Endpoint is the function itself, which the widget's buttons call. Its
// error means that the event cannot be read; what else goes wrong is said in the widget.
func (w Widget) Serve(ctx context.Context, endpoint string, payload []byte) (string, error) {
	var event widgetEvent
	if err := json.Unmarshal(payload, &event); err != nil {
		return "", fmt.Errorf("decode the event of a custom widget: %w", err)
	}
	if event.Describe {
		return description, nil
	}
	if event.Context == nil {
		event.Context = &widgetContext{}
	}
	fields := event.fields()
	body, err := w.body(ctx, fields, event.Context)
	if err != nil {
		w.log.ErrorContext(ctx, "the audit log cannot be shown", "error", err.Error())
		body = []node{problem("The audit log cannot be read just now; the log of this function says why.")}
	}
	scheme := "aac aac-light"
	if event.Context.Theme == "dark" {
		scheme = "aac aac-dark"
	}
	return render(sheet{}, el("div", class(scheme), w.form(fields, event.given(), endpoint), group(body))), nil
}

// fields are what was typed in, else the parameters.
func (e widgetEvent) fields() Fields {
	f := Fields{}
	for name, value := range e.Context.Forms.All {
		if s, ok := value.(string); ok {
			f[name] = strings.TrimSpace(s)
		}
	}
	if given := e.given(); given != "" {
		f[FieldWorkspace] = given
	}
	if e.Outcome != "" {
		f[FieldOutcome] = e.Outcome
	}
	return f
}

// given is the workspace that the dashboard is for, if it says so.
func (e widgetEvent) given() string { return cmp.Or(e.Workspace, e.Context.Params.Workspace) }

// mistake is what the reader must do otherwise. It is said in the widget; all other errors are said
// in the log alone.
type mistake string

func (m mistake) Error() string { return string(m) }

func (w Widget) body(ctx context.Context, fields Fields, in *widgetContext) ([]node, error) {
	report, err := w.report(ctx, fields, in)
	var m mistake
	switch {
	case errors.As(err, &m):
		return []node{problem(m.Error())}, nil
	case err != nil:
		return nil, err
	}
	nodes := []node{el("p", class("aac-note"), text(report.Summary()))}
	for _, s := range report.Sections() {
		nodes = append(nodes, el("h2", text(s.Heading)), group(s.body))
	}
	return append(nodes, el("h2", text("Tools")), group(toolsBody(w.tools))), nil
}

func (w Widget) report(ctx context.Context, fields Fields, in *widgetContext) (Report, error) {
	workspace := fields[FieldWorkspace]
	switch {
	case workspace == "":
		return Report{}, mistake("Enter the id of a workspace.")
	case !isID(workspace):
		return Report{}, mistake("The id of a workspace has letters, digits, hyphens and underscores only, at most 64.")
	}
	now := w.settings.Now()
	filter, err := ReadFields(fields, now)
	if err != nil {
		return Report{}, mistake("The filter cannot be used: " + err.Error() + ".")
	}
	shown := in.TimeRange.instants
	if in.TimeRange.Zoom != nil {
		shown = *in.TimeRange.Zoom
	}
	if shown.Start > 0 && shown.Start < shown.End {
		filter.Since, filter.Until = time.UnixMilli(shown.Start), time.UnixMilli(shown.End)
		if !filter.Until.Before(now) {
			filter.Until = time.Time{} // all that there is by now
		}
	}
	return Read(ctx, w.tables, Ask{Workspace: workspace, Filter: filter, Now: now, Retention: w.settings.Retention})
}

// isID keeps what is typed within one workspace: keys of the tables are made of it.
func isID(s string) bool {
	return len(s) <= 64 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// form is the filter. What is typed comes back in the event, in forms; a button calls the
// function that stands in the element after it.
func (w Widget) form(fields Fields, given, endpoint string) node {
	parts := filterFields(fields, w.tools)
	if given == "" {
		parts = append([]part{typed("Workspace", FieldWorkspace, fields[FieldWorkspace])}, parts...)
	}
	return group{
		el("form", parts...),
		el("a", class("btn btn-primary"), text("Apply")), action(endpoint, params{Workspace: given}),
		el("a", class("btn"), text("Denied only")), action(endpoint, params{Workspace: given, Outcome: "denied"}),
	}
}

// action is CloudWatch's element for what a click on the element before it does. Its text is the
// event.
func action(endpoint string, p params) node {
	event, _ := json.Marshal(p) // strings always encode
	return el("cwdb-action", at("action", "call"), at("endpoint", endpoint), at("display", "widget"), text(event))
}

func problem(words string) node {
	return el("p", class("aac-problem"), at("role", "alert"), text(words))
}
