package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/aacworkflow/mcp-connector/infra/smoke"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
)

// What must be refused under sam local too, where it is not by the front door: sam local can be
// told to leave the authorizer out, leaves it out by itself if it does not find it, and lets the
// functions be called past the API. Nothing may come of it.

// refused are the statuses of a refusal. sam local answers 502 where API Gateway answers 401.
var refused = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusBadGateway}

// checker checks a stack whose data are fresh.
type checker struct {
	*smoke.Checker
	stack *stack
}

func runChecks(ctx context.Context, st *stack) error {
	c := &checker{smoke.New(st.url(), st.access.Tokens), st}
	c.OnFailure = st.printLog
	c.warmAPI(ctx)
	c.warmLambda(ctx)
	c.Basics(ctx)
	c.Clients(ctx, st.file)
	c.refusals(ctx)
	return errors.Join(c.Report(), ctx.Err())
}

// refusals checks that nothing that is refused changes anything.
func (c *checker) refusals(ctx context.Context) {
	before, err := c.contents(ctx)
	if err != nil {
		c.Check("read the tables", func() error { return err })
		return
	}
	c.byAuthorizer(ctx)
	c.pastTheAPI(ctx)
	c.Check("start without the authorizer", func() error { return c.stack.restartAPI(ctx, "--disable-authorizer") })
	c.warmAPI(ctx)
	c.withoutAuthorizer(ctx)
	c.Check("nothing changed by what was refused", func() error {
		after, err := c.contents(ctx)
		if err == nil && after != before {
			err = errors.New("the data table is another than before")
		}
		return err
	})
}

// byAuthorizer is what sam local's own front door refuses.
func (c *checker) byAuthorizer(ctx context.Context) {
	for _, r := range c.routes("") {
		c.Check("no token: "+r.Path, func() error { return c.refuse(ctx, r) })
	}
	for name, value := range map[string]string{
		"a wrong token": "Bearer aac_pat_00000000000000000000000000000000000000000000", "no token after Bearer": "Bearer ",
		"another scheme": "Basic " + c.stack.access.Tokens["owner"], "a list": "Bearer " + c.stack.access.Tokens["owner"] + ", Bearer x",
	} {
		r := smoke.Call("list_issues", "", `{}`)
		r.Header = map[string]string{"Authorization": value}
		c.Check(name, func() error { return c.refuse(ctx, r) })
	}
	for _, t := range catalog.Writers() {
		c.Check("a token without the scope: "+t.Name, func() error {
			return c.refuse(ctx, smoke.Call(t.Name, "reader", `{"issue_id":"AAC-42","title":"No","confirm":true}`))
		})
	}
}

// withoutAuthorizer calls every route with a token that would be allowed to, and with headers in
// which a client may try to say who it is. The functions take nobody's word but the authorizer's.
func (c *checker) withoutAuthorizer(ctx context.Context) {
	claim := `{"authorizer":{"workspace_id":"11f5a76a-e241-5457-b33c-c82f20dd2a40","user_id":"u","token_id":"t","role":"owner","scopes":"issues:read issues:write"}}`
	for _, r := range c.routes("owner") {
		r.Header = map[string]string{"X-GoLambdaProxy-ApiGw-Context": claim, "X-Amzn-Request-Context": claim}
		c.Check("no authorizer: "+r.Method+" "+r.Path, func() error {
			_, err := c.Want(ctx, http.StatusUnauthorized, r)
			return err
		})
	}
}

