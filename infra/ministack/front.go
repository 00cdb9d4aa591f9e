package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/aacworkflow/mcp-connector/infra/smoke"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// runChecks checks a stand whose data are fresh. The feed comes last: it looks at what the
// others left in the audit table.
func runChecks(ctx context.Context, s *stand) error {
	c := smoke.New(s.url(), s.access.Tokens)
	c.Check("the data table is as package schema says", func() error { return s.checkTable(ctx, table.Data, s.ids[dataTable]) })
	c.Check("the audit table is as package schema says", func() error { return s.checkTable(ctx, table.Audit, s.ids[auditTable]) })
	c.Check("the stream", func() error { return s.checkStream(ctx) })
	c.Check("the feed of the monitor", func() error { return s.checkFeed(ctx) })
	c.Basics(ctx)
	checkFront(ctx, c)
	c.Clients(ctx, s.file())
	c.Check("every event is in the stream once", func() error { return s.checkRecords(ctx) })
	c.Check("the monitor counts every event", func() error { return s.checkCounted(ctx) })
	c.Check("somebody is told of a changed event", func() error { return s.checkTampering(ctx) })
	return c.Report()
}

// checkFront checks what the API itself answers, with the template's gateway responses.
func checkFront(ctx context.Context, c *smoke.Checker) {
	wrong := smoke.Call("list_issues", "", `{}`)
	wrong.Header = map[string]string{"Authorization": "Bearer aac_pat_00000000000000000000000000000000000000000000"}
	for name, r := range map[string]smoke.Request{"no token": smoke.Call("list_issues", "", `{}`), "a wrong token": wrong} {
		c.Check(name, func() error {
			a, err := c.Send(ctx, r)
			if err != nil {
				return err
			}
			challenge := a.Header.Get("WWW-Authenticate")
			if a.Status != http.StatusUnauthorized || a.Body["reason"] != "unauthenticated" || a.Header.Get("Cache-Control") != "no-store" ||
				!strings.Contains(challenge, `resource_metadata="`+publicBaseURL+`/.well-known/oauth-protected-resource/mcp"`) || strings.Contains(challenge, "error=") {
				return fmt.Errorf("status %d, %v, WWW-Authenticate: %s", a.Status, a.Body, challenge)
			}
			return nil
		})
	}
	for _, t := range catalog.Writers() {
		c.Check("a token without the scope: "+t.Name, func() error {
			a, err := c.Send(ctx, smoke.Call(t.Name, "reader", `{"issue_id":"AAC-42","title":"No","confirm":true}`))
			if err == nil && (a.Status != http.StatusForbidden || a.Body["unfilled"] != "$context.authorizer.body") {
				err = fmt.Errorf("status %d, %v", a.Status, a.Body)
			}
			return err
		})
	}
	for name, r := range map[string]smoke.Request{
		"no such route": {Method: http.MethodGet, Path: "/nothing", Token: "editor"},
		"no such tool":  smoke.Call("nothing", "editor", `{}`),
		"a slash more":  {Method: http.MethodGet, Path: "/tools/", Token: "editor"},
	} {
		c.Check(name, func() error { _, err := c.Want(ctx, http.StatusNotFound, r); return err })
	}
}
