package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

type echoIn struct {
	Name  tracker.Title                `json:"name"`
	Limit tracker.Limit                `json:"limit,omitempty"`
	Tags  tracker.List[tracker.Status] `json:"tags,omitempty"`
	Text  tracker.Opt[tracker.Content] `json:"text,omitzero"`
}

type echoOut struct {
	Name string `json:"name"`
	By   string `json:"by"`
}

// world records, in order, what the pipeline did.
type world struct {
	steps  []string
	events []audit.Event
	fail   error // what the handler answers
	panics bool
	logErr error
	commit bool // the handler commits the call's event itself
}

func (w *world) step(format string, args ...any) {
	w.steps = append(w.steps, fmt.Sprintf(format, args...))
}

func (w *world) Append(_ context.Context, item table.Item) error {
	w.step("append")
	if w.logErr != nil {
		return w.logErr
	}
	return w.keep(item)
}

func (w *world) keep(item table.Item) error {
	var e audit.Event
	if err := json.Unmarshal(item.Doc, &e); err != nil {
		return err
	}
	w.events = append(w.events, e)
	return nil
}

type fakeReader struct{ tracker.Reader }

type fakeStore struct {
	tracker.Store
	call *audit.Call
	w    *world
}

func (w *world) Reader(*audit.Call) tracker.Reader { w.step("open reader"); return fakeReader{} }
func (w *world) Store(c *audit.Call) tracker.Store {
	w.step("open store")
	return fakeStore{call: c, w: w}
}

func (w *world) handle(by string, in echoIn) (echoOut, error) {
	w.step("handle %s", by)
	if w.panics {
		panic("boom with a secret")
	}
	return echoOut{Name: string(in.Name), By: by}, w.fail
}

func (w *world) bind(e tool.Effect) *tool.Bound {
	n := 0
	deps := tool.Deps{Log: w, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Settings: audit.Settings{
		Now: func() time.Time { return time.Date(2025, 6, 22, 15, 30, 0, 0, time.UTC) }, Retention: time.Hour,
		NewID: func() string { n++; return fmt.Sprintf("ULID%d", n) },
	}}
	read := func(_ context.Context, r tracker.Reader, in echoIn) (echoOut, error) {
		if _, ok := r.(tracker.Store); ok {
			return echoOut{}, errors.New("a reader that can write")
		}
		return w.handle("reader", in)
	}
	write := func(_ context.Context, s tracker.Store, in echoIn) (echoOut, error) {
		out, err := w.handle("store", in)
		if w.commit {
			op, opErr := s.(fakeStore).call.CommitOp([]string{"title"})
			if opErr != nil {
				return out, opErr
			}
			w.step("commit")
			s.(fakeStore).call.Committed()
			return out, errors.Join(err, w.keep(op.Item))
		}
		return out, err
	}
	spec := tool.Spec{Name: "echo", Title: "Echo", Doc: "Echoes.", Scope: identity.IssuesWrite}
	switch e {
	case tool.Reads:
		return tool.BindRead(tool.Read(spec, read), w, deps)
	case tool.Writes:
		return tool.BindWrite(tool.Write(spec, write), w, deps)
	default:
		return tool.BindWrite(tool.Destroy(spec, write, read), w, deps)
	}
}

func caller(scopes ...identity.Scope) *identity.Principal {
	return &identity.Principal{WorkspaceID: "w1", UserID: "u1", TokenID: "t1", Scopes: scopes}
}

func request(arguments string) tool.Request {
	return tool.Request{Principal: caller(identity.IssuesWrite), Arguments: json.RawMessage(arguments), CallID: "c1", Transport: audit.REST}
}

var effects = []tool.Effect{tool.Reads, tool.Writes, tool.Destroys}

// confirmed adds what a destructive tool asks for.
func confirmed(e tool.Effect, arguments string) string {
	if e != tool.Destroys {
		return arguments
	}
	return strings.Replace(arguments, "{", `{"confirm":true,`, 1)
}

