package fault_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
)

func TestEveryKindHasACompleteRow(t *testing.T) {
	names := map[string]bool{}
	for _, k := range fault.Kinds() {
		row := k.Row()
		if row.Name == "" || row.Meaning == "" || row.Status < 400 || row.Outcome == "" || row.Outcome == fault.Success {
			t.Errorf("kind %d has an incomplete row: %+v", k, row)
		}
		if names[row.Name] {
			t.Errorf("two kinds are named %s", row.Name)
		}
		names[row.Name] = true
		if got := fault.KindNamed(row.Name); got != k {
			t.Errorf("KindNamed(%s) = %v", row.Name, got)
		}
	}
	if len(names) != 7 {
		t.Errorf("saw %d kinds; a new kind needs a row here and in the docs", len(names))
	}
	if k := fault.Kind(99); k.Status() != 500 {
		t.Errorf("a kind outside the table answers %d, want 500", k.Status())
	}
}

func TestOnlyOurFaultIsAnError(t *testing.T) {
	for _, k := range fault.Kinds() {
		if isError := k.Row().Outcome == fault.Failed; isError != (k == fault.Internal) {
			t.Errorf("%v has outcome %s", k, k.Row().Outcome)
		}
	}
}

func TestPlainErrorsAreInternalAndMute(t *testing.T) {
	secret := errors.New("password of the database")
	f := fault.Of(fmt.Errorf("read issue: %w", secret))
	if f.Kind != fault.Internal || f.Text != fault.InternalText || !errors.Is(f, secret) {
		t.Errorf("Of(plain) = %+v", f)
	}
	if got := string(f.PublicJSON("c1")); got != `{"error":"`+fault.InternalText+`","reason":"internal","call_id":"c1"}` {
		t.Errorf("public form: %s", got)
	}
}

func TestFaultIsFoundInAChain(t *testing.T) {
	inner := fault.New(fault.Conflict, fault.LimitReached, "too many").With("limit", 50)
	f := fault.Of(fmt.Errorf("create: %w", inner))
	if f != inner {
		t.Fatalf("Of did not find the fault")
	}
	if got := string(f.PublicJSON("")); got != `{"error":"too many","reason":"limit_reached","limit":50}` {
		t.Errorf("public form: %s", got)
	}
}

func TestCopiesDoNotShareMembers(t *testing.T) {
	base := fault.New(fault.Invalid, fault.InvalidArguments, "x").With("a", 1)
	one, two := base.With("b", 1), base.With("c", 2)
	if one.Member("c") != nil || two.Member("b") != nil || len(base.Members) != 1 {
		t.Error("With changed a sibling")
	}
}

func TestJSONRPC(t *testing.T) {
	f := fault.New(fault.Forbidden, fault.InsufficientScope, "insufficient_scope").With("scope", "a:b")
	const err = `"error":{"code":403,"message":"ask \"them\"","data":{"error":"insufficient_scope","reason":"insufficient_scope","scope":"a:b","call_id":"c1"}}}`
	for id, want := range map[string]string{"": `{"jsonrpc":"2.0",` + err, `"x"`: `{"jsonrpc":"2.0","id":"x",` + err, "7": `{"jsonrpc":"2.0","id":7,` + err} {
		if got := string(f.JSONRPC([]byte(id), 403, `ask "them"`, "c1")); got != want {
			t.Errorf("id %s:\n got %s\nwant %s", id, got, want)
		}
	}
}

func TestBetweenFunctions(t *testing.T) {
	f := fault.New(fault.RateLimited, fault.Contention, "try again").With("choices", []string{"a", "b"}).
		Noting(fault.TargetMissing).Because(errors.New("hidden"))
	f.RetryAfter = 1500 * time.Millisecond
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var g fault.Fault
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	if string(g.PublicJSON("c")) != string(f.PublicJSON("c")) {
		t.Errorf("%s became %s", f.PublicJSON("c"), g.PublicJSON("c"))
	}
	if g.Detail != "" || errors.Unwrap(&g) != nil {
		t.Error("detail or cause crossed the wire")
	}
	if f.RetryAfterSeconds() != 2 {
		t.Errorf("RetryAfterSeconds = %d, want 2", f.RetryAfterSeconds())
	}
}

func TestReasonsBelongToAKind(t *testing.T) {
	if len(fault.Reasons()) < 20 {
		t.Fatalf("saw only %d reasons", len(fault.Reasons()))
	}
	for _, r := range fault.Reasons() {
		if _, ok := fault.KindOfReason(r); !ok {
			t.Errorf("%s has no kind", r)
		}
	}
	if _, ok := fault.KindOfReason("made_up"); ok {
		t.Error("a made-up reason has a kind")
	}
}
