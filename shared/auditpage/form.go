package auditpage

import (
	"slices"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

// choice is one option of a list.
type choice struct{ value, label string }

// filterFields are the fields of the filter, filled in.
func filterFields(given Fields, tools []catalog.Entry) []part {
	called := []choice{{"", "all"}}
	for _, t := range tools {
		called = append(called, choice{t.Name, t.Name})
	}
	for _, word := range monitor.OtherCalls {
		called = append(called, choice{word, word})
	}
	outcomes := []choice{{"", "all"}}
	for _, o := range Outcomes {
		outcomes = append(outcomes, choice{string(o), outcomeWord(o)})
	}
	reasons := []choice{{"", "all"}}
	for _, r := range sortedReasons() {
		reasons = append(reasons, choice{r, r})
	}
	return []part{
		choose("Tool", FieldTool, called, given[FieldTool]),
		choose("Outcome", FieldOutcome, outcomes, given[FieldOutcome]),
		choose("Reason", FieldReason, reasons, given[FieldReason]),
		typed("Actor", FieldActor, given[FieldActor]),
	}
}

func periodField(given Fields) part {
	var all []choice
	for _, p := range periods {
		all = append(all, choice{p.hours, p.label})
	}
	chosen := given[FieldHours]
	if chosen == "" {
		chosen = "24"
	}
	return choose("Time", FieldHours, all, chosen)
}

func sortedReasons() []string {
	var all []string
	for _, r := range fault.Reasons() {
		all = append(all, string(r))
	}
	slices.Sort(all)
	return all
}

func choose(label, name string, all []choice, chosen string) node {
	parts := []part{at("id", "aac-"+name), at("name", name)}
	for _, c := range all {
		option := el("option", at("value", c.value), text(c.label))
		if c.value == chosen {
			option.attributes = append(option.attributes, at("selected", "selected"))
		}
		parts = append(parts, option)
	}
	return el("div", el("label", at("for", "aac-"+name), text(label)), el("select", parts...))
}

func typed(label, name, value string) node {
	return el("div", el("label", at("for", "aac-"+name), text(label)),
		el("input", at("id", "aac-"+name), at("name", name), at("value", value), at("maxlength", "128"), at("size", "16"), at("autocomplete", "off"), at("spellcheck", "false")))
}
