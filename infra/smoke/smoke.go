// Package smoke checks a connector that runs somewhere behind HTTP, with the demo data: that its
// parts are there and work together.
//
// It is not for what a tool does; the cases below shared/tools are. Start with Checker.
package smoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/infra/proc"
)

// Checker checks one system, and counts.
type Checker struct {
	// OnFailure is called after a check that failed; nil for nothing.
	OnFailure func()

	url            string
	tokens         map[string]string
	http           *http.Client
	passed, failed int
}

// New makes a checker of the system at a URL, with its tokens by the keys of local.json.
func New(url string, tokens map[string]string) *Checker {
	return &Checker{url: url, tokens: tokens, http: &http.Client{Timeout: time.Minute}}
}

// Report prints how many checks passed, and returns an error if one failed.
func (c *Checker) Report() error {
	fmt.Printf("%d passed, %d failed\n", c.passed, c.failed)
	if c.failed > 0 {
		return errors.New("some checks failed")
	}
	return nil
}

// Check runs a check and prints how it went.
func (c *Checker) Check(name string, f func() error) {
	begin := time.Now()
	if err := f(); err != nil {
		c.failed++
		fmt.Printf("FAIL %s: %v\n", name, err)
		if c.OnFailure != nil {
			c.OnFailure()
		}
		return
	}
	c.passed++
	fmt.Printf("ok   %s (%.1fs)\n", name, time.Since(begin).Seconds())
}

// Request is one to the REST API.
type Request struct {
	Method, Path string
	Token        string            // whose, by the keys of local.json; empty for none
	Header       map[string]string // more headers
	Body         string
}

// Call is a call of a tool by REST.
func Call(tool, token, arguments string) Request {
	return Request{Method: http.MethodPost, Path: "/tools/" + tool, Token: token, Body: arguments}
}

// Answer is what a system answers.
type Answer struct {
	Status int
	Header http.Header
	Body   map[string]any
}

// Send sends a request. An answer that is no JSON object is an error.
func (c *Checker) Send(ctx context.Context, r Request) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, c.url+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return Answer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if r.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.tokens[r.Token])
	}
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, err
	}
	return AnswerOf(resp)
}

// AnswerOf reads an answer.
func AnswerOf(resp *http.Response) (Answer, error) {
	content, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return Answer{}, err
	}
	a := Answer{Status: resp.StatusCode, Header: resp.Header}
	if err := json.Unmarshal(content, &a.Body); err != nil {
		return a, fmt.Errorf("status %d, and no JSON object: %w", resp.StatusCode, err)
	}
	return a, nil
}

// Want sends a request, compares the status and returns what is answered.
func (c *Checker) Want(ctx context.Context, status int, r Request) (map[string]any, error) {
	a, err := c.Send(ctx, r)
	if err == nil && a.Status != status {
		err = fmt.Errorf("%s %s: status %d, want %d: %v", r.Method, r.Path, a.Status, status, a.Body["error"])
	}
	return a.Body, err
}

// Basics checks the public route, the list of tools, every reading tool, and a deletion.
func (c *Checker) Basics(ctx context.Context) {
	for name, r := range map[string]Request{
		"public route": {Method: http.MethodGet, Path: "/health"}, "list of tools": {Method: http.MethodGet, Path: "/tools", Token: "reader"},
		"list_issues": Call("list_issues", "reader", `{"limit":2}`), "get_issue": Call("get_issue", "reader", `{"issue_id":"AAC-42"}`),
		"list_comments":         Call("list_comments", "reader", `{"issue_id":"AAC-42"}`),
		"dashboard_usage_daily": Call("dashboard_usage_daily", "reader", `{"days":7}`),
	} {
		c.Check(name, func() error { _, err := c.Want(ctx, http.StatusOK, r); return err })
	}
	c.Check("a deletion is refused, then confirmed, then as it was", func() error { return c.deletion(ctx) })
}

// deletion makes an issue and deletes it, in the ways that are refused and in the one that is not.
func (c *Checker) deletion(ctx context.Context) error {
	made, err := c.Want(ctx, http.StatusOK, Call("create_issue", "editor", `{"title":"To be deleted"}`))
	if err != nil {
		return err
	}
	issue, _ := made["issue"].(map[string]any)
	id := fmt.Sprint(issue["identifier"])
	arguments := func(more string) string { return fmt.Sprintf(`{"issue_id":%q%s}`, id, more) }
	for _, more := range []string{``, `,"confirm":false`, `,"confirm":"true"`} {
		refused, err := c.Want(ctx, http.StatusBadRequest, Call("delete_issue", "editor", arguments(more)))
		if err != nil {
			return err
		}
		if refused["error"] != "confirm: true required for destructive operations" {
			return fmt.Errorf("refused with %v", refused)
		}
	}
	if _, err := c.Want(ctx, http.StatusOK, Call("get_issue", "editor", arguments(``))); err != nil {
		return fmt.Errorf("after the refusals: %w", err)
	}
	first, err := c.Want(ctx, http.StatusOK, Call("delete_issue", "editor", arguments(`,"confirm":true`)))
	if err != nil {
		return err
	}
	second, err := c.Want(ctx, http.StatusOK, Call("delete_issue", "editor", arguments(`,"confirm":true`)))
	if err != nil {
		return err
	}
	if first["deleted"] != true || fmt.Sprint(first) != fmt.Sprint(second) {
		return fmt.Errorf("deleted as %v, then as %v", first, second)
	}
	_, err = c.Want(ctx, http.StatusNotFound, Call("get_issue", "editor", arguments(``)))
	return err
}

// Clients lets the walk of infra/clients go through the system that a local.json tells of:
// initialize, tools/list and tools/call with every token in both eras, and the audit log compared
// with the calls.
func (c *Checker) Clients(ctx context.Context, file string) {
	c.Check("the official clients' walk", func() error {
		cmd := exec.CommandContext(ctx, "go", "run", "./infra/clients", "-local", file)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, proc.LastLines(out, 5))
		}
		return nil
	})
}
