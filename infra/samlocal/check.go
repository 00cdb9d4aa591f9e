package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// runChecks checks a stack whose data are fresh.
func runChecks(ctx context.Context, st *stack) error {
	c := &checker{stack: st, http: &http.Client{Timeout: time.Minute}}
	c.check("public route", func() error { _, err := c.want(ctx, 200, request{method: "GET", path: "/health"}); return err })
	c.check("list of tools", func() error {
		_, err := c.want(ctx, 200, request{method: "GET", path: "/tools", token: "reader"})
		return err
	})
	for tool, arguments := range map[string]string{
		"list_issues": `{"limit":2}`, "get_issue": `{"issue_id":"AAC-42"}`, "list_comments": `{"issue_id":"AAC-42"}`,
		"dashboard_usage_daily": `{"days":7}`,
	} {
		c.check(tool, func() error { _, err := c.want(ctx, 200, call(tool, "reader", arguments)); return err })
	}
	c.check("a deletion is refused, then confirmed, then as it was", func() error { return c.deletion(ctx) })
	c.check("the official clients' walk", func() error { return c.clients(ctx) })
	c.refusals(ctx)
	fmt.Printf("%d passed, %d failed\n", c.passed, c.failed)
	if c.failed > 0 {
		return errors.New("some checks failed")
	}
	return ctx.Err()
}

// checker counts.
type checker struct {
	stack          *stack
	http           *http.Client
	passed, failed int
}

func (c *checker) check(name string, f func() error) {
	begin := time.Now()
	if err := f(); err != nil {
		c.failed++
		fmt.Printf("FAIL %s: %v\n", name, err)
		return
	}
	c.passed++
	fmt.Printf("ok   %s (%.1fs)\n", name, time.Since(begin).Seconds())
}

// request is one to the REST API.
type request struct {
	method, path string
	token        string            // whose, by the keys of local.json; empty for none
	header       map[string]string // more headers
	body         string
}

// call is a call of a tool by REST.
func call(tool, token, arguments string) request {
	return request{method: "POST", path: "/tools/" + tool, token: token, body: arguments}
}

// send sends a request and returns the status and the JSON object that is the answer.
func (c *checker) send(ctx context.Context, r request) (int, map[string]any, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.stack.url()+r.path, strings.NewReader(r.body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.stack.access.Tokens[r.token])
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	return answerOf(c.http.Do(req))
}

func answerOf(resp *http.Response, err error) (int, map[string]any, error) {
	if err != nil {
		return 0, nil, err
	}
	content, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return 0, nil, err
	}
	var body map[string]any
	if err := json.Unmarshal(content, &body); err != nil {
		return 0, nil, fmt.Errorf("status %d, and no JSON object: %w", resp.StatusCode, err)
	}
	return resp.StatusCode, body, nil
}

// want sends a request and compares the status.
func (c *checker) want(ctx context.Context, status int, r request) (map[string]any, error) {
	got, body, err := c.send(ctx, r)
	if err == nil && got != status {
		err = fmt.Errorf("%s %s: status %d, want %d: %v", r.method, r.path, got, status, body["error"])
	}
	return body, err
}

// deletion makes an issue and deletes it, in the ways that are refused and in the one that is not.
func (c *checker) deletion(ctx context.Context) error {
	made, err := c.want(ctx, 200, call("create_issue", "editor", `{"title":"To be deleted"}`))
	if err != nil {
		return err
	}
	issue, _ := made["issue"].(map[string]any)
	id := fmt.Sprint(issue["identifier"])
	arguments := func(more string) string { return fmt.Sprintf(`{"issue_id":%q%s}`, id, more) }
	for _, more := range []string{``, `,"confirm":false`, `,"confirm":"true"`} {
		refused, err := c.want(ctx, 400, call("delete_issue", "editor", arguments(more)))
		if err != nil {
			return err
		}
		if refused["error"] != "confirm: true required for destructive operations" {
			return fmt.Errorf("refused with %v", refused)
		}
	}
	if _, err := c.want(ctx, 200, call("get_issue", "editor", arguments(``))); err != nil {
		return fmt.Errorf("after the refusals: %w", err)
	}
	first, err := c.want(ctx, 200, call("delete_issue", "editor", arguments(`,"confirm":true`)))
	if err != nil {
		return err
	}
	second, err := c.want(ctx, 200, call("delete_issue", "editor", arguments(`,"confirm":true`)))
	if err != nil {
		return err
	}
	if first["deleted"] != true || fmt.Sprint(first) != fmt.Sprint(second) {
		return fmt.Errorf("deleted as %v, then as %v", first, second)
	}
	_, err = c.want(ctx, 404, call("get_issue", "editor", arguments(``)))
	return err
}

// clients lets the walk of infra/clients go through the stack: initialize, tools/list and
// tools/call with every token in both eras, and the audit log compared with the calls.
func (c *checker) clients(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "run", "./infra/clients", "-local", c.stack.file)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = os.Environ()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, lastLines(out.Bytes(), 5))
	}
	return nil
}