// routes are all routes that are not public, with arguments that would be accepted.
func (c *checker) routes(token string) []smoke.Request {
	all := []smoke.Request{
		{Method: "GET", Path: "/tools", Token: token}, {Method: "GET", Path: "/audit", Token: token},
		{Method: "POST", Path: "/mcp", Token: token, Body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_issues","arguments":{}}}`},
	}
	for _, d := range catalog.All() {
		all = append(all, smoke.Call(d.Name, token, `{"issue_id":"AAC-42","title":"No","content":"No","confirm":true}`))
	}
	return all
}

func (c *checker) refuse(ctx context.Context, r smoke.Request) error {
	a, err := c.Send(ctx, r)
	if err == nil && !slices.Contains(refused, a.Status) {
		err = fmt.Errorf("%s %s: status %d, want a refusal: %v", r.Method, r.Path, a.Status, a.Body)
	}
	return err
}

// pastTheAPI invokes the functions of the tools as whoever may reach the Lambda API could, with
// events in which the authorizer said no, or nothing, or nonsense.
func (c *checker) pastTheAPI(ctx context.Context) {
	whole := map[string]any{
		"workspace_id": "11f5a76a-e241-5457-b33c-c82f20dd2a40", "user_id": "u", "token_id": "t", "name": "n", "role": "owner",
		"can_step_up": "false", "scopes": "",
	}
	for name, authorizer := range map[string]any{
		"no authorizer": nil, "an empty authorizer": map[string]any{},
		"a Deny that was ignored": map[string]any{"wwwAuthenticate": `Bearer error="insufficient_scope"`, "requiredScope": "issues:write"},
		"scopes that are no text": with(whole, "scopes", []string{"issues:write"}), "a role that is none": with(whole, "role", "root"),
	} {
		c.invokeTools(ctx, name, authorizer, http.StatusUnauthorized)
	}
	c.invokeTools(ctx, "a token without scopes", whole, http.StatusForbidden)
	for _, d := range catalog.All() {
		c.Check("past the API, an envelope of nobody: "+d.Name, func() error {
			answer, err := c.refusesNobody(ctx, d.Name)
			if fault, _ := answer["fault"].(map[string]any); err == nil && fault["kind"] != "unauthenticated" {
				err = fmt.Errorf("answered %v, want a fault of the kind unauthenticated", answer)
			}
			return err
		})
	}
}

// refusesNobody invokes the function of a tool as the MCP function does, for no caller.
func (c *checker) refusesNobody(ctx context.Context, tool string) (map[string]any, error) {
	answer, err := c.invoke(ctx, tool, map[string]any{"principal": nil, "call_id": "c", "transport": "mcp",
		"arguments": map[string]any{"issue_id": "AAC-42", "confirm": true}})
	if err == nil && answer["fault"] == nil {
		err = fmt.Errorf("answered %v, want a fault", answer)
	}
	return answer, err
}

func with(m map[string]any, key string, value any) map[string]any {
	changed := map[string]any{key: value}
	for k, v := range m {
		if k != key {
			changed[k] = v
		}
	}
	return changed
}

func (c *checker) invokeTools(ctx context.Context, name string, authorizer any, want int) {
	for _, d := range catalog.All() {
		event := map[string]any{
			"httpMethod": "POST", "path": "/tools/" + d.Name, "headers": map[string]any{"Content-Type": "application/json"},
			"body":           `{"issue_id":"AAC-42","title":"No","content":"No","confirm":true}`,
			"requestContext": map[string]any{"requestId": "r", "authorizer": authorizer, "identity": map[string]any{"sourceIp": "127.0.0.1"}},
		}
		c.Check("past the API, "+name+": "+d.Name, func() error {
			answer, err := c.invoke(ctx, d.Name, event)
			if err == nil && answer["statusCode"] != float64(want) {
				err = fmt.Errorf("status %v, want %d: %v", answer["statusCode"], want, answer["body"])
			}
			return err
		})
	}
}

// invoke invokes the function of a tool by the Lambda API.
func (c *checker) invoke(ctx context.Context, tool string, payload any) (map[string]any, error) {
	content, err := json.Marshal(payload)
	if err != nil {
		return nil, err
	}
	url := "http://" + net.JoinHostPort(c.stack.address, c.stack.lambdaPort) + "/2015-03-31/functions/" + logicalID(tool) + "/invocations"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(string(content)))
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	a, err := smoke.AnswerOf(resp)
	return a.Body, err
}

// logicalID is the name of a tool's function in the template.
func logicalID(tool string) string {
	var id strings.Builder
	for word := range strings.SplitSeq(tool, "_") {
		id.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return id.String() + "Function"
}

// contents is all that is in the data table, as text.
func (c *checker) contents(ctx context.Context) (string, error) {
	var rows []string
	pages := dynamodb.NewScanPaginator(c.stack.data.API, &dynamodb.ScanInput{TableName: &c.stack.data.Tables.Data})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", err
		}
		for _, item := range page.Items {
			row, err := json.Marshal(item)
			if err != nil {
				return "", err
			}
			rows = append(rows, string(row))
		}
	}
	if len(rows) == 0 {
		return "", errors.New("the data table is empty")
	}
	slices.Sort(rows)
	return strings.Join(rows, "\n"), nil
}
