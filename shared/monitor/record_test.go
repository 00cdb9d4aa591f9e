package monitor_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

// TestDecodeDocumentedForm reads a record written by hand after the documentation of the
// streaming destination, in both precisions.
func TestDecodeDocumentedForm(t *testing.T) {
	want := audit.Event{
		Tool: "delete_issue", Outcome: fault.Denied, Reason: fault.ConfirmMissing, ScopesProvided: []string{"issues:write"},
		Timestamp: time.Date(2025, 6, 22, 15, 30, 0, 123456000, time.UTC),
		EventID:   "01JYC0000000000000000000AA", CallID: "c1", WorkspaceID: "w1", Actor: "u1", TokenID: "t1",
		Client: audit.Client{Name: "tests", Version: "1.0"}, Transport: audit.MCP, Recorder: "delete_issue",
		ScopesRequired: []string{}, DurationMS: 7, SourceIP: "192.0.2.1",
	}
	for file, at := range map[string]time.Time{
		"testdata/microseconds.json": time.Date(2025, 6, 22, 15, 30, 0, 200001000, time.UTC),
		"testdata/milliseconds.json": time.Date(2025, 6, 22, 15, 30, 0, 200000000, time.UTC),
	} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := monitor.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(monitor.Change{Kind: monitor.Recorded, ID: "e1", Event: want, At: at}, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", file, diff)
		}
	}
}

// TestRecordOf is the way there and back.
func TestRecordOf(t *testing.T) {
	w := newWorld(t)
	item := w.record(call{at: start.Add(123456 * time.Microsecond), tool: "update_issue", target: "issue/1", changed: []string{"status", "title"}, took: 5 * time.Millisecond})
	var want audit.Event
	if err := json.Unmarshal(item.Doc, &want); err != nil {
		t.Fatal(err)
	}
	data, err := monitor.RecordOf(item, start, false)
	if err != nil {
		t.Fatal(err)
	}
	got, err := monitor.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Event); diff != "" || !got.At.Equal(start) || got.Kind != monitor.Recorded || got.Replay {
		t.Errorf("%+v: -want +got\n%s", got, diff)
	}
	if data, err = monitor.ReplayOf(want, start); err != nil {
		t.Fatal(err)
	}
	replayed, err := monitor.Decode(data)
	if err != nil || !replayed.Replay || !cmp.Equal(want, replayed.Event) {
		t.Errorf("%+v, %v", replayed, err)
	}
	item.Doc = json.RawMessage("[")
	if _, err := monitor.RecordOf(item, start, false); err == nil {
		t.Error("an item that is no JSON made a record")
	}
}

// FuzzDecode requires that whatever comes is read or set aside with a reason.
func FuzzDecode(f *testing.F) {
	for _, file := range []string{"testdata/microseconds.json", "testdata/milliseconds.json", "testdata/expired.json"} {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"eventSource":"aws:dynamodb","eventName":"REMOVE","dynamodb":{"ApproximateCreationDateTime":1,"Keys":{"pk":{"S":"T#x#w"}}}}`))
	f.Add([]byte(`{"eventSource":"aws:dynamodb","eventName":"INSERT","dynamodb":{"ApproximateCreationDateTime":1e3,"NewImage":{"a":{"L":[{"M":{"b":{"N":"-1.5E2"}}}]}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		change, err := monitor.Decode(data)
		var p *monitor.Poison
		if err != nil && (!errors.As(err, &p) || p.Reason == "") {
			t.Errorf("an error without a reason: %v", err)
		}
		if err == nil && (change.Event.WorkspaceID == "" || change.At.IsZero()) {
			t.Errorf("%+v", change)
		}
	})
}

func TestDecodeExpiry(t *testing.T) {
	data, err := os.ReadFile("testdata/expired.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := monitor.Decode(data)
	if err != nil || got.Kind != monitor.Expired {
		t.Errorf("%+v, %v", got, err)
	}
}
