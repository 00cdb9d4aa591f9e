// Package dynamotest gives tests a DynamoDB: a real engine behind the real HTTP API (Start), or
// one that answers what the test tells it (Script).
//
// It is for tests alone. The engine, dynoxide, knows no IAM, no throttling and no conflicts
// between transactions; those answers come from scripts.
package dynamotest

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/aacworkflow/mcp-connector/shared/dynamo"
)

const (
	region    = "eu-west-1"
	accessKey = "test"
)

// Server is a running engine, on a loopback port, with its data in memory.
type Server struct{ endpoint string }

// elsewhere names a variable with the URL of another engine, on loopback, to be used instead of
// starting one: for a second opinion.
const elsewhere = "AAC_TEST_DYNAMODB"

// Start starts an engine that ends with the test. Start one for a top-level test and make a
// Conn for each of its cases: that takes milliseconds.
func Start(t testing.TB) *Server {
	t.Helper()
	if endpoint := os.Getenv(elsewhere); endpoint != "" {
		if !strings.HasPrefix(endpoint, "http://127.0.0.1:") {
			t.Fatalf("%s must begin with http://127.0.0.1: the tests make and change tables there", elsewhere)
		}
		return &Server{endpoint: endpoint}
	}
	engine, err := Launch("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Stop(); err != nil {
			t.Errorf("stop the engine: %v", err)
		}
	})
	return &Server{endpoint: engine.Endpoint}
}

// Conn makes two new, empty tables and a connection to them, which does not try again by
// itself. Change may alter the client, for example to add a middleware.
func (s *Server) Conn(t testing.TB, change ...func(*dynamodb.Options)) dynamo.Conn {
	t.Helper()
	suffix := "-" + rand.Text()
	tables := dynamo.Tables{Data: "data" + suffix, Audit: "audit" + suffix}
	options := dynamodb.Options{
		Region:       region,
		BaseEndpoint: aws.String(s.endpoint),
		Credentials:  credentials.NewStaticCredentialsProvider(accessKey, accessKey, ""),
		Retryer:      aws.NopRetryer{},
		APIOptions:   []func(*middleware.Stack) error{dynamo.PlainBody},
	}
	if err := CreateTables(context.Background(), dynamodb.New(options), tables); err != nil {
		t.Fatal(err)
	}
	return dynamo.Conn{API: dynamodb.New(options, change...), Tables: tables}
}

// Env is the environment with which a program, or dynamo.Connect, reaches the engine.
func (s *Server) Env() map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL_DYNAMODB": s.endpoint,
		"AWS_REGION":                region,
		"AWS_ACCESS_KEY_ID":         accessKey,
		"AWS_SECRET_ACCESS_KEY":     accessKey,
	}
}
