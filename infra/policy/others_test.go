package policy_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/oklog/ulid/v2"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/infra/policy"
	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/appender"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/reader"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/subject"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/rest"
)

// The programs that are no tools, under their roles.

var settings = audit.Settings{
	Now: time.Now, NewID: func() string { return ulid.Make().String() }, Retention: audit.DefaultRetention,
}

// accountWithData is an account with the demo data as of now.
func accountWithData(t *testing.T) account {
	t.Helper()
	a := account{dynamotest.Start(t).Conn(t), policies(t)}
	for _, s := range demo.Snapshots(time.Now()) {
		if err := records.Load(t.Context(), writer.Open(a.conn), s); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// wantAllUsed fails for rights of a program that no call has needed, but for those of these
// statements.
func wantAllUsed(t *testing.T, p *policy.Policy, except ...string) {
	t.Helper()
	for _, right := range p.Unused() {
		if !slices.ContainsFunc(except, func(sid string) bool { return strings.Contains(right, "("+sid+")") }) {
			t.Errorf("no call has needed %s", right)
		}
	}
}

func TestAuthorizerUnderItsRole(t *testing.T) {
	a := accountWithData(t)
	holder := demo.Grants()[0]
	issue := func(at time.Time) string {
		secret, _, err := token.Issue(t.Context(), writer.Open(a.conn), token.Grant{
			ID: ulid.Make().String(), WorkspaceID: string(holder.WorkspaceID), UserID: string(holder.UserID), Name: "test",
			Scopes: []identity.Scope{identity.IssuesRead}, Lifetime: time.Hour, At: at,
		})
		if err != nil {
			t.Fatal(err)
		}
		return secret.Secret()
	}
	conn := a.as("authorizer")
	data := reader.Open(conn)
	handler := lambdarun.Authorizer(lambdarun.AuthorizerConfig{
		Verifier: &token.Verifier{Tokens: data, Members: records.Members(data), Now: time.Now},
		ScopesOf: catalog.ScopesOf, Audit: settings, Log: appender.Open(conn), Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	for name, call := range map[string]struct {
		secret, path string
		effect       string // of the policy; else the error is Unauthorized
	}{
		"a good token":     {issue(time.Now()), "/tools/list_issues", "Allow"},
		"a missing scope":  {issue(time.Now()), "/tools/delete_issue", "Deny"},
		"an expired token": {issue(time.Now().Add(-2 * time.Hour)), "/tools/list_issues", ""},
	} {
		payload, err := json.Marshal(events.APIGatewayCustomAuthorizerRequestTypeRequest{
			Type: "REQUEST", MethodArn: "arn:aws:execute-api:eu-west-1:123456789012:api/v1/POST" + call.path,
			Resource: call.path, Path: call.path, HTTPMethod: http.MethodPost,
			Headers: map[string]string{"Authorization": "Bearer " + call.secret},
		})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := handler.Invoke(t.Context(), payload)
		if call.effect == "" {
			if err == nil || err.Error() != "Unauthorized" {
				t.Errorf("%s: error %v", name, err)
			}
			continue
		}
		var got events.APIGatewayCustomAuthorizerResponse
		if err := json.Unmarshal(answer, &got); err != nil || len(got.PolicyDocument.Statement) != 1 || got.PolicyDocument.Statement[0].Effect != call.effect {
			t.Errorf("%s: %s, error %v, want %s", name, answer, err, call.effect)
		}
	}
	found, err := subject.Find(t.Context(), data, subject.Presented{Issuer: "https://issuer.example", Subject: "s", ClientID: "c", TokenID: "t"})
	if err != nil || found.Linked || found.Revoked {
		t.Errorf("who signed in: %+v, error %v", found, err)
	}
	wantAllUsed(t, a.policies["authorizer"])
}

func TestAuditQueryUnderItsRole(t *testing.T) {
	a := accountWithData(t)
	conn := a.as("audit_query")
	handler := rest.Audit(rest.AuditConfig{
		Reader: reader.Open(conn), Settings: settings, Log: appender.Open(conn), Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	owner := &identity.Principal{WorkspaceID: string(demo.WorkspaceID()), UserID: "u", TokenID: "t", Role: identity.Owner, Scopes: []identity.Scope{identity.AuditRead}}
	for range 2 { // the second reads the event of the first
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/audit", nil)
		handler.ServeHTTP(w, r.WithContext(identity.NewContext(r.Context(), owner)))
		if w.Code != http.StatusOK {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
	}
	wantAllUsed(t, a.policies["audit_query"])
}

func TestMCPRecordsUnderItsRole(t *testing.T) {
	a := accountWithData(t)
	record := func(conn dynamo.Conn, recorder string) error {
		call := settings.Begin(audit.Start{Principal: &identity.Principal{WorkspaceID: "w", UserID: "u", TokenID: "t"}, Tool: "nope", Recorder: recorder, Transport: audit.MCP})
		return call.Record(t.Context(), appender.Open(conn), nil)
	}
	if err := record(a.as("mcp"), audit.RecorderMCP); err != nil {
		t.Error(err)
	}
	wantAllUsed(t, a.policies["mcp"], "CallTools")
	if record(a.as("mcp"), "delete_issue") == nil || record(a.as("discovery"), audit.RecorderMCP) == nil {
		t.Error("a program recorded under the name of another")
	}
}
