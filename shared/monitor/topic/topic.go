// Package topic tells people of findings through an Amazon SNS topic, by mail or to a program.
//
// It chooses nothing: the monitor does, and a subscription may filter by severity or rule. It is
// a package of its own so that only the monitor's program links SNS.
package topic

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

// Open makes a publisher to the topic with this ARN. It sends nothing.
func Open(cfg aws.Config, arn string) monitor.Publisher {
	return &Topic{client: sns.NewFromConfig(cfg), arn: arn}
}

// Topic is an SNS topic.
type Topic struct {
	client *sns.Client
	arn    string
}

// maxSubject is how long the subject of a mail may be. Source: Amazon SNS API Reference, Publish.
const maxSubject = 100 // characters, ASCII

// Publish implements monitor.Publisher. The message attributes let a subscription choose by severity or
// rule.
func (t *Topic) Publish(ctx context.Context, f monitor.Finding) error {
	_, err := t.client.Publish(ctx, &sns.PublishInput{
		TopicArn: aws.String(t.arn), Subject: aws.String(subjectOf(f)), Message: aws.String(messageOf(f)),
		MessageAttributes: map[string]types.MessageAttributeValue{
			"severity": {DataType: aws.String("String"), StringValue: aws.String(string(f.Severity))},
			"rule":     {DataType: aws.String("String"), StringValue: aws.String(string(f.Rule))},
		},
	})
	return err
}

// subjectOf holds words of ours alone, so it is ASCII.
func subjectOf(f monitor.Finding) string {
	s := fmt.Sprintf("AACWorkflow MCP audit: %s, %s", f.Severity, f.Rule)
	return s[:min(len(s), maxSubject)]
}

// messageOf is the sentence for people, then the finding for programs.
func messageOf(f monitor.Finding) string {
	doc, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return f.Text
	}
	return f.Text + "\n\nWhat to do: docs/monitoring.md, " + string(f.Rule) + ".\n\n" + string(doc) + "\n"
}
