package toolstest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// problems says what is wrong with a call whatever its case expects:
//
//   - one event for a caller, none for nobody, and it says how the call ended
//   - what was refused, only asked or only previewed has changed no data
//   - an answer fits the tool's output schema
//   - neither the event nor a refusal repeats what the caller wrote
//   - nothing but an internal failure is logged
func (o observed) problems(c call, d *tool.Definition, p *identity.Principal) []string {
	var problems []string
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if want := eventsFor(p); len(o.events) != want || o.stored != want {
		add("%d events were recorded and %d stored, want %d", len(o.events), o.stored, want)
	}
	for _, e := range o.events {
		problems = append(problems, eventProblems(e, d, p, o.reply)...)
	}
	if rows := o.wronglyChanged(d); len(rows) > 0 {
		add("it must not change data, and changed %v", rows)
	}
	if o.reply.Fault == nil {
		if err := fits(d, o.reply.Value); err != nil {
			add("the answer does not fit the output schema: %v", err)
		}
	}
	for _, word := range written(c.arguments()) {
		if o.repeats(word) {
			add("the event or the refusal repeats what the caller wrote: %q", word)
		}
	}
	if o.logged != "" && (o.reply.Fault == nil || o.reply.Fault.Kind != fault.Internal) {
		add("it was logged: %s", o.logged)
	}
	return problems
}

func eventsFor(p *identity.Principal) int {
	if p == nil {
		return 0
	}
	return 1
}

func eventProblems(e audit.Event, d *tool.Definition, p *identity.Principal, r tool.Reply) []string {
	outcome, reason := fault.Success, fault.Reason("")
	if r.Fault != nil {
		outcome, reason = r.Fault.Kind.Row().Outcome, r.Fault.Reason
	}
	wrong := map[string]bool{
		"outcome":         e.Outcome != outcome,
		"reason":          e.Reason != reason,
		"tool":            e.Tool != d.Name || e.Recorder != d.Name,
		"actor":           p == nil || e.Actor != p.UserID || e.WorkspaceID != p.WorkspaceID || e.TokenID != p.TokenID,
		"scopes_required": !slices.Equal(e.ScopesRequired, identity.Names(d.Scopes())),
		"ids":             e.EventID == "" || e.CallID == "",
		"changed":         outcome != fault.Success && len(e.Changed) > 0,
	}
	var problems []string
	for what, bad := range wrong {
		if bad {
			problems = append(problems, fmt.Sprintf("the event is wrong in %s: %+v", what, e))
		}
	}
	return problems
}

// wronglyChanged names the rows that moved although the call was refused, read-only or a
// preview.
func (o observed) wronglyChanged(d *tool.Definition) []string {
	preview := len(o.events) > 0 && o.events[0].DryRun
	if o.reply.Fault == nil && d.Effect != tool.Reads && !preview {
		return nil
	}
	return o.changedBy(d)
}

// changedBy names the rows that a tool has changed. For one that writes, the counter of issue
// numbers does not count: a number is taken first, and lost if the call is refused.
func (o observed) changedBy(d *tool.Definition) []string {
	return slices.DeleteFunc(slices.Clone(o.changed), func(row string) bool {
		return d.Effect != tool.Reads && strings.Contains(row, "SEQ#")
	})
}

func fits(d *tool.Definition, value json.RawMessage) error {
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(d.OutputSchema(), s); err != nil {
		return err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return err
	}
	return resolved.Validate(v)
}

// written returns the free text of a call's arguments.
func written(arguments string) []string {
	var members map[string]any
	if json.Unmarshal([]byte(arguments), &members) != nil {
		return nil
	}
	var words []string
	for _, name := range []string{"title", "description", "content", "q"} {
		if s, ok := members[name].(string); ok && len(strings.TrimSpace(s)) > 3 {
			words = append(words, s)
		}
	}
	return words
}

func (o observed) repeats(word string) bool {
	var texts []string
	for _, e := range o.events {
		raw, err := json.Marshal(e)
		texts = append(texts, string(raw), fmt.Sprint(err))
	}
	if o.reply.Fault != nil {
		texts = append(texts, string(o.reply.Fault.PublicJSON("")))
	}
	return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, word) })
}
