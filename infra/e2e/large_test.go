package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/gateway"
)

// TestLargestAnswers reads what the tools' limits allow at the most, in the way that takes most
// room: text that is escaped in JSON, in a string, in JSON.
func TestLargestAnswers(t *testing.T) {
	f := startFailing(t)
	quotes := strings.Repeat(`\"`, 32<<10)
	f.works("a description", callOf(rest, "owner", "update_issue", `{"issue_id":"AAC-42","description":"`+quotes+quotes+`"}`))
	for range 8 {
		f.works("a comment", callOf(rest, "owner", "comment_issue", `{"issue_id":"AAC-42","content":"/note `+quotes[:len(quotes)-20]+`"}`))
	}
	for _, d := range []door{rest, modern, legacy} {
		for tool, arguments := range map[string]string{
			"get_issue": readIssue, "list_comments": `{"issue_id":"AAC-42","direction":"desc"}`, "list_issues": `{"limit":100}`,
		} {
			a := f.works(tool, callOf(d, "owner", tool, arguments))
			t.Logf("%s over %s: %d bytes", tool, d, len(a.body))
		}
	}
}

// TestTooLarge has a function answer more than Lambda passes on: the caller reads the one text
// of an internal error, and the log says why.
func TestTooLarge(t *testing.T) {
	f := largeFunction(t)
	front, err := gateway.New(gateway.API{
		Routes:        []gateway.Route{{Method: http.MethodGet, Path: "/", Function: f, Public: true}},
		PublicBaseURL: "https://mcp.example.com", RequestID: uuid.NewString, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	const limit = 6<<20 - 64<<10 // less what goes around it
	for _, tt := range []struct{ bytes, status int }{{limit - 1024, 200}, {limit + 1, 500}, {maxPayload * 2, 500}, {1, 200}} {
		a := get(t, front, fmt.Sprintf("/?bytes=%d", tt.bytes))
		if a.status != tt.status || tt.status == 200 && len(a.body) != tt.bytes {
			t.Errorf("an answer of %d bytes: status %d, %d bytes; want status %d", tt.bytes, a.status, len(a.body), tt.status)
		}
		if tt.status != 200 && !strings.Contains(a.body, fault.InternalText) {
			t.Errorf("an answer of %d bytes became %s", tt.bytes, a.body)
		}
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(f.log.String(), "answer too large for Lambda"); n != 2 {
		t.Errorf("the log tells of %d answers that are too large, want 2:\n%s", n, f.log.String())
	}
}

// largeFunction builds testdata/large and makes a function of it.
func largeFunction(t *testing.T) *function {
	t.Helper()
	program := filepath.Join(t.TempDir(), "bootstrap")
	cmd := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", program, "./testdata/large")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f := &function{
		name: "large", timeout: 20 * time.Second, memory: "512", settings: map[string]string{},
		program: program, rie: programs.rie, client: http.DefaultClient, turn: make(chan struct{}, 1),
	}
	t.Cleanup(func() {
		if err := f.close(); err != nil {
			t.Error(err)
		}
	})
	return f
}
