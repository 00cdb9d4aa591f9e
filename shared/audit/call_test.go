package audit_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

var began = time.Date(2025, 6, 22, 15, 30, 0, 123456789, time.UTC)

// log keeps items by key, as an engine does.
type log struct {
	items map[table.Key]table.Item
	err   error
}

func (l *log) Append(_ context.Context, item table.Item) error {
	if l.err != nil {
		return l.err
	}
	if _, taken := l.items[item.Key]; taken {
		return &table.Conflict{Failed: []int{0}}
	}
	l.items[item.Key] = item
	return nil
}

func newLog() *log { return &log{items: map[table.Key]table.Item{}} }

func (l *log) only(t *testing.T) audit.Event {
	t.Helper()
	if len(l.items) != 1 {
		t.Fatalf("%d events, want 1", len(l.items))
	}
	var e audit.Event
	for _, item := range l.items {
		if err := json.Unmarshal(item.Doc, &e); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func begin(start audit.Start) *audit.Call {
	now := began
	return audit.Settings{
		Now:       func() time.Time { now = now.Add(5 * time.Millisecond); return now },
		NewID:     func() string { return "01JYC0000000000000000000AA" },
		Retention: 48 * time.Hour,
	}.Begin(start)
}

func start() audit.Start {
	return audit.Start{
		Principal: &identity.Principal{WorkspaceID: "w1", UserID: "u1", TokenID: "t1", Scopes: []identity.Scope{identity.IssuesRead}},
		Tool:      "get_issue", Recorder: "get_issue", Required: []identity.Scope{identity.IssuesRead}, Transport: audit.MCP, CallID: "c1",
	}
}

func TestRecordedOnceHoweverTheCallEnds(t *testing.T) {
	l, ctx := newLog(), context.Background()
	call := begin(start())
	if err := call.Record(ctx, l, nil); err != nil || !call.Recorded() {
		t.Fatalf("record: %v", err)
	}
	if err := call.Record(ctx, l, errors.New("late")); err != nil {
		t.Fatal(err)
	}
	if e := l.only(t); e.Outcome != fault.Success || e.Reason != "" {
		t.Errorf("%+v", e)
	}
}

// A commit that timed out may have happened: the event that is there stands.
func TestInDoubtTheCommittedEventStands(t *testing.T) {
	l, ctx := newLog(), context.Background()
	call := begin(start())
	op, err := call.CommitOp([]string{"title"})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Append(ctx, op.Item); err != nil { // it did happen
		t.Fatal(err)
	}
	if err := call.Record(ctx, l, errors.New("time-out")); err != nil {
		t.Fatal(err)
	}
	if e := l.only(t); e.Outcome != fault.Success || len(e.Changed) != 1 {
		t.Errorf("%+v", e)
	}
}

func TestInDoubtAndNotCommittedIsAnError(t *testing.T) {
	l := newLog()
	call := begin(start())
	if _, err := call.CommitOp([]string{"title"}); err != nil {
		t.Fatal(err)
	}
	if err := call.Record(context.Background(), l, errors.New("time-out")); err != nil {
		t.Fatal(err)
	}
	if e := l.only(t); e.Outcome != fault.Failed || e.Changed != nil || e.Reason != fault.ReasonInternal {
		t.Errorf("%+v", e)
	}
}

func TestACallThatCannotBeRecordedSaysSo(t *testing.T) {
	l := newLog()
	l.err = errors.New("disk full")
	call := begin(start())
	if err := call.Record(context.Background(), l, nil); err == nil || call.Recorded() {
		t.Errorf("err %v recorded %v", err, call.Recorded())
	}
}

func TestTheFaultDecidesOutcomeReasonAndDetail(t *testing.T) {
	l := newLog()
	err := fault.New(fault.Forbidden, fault.NotPermitted, "no").Noting(fault.TargetMissing)
	if err := begin(start()).Record(context.Background(), l, err); err != nil {
		t.Fatal(err)
	}
	if e := l.only(t); e.Outcome != fault.Denied || e.Reason != fault.NotPermitted || e.Detail != fault.TargetMissing {
		t.Errorf("%+v", e)
	}
}

func TestWhereAnEventIsKept(t *testing.T) {
	l := newLog()
	call := begin(start())
	if err := call.Record(context.Background(), l, nil); err != nil {
		t.Fatal(err)
	}
	for key, item := range l.items {
		if key.Table != table.Audit || key.PK != "T#get_issue#w1#2025-06-22" || !strings.HasPrefix(key.SK, "2025-06-22T15:30:00.") {
			t.Errorf("key %+v", key)
		}
		if got := item.Index[table.ByWorkspace]; got.PK != "W#w1#2025-06-22" || got.SK != key.SK {
			t.Errorf("index %+v", got)
		}
		if kept := item.ExpiresAt.Sub(began); kept < 48*time.Hour || kept > 49*time.Hour {
			t.Errorf("kept for %v", kept)
		}
	}
}

// Whatever a caller says of itself is cut and cleaned, so that it can be shown anywhere.
func TestWhatCallersWriteIsCutAndCleaned(t *testing.T) {
	s := start()
	s.Tool = strings.Repeat("x", 5000)
	s.Client = audit.Client{Name: "evil\x1b[2J\u202e\u2066\n" + strings.Repeat("é", 500), Version: "1\x00"}
	s.TraceID, s.SourceIP, s.CallID = strings.Repeat("t", 5000), strings.Repeat("1", 5000), strings.Repeat("c", 5000)
	l := newLog()
	if err := begin(s).Record(context.Background(), l, nil); err != nil {
		t.Fatal(err)
	}
	e := l.only(t)
	if strings.ContainsAny(e.Client.Name+e.Client.Version, "\x1b\x00\n\u202e\u2066") {
		t.Errorf("client %q", e.Client)
	}
	if doc, _ := json.Marshal(e); len(doc) > 1500 {
		t.Errorf("an event of %d bytes", len(doc))
	}
}
