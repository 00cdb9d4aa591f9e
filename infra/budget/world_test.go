package budget

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/appender"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/reader"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/gateway"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/oauth"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/mcpserver"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/rest"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// world is the connector as it is deployed, each function with a meter of its own, over the
// engine with the demo data. Clock and ids are fixed, so that the same bytes are written.
type world struct {
	t      *testing.T
	front  http.Handler
	conn   dynamo.Conn
	engine *engine
	meters map[string]*meter // by function
	// authority gives out access tokens.
	authority authority
	now       time.Time
	ids       atomic.Int64
}

// start is the time of the first call of a row; the demo data are of its day.
var start = time.Date(2025, 6, 22, 15, 30, 0, 0, time.UTC)

func newWorld(t *testing.T, server *dynamotest.Server, e *engine) *world {
	t.Helper()
	w := &world{t: t, conn: server.Conn(t), engine: e, meters: map[string]*meter{}, now: start}
	var err error
	if w.authority, err = newAuthority(); err != nil {
		t.Fatal(err)
	}
	for _, s := range demo.Snapshots(start) {
		if err := records.Load(t.Context(), writer.Open(w.conn), s); err != nil {
			t.Fatal(err)
		}
	}
	w.wire()
	return w
}

// metered is a connection to the tables for one function.
func (w *world) metered(function string) dynamo.Conn {
	m := &meter{engine: w.engine}
	w.meters[function] = m
	api := dynamodb.New(w.conn.API.Options(), func(o *dynamodb.Options) { o.HTTPClient = m })
	return dynamo.Conn{API: api, Tables: w.conn.Tables}
}

// The functions besides the tools.
const (
	authorizer = "authorizer"
	mcpFront   = "mcp"
	discovery  = "discovery"
	auditQuery = "audit_query"
)

