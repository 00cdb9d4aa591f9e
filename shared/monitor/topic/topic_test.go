package topic_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/aacworkflow/mcp-connector/shared/monitor"
	"github.com/aacworkflow/mcp-connector/shared/monitor/topic"
)

const arn = "arn:aws:sns:eu-west-1:123456789012:findings"

// server answers as SNS does, and keeps what it was asked.
func server(t *testing.T, status int) (aws.Config, *url.Values) {
	t.Helper()
	var asked url.Values
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			asked, err = url.ParseQuery(string(body))
		}
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/xml")
		w.WriteHeader(status)
		if status == http.StatusOK {
			_, err = io.WriteString(w, `<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>m</MessageId></PublishResult></PublishResponse>`)
		} else {
			_, err = io.WriteString(w, `<ErrorResponse><Error><Code>AuthorizationError</Code><Message>no</Message></Error></ErrorResponse>`)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return aws.Config{
		Region: "eu-west-1", BaseEndpoint: aws.String(s.URL), Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
	}, &asked
}

func finding() monitor.Finding {
	at := time.Date(2025, 6, 22, 15, 30, 0, 0, time.UTC)
	return monitor.Finding{
		ID: "f1", Rule: monitor.DestructiveWithoutRead, Severity: monitor.Medium, WorkspaceID: "w1", Actor: "u1", Count: 1,
		Since: at, Until: at, EventIDs: []string{"e1"}, Text: "User u1 removed 1 thing not looked at before on 2025-06-22 at 15:30:00 UTC.", Raised: 1,
	}
}

func TestPublish(t *testing.T) {
	cfg, asked := server(t, http.StatusOK)
	if err := topic.Open(cfg, arn).Publish(context.Background(), finding()); err != nil {
		t.Fatal(err)
	}
	subject, message := asked.Get("Subject"), asked.Get("Message")
	if asked.Get("Action") != "Publish" || asked.Get("TopicArn") != arn || subject != "AACWorkflow MCP audit: medium, destructive_without_read" {
		t.Errorf("%v", asked)
	}
	for _, want := range []string{finding().Text, `"event_ids": [`, `"finding_id": "f1"`, "docs/monitoring.md"} {
		if !strings.Contains(message, want) {
			t.Errorf("the message lacks %q:\n%s", want, message)
		}
	}
	if !strings.Contains(asked.Encode(), "Value.StringValue=medium") {
		t.Errorf("no attribute to filter by: %v", asked)
	}
}

// TestSubjectFits holds the subject of every rule to what SNS takes: printable ASCII, at most 100.
func TestSubjectFits(t *testing.T) {
	cfg, asked := server(t, http.StatusOK)
	for _, r := range monitor.Rules() {
		f := finding()
		f.Rule, f.Severity = r.Name, r.Severity
		if err := topic.Open(cfg, arn).Publish(context.Background(), f); err != nil {
			t.Fatal(err)
		}
		subject := asked.Get("Subject")
		if len(subject) == 0 || len(subject) > 100 || strings.ContainsFunc(subject, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("subject %q", subject)
		}
	}
}

func TestPublishFails(t *testing.T) {
	cfg, _ := server(t, http.StatusForbidden)
	if err := topic.Open(cfg, arn).Publish(context.Background(), finding()); err == nil {
		t.Error("a refusal is no error")
	}
}
