package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// function is one function with the one instance of it that there is. The instance starts with
// the first call, and takes one call at a time, as instances on Lambda do.
type function struct {
	logicalID string
	name      string // in AWS
	timeout   time.Duration
	memory    string // MB
	settings  map[string]string
	program   string // its path
	rie       string // that of the emulator
	client    *http.Client

	turn     chan struct{} // held by who calls
	mu       sync.Mutex    // of what is below
	instance *instance
	closed   bool
	log      log
}

// maxPayload is the largest event, and the largest answer. Source: AWS Lambda quotas.
const maxPayload = 6 << 20

// functionError is a call that the function, or Lambda on its behalf, says has failed. Its text
// is the errorMessage, which API Gateway reads of an authorizer.
type functionError struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

func (e *functionError) Error() string { return e.Message }

// errTooLarge is an event that Lambda would not take.
var errTooLarge = errors.New("the payload is larger than 6 MB")

// Invoke calls the function and waits for its answer, or for its time-out.
func (f *function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	if len(payload) > maxPayload {
		return nil, errTooLarge
	}
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	i, err := f.started(ctx)
	if err != nil {
		return nil, err
	}
	return f.send(ctx, i, payload)
}

// started returns the instance, and starts it if there is none.
func (f *function) started(ctx context.Context) (*instance, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, errors.New("the system is closed")
	}
	if f.instance != nil {
		return f.instance, nil
	}
	var err error
	f.instance, err = startInstance(ctx, f.rie, f.program, f.environment(), &f.log)
	return f.instance, err
}

// environment is all that the process gets: what Lambda says, what the template says, and the
// endpoints of this machine.
func (f *function) environment() []string {
	env := []string{
		"AWS_LAMBDA_FUNCTION_NAME=" + f.name,
		fmt.Sprintf("AWS_LAMBDA_FUNCTION_TIMEOUT=%d", int(f.timeout/time.Second)),
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=" + f.memory,
		"AWS_LAMBDA_LOG_FORMAT=JSON",
	}
	for name, value := range f.settings {
		env = append(env, name+"="+value)
	}
	return env
}

func (f *function) send(ctx context.Context, i *instance, payload []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, i.url, bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", f.name, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", f.name, err)
	}
	if failed := failureOf(resp.StatusCode, answer); failed != nil {
		return nil, failed
	}
	return answer, nil
}

// timedOut is how the emulator's words of a time-out begin. It has no header for a failure: an
// error of a function is told by its members, which no answer of ours has.
const timedOut = "Task timed out after "

func failureOf(status int, answer []byte) *functionError {
	if bytes.HasPrefix(answer, []byte(timedOut)) {
		return &functionError{Type: "Sandbox.Timedout", Message: strings.TrimSpace(string(answer))}
	}
	var failed functionError
	if err := json.Unmarshal(answer, &failed); err == nil && failed.Type != "" {
		return &failed
	}
	if status != http.StatusOK {
		return &functionError{Type: "Runtime.Unknown", Message: fmt.Sprintf("the function did not answer (status %d): see its log", status)}
	}
	return nil
}

// pid returns the process of the function itself, 0 if it has none.
func (f *function) pid() (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.instance == nil {
		return 0, nil
	}
	return f.instance.child()
}

// close stops the instance, for good.
func (f *function) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.instance == nil {
		return nil
	}
	return f.instance.stop()
}

// log keeps what a function and its emulator print.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
