package lambdarun_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

var quiet = slog.New(slog.DiscardHandler)

// consumer keeps what it is handed and answers as it is told.
type consumer struct {
	got      []monitor.Record
	failed   []string
	deadline time.Time
	panics   bool
}

func (c *consumer) Consume(ctx context.Context, records []monitor.Record) []string {
	if c.panics {
		panic("a bug")
	}
	c.got = append(c.got, records...)
	c.deadline, _ = ctx.Deadline()
	return c.failed
}

// failures decodes an answer as Lambda does: by exact names, where an answer without them counts
// as success.
func failures(t *testing.T, answer []byte) (ids []string) {
	t.Helper()
	var r struct {
		BatchItemFailures *[]struct {
			ItemIdentifier string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if err := json.Unmarshal(answer, &r); err != nil || r.BatchItemFailures == nil {
		t.Fatalf("%s: %v", answer, err)
	}
	for _, f := range *r.BatchItemFailures {
		ids = append(ids, f.ItemIdentifier)
	}
	return ids
}

func TestFeed(t *testing.T) {
	payload, err := os.ReadFile(filepath.Join("testdata", "kinesis.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := &consumer{failed: []string{"49545115243490985018280067714973144582180062593244200962"}}
	answer, err := lambdarun.Feed(c, quiet).Invoke(context.Background(), payload)
	if err != nil {
		t.Fatal(err)
	}
	want := []monitor.Record{
		{Sequence: "49545115243490985018280067714973144582180062593244200961", Data: []byte("Hello, this is a test 123.")},
		{Sequence: "49545115243490985018280067714973144582180062593244200962"}, // not base64
		{Sequence: "49545115243490985018280067714973144582180062593244200963", Data: []byte("{}")},
	}
	if diff := cmp.Diff(want, c.got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := failures(t, answer); !slices.Equal(got, c.failed) {
		t.Errorf("answered %s", answer)
	}
	if answer, err = lambdarun.Feed(&consumer{}, quiet).Invoke(context.Background(), payload); err != nil || string(answer) != `{"batchItemFailures":[]}` {
		t.Errorf("answered %s, %v", answer, err)
	}
}

// TestFeedFails: what an answer cannot say must be an error, for Lambda takes an answer that it
// does not understand for success.
func TestFeedFails(t *testing.T) {
	for name, payload := range map[string]string{
		"no JSON": `{`, "no batch": `{}`, "null": `null`, "a record without a number": `{"Records":[{"kinesis":{"data":""}}]}`,
		"records that are none": `{"Records":{"a":1}}`, "a record that is none": `{"Records":[7]}`,
	} {
		c := &consumer{}
		if answer, err := lambdarun.Feed(c, quiet).Invoke(context.Background(), []byte(payload)); err == nil || c.got != nil {
			t.Errorf("%s: %s, consumed %v", name, answer, c.got)
		}
	}
	if answer, err := lambdarun.Feed(&consumer{panics: true}, quiet).Invoke(context.Background(), []byte(`{"Records":[]}`)); err == nil || strings.Contains(err.Error(), "a bug") {
		t.Errorf("a panic: %s, %v", answer, err)
	}
}

func TestFeedLeavesTimeToAnswer(t *testing.T) {
	deadline := time.Now().Add(time.Minute)
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	c := &consumer{}
	if _, err := lambdarun.Feed(c, quiet).Invoke(ctx, []byte(`{"Records":[]}`)); err != nil || !c.deadline.Before(deadline) {
		t.Errorf("works until %v of %v, %v", c.deadline, deadline, err)
	}
}

// TestFeedEvent is the way there and back.
func TestFeedEvent(t *testing.T) {
	at := time.Date(2025, 6, 22, 15, 30, 0, 0, time.UTC)
	want := []monitor.Record{{Sequence: "1", Data: []byte("a")}, {Sequence: "2", Data: []byte{0, 255}}}
	payload, c := lambdarun.FeedEvent(want, at), &consumer{}
	if _, err := lambdarun.Feed(c, quiet).Invoke(context.Background(), payload); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, c.got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	var event events.KinesisEvent
	if err := json.Unmarshal(payload, &event); err != nil || !event.Records[0].Kinesis.ApproximateArrivalTimestamp.Equal(at) {
		t.Errorf("%v, %s", err, payload)
	}
}

// TestTheMonitorKnowsTheNames: what the authorizer records without a tool has a word in the
// metrics.
func TestTheMonitorKnowsTheNames(t *testing.T) {
	for _, name := range lambdarun.NamesWithoutTool {
		if !slices.Contains(monitor.OtherCalls, name) {
			t.Errorf("metrics call %s unknown: add it to monitor.OtherCalls", name)
		}
	}
}
