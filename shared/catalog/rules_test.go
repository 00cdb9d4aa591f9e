package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Limits of what a client can take. Claude Code cuts a description at 2 KB; the list is read
// into a model's context at the start of every session.
const (
	maxDoc        = 1500     // bytes, for one tool
	maxEntry      = 6 << 10  // bytes, one tool as JSON
	maxList       = 48 << 10 // bytes, the whole list as JSON
	maxTitleChars = 40
)

func TestRules(t *testing.T) {
	entries := Entries()
	if len(entries) != 11 {
		t.Errorf("the catalogue holds %d tools, want 11", len(entries))
	}
	for _, e := range entries {
		for _, problem := range problemsOf(e) {
			t.Errorf("%s: %s", e.Name, problem)
		}
	}
}

func TestListSize(t *testing.T) {
	list, err := json.Marshal(Entries())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the whole list is %d bytes", len(list))
	if len(list) > maxList {
		t.Errorf("the whole list is %d bytes, over %d: shorten descriptions", len(list), maxList)
	}
}

// problemsOf checks one tool against the rules that all must keep.
func problemsOf(e Entry) []string {
	p := &problems{}
	p.check(tool.NameForm.MatchString(e.Name), "the name must match %s", tool.NameForm)
	p.check(e.Title != "" && len([]rune(e.Title)) <= maxTitleChars, "the title must be 1 to %d characters", maxTitleChars)
	p.check(e.Description != "" && len(e.Description) <= maxDoc, "the description must be 1 to %d bytes, is %d", maxDoc, len(e.Description))
	p.check(len(e.Scopes) > 0, "it needs a scope")
	for _, s := range e.Scopes {
		p.check(s.Known(), "scope %s is unknown", s)
	}
	p.hints(e)
	p.input(e)
	p.output(e)
	if raw, err := json.Marshal(e); err != nil || len(raw) > maxEntry {
		p.add("as JSON it is %d bytes (%v), over %d", len(raw), err, maxEntry)
	}
	return p.found
}

type problems struct{ found []string }

func (p *problems) add(format string, args ...any) {
	p.found = append(p.found, fmt.Sprintf(format, args...))
}

func (p *problems) check(ok bool, format string, args ...any) {
	if !ok {
		p.add(format, args...)
	}
}

// hints checks that the four hints, confirm and the arguments that follow from them agree.
func (p *problems) hints(e Entry) {
	a := e.Annotations
	p.check(!a.ReadOnlyHint || !a.DestructiveHint, "it cannot be read-only and destructive")
	p.check(!a.ReadOnlyHint || a.IdempotentHint, "what is read-only is idempotent")
	p.check((e.Confirm == "required") == a.DestructiveHint, "confirm is %q, destructiveHint %t", e.Confirm, a.DestructiveHint)
	in := parse(e.InputSchema)
	for name, want := range map[string]bool{
		"confirm": a.DestructiveHint, "dry_run": a.DestructiveHint,
		"idempotency_key": !a.ReadOnlyHint && !a.IdempotentHint,
	} {
		_, has := in.Properties[name]
		p.check(has == want, "argument %s: there %t, want %t by its hints", name, has, want)
		p.check(!slices.Contains(in.Required, name), "argument %s must be optional: a model fills in at once what is required", name)
	}
}

func (p *problems) input(e Entry) {
	s := parse(e.InputSchema)
	p.check(s.Type == "object", "the input schema's root must be an object")
	p.check(isFalse(s.AdditionalProperties), "the input schema must refuse further members")
	for name, prop := range s.Properties {
		p.check(prop.Description != "", "argument %s has no description", name)
		p.check(tool.NameForm.MatchString(name), "argument %s must match %s", name, tool.NameForm)
	}
	p.schema("input", s)
}

func (p *problems) output(e Entry) {
	s := parse(e.OutputSchema)
	p.check(s.Type == "object", "the output schema's root must be an object: older clients take nothing else")
	p.check(len(s.Properties) > 0, "the output schema has no members")
	p.schema("output", s)
}

// schema keeps to what all clients understand. One they do not can make all tools vanish.
func (p *problems) schema(at string, s *jsonschema.Schema) {
	p.check(s.Ref == "" && s.DynamicRef == "" && len(s.Defs) == 0 && len(s.Definitions) == 0, "%s: no references", at)
	p.check(len(s.OneOf)+len(s.AnyOf)+len(s.AllOf) == 0 && s.Not == nil, "%s: no alternatives", at)
	p.check(s.Type != "" && len(s.Types) == 0, "%s: exactly one type, as a string", at)
	p.check((s.Type == "array") == (s.Items != nil), "%s: an array, and nothing else, has items", at)
	for name, prop := range s.Properties {
		p.schema(at+"."+name, prop)
	}
	if s.Items != nil {
		p.schema(at+"[]", s.Items)
	}
}

