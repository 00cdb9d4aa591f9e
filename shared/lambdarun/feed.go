package lambdarun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

// FeedConsumer takes what a stream brings, and returns the sequences of the records that failed.
type FeedConsumer interface {
	Consume(ctx context.Context, records []monitor.Record) (failed []string)
}

// answerFor is the time that is left for the answer when the work is cut off.
const answerFor = time.Second

// Feed consumes batches of a Kinesis stream. It answers with the records that failed, which the
// event source mapping delivers again from the first of them on (ReportBatchItemFailures) and at
// last sets aside (OnFailure). An event that cannot be read at all, and a panic, are an error:
// the mapping then halves the batch (BisectBatchOnFunctionError).
// Source: AWS Lambda Developer Guide, "Using Lambda to process records from Amazon Kinesis Data
// Streams".
func Feed(c FeedConsumer, logger *slog.Logger) Handler {
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		answer, err := caught(func() ([]byte, error) { return feed(ctx, c, payload) })
		if err != nil {
			logger.ErrorContext(ctx, "feed failed", "error", err.Error())
			return nil, errors.New("the feed failed; see its log")
		}
		return answer, nil
	}
}

func feed(ctx context.Context, c FeedConsumer, payload []byte) ([]byte, error) {
	records, err := recordsOf(payload)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-answerFor))
		defer cancel()
	}
	answer := events.KinesisEventResponse{BatchItemFailures: []events.KinesisBatchItemFailure{}}
	for _, sequence := range c.Consume(ctx, records) {
		answer.BatchItemFailures = append(answer.BatchItemFailures, events.KinesisBatchItemFailure{ItemIdentifier: sequence})
	}
	return encode(answer), nil
}

// recordsOf reads the records one by one, so that a broken one breaks no other. Without a
// sequence number nothing can be said about a record: an answer that names none would count as
// success.
func recordsOf(payload []byte) ([]monitor.Record, error) {
	var event struct{ Records []json.RawMessage }
	if err := json.Unmarshal(payload, &event); err != nil || event.Records == nil {
		return nil, errors.New("the payload is no batch of a Kinesis stream: check the event source mapping")
	}
	records := make([]monitor.Record, len(event.Records))
	for i, raw := range event.Records {
		var r events.KinesisEventRecord
		if err := json.Unmarshal(raw, &r); err != nil {
			r = events.KinesisEventRecord{Kinesis: events.KinesisRecord{SequenceNumber: sequenceOf(raw)}}
		}
		if r.Kinesis.SequenceNumber == "" {
			return nil, fmt.Errorf("record %d of the batch has no sequence number", i)
		}
		records[i] = monitor.Record{Sequence: r.Kinesis.SequenceNumber, Data: r.Kinesis.Data}
	}
	return records, nil
}

// sequenceOf looks for no more than the sequence number of a record.
func sequenceOf(raw json.RawMessage) string {
	var r struct {
		Kinesis struct {
			SequenceNumber string `json:"sequenceNumber"`
		} `json:"kinesis"`
	}
	_ = json.Unmarshal(raw, &r) // what it could read is what there is
	return r.Kinesis.SequenceNumber
}

// FeedEvent makes the event that Lambda hands over for these records: for local mode, replays and
// tests, which have no stream.
func FeedEvent(records []monitor.Record, at time.Time) []byte {
	event := events.KinesisEvent{Records: make([]events.KinesisEventRecord, len(records))}
	for i, r := range records {
		event.Records[i] = events.KinesisEventRecord{
			EventID: "shardId-000000000000:" + r.Sequence, EventName: "aws:kinesis:record", EventSource: "aws:kinesis", EventVersion: "1.0",
			Kinesis: events.KinesisRecord{
				ApproximateArrivalTimestamp: events.SecondsEpochTime{Time: at}, Data: r.Data,
				PartitionKey: r.Sequence, SequenceNumber: r.Sequence, KinesisSchemaVersion: "1.0",
			},
		}
	}
	return encode(event)
}
