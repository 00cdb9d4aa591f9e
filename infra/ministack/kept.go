package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/schema"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// What CloudFormation made of the template's tables, stream and feed.

// keyElement is a part of a key, in DynamoDB's words.
type keyElement struct{ AttributeName, KeyType string }

// description is what DynamoDB says of a table, as far as the connector depends on it.
type description struct {
	KeySchema              []keyElement
	GlobalSecondaryIndexes []struct {
		IndexName  string
		KeySchema  []keyElement
		Projection struct{ ProjectionType string }
	}
	BillingModeSummary struct{ BillingMode string }
}

// checkTable compares a table with package schema.
func (s *stand) checkTable(ctx context.Context, name table.Name, physical string) error {
	var answer struct{ Table description }
	if err := s.call(ctx, "DynamoDB_20120810.DescribeTable", map[string]any{"TableName": physical}, &answer); err != nil {
		return err
	}
	want, got := schema.For(name), answer.Table
	keys := map[string][]keyElement{"": keysOf(want.PK, want.SK)}
	for _, index := range want.Indexes {
		keys[index.Name] = keysOf(index.PK, index.SK)
	}
	found := map[string][]keyElement{"": got.KeySchema}
	for _, index := range got.GlobalSecondaryIndexes {
		found[index.IndexName] = index.KeySchema
		if index.Projection.ProjectionType != "ALL" {
			return fmt.Errorf("the index %s projects %s, want ALL", index.IndexName, index.Projection.ProjectionType)
		}
	}
	if diff := cmp.Diff(keys, found); diff != "" {
		return fmt.Errorf("keys (-want +got):\n%s", diff)
	}
	if got.BillingModeSummary.BillingMode != "PAY_PER_REQUEST" {
		return fmt.Errorf("billing mode %q, want PAY_PER_REQUEST", got.BillingModeSummary.BillingMode)
	}
	return nil
}

func keysOf(pk, sk string) []keyElement { return []keyElement{{pk, "HASH"}, {sk, "RANGE"}} }

// checkStream looks at the stream that the audit table feeds.
func (s *stand) checkStream(ctx context.Context) error {
	var answer struct {
		StreamDescriptionSummary struct {
			RetentionPeriodHours, OpenShardCount int
			StreamModeDetails                    struct{ StreamMode string }
		}
	}
	if err := s.call(ctx, "Kinesis_20131202.DescribeStreamSummary", map[string]any{"StreamName": s.ids[auditStream]}, &answer); err != nil {
		return err
	}
	got := answer.StreamDescriptionSummary
	if got.RetentionPeriodHours != 24 || got.OpenShardCount != 1 || got.StreamModeDetails.StreamMode != "PROVISIONED" {
		return fmt.Errorf("the stream is %+v, want one provisioned shard that keeps its records for 24 hours", got)
	}
	return nil
}

// checkFeed compares the event source mapping with what keeps a broken record from stopping it.
func (s *stand) checkFeed(ctx context.Context) error {
	content, err := s.do(ctx, http.MethodGet, "/2015-03-31/event-source-mappings/"+s.ids[auditFeed], "lambda", "")
	if err != nil {
		return err
	}
	var got struct {
		EventSourceArn, FunctionArn, State, StartingPosition string
		BatchSize, MaximumBatchingWindowInSeconds            int
		ParallelizationFactor, MaximumRetryAttempts          int
		MaximumRecordAgeInSeconds                            int
		BisectBatchOnFunctionError                           bool
		FunctionResponseTypes                                []string
		DestinationConfig                                    struct{ OnFailure struct{ Destination string } }
	}
	if err := json.Unmarshal(content, &got); err != nil {
		return err
	}
	var problems []error
	if !strings.HasSuffix(got.EventSourceArn, ":stream/"+s.ids[auditStream]) || !strings.HasSuffix(got.FunctionArn, ":"+s.ids[monitorFunction]) {
		problems = append(problems, fmt.Errorf("it leads from %s to %s", got.EventSourceArn, got.FunctionArn))
	}
	if !got.BisectBatchOnFunctionError || got.MaximumRetryAttempts < 1 || got.MaximumRecordAgeInSeconds < 1 {
		problems = append(problems, errors.New("a broken record would stop its shard"))
	}
	if cmp.Diff(got.FunctionResponseTypes, []string{"ReportBatchItemFailures"}) != "" || got.DestinationConfig.OnFailure.Destination == "" {
		problems = append(problems, errors.New("records that fail are not reported one by one, or not set aside"))
	}
	if got.State != "Enabled" || got.StartingPosition != "TRIM_HORIZON" {
		problems = append(problems, fmt.Errorf("it is %s, and begins at %s", got.State, got.StartingPosition))
	}
	return errors.Join(problems...)
}
