package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aacworkflow/mcp-connector/infra/smoke"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
)

// sam local takes a container for ready when its port is open, which Docker opens before the
// function's emulator listens; on a busy machine the first call is then lost, and answered 502
// (aws-sam-cli 1.164 tries three times in a third of a second). So every function is called,
// with what changes nothing, until it answers.

// warmTries is how often a function may fail to start.
const warmTries = 10

// warmAPI starts the functions of all routes.
func (c *checker) warmAPI(ctx context.Context) {
	for _, r := range c.routes("owner") {
		if r.Method == http.MethodPost {
			r.Body = "[]" // no arguments, and no message of MCP
		}
		c.Check("starts: "+r.Method+" "+r.Path, func() error { return c.warm(ctx, func() error { return c.answers(ctx, r) }) })
	}
}

// warmLambda starts the functions of the tools as the MCP function reaches them.
func (c *checker) warmLambda(ctx context.Context) {
	for _, d := range catalog.All() {
		c.Check("starts for the MCP function: "+d.Name, func() error {
			return c.warm(ctx, func() error {
				_, err := c.refusesNobody(ctx, d.Name)
				return err
			})
		})
	}
}

func (c *checker) answers(ctx context.Context, r smoke.Request) error {
	a, err := c.Send(ctx, r)
	if err == nil && a.Status >= http.StatusInternalServerError {
		err = fmt.Errorf("status %d: %v", a.Status, a.Body)
	}
	return err
}

func (c *checker) warm(ctx context.Context, call func() error) (err error) {
	for range warmTries {
		if err = call(); err == nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
	return errors.Join(fmt.Errorf("%d calls failed", warmTries), err)
}