func TestEveryKindIsRecordedForEveryEffect(t *testing.T) {
	seen := 0
	for _, e := range effects {
		for _, k := range fault.Kinds() {
			seen++
			w := &world{fail: fault.New(k, "some_reason", "text")}
			reply := w.bind(e).Invoke(context.Background(), request(confirmed(e, `{"name":"x"}`)))
			if reply.Fault == nil || reply.Fault.Kind != k || reply.Value != nil {
				t.Fatalf("%v %v: reply %+v", e, k, reply)
			}
			if len(w.events) != 1 || w.events[0].Outcome != k.Row().Outcome || w.events[0].Reason != "some_reason" {
				t.Errorf("%v %v: events %+v", e, k, w.events)
			}
		}
	}
	if seen != 3*7 {
		t.Errorf("saw %d pairs", seen)
	}
}

func TestOrderOfThePipeline(t *testing.T) {
	cases := []struct {
		name   string
		effect tool.Effect
		req    func(*tool.Request)
		want   fault.Reason
		steps  []string
	}{
		{"nobody", tool.Reads, func(r *tool.Request) { r.Principal = nil }, fault.TokenMissing, nil},
		{"nobody in particular", tool.Destroys, func(r *tool.Request) { r.Principal = &identity.Principal{} }, fault.TokenMissing, nil},
		{"scope before arguments", tool.Destroys, func(r *tool.Request) {
			r.Principal = caller(identity.IssuesRead)
			r.Arguments = json.RawMessage(`nonsense`)
		}, fault.InsufficientScope, []string{"append"}},
		{"arguments before confirm", tool.Destroys, func(r *tool.Request) { r.Arguments = json.RawMessage(`{"nme":"x"}`) },
			fault.InvalidArguments, []string{"append"}},
		{"confirm before the values", tool.Destroys, func(r *tool.Request) { r.Arguments = json.RawMessage(`{"name":5}`) },
			fault.ConfirmMissing, []string{"append"}},
		{"confirm before the store", tool.Destroys, func(r *tool.Request) { r.Arguments = json.RawMessage(`{"name":"x"}`) },
			fault.ConfirmMissing, []string{"append"}},
		{"a read", tool.Reads, func(*tool.Request) {}, "", []string{"open reader", "handle reader", "append"}},
		{"a write", tool.Writes, func(*tool.Request) {}, "", []string{"open store", "handle store", "append"}},
		{"a deletion", tool.Destroys, func(r *tool.Request) { r.Arguments = json.RawMessage(`{"confirm":true,"name":"x"}`) }, "",
			[]string{"open store", "handle store", "append"}},
		{"a preview", tool.Destroys, func(r *tool.Request) { r.Arguments = json.RawMessage(`{"dry_run":true,"name":"x"}`) }, "",
			[]string{"open reader", "handle reader", "append"}},
		{"a preview wins over confirm", tool.Destroys, func(r *tool.Request) {
			r.Arguments = json.RawMessage(`{"dry_run":true,"confirm":true,"name":"x"}`)
		}, "", []string{"open reader", "handle reader", "append"}},
	}
	for _, c := range cases {
		w := &world{}
		req := request(`{"name":"x"}`)
		c.req(&req)
		reply := w.bind(c.effect).Invoke(context.Background(), req)
		var reason fault.Reason
		if reply.Fault != nil {
			reason = reply.Fault.Reason
		}
		if reason != c.want || !slices.Equal(w.steps, c.steps) {
			t.Errorf("%s: reason %q steps %q, want %q %q", c.name, reason, w.steps, c.want, c.steps)
		}
	}
}

