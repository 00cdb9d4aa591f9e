package dynamo_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/aacworkflow/mcp-connector/shared/dynamo"
)

// lateReader is an HTTP client that, like Go's, asks a body for more when the SDK has closed it.
type lateReader struct{ last func() error }

func (l *lateReader) Do(req *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, io.LimitReader(req.Body, req.ContentLength)); err != nil {
		return nil, err
	}
	l.last = func() error { _, err := io.Copy(io.Discard, req.Body); return err }
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

func TestPlainBody(t *testing.T) {
	for name, tt := range map[string]struct {
		options []func(*middleware.Stack) error
		want    error
	}{
		"with":    {[]func(*middleware.Stack) error{dynamo.PlainBody}, nil},
		"without": {nil, io.EOF}, // once this is nil too, PlainBody is no longer needed
	} {
		client := &lateReader{}
		api := dynamodb.New(dynamodb.Options{
			Region: "eu-west-1", Credentials: aws.AnonymousCredentials{}, HTTPClient: client, APIOptions: tt.options,
		})
		if _, err := api.ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := client.last(); got != tt.want {
			t.Errorf("%s PlainBody: reading on gives %v, want %v", name, got, tt.want)
		}
	}
}
