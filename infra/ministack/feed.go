package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/aacworkflow/mcp-connector/infra/seed"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/schema"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

// The way of an event: audit table, streaming destination, stream, event source mapping,
// monitor, and for a finding the topic.

// arrives bounds the wait for what is delivered in its own time.
const arrives = time.Minute

// eventually waits until f returns no error.
func eventually(ctx context.Context, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, arrives)
	defer cancel()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// arn makes the ARN of a resource of MiniStack's account.
func arn(service, resource string) string {
	return "arn:aws:" + service + ":" + seed.Region + ":000000000000:" + resource
}

// enableFeed turns the streaming destination on, as the template says of the audit table:
// MiniStack's CloudFormation passes that over.
func (s *stand) enableFeed(ctx context.Context) error {
	var answer struct{ DestinationStatus string }
	return s.call(ctx, "DynamoDB_20120810.EnableKinesisStreamingDestination", map[string]any{
		"TableName": s.ids[auditTable], "StreamArn": arn("kinesis", "stream/"+s.ids[auditStream]),
		"EnableKinesisStreamingConfiguration": map[string]any{"ApproximateCreationDateTimePrecision": "MICROSECOND"},
	}, &answer)
}

// rows are the keys of the audit table, by the id of their event.
func (s *stand) rows(ctx context.Context) (map[string]map[string]types.AttributeValue, error) {
	rows := map[string]map[string]types.AttributeValue{}
	pages := dynamodb.NewScanPaginator(s.data.API, &dynamodb.ScanInput{TableName: aws.String(s.data.Tables.Audit)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			id, ok := item["event_id"].(*types.AttributeValueMemberS)
			if !ok {
				return nil, errors.New("a row of the audit table has no event_id")
			}
			rows[id.Value] = map[string]types.AttributeValue{schema.PK: item[schema.PK], schema.SK: item[schema.SK]}
		}
	}
	if len(rows) == 0 {
		return nil, errors.New("the audit table is empty")
	}
	return rows, nil
}

// checkRecords compares the stream with the table: each row is there once, as the monitor reads
// it.
func (s *stand) checkRecords(ctx context.Context) error {
	rows, err := s.rows(ctx)
	if err != nil {
		return err
	}
	records, err := s.records(ctx)
	if err != nil {
		return err
	}
	seen := map[string]int{}
	for _, data := range records {
		change, err := monitor.Decode(data)
		if err != nil {
			return fmt.Errorf("a record cannot be read: %w", err)
		}
		if change.Kind != monitor.Recorded || rows[change.Event.EventID] == nil {
			return fmt.Errorf("a record is of kind %d, event %s; want only events that are in the table", change.Kind, change.Event.EventID)
		}
		seen[change.Event.EventID]++
	}
	if len(seen) != len(rows) || len(records) != len(rows) {
		return fmt.Errorf("%d rows, %d records of %d events", len(rows), len(records), len(seen))
	}
	return nil
}

// records are the data of all records in the stream.
func (s *stand) records(ctx context.Context) (all [][]byte, err error) {
	var shard struct{ ShardIterator string }
	err = s.call(ctx, "Kinesis_20131202.GetShardIterator", map[string]any{
		"StreamName": s.ids[auditStream], "ShardId": "shardId-000000000000", "ShardIteratorType": "TRIM_HORIZON",
	}, &shard)
	for err == nil {
		var page struct {
			Records           []struct{ Data []byte }
			NextShardIterator string
		}
		if err = s.call(ctx, "Kinesis_20131202.GetRecords", map[string]any{"ShardIterator": shard.ShardIterator}, &page); err != nil {
			break
		}
		if len(page.Records) == 0 {
			return all, nil
		}
		for _, r := range page.Records {
			all = append(all, r.Data)
		}
		shard.ShardIterator = page.NextShardIterator
	}
	return nil, err
}

// checkCounted waits until the monitor has counted as many calls as there are rows.
func (s *stand) checkCounted(ctx context.Context) error {
	rows, err := s.rows(ctx)
	if err != nil {
		return err
	}
	return eventually(ctx, func() error {
		counted, err := s.counted(ctx)
		if err == nil && counted != len(rows) {
			err = fmt.Errorf("%d calls counted of %d events", counted, len(rows))
		}
		return err
	})
}

// counted adds up the metric Calls in the log of the functions, all in the namespace of the stack.
func (s *stand) counted(ctx context.Context) (sum int, err error) {
	in := map[string]any{"logGroupName": s.ids[functionLog], "filterPattern": "_aws"}
	for {
		var page struct {
			Events    []struct{ Message string }
			NextToken string
		}
		if err := s.call(ctx, "Logs_20140328.FilterLogEvents", in, &page); err != nil {
			return 0, err
		}
		for _, e := range page.Events {
			var line struct {
				AWS struct {
					CloudWatchMetrics []struct{ Namespace string }
				} `json:"_aws"`
				Calls int
			}
			if err := json.Unmarshal([]byte(e.Message), &line); err != nil {
				return 0, fmt.Errorf("a line of metrics cannot be read: %w", err)
			}
			for _, m := range line.AWS.CloudWatchMetrics {
				if want := monitor.Namespace + "/" + stackName; m.Namespace != want {
					return 0, fmt.Errorf("the namespace of a metric is %s, want %s", m.Namespace, want)
				}
			}
			sum += line.Calls
		}
		if page.NextToken == "" {
			return sum, nil
		}
		in["nextToken"] = page.NextToken
	}
}

// checkTampering changes an event as no role of the connector may, and waits for the message to
// a subscriber of the findings' topic.
func (s *stand) checkTampering(ctx context.Context) error {
	const queue = "findings"
	var made struct{ QueueUrl string }
	if err := s.call(ctx, "AmazonSQS.CreateQueue", map[string]any{"QueueName": queue}, &made); err != nil {
		return err
	}
	subscribe := url.Values{"Action": {"Subscribe"}, "Version": {"2010-03-31"}, "TopicArn": {s.ids[findingsTopic]},
		"Protocol": {"sqs"}, "Endpoint": {arn("sqs", queue)}}
	if _, err := s.do(ctx, http.MethodGet, "/?"+subscribe.Encode(), "sns", ""); err != nil {
		return err
	}
	rows, err := s.rows(ctx)
	if err != nil {
		return err
	}
	for id, key := range rows {
		return errors.Join(s.tamper(ctx, key), eventually(ctx, func() error { return s.received(ctx, made.QueueUrl, id) }))
	}
	return nil
}

func (s *stand) tamper(ctx context.Context, key map[string]types.AttributeValue) error {
	_, err := s.data.API.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(s.data.Tables.Audit), Key: key, UpdateExpression: aws.String("SET outcome = :o"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":o": &types.AttributeValueMemberS{Value: "changed"}},
	})
	return err
}

// received looks for a message of tampering with an event.
func (s *stand) received(ctx context.Context, queue, eventID string) error {
	var answer struct{ Messages []struct{ Body string } }
	if err := s.call(ctx, "AmazonSQS.ReceiveMessage", map[string]any{"QueueUrl": queue, "MaxNumberOfMessages": 10}, &answer); err != nil {
		return err
	}
	for _, m := range answer.Messages {
		if strings.Contains(m.Body, "audit_tampering") && strings.Contains(m.Body, eventID) {
			return nil
		}
	}
	return fmt.Errorf("%d messages, none of them of tampering with the event", len(answer.Messages))
}
