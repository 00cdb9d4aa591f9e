package toolstest

import (
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// FuzzArguments calls every tool with any bytes as arguments: none may panic or end as an
// internal failure, and each call leaves one event. Writes are decided and checked, and then
// dropped, so that every input meets the same data.
func FuzzArguments(f *testing.F) {
	w := openWorld(f, nil, false)
	w.engine.forgetful = true
	tools := catalog.All()
	seeds := 0
	cases := allCases(f)
	for i, d := range tools {
		for _, c := range cases[d.Name] {
			for _, s := range c.steps {
				f.Add(uint8(i), []byte(w.names.read(s.call.arguments())))
				seeds++
			}
		}
	}
	if seeds == 0 {
		f.Fatal("no seeds")
	}
	priya := w.people["Priya"]
	priya.Scopes = identity.Scopes()
	f.Fuzz(func(t *testing.T, which uint8, arguments []byte) {
		d := tools[int(which)%len(tools)]
		w.engine.forget()
		w.logged.Reset()
		r := w.invoke(t.Context(), d.Name, &priya, string(arguments))
		if r.Fault != nil && r.Fault.Kind == fault.Internal {
			t.Errorf("%s: internal failure: %s", d.Name, w.logged)
		}
		if r.Fault != nil {
			if kind, known := fault.KindOfReason(r.Fault.Reason); !known || kind != r.Fault.Kind {
				t.Errorf("%s: reason %q does not belong to kind %s", d.Name, r.Fault.Reason, r.Fault.Kind)
			}
		} else if err := fits(d, r.Value); err != nil {
			t.Errorf("%s: the answer does not fit the output schema: %v", d.Name, err)
		}
		if len(w.engine.events) != 1 {
			t.Errorf("%s: %d events, want 1", d.Name, len(w.engine.events))
		}
		for _, e := range w.engine.events {
			if e.Table != table.Audit {
				t.Errorf("%s: an event in the %s table", d.Name, e.Table)
			}
		}
	})
}