func (w *world) wire() {
	settings := audit.Settings{Now: func() time.Time { return w.now }, NewID: w.eventID, Retention: audit.DefaultRetention}
	logger := slog.New(slog.DiscardHandler)
	tools := w.tools(settings, logger)
	front := lambdarun.HTTP(mcpserver.New(mcpserver.Config{
		Tools: catalog.All(), Invoker: w.invoker(tools), Version: "1", Audit: settings,
		Log: appender.Open(w.metered(mcpFront)), Logger: logger, Hosts: []string{"*"},
	}), logger)
	auditConn := w.metered(auditQuery)
	auditLog := lambdarun.HTTP(rest.Audit(rest.AuditConfig{
		Reader: reader.Open(auditConn), Settings: settings, Log: appender.Open(auditConn), Logger: logger,
	}), logger)
	list := lambdarun.HTTP(rest.Discovery(catalog.Entries, "1"), logger)
	routes := []gateway.Route{
		{Method: http.MethodPost, Path: "/mcp", Function: front},
		{Method: http.MethodGet, Path: "/audit", Function: auditLog},
		{Method: http.MethodGet, Path: "/tools", Function: list},
	}
	for name, f := range tools {
		routes = append(routes, gateway.Route{Method: http.MethodPost, Path: "/tools/" + name, Function: f})
	}
	authorizerConn := w.metered(authorizer)
	directory := reader.Open(authorizerConn)
	members := records.Members(directory)
	access, err := oauth.New(oauth.Config{
		Issuers: trusted, Links: directory, Members: members, Now: settings.Now, Logger: logger, Transport: w.authority,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.front, err = gateway.New(gateway.API{
		Routes: routes, PublicBaseURL: "https://mcp.example.com", RequestID: func() string { return "call" }, Now: settings.Now,
		Authorizer: lambdarun.Authorizer(lambdarun.AuthorizerConfig{
			Verifier: oauth.Bearer{Personal: &token.Verifier{Tokens: directory, Members: members, Now: settings.Now}, Access: access},
			ScopesOf: catalog.ScopesOf, Audit: settings, Log: appender.Open(authorizerConn), Logger: logger,
		}),
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) tools(settings audit.Settings, logger *slog.Logger) map[string]lambdarun.Handler {
	tools := map[string]lambdarun.Handler{}
	deps := func(conn dynamo.Conn) tool.Deps {
		return tool.Deps{Settings: settings, Log: appender.Open(conn), Logger: logger}
	}
	for _, r := range catalog.Readers() {
		conn := w.metered(r.Name)
		tools[r.Name] = lambdarun.Tool(tool.BindRead(r, records.NewReaders(reader.Open(conn)), deps(conn)), logger)
	}
	for _, s := range catalog.Writers() {
		conn := w.metered(s.Name)
		tools[s.Name] = lambdarun.Tool(tool.BindWrite(s, records.NewStores(writer.Open(conn), w.newID), deps(conn)), logger)
	}
	return tools
}

// invoker stands for the Lambda API, and counts what functions/mcp asks of it.
func (w *world) invoker(tools map[string]lambdarun.Handler) tool.Invoker {
	return lambdarun.InvokerOver(func(ctx context.Context, name string, payload []byte) ([]byte, error) {
		m := w.meters[mcpFront]
		if metered, at := m.begin(); metered {
			m.note(request{at: at, text: "Invoke", kind: invoking}, nil)
		}
		return tools[name].Invoke(ctx, payload)
	})
}

func (w *world) newID() tracker.ID {
	return tracker.ID(fmt.Sprintf("01979830-0000-7000-8000-%012d", w.ids.Add(1)))
}

func (w *world) eventID() string { return fmt.Sprintf("01JYC%021d", w.ids.Add(1)) }

// grantOf says where a member of the demo data works.
func grantOf(t *testing.T, first string) demo.Grant {
	t.Helper()
	grants := demo.Grants()
	i := slices.IndexFunc(grants, func(g demo.Grant) bool { return strings.HasPrefix(g.Holder, first+" ") })
	if i < 0 {
		t.Fatalf("nobody is called %s", first)
	}
	return grants[i]
}

// token issues a token to a member of the demo data, as of a time.
func (w *world) token(first string, at time.Time, scopes ...identity.Scope) (string, token.Record) {
	w.t.Helper()
	g := grantOf(w.t, first)
	t, record, err := token.Issue(w.t.Context(), writer.Open(w.conn), token.Grant{
		ID: string(w.newID()), WorkspaceID: string(g.WorkspaceID), UserID: string(g.UserID), Name: "budget",
		Scopes: scopes, Lifetime: 30 * 24 * time.Hour, At: at,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return t.Secret(), record
}

// reply is what came back: the status, and the reason of a refusal.
type reply struct {
	status int
	reason string
	body   string
}

// send makes one request of the API, a minute after the one before.
func (w *world) send(r *http.Request) reply {
	w.now = w.now.Add(time.Minute)
	recorder := httptest.NewRecorder()
	w.front.ServeHTTP(recorder, r)
	var body struct {
		Reason string
		Error  json.RawMessage
	}
	_ = json.Unmarshal(recorder.Body.Bytes(), &body) // what is no JSON has no reason
	if body.Reason == "" {
		var rpc struct{ Data struct{ Reason string } }
		_ = json.Unmarshal(body.Error, &rpc)
		body.Reason = rpc.Data.Reason
	}
	return reply{recorder.Code, body.Reason, recorder.Body.String()}
}

// newRequest writes a request with a body of JSON; no secret, no Authorization.
func newRequest(method, path, secret, body string) *http.Request {
	r := httptest.NewRequest(method, "https://mcp.example.com"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("User-Agent", "budget/1")
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	return r
}

// measured is what one request took, by function.
type measured struct {
	reply    reply
	requests map[string][]request
	trips    int // one after the other, of all functions
}

// measure makes one request in a bubble and counts.
func (w *world) measure(r *http.Request) measured {
	w.t.Helper()
	for _, m := range w.meters {
		m.switchOn()
	}
	out := measured{requests: map[string][]request{}}
	synctest.Test(w.t, func(*testing.T) {
		began := time.Now()
		out.reply = w.send(r)
		out.trips = int(time.Since(began) / roundTrip)
	})
	var failed error
	for function, m := range w.meters {
		taken, err := m.take()
		failed = errors.Join(failed, err)
		if len(taken) > 0 {
			out.requests[function] = taken
		}
	}
	if failed != nil {
		w.t.Fatal(failed)
	}
	return out
}
