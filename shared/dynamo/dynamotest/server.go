// Package dynamotest gives tests a DynamoDB: a real engine behind the real HTTP API (Start), or
// one that answers what the test tells it (Script).
//
// It is for tests alone. The engine, dynoxide, knows no IAM, no throttling and no conflicts
// between transactions; those answers come from scripts.
package dynamotest

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
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

// Start starts an engine that ends with the test. Start one for a top-level test and make a
// Conn for each of its cases: that takes milliseconds.
func Start(t testing.TB) *Server {
	t.Helper()
	program, err := find()
	if err != nil {
		t.Fatal(err)
	}
	// Between finding a free port and using it another program may take it: then the next.
	const tries = 5
	for range tries {
		endpoint, startErr := start(t, program)
		if startErr == nil {
			return &Server{endpoint: endpoint}
		}
		err = startErr
	}
	t.Fatalf("%s does not start: %v", program, err)
	return nil
}

// find looks for the engine where `make tools` puts it, then on the PATH.
func find() (string, error) {
	const name = "dynoxide"
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			return "", errors.New("no go.mod above the working directory: run the test inside the module")
		}
		dir = filepath.Dir(dir)
	}
	program := filepath.Join(dir, ".tools", "bin", name)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if program, err := exec.LookPath(name); err == nil {
		return program, nil
	}
	return "", fmt.Errorf("%s, the DynamoDB engine of the tests, is not installed: run make tools", name)
}

// start returns when the engine listens, or has ended instead.
func start(t testing.TB, program string) (endpoint string, err error) {
	port, err := freePort()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(program, "--host", "127.0.0.1", "--port", port)
	out, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	// It says on stderr that it listens, once it does.
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		if strings.Contains(lines.Text(), "listening on") {
			go drain(lines)
			t.Cleanup(func() { stop(t, cmd) })
			return "http://127.0.0.1:" + port, nil
		}
		said = append(said, lines.Text())
	}
	return "", errors.Join(cmd.Wait(), errors.New(strings.Join(said, "\n")))
}

// drain reads on, so that the engine never blocks on a full pipe.
func drain(lines *bufio.Scanner) {
	for lines.Scan() {
	}
}

func stop(t testing.TB, cmd *exec.Cmd) {
	if err := cmd.Process.Kill(); err != nil {
		t.Errorf("stop the engine: %v", err)
	}
	_ = cmd.Wait() // its error is that it was killed
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
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
	if err := createTables(context.Background(), dynamodb.New(options), tables); err != nil {
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
