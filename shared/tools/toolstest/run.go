package toolstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// result is what came of one call, as a case file says it.
type result struct {
	tool               string
	status             int
	reason             fault.Reason
	reply, audit, data string
}

// How the data table looked around a call.
const (
	dataChanged   = "changed\n"
	dataUnchanged = "unchanged\n"
	dataNotRead   = "not read\n"
)

// run makes the call of a step, as often as it says, and checks what must hold for any call.
func (w *world) run(t *testing.T, c call, of *tool.Definition) (result, error) {
	t.Helper()
	d := of
	if c.Tool != "" {
		found, ok := catalog.Find(c.Tool)
		if !ok {
			return result{}, fmt.Errorf("there is no tool %s", c.Tool)
		}
		d = found
	}
	p, err := w.principal(c, d)
	if err != nil {
		return result{}, err
	}
	pause, err := c.pause()
	if err != nil {
		return result{}, err
	}
	for range max(c.Times, 1) - 1 {
		if r := w.invoke(t.Context(), d.Name, p, w.names.read(c.arguments())); r.Fault != nil {
			return result{}, fmt.Errorf("one of the %d calls before the last failed: %s", c.Times, r.Fault.PublicJSON(""))
		}
		w.pass(pause)
	}
	around := w.observe(t, func() tool.Reply { return w.invoke(t.Context(), d.Name, p, w.names.read(c.arguments())) })
	w.pass(pause)
	for _, problem := range around.problems(c, d, p) {
		t.Errorf("%s: %s", d.Name, problem)
	}
	return w.describe(d, around)
}

// observed is one call with what could be seen around it.
type observed struct {
	reply   tool.Reply
	events  []audit.Event
	stored  int      // events that the audit table holds more
	changed []string // rows of the data table
	trace   []string // uses of the data table
	logged  string
}

func (w *world) observe(t *testing.T, do func() tool.Reply) observed {
	t.Helper()
	before := w.engine.contents(t)
	w.engine.forget()
	w.logged.Reset()
	o := observed{reply: do()}
	after := w.engine.contents(t)
	for _, item := range w.engine.events {
		var e audit.Event
		if err := json.Unmarshal(item.Doc, &e); err != nil {
			t.Fatal(err)
		}
		o.events = append(o.events, e)
	}
	o.stored = len(after["audit"]) - len(before["audit"])
	o.changed = changedRows(before, after)
	o.trace = w.engine.trace
	o.logged = w.logged.String()
	return o
}

func (w *world) describe(d *tool.Definition, o observed) (result, error) {
	r := result{tool: d.Name, status: 200, audit: "none\n", data: dataUnchanged}
	body := []byte(o.reply.Value)
	if f := o.reply.Fault; f != nil {
		r.status, r.reason, body = f.Kind.Status(), f.Reason, f.PublicJSON("")
	}
	r.reply = fmt.Sprintf("%d\n%s\n", r.status, w.names.write(indent(body)))
	if len(o.events) > 0 {
		text, err := eventText(o.events[0])
		if err != nil {
			return r, err
		}
		r.audit = w.names.write(text)
	}
	switch {
	case len(o.changedBy(d)) > 0:
		r.data = dataChanged
	case len(o.trace) == 0:
		r.data = dataNotRead
	}
	return r, nil
}

// shownMembers are the members of an event that a case file shows: the contract, and what
// differs from case to case.
var shownMembers = []string{
	"tool", "outcome", "reason", "scopes_provided", "timestamp",
	"target", "detail", "dry_run", "changed", "replayed",
}

// eventText lays an event out, one member a line.
func eventText(e audit.Event) (string, error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return "", err
	}
	var b bytes.Buffer
	separator := "{\n"
	for _, name := range shownMembers {
		if value, ok := members[name]; ok {
			fmt.Fprintf(&b, "%s  %q: %s", separator, name, value)
			separator = ",\n"
		}
	}
	b.WriteString("\n}\n")
	return b.String(), nil
}