func parse(raw json.RawMessage) *jsonschema.Schema {
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(raw, s); err != nil {
		return &jsonschema.Schema{Type: "unreadable: " + err.Error()}
	}
	return s
}

func isFalse(s *jsonschema.Schema) bool {
	raw, err := json.Marshal(s)
	return err == nil && string(raw) == "false"
}

// Each rule must be able to fail, or it proves nothing.
func TestRulesCatchViolations(t *testing.T) {
	schema := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, c := range []struct {
		want  string
		plant func(*Entry)
	}{
		{"the name must match", func(e *Entry) { e.Name = "list-issues" }},
		{"the title must be", func(e *Entry) { e.Title = "" }},
		{"the description must be", func(e *Entry) { e.Description = strings.Repeat("x", maxDoc+1) }},
		{"over 6144", func(e *Entry) { e.Title = strings.Repeat("x", maxEntry) }},
		{"it needs a scope", func(e *Entry) { e.Scopes = nil }},
		{"is unknown", func(e *Entry) { e.Scopes = []identity.Scope{"issues:all"} }},
		{"read-only and destructive", func(e *Entry) { e.Annotations.DestructiveHint = true }},
		{"read-only is idempotent", func(e *Entry) { e.Annotations.IdempotentHint = false }},
		{"confirm is", func(e *Entry) { e.Confirm = "required" }},
		{"argument confirm", func(e *Entry) {
			e.InputSchema = schema(`{"type":"object","additionalProperties":false,"properties":{"confirm":{"type":"boolean","description":"x"}}}`)
		}},
		{"must refuse further members", func(e *Entry) { e.InputSchema = schema(`{"type":"object"}`) }},
		{"argument q has no description", func(e *Entry) {
			e.InputSchema = schema(`{"type":"object","additionalProperties":false,"properties":{"q":{"type":"string"}}}`)
		}},
		{"input schema's root", func(e *Entry) { e.InputSchema = schema(`{"type":"string"}`) }},
		{"output schema's root", func(e *Entry) { e.OutputSchema = schema(`{"type":"array","items":{"type":"string"}}`) }},
		{"output: exactly one type", func(e *Entry) {
			e.OutputSchema = schema(`{"type":["object","null"],"properties":{"a":{"type":"string"}}}`)
		}},
		{"output.a: no references", func(e *Entry) { e.OutputSchema = schema(`{"type":"object","properties":{"a":{"$ref":"#/x"}}}`) }},
		{"output.a: no alternatives", func(e *Entry) {
			e.OutputSchema = schema(`{"type":"object","properties":{"a":{"type":"string","anyOf":[{"type":"string"}]}}}`)
		}},
		{"output.a[]: an array", func(e *Entry) {
			e.OutputSchema = schema(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"array"}}}}`)
		}},
	} {
		e := Entries()[0]
		c.plant(&e)
		if found := strings.Join(problemsOf(e), "\n"); !strings.Contains(found, c.want) {
			t.Errorf("a planted violation of %q was not found; found:\n%s", c.want, found)
		}
	}
}

// No tool of ours reaches an outside system, but the hint must arrive once one does.
func TestOpenWorldIsCarried(t *testing.T) {
	type nothing struct{}
	outside := tool.Read(tool.Spec{
		Name: "search_github", Title: "Search GitHub", Doc: "Searches GitHub.", Scope: identity.IssuesRead, OpenWorld: true,
	}, func(context.Context, tracker.Reader, nothing) (nothing, error) { return nothing{}, nil })
	raw, err := json.Marshal(EntryOf(&outside.Definition))
	if err != nil {
		t.Fatal(err)
	}
	var wire struct{ Annotations map[string]any }
	if err := json.Unmarshal(raw, &wire); err != nil {
		t.Fatal(err)
	}
	if wire.Annotations["openWorldHint"] != true {
		t.Errorf("annotations on the wire are %v, want openWorldHint true", wire.Annotations)
	}
}

// All four hints are explicit booleans: an absent one means true, or false, by its name.
func TestHintsAreExplicit(t *testing.T) {
	for _, e := range Entries() {
		raw, err := json.Marshal(e.Annotations)
		if err != nil {
			t.Fatal(err)
		}
		var hints map[string]bool
		if err := json.Unmarshal(raw, &hints); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		for _, name := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if _, ok := hints[name]; !ok {
				t.Errorf("%s: %s is not on the wire", e.Name, name)
			}
		}
	}
}
