package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Arguments are decoded once and strictly: exact member names, no duplicates, no unknown
// members, no null, valid UTF-8, nothing behind the object. encoding/json would accept most of
// these, and two readers that disagree on a body are how a check is passed by.

// Limits of arguments.
const (
	MaxArguments = 512 << 10 // bytes
	maxDepth     = 16        // nesting
)

// The arguments that belong to the pipeline, not to a handler.
const (
	argConfirm        = "confirm"
	argDryRun         = "dry_run"
	argIdempotencyKey = "idempotency_key"
)

// extraArguments lists those that a tool has because of its effect.
func extraArguments(s Spec, e Effect) []string {
	switch {
	case e == Destroys:
		return []string{argConfirm, argDryRun}
	case e == Writes && !s.Idempotent:
		return []string{argIdempotencyKey}
	}
	return nil
}

// memberSet is what the arguments of one tool may be.
type memberSet struct {
	known    []string          // in order of declaration
	required []string          //
	kinds    map[string]string // what each must be, in words
	extra    []string          // those of the pipeline
}

func membersOf[In any](tool string, extra []string) memberSet {
	t := reflect.TypeFor[In]()
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("tool %s: arguments must be a struct", tool))
	}
	m := memberSet{extra: extra, kinds: map[string]string{}}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || f.Anonymous || slices.Contains(extra, name) {
			panic(fmt.Sprintf("tool %s: field %s needs a json name of its own", tool, f.Name))
		}
		m.known = append(m.known, name)
		if !strings.Contains(options, "omit") {
			m.required = append(m.required, name)
		}
	}
	m.known = append(m.known, extra...)
	return m
}

// arguments are a call's arguments after the pipeline has taken its own out.
type arguments struct {
	rest           []byte // an object for the handler
	digest         string // sha256:<hex> of the canonical arguments (RFC 8785) without key and confirm
	confirmed      bool
	dryRun         bool
	idempotencyKey string
}

// split checks the form of the arguments and takes out what belongs to the pipeline.
func (m memberSet) split(raw []byte) (arguments, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("{}")
	}
	if len(raw) > MaxArguments {
		return arguments{}, invalid("", fmt.Sprintf("the arguments are over %d bytes: send less", MaxArguments))
	}
	members, err := m.readMembers(raw)
	if err != nil {
		return arguments{}, err
	}
	var a arguments
	rest := make([]member, 0, len(members))
	for _, mem := range members {
		if !slices.Contains(m.extra, mem.name) {
			rest = append(rest, mem)
			continue
		}
		if err := a.take(mem); err != nil {
			return arguments{}, err
		}
	}
	a.rest = object(rest)
	a.digest = digest(a.rest)
	return a, nil
}

// take reads one of the pipeline's own arguments. Only the JSON value true confirms; anything
// else is a missing confirmation, not a malformed one.
func (a *arguments) take(m member) error {
	switch m.name {
	case argConfirm:
		a.confirmed = string(m.value) == "true"
	case argDryRun:
		if m.value.Kind() != 't' && m.value.Kind() != 'f' {
			return invalid(argDryRun, "must be true or false")
		}
		a.dryRun = m.value.Kind() == 't'
	case argIdempotencyKey:
		var key tracker.IdempotencyKey
		if err := json.Unmarshal(m.value, &key); err != nil {
			return describe(argIdempotencyKey, err, "must be a string")
		}
		a.idempotencyKey = string(key)
	}
	return nil
}

type member struct {
	name  string
	value jsontext.Value
}

// readMembers reads the top level of the object and looks through the values.
func (m memberSet) readMembers(raw []byte) ([]member, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if dec.PeekKind() != '{' {
		return nil, notAnObject(dec)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, malformed(err)
	}
	var members []member
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, malformed(err)
		}
		mem := member{name: name.String()}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, malformed(err)
		}
		mem.value = value.Clone()
		if !slices.Contains(m.known, mem.name) {
			return nil, m.unknown(mem.name)
		}
		if err := m.checkValue(mem); err != nil {
			return nil, err
		}
		members = append(members, mem)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, malformed(err)
	}
	if dec.PeekKind() != jsontext.KindInvalid || len(bytes.TrimSpace(raw[dec.InputOffset():])) > 0 {
		return nil, invalid("", "there is something behind the arguments: send one JSON object alone")
	}
	return members, m.missing(members)
}

