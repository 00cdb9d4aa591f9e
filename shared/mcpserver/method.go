package mcpserver

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// methodCall is the one method that runs a tool.
const methodCall = "tools/call"

// eras says in which protocol a method is served.
type eras struct{ modern, legacy bool }

// methods are all that the SDK gets to see. What is not here does not exist, in particular
// subscriptions/listen, which the SDK would answer with a stream, and the methods of features
// that are not offered. The lists of such features are served empty to legacy clients, some of
// which give up otherwise; logging/setLevel is taken and has no effect.
var methods = map[string]eras{
	"server/discover":          {modern: true},
	"tools/list":               {modern: true, legacy: true},
	methodCall:                 {modern: true, legacy: true},
	"initialize":               {legacy: true},
	"ping":                     {legacy: true},
	"prompts/list":             {legacy: true},
	"resources/list":           {legacy: true},
	"resources/templates/list": {legacy: true},
	"logging/setLevel":         {legacy: true},
}

// check refuses a request that no method takes, so that the SDK gets only what it can answer.
func (f *front) check(m *message, modern bool) *refusal {
	served := f.ext.method(m.method)
	if (modern && !served.modern) || (!modern && !served.legacy) {
		return noSuchMethod()
	}
	if m.params != nil && m.params.Kind() != '{' {
		return badParams("params must be an object")
	}
	if m.meta.raw != nil && m.meta.raw.Kind() != '{' {
		return badParams("_meta must be an object")
	}
	switch m.method {
	case methodCall:
		return f.checkCall(m)
	case "initialize", "logging/setLevel":
		if m.params == nil {
			return badParams("params is missing")
		}
	}
	if strings.HasSuffix(m.method, "/list") && m.cursor != nil && string(m.cursor) != `""` {
		return badParams("cursor is not one of this server: every list has one page")
	}
	return nil
}

// checkCall refuses a call that names no tool of ours or whose arguments are no object. What
// the arguments hold is for tool.Bind.
func (f *front) checkCall(m *message) *refusal {
	name, err := text(m.name)
	switch {
	case err != nil || name == "":
		return badParams("name is missing: name the tool to call")
	case f.tools[name] == nil && !f.ext.tool(name):
		return unknownTool()
	case m.arguments != nil && m.arguments.Kind() != '{':
		return badParams("arguments must be an object")
	case nesting(m.arguments) > maxArgumentsNesting:
		return badParams("arguments are nested too deeply")
	}
	return nil
}

// checkNotification tells whether a message without an id is one. All are accepted and none has
// an effect: nothing here depends on an earlier message.
func checkNotification(m *message) *refusal {
	isNotification := strings.HasPrefix(m.method, "notifications/")
	switch {
	case m.id == nil && !isNotification:
		return malformed("the id is missing: this method is no notification")
	case m.id != nil && isNotification:
		return malformed("a notification has no id")
	}
	return nil
}

// toolName returns what a call calls itself a call of, for the record; empty if it is no name.
func (m *message) toolName() string {
	name, err := text(m.name)
	if err != nil {
		return ""
	}
	return name
}

// canonical writes the message anew, with what was read of it and nothing else. Of a call of
// ours it leaves out what no call of ours has; whole keeps that.
func (m *message) canonical(whole bool) []byte {
	b := make([]byte, 0, 128+len(m.params))
	b = append(append(b, `{"jsonrpc":"2.0","id":`...), m.id...)
	b, _ = jsontext.AppendQuote(append(b, `,"method":`...), m.method)
	if m.params != nil {
		b = append(b, `,"params":`...)
		b = m.appendParams(b, whole)
	}
	return append(b, '}')
}

func (m *message) appendParams(b []byte, whole bool) []byte {
	if whole || m.method != methodCall {
		return append(b, m.params...)
	}
	b = append(append(b, `{"name":`...), m.name...)
	if m.arguments != nil {
		b = append(append(b, `,"arguments":`...), m.arguments...)
	}
	if m.meta.raw != nil {
		b = append(append(b, `,"_meta":`...), m.meta.raw...)
	}
	return append(b, '}')
}
