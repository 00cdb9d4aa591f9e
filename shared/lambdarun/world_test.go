package lambdarun_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

var now = time.Date(2025, 6, 22, 15, 30, 0, 0, time.UTC)

func principal(scopes ...identity.Scope) *identity.Principal {
	return &identity.Principal{WorkspaceID: "w1", UserID: "u1", TokenID: "t1", Name: "Ada", Role: identity.Member, Scopes: scopes}
}

// world is one tool, its log, and what was logged.
type world struct {
	t      *testing.T
	events []audit.Event
	logErr error
	log    bytes.Buffer
	calls  int
}

func newWorld(t *testing.T) *world { return &world{t: t} }

func (w *world) Append(_ context.Context, item table.Item) error {
	if w.logErr != nil {
		return w.logErr
	}
	var e audit.Event
	if err := json.Unmarshal(item.Doc, &e); err != nil {
		return err
	}
	w.events = append(w.events, e)
	return nil
}

func (w *world) Reader(*audit.Call) tracker.Reader { return nil }
func (w *world) Store(*audit.Call) tracker.Store   { return nil }

func (w *world) settings() audit.Settings {
	n := 0
	return audit.Settings{Now: func() time.Time { return now }, Retention: time.Hour, NewID: func() string { n++; return fmt.Sprint("E", n) }}
}

func (w *world) logger() *slog.Logger { return slog.New(slog.NewTextHandler(&w.log, nil)) }

func (w *world) oneEvent() audit.Event {
	w.t.Helper()
	if len(w.events) != 1 {
		w.t.Fatalf("%d events, want exactly one: %+v", len(w.events), w.events)
	}
	return w.events[0]
}

type echoIn struct {
	Text tracker.Content `json:"text"`
	How  tracker.Title   `json:"how,omitempty"`
}

type echoOut struct {
	Text string `json:"text"`
}

// bound is a destructive tool, so that every step of the pipeline is there. The argument how
// says what shall happen.
func (w *world) bound() *tool.Bound {
	act := func(in echoIn) (echoOut, error) {
		w.calls++
		switch in.How {
		case "conflict":
			return echoOut{}, fault.New(fault.Conflict, fault.LimitReached, "too many").With("limit", 3)
		case "slow":
			f := fault.New(fault.RateLimited, fault.Contention, "try again")
			f.RetryAfter = 1500 * time.Millisecond
			return echoOut{}, f
		case "broken":
			return echoOut{}, errors.New("secret of the storage")
		case "panic":
			panic("secret of the handler")
		case "large":
			return echoOut{strings.Repeat("x", 7<<20)}, nil
		}
		return echoOut{string(in.Text)}, nil
	}
	spec := tool.Spec{Name: "echo", Title: "Echo", Doc: "Echoes.", Scope: identity.IssuesWrite, Idempotent: true}
	return tool.BindWrite(tool.Destroy(spec,
		func(_ context.Context, _ tracker.Store, in echoIn) (echoOut, error) { return act(in) },
		func(_ context.Context, _ tracker.Reader, in echoIn) (echoOut, error) { return act(in) },
	), w, tool.Deps{Settings: w.settings(), Log: w, Logger: w.logger()})
}

// event is POST /tools/echo as API Gateway hands it on.
func event(p *identity.Principal, body string) events.APIGatewayProxyRequest {
	e := events.APIGatewayProxyRequest{
		Resource: "/tools/{name}", Path: "/tools/echo", HTTPMethod: "POST", Body: body,
		MultiValueHeaders: map[string][]string{
			"content-type": {"application/json"}, "User-Agent": {"curl/8.5.0"}, "x-amzn-trace-id": {"Root=1-2-3"},
		},
	}
	e.RequestContext.RequestID = "call-1"
	e.RequestContext.DomainName = "mcp.example.com"
	e.RequestContext.Identity.SourceIP = "192.0.2.7"
	if p != nil {
		e.RequestContext.Authorizer = map[string]any{
			"principalId": p.UserID, "integrationLatency": 12, // API Gateway's own
			"workspace_id": p.WorkspaceID, "user_id": p.UserID, "token_id": p.TokenID, "name": p.Name,
			"role": string(p.Role), "scopes": identity.Join(p.Scopes), "can_step_up": fmt.Sprint(p.CanStepUp),
		}
	}
	return e
}

// send runs a handler over the bytes of an event and decodes its answer.
func send(t *testing.T, h lambdarun.Handler, event any) events.APIGatewayProxyResponse {
	t.Helper()
	payload, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := h.Invoke(context.Background(), payload)
	if err != nil {
		t.Fatalf("invocation error %v", err)
	}
	var reply events.APIGatewayProxyResponse
	if err := json.Unmarshal(answer, &reply); err != nil {
		t.Fatalf("answer is not a proxy response: %s", answer)
	}
	return reply
}

func member(t *testing.T, body, name string) string {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatalf("not a JSON object: %s", body)
	}
	text, _ := doc[name].(string)
	return text
}