func (m memberSet) missing(have []member) error {
	for _, name := range m.required {
		if !slices.ContainsFunc(have, func(h member) bool { return h.name == name }) {
			return invalid(name, "is required")
		}
	}
	return nil
}

// maxToldName is the longest name of a member that a refusal repeats: longer than that of any
// argument, and shorter than a token.
const maxToldName = 32

// unknown refuses a member that the tool does not have. The name is repeated only if it is
// harmless.
func (m memberSet) unknown(name string) error {
	takes := "it takes no arguments"
	if len(m.known) > 0 {
		takes = "it takes " + strings.Join(m.known, ", ")
	}
	if len(name) > maxToldName || !NameForm.MatchString(strings.ToLower(name)) {
		name = ""
	}
	return invalid(name, "this tool has no such argument; "+takes)
}

// checkValue refuses null, everywhere: clients fill optional fields with it, and a null must
// not clear anything. It limits nesting too. confirm may be anything.
func (m memberSet) checkValue(mem member) error {
	if mem.name == argConfirm {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(mem.value))
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil // the end: the value was read whole before
		}
		if tok.Kind() == 'n' {
			if slices.Contains(m.required, mem.name) {
				return invalid(mem.name, "must not be null")
			}
			return invalid(mem.name, "must not be null: leave it out instead")
		}
		if dec.StackDepth() > maxDepth {
			return invalid(mem.name, "is nested too deeply")
		}
	}
}

// decodeInto decodes what split left over.
func decodeInto[In any](m memberSet, raw []byte) (In, error) {
	var in In
	err := json.Unmarshal(raw, &in, json.RejectUnknownMembers(true))
	if err == nil {
		return in, nil
	}
	field := ""
	var sem *json.SemanticError
	if errors.As(err, &sem) {
		field, _, _ = strings.Cut(strings.TrimPrefix(string(sem.JSONPointer), "/"), "/")
	}
	return in, describe(field, err, "must be of the type that the input schema says")
}

// describe puts a field's name before the words of the type that refused it. The decoder's own
// words are dropped: they repeat what the caller sent.
func describe(field string, err error, otherwise string) error {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return invalid(field, otherwise)
	}
	if f.Reason != fault.InvalidArguments {
		return f.With("field", field)
	}
	return invalid(field, f.Text)
}

func invalid(field, text string) *fault.Fault {
	if field == "" {
		return fault.New(fault.Invalid, fault.InvalidArguments, text)
	}
	return fault.New(fault.Invalid, fault.InvalidArguments, field+": "+text).With("field", field)
}

func notAnObject(dec *jsontext.Decoder) error {
	if _, err := dec.ReadValue(); err != nil {
		return malformed(err)
	}
	return invalid("", "the arguments must be a JSON object")
}

// malformed says what is wrong with the JSON, without repeating it.
func malformed(err error) error {
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return invalid("", "the arguments hold a member twice: send each once")
	case strings.Contains(err.Error(), "UTF-8") || strings.Contains(err.Error(), "surrogate"):
		return invalid("", "the arguments are not valid UTF-8: send valid UTF-8 and paired surrogate escapes")
	default:
		return invalid("", "the arguments are not valid JSON")
	}
}

func object(members []member) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := jsontext.AppendQuote(nil, m.name)
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// digest is equal for equal arguments, however they are written.
func digest(raw []byte) string {
	v := jsontext.Value(slices.Clone(raw))
	if err := v.Canonicalize(); err != nil {
		v = jsontext.Value(raw) // still a digest, only of these very bytes
	}
	sum := sha256.Sum256(v)
	return "sha256:" + hex.EncodeToString(sum[:])
}