func TestOnlyTrueConfirms(t *testing.T) {
	for _, confirm := range []string{"", `"confirm":false,`, `"confirm":"true",`, `"confirm":1,`, `"confirm":[true],`, `"confirm":null,`, `"confirm":{"a":true},`} {
		w := &world{}
		reply := w.bind(tool.Destroys).Invoke(context.Background(), request(`{`+confirm+`"name":"x"}`))
		if reply.Fault == nil || reply.Fault.Text != tool.ConfirmText || reply.Fault.Kind != fault.Invalid {
			t.Errorf("%q: %+v", confirm, reply)
		}
		if len(w.events) != 1 || w.events[0].Reason != fault.ConfirmMissing || w.events[0].Outcome != fault.Denied {
			t.Errorf("%q: events %+v", confirm, w.events)
		}
	}
	for _, confirm := range []string{`"Confirm":true,`, `"confirm":true,"confirm":true,`, `"confirm":false,"confirm":true,`} {
		reply := (&world{}).bind(tool.Destroys).Invoke(context.Background(), request(`{`+confirm+`"name":"x"}`))
		if reply.Fault == nil || reply.Fault.Reason != fault.InvalidArguments {
			t.Errorf("%q: %+v", confirm, reply)
		}
	}
}

func TestTheEventIsTheContract(t *testing.T) {
	w := &world{}
	w.bind(tool.Destroys).Invoke(context.Background(), request(`{"name":"x"}`))
	got, err := json.Marshal(w.events[0])
	if err != nil {
		t.Fatal(err)
	}
	var event map[string]any
	if err := json.Unmarshal(got, &event); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"tool": "echo", "outcome": "denied", "reason": "destructive_flag_missing",
		"scopes_provided": []any{"issues:write"}, "timestamp": "2025-06-22T15:30:00Z",
	} {
		if diff := cmp.Diff(want, event[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAChangeThatCommittedItsEventIsNotRecordedTwice(t *testing.T) {
	w := &world{commit: true}
	w.bind(tool.Writes).Invoke(context.Background(), request(`{"name":"x"}`))
	if want := []string{"open store", "handle store", "commit"}; !slices.Equal(w.steps, want) {
		t.Errorf("steps %q", w.steps)
	}
	if len(w.events) != 1 || w.events[0].Outcome != fault.Success || !slices.Equal(w.events[0].Changed, []string{"title"}) {
		t.Errorf("events %+v", w.events)
	}
}

func TestWhatCannotBeRecordedIsWithheld(t *testing.T) {
	for _, e := range effects {
		w := &world{logErr: errors.New("disk full")}
		reply := w.bind(e).Invoke(context.Background(), request(confirmed(e, `{"name":"x"}`)))
		if reply.Value != nil || reply.Fault == nil || reply.Fault.Kind != fault.Internal || reply.Fault.Text != fault.InternalText {
			t.Errorf("%v: %+v", e, reply)
		}
	}
	// A conflict under the call's own key means that a commit in doubt had happened.
	w := &world{logErr: &table.Conflict{Failed: []int{0}}}
	if reply := w.bind(tool.Writes).Invoke(context.Background(), request(`{"name":"x"}`)); reply.Fault != nil {
		t.Errorf("in doubt: %+v", reply)
	}
}

func TestPanicsAndPlainErrorsLeakNothing(t *testing.T) {
	for _, w := range []*world{{panics: true}, {fail: errors.New("boom with a secret")}} {
		for _, e := range effects {
			w.events = nil
			reply := w.bind(e).Invoke(context.Background(), request(confirmed(e, `{"name":"x"}`)))
			if reply.Fault == nil || strings.Contains(string(reply.Fault.PublicJSON("c1")), "secret") {
				t.Errorf("%v: %+v", e, reply)
			}
			if len(w.events) != 1 || w.events[0].Outcome != fault.Failed || w.events[0].Reason != fault.ReasonInternal {
				t.Errorf("%v: events %+v", e, w.events)
			}
		}
	}
}

func TestALateCallIsStillRecorded(t *testing.T) {
	w := &world{}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w.fail = ctx.Err()
	if reply := w.bind(tool.Reads).Invoke(ctx, request(`{"name":"x"}`)); reply.Fault == nil || len(w.events) != 1 {
		t.Errorf("reply %+v events %d", reply, len(w.events))
	}
}

func TestStrictDecoding(t *testing.T) {
	deep := strings.Repeat(`[`, 40) + strings.Repeat(`]`, 40)
	cases := map[string]string{ // arguments: field
		`[]`: "", `"x"`: "", `null`: "", `{`: "", `{"name":"x"} {}`: "", `{"name":"x"}]`: "", "{\"name\":\"\xff\"}": "",
		`{"name":"\ud800"}`:                           "",
		`{}`:                                          "name",
		`{"name":null}`:                               "name",
		`{"name":7}`:                                  "name",
		`{"name":"  "}`:                               "name",
		`{"name":"a\nb"}`:                             "name",
		`{"name":"a\u0000b"}`:                         "name",
		`{"name":"x","name":"y"}`:                     "",
		`{"name":"x","Name":"y"}`:                     "Name",
		`{"NAME":"x"}`:                                "NAME",
		`{"name":"x","limit":0}`:                      "limit",
		`{"name":"x","limit":101}`:                    "limit",
		`{"name":"x","limit":1.5}`:                    "limit",
		`{"name":"x","limit":"5"}`:                    "limit",
		`{"name":"x","tags":["todo","todo"]}`:         "tags",
		`{"name":"x","tags":["TODO"]}`:                "tags",
		`{"name":"x","tags":[null]}`:                  "tags",
		`{"name":"x","tags":"todo"}`:                  "tags",
		`{"name":"x","text":" "}`:                     "text",
		`{"name":"x","text":null}`:                    "text",
		`{"name":"x","confirm":true}`:                 "confirm",
		`{"name":"x","dry_run":true}`:                 "dry_run",
		`{"name":"x","<script>":1}`:                   "",
		`{"name":"x","tags":` + deep + `}`:            "tags",
		`{"name":"` + strings.Repeat("a", 501) + `"}`: "name",
		`{"name":"` + strings.Repeat("a", tool.MaxArguments) + `"}`: "",
	}
	for arguments, field := range cases {
		w := &world{}
		reply := w.bind(tool.Reads).Invoke(context.Background(), request(arguments))
		if reply.Fault == nil || reply.Fault.Reason != fault.InvalidArguments {
			t.Errorf("%.60s: %+v", arguments, reply)
			continue
		}
		got, _ := reply.Fault.Member("field").(string)
		if got != field {
			t.Errorf("%.60s: field %q, want %q (%s)", arguments, got, field, reply.Fault.Text)
		}
		if len(w.events) != 1 || w.events[0].Reason != fault.InvalidArguments {
			t.Errorf("%.60s: events %+v", arguments, w.events)
		}
	}
	if reply := (&world{}).bind(tool.Reads).Invoke(context.Background(), request(` {"name":" x ","tags":[]} `)); reply.Fault != nil {
		t.Errorf("good arguments: %+v", reply.Fault)
	}
}

func TestErrorsDoNotRepeatValues(t *testing.T) {
	const secret = "s3cr3t-value"
	for _, arguments := range []string{
		`{"name":"x","tags":["` + secret + `"]}`, `{"name":"x","limit":"` + secret + `"}`, `{"name":{"` + secret + `":1}}`,
		`{"name":"x","` + secret + `":1}`, `{"name":"` + secret + `\n"` + `,"limit":0}`, `{"name":"` + secret + `" ` + secret,
	} {
		w := &world{}
		reply := w.bind(tool.Reads).Invoke(context.Background(), request(arguments))
		if reply.Fault == nil || strings.Contains(string(reply.Fault.PublicJSON("c")), secret) {
			t.Errorf("%s: %s", arguments, reply.Fault)
		}
		if event, _ := json.Marshal(w.events); strings.Contains(string(event), secret) {
			t.Errorf("%s: event %s", arguments, event)
		}
	}
}

func TestDigest(t *testing.T) {
	digest := func(e tool.Effect, arguments string) string {
		w := &world{}
		w.bind(e).Invoke(context.Background(), request(arguments))
		return w.events[0].ArgumentsDigest
	}
	same := digest(tool.Writes, `{"name":"x","limit":5}`)
	if !strings.HasPrefix(same, "sha256:") || len(same) != 7+64 {
		t.Errorf("digest %q", same)
	}
	if got := digest(tool.Writes, "{ \"limit\" : 5,\n\"idempotency_key\":\"k\", \"name\":\"\\u0078\" }"); got != same {
		t.Error("equal arguments written differently differ")
	}
	if got := digest(tool.Writes, `{"name":"x","limit":6}`); got == same {
		t.Error("other arguments have the same digest")
	}
}

func TestIdempotencyKeyIsForThoseThatNeedIt(t *testing.T) {
	for _, key := range []string{`""`, `"a b"`, `"é"`, `7`, `"` + strings.Repeat("k", 256) + `"`} {
		reply := (&world{}).bind(tool.Writes).Invoke(context.Background(), request(`{"name":"x","idempotency_key":`+key+`}`))
		if reply.Fault == nil || reply.Fault.Member("field") != "idempotency_key" {
			t.Errorf("%s: %+v", key, reply)
		}
	}
	for _, e := range []tool.Effect{tool.Reads, tool.Destroys} {
		reply := (&world{}).bind(e).Invoke(context.Background(), request(confirmed(e, `{"name":"x","idempotency_key":"k"}`)))
		if reply.Fault == nil || reply.Fault.Reason != fault.InvalidArguments {
			t.Errorf("%v: %+v", e, reply)
		}
	}
}

func TestAnnotationsFollowFromTheConstructor(t *testing.T) {
	want := map[tool.Effect]tool.Annotations{
		tool.Reads:    {ReadOnlyHint: true, IdempotentHint: true},
		tool.Writes:   {},
		tool.Destroys: {DestructiveHint: true},
	}
	for _, e := range effects {
		d := (&world{}).bind(e).Definition()
		if diff := cmp.Diff(want[e], d.Annotations()); diff != "" {
			t.Errorf("%v: %s", e, diff)
		}
		if (d.Confirm() == "required") != (e == tool.Destroys) {
			t.Errorf("%v: confirm %s", e, d.Confirm())
		}
	}
}

func TestSchemasSayWhatDecodingDoes(t *testing.T) {
	d := (&world{}).bind(tool.Destroys).Definition()
	var in struct {
		Type                 string
		AdditionalProperties *json.RawMessage
		Required             []string
		Properties           map[string]map[string]any
	}
	if err := json.Unmarshal(d.InputSchema(), &in); err != nil {
		t.Fatal(err)
	}
	if in.Type != "object" || in.AdditionalProperties == nil || !slices.Equal(in.Required, []string{"name"}) {
		t.Errorf("%s", d.InputSchema())
	}
	for _, name := range []string{"name", "limit", "tags", "text", "confirm", "dry_run"} {
		if _, ok := in.Properties[name]["type"].(string); !ok {
			t.Errorf("%s has no single type: %v", name, in.Properties[name])
		}
	}
	if strings.Contains(string(d.OutputSchema()), "additionalProperties") {
		t.Errorf("the output is closed: %s", d.OutputSchema())
	}
}

func TestBadDeclarationsStopTheProgram(t *testing.T) {
	good := tool.Spec{Name: "a", Title: "A", Doc: "D", Scope: identity.IssuesRead}
	handle := func(context.Context, tracker.Reader, echoIn) (echoOut, error) { return echoOut{}, nil }
	type untagged struct{ Name string }
	for name, declare := range map[string]func(){
		"name":  func() { s := good; s.Name = "List-Issues"; tool.Read(s, handle) },
		"title": func() { s := good; s.Title = ""; tool.Read(s, handle) },
		"scope": func() { s := good; s.Scope = "root"; tool.Read(s, handle) },
		"untagged": func() {
			tool.Read(good, func(context.Context, tracker.Reader, untagged) (echoOut, error) { return echoOut{}, nil })
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", name)
				}
			}()
			declare()
		}()
	}
}
