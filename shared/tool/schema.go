package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Schemas come from the struct types; limits and enums from the named types of tracker. They
// keep to what all clients take: an object at the root, no references, no alternatives, no
// lists of types.

type schemas struct{ input, output json.RawMessage }

// schemasOf infers at first use: a function that only runs its tool never needs them.
func schemasOf[In, Out any](tool string, extra []string) func() schemas {
	return sync.OnceValue(func() schemas {
		in := infer[In](tool, inputTypes())
		for _, name := range extra {
			in.Properties[name] = extraSchemas[name].CloneSchemas()
			in.PropertyOrder = append(in.PropertyOrder, name)
		}
		out := infer[Out](tool, outputTypes())
		openUp(out)
		return schemas{input: encode(tool, in), output: encode(tool, out)}
	})
}

var extraSchemas = map[string]*jsonschema.Schema{
	argConfirm: {Type: "boolean", Description: "Must be true to delete. Ask the user first; without it the call is refused and nothing is deleted."},
	argDryRun:  {Type: "boolean", Description: "true shows what would be deleted and deletes nothing; confirm is not needed then."},
	argIdempotencyKey: {Type: "string", MinLength: ptr(1), MaxLength: ptr(tracker.MaxIdempotencyKey), Pattern: `^[\x21-\x7e]+$`,
		Description: "Makes it safe to repeat the call: the same key with the same arguments has one effect within 24 hours."},
}

func infer[T any](tool string, types map[reflect.Type]*jsonschema.Schema) *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", tool, err))
	}
	if s.Type != "object" {
		panic(fmt.Sprintf("tool %s: %s is not an object", tool, reflect.TypeFor[T]()))
	}
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	walk(s, dropNull)
	return s
}

// dropNull removes the null alternative that inference gives to slices and pointers: null is
// refused in and never sent out.
func dropNull(s *jsonschema.Schema) {
	s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
	if len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
}

// openUp lets answers grow: a client that validates must not break on a new member.
func openUp(s *jsonschema.Schema) {
	walk(s, func(s *jsonschema.Schema) { s.AdditionalProperties = nil })
}

func walk(s *jsonschema.Schema, visit func(*jsonschema.Schema)) {
	visit(s)
	for _, p := range s.Properties {
		walk(p, visit)
	}
	if s.Items != nil {
		walk(s.Items, visit)
	}
}

func encode(tool string, s *jsonschema.Schema) json.RawMessage {
	out, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", tool, err))
	}
	return out
}

// The schemas of the named types. Input enums are closed; output enums stay open, so that a
// new word breaks nobody.
var (
	inputTypes  = sync.OnceValue(func() map[reflect.Type]*jsonschema.Schema { return namedTypes(true) })
	outputTypes = sync.OnceValue(func() map[reflect.Type]*jsonschema.Schema { return namedTypes(false) })
)

func namedTypes(input bool) map[reflect.Type]*jsonschema.Schema {
	types := map[reflect.Type]*jsonschema.Schema{}
	str := func(low, high int) *jsonschema.Schema {
		if !input {
			return &jsonschema.Schema{Type: "string"}
		}
		s := &jsonschema.Schema{Type: "string", MaxLength: ptr(high)}
		if low > 0 {
			s.MinLength = ptr(low)
		}
		return s
	}
	whole := func(low, high float64) *jsonschema.Schema {
		if !input {
			return &jsonschema.Schema{Type: "integer"}
		}
		return &jsonschema.Schema{Type: "integer", Minimum: &low, Maximum: &high}
	}
	add[tracker.ID](types, &jsonschema.Schema{Type: "string", Format: "uuid"})
	add[tracker.IssueRef](types, str(1, 36))
	add[tracker.MemberRef](types, str(1, tracker.MaxRef))
	add[tracker.AgentRef](types, str(1, tracker.MaxRef))
	add[tracker.AssigneeRef](types, str(1, tracker.MaxRef))
	add[tracker.LabelRef](types, str(1, tracker.MaxRef))
	add[tracker.AutopilotRef](types, str(1, tracker.MaxRef))
	add[tracker.Title](types, str(1, tracker.MaxTitle))
	add[tracker.SearchText](types, str(tracker.MinQuery, tracker.MaxQuery))
	add[tracker.Description](types, str(0, tracker.MaxDescription))
	add[tracker.Content](types, str(1, tracker.MaxContent))
	add[tracker.Cursor](types, str(1, tracker.MaxCursor))
	add[tracker.Limit](types, whole(1, tracker.MaxPage))
	add[tracker.Days](types, whole(1, tracker.MaxDays))
	add[tracker.Revision](types, whole(1, 1<<53-1))
	add[tracker.Day](types, &jsonschema.Schema{Type: "string", Format: "date"})
	add[tracker.Time](types, &jsonschema.Schema{Type: "string", Format: "date-time"})
	addEnum[tracker.Status](types, input)
	addEnum[tracker.Priority](types, input)
	addEnum[tracker.Sort](types, input)
	addEnum[tracker.Direction](types, input)
	addEnum[tracker.Clearable](types, input)
	return types
}

// add registers a type, lists of it, and both as optional arguments.
func add[T comparable](types map[reflect.Type]*jsonschema.Schema, s *jsonschema.Schema) {
	list := &jsonschema.Schema{Type: "array", Items: s, MaxItems: ptr(tracker.MaxList), UniqueItems: true}
	types[reflect.TypeFor[T]()] = s
	types[reflect.TypeFor[tracker.Opt[T]]()] = s
	types[reflect.TypeFor[tracker.List[T]]()] = list
	types[reflect.TypeFor[tracker.Opt[tracker.List[T]]]()] = list
}

func addEnum[T interface {
	comparable
	tracker.Enum
}](types map[reflect.Type]*jsonschema.Schema, closed bool) {
	s := &jsonschema.Schema{Type: "string"}
	if closed {
		var zero T
		for _, v := range zero.Values() {
			s.Enum = append(s.Enum, v)
		}
	}
	add[T](types, s)
}

func ptr[T any](v T) *T { return &v }
