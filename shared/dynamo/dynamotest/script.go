package dynamotest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/aacworkflow/mcp-connector/shared/dynamo"
)

// Answer is one answer of a scripted DynamoDB.
type Answer struct {
	Status int    // 0 is 200
	Body   string // JSON of the API
	Err    error  // if set, no answer arrives but this
}

// Error is the answer by which DynamoDB refuses a call. Members may add to it:
// `"CancellationReasons":[…]`.
func Error(code, message string, members ...string) Answer {
	body := fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":%q`, code, message)
	for _, m := range members {
		body += "," + m
	}
	return Answer{Status: http.StatusBadRequest, Body: body + "}"}
}

// Request is one call as it went over the wire.
type Request struct {
	Operation string
	Body      map[string]any
}

// Requests are the calls so far.
type Requests struct {
	t       testing.TB
	mu      sync.Mutex
	answers []Answer
	seen    []Request
}

// All returns the calls so far, in order.
func (r *Requests) All() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen
}

// Script makes a connection to tables named "data" and "audit" that gives these answers in
// order. A call without an answer fails the test, and so does an answer without a call. Nothing
// is tried again unless change sets a Retryer.
func Script(t testing.TB, answers []Answer, change ...func(*dynamodb.Options)) (dynamo.Conn, *Requests) {
	t.Helper()
	r := &Requests{t: t, answers: answers}
	t.Cleanup(func() {
		if left := len(answers) - len(r.All()); left > 0 {
			t.Errorf("%d answers of the script were not asked for", left)
		}
	})
	api := dynamodb.New(dynamodb.Options{
		Region:      region,
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, accessKey, ""),
		Retryer:     aws.NopRetryer{},
		HTTPClient:  r,
	}, change...)
	return dynamo.Conn{API: api, Tables: dynamo.Tables{Data: "data", Audit: "audit"}}, r
}

// Do implements the HTTP client of the SDK.
func (r *Requests) Do(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	call := Request{Operation: operation}
	if err := json.NewDecoder(req.Body).Decode(&call.Body); err != nil {
		r.t.Errorf("body of %s: %v", operation, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, call)
	if len(r.seen) > len(r.answers) {
		r.t.Errorf("call %d, %s, has no answer in the script", len(r.seen), operation)
		return nil, io.ErrUnexpectedEOF
	}
	answer := r.answers[len(r.seen)-1]
	if answer.Err != nil {
		return nil, answer.Err
	}
	if answer.Status == 0 {
		answer.Status = http.StatusOK
	}
	return &http.Response{
		StatusCode: answer.Status,
		Header:     http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body:       io.NopCloser(strings.NewReader(answer.Body)),
		Request:    req,
	}, nil
}
