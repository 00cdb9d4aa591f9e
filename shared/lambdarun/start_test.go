package lambdarun

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestSettings(t *testing.T) {
	got, err := readSettings(env(map[string]string{
		"AAC_DATA_TABLE": "data", "AAC_AUDIT_TABLE": "audit", "AAC_PUBLIC_BASE_URL": "https://x.example.com/v1",
		"AAC_TOOL_FUNCTIONS": "list_issues=A, get_issue=arn:aws:lambda:eu-west-1:1:function:B,", "AAC_ALLOWED_ORIGINS": "https://a.example, https://b.example",
		"AAC_AUDIT_RETENTION_DAYS": "30", "AAC_VERSION": "1.2.3",
	}), envDataTable, envAuditTable, ToolFunctions)
	if err != nil {
		t.Fatal(err)
	}
	want := settings{
		dataTable: "data", auditTable: "audit", signIn: signin.Config{BaseURL: "https://x.example.com/v1"}, version: "1.2.3", retention: 30 * 24 * time.Hour,
		toolFunctions: map[string]string{"list_issues": "A", "get_issue": "arn:aws:lambda:eu-west-1:1:function:B"},
		origins:       []string{"https://a.example", "https://b.example"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(settings{})); diff != "" {
		t.Error(diff)
	}
}

func TestSettingsOfSigningIn(t *testing.T) {
	got, err := readSettings(env(map[string]string{
		"AAC_PUBLIC_BASE_URL": "https://mcp.example.com", "AAC_OAUTH_ISSUER": "https://login.example.com", "AAC_OAUTH_JWKS_URI": "https://login.example.com/keys",
		"AAC_OAUTH_AUDIENCE": "https://mcp.example.com/mcp", "AAC_OAUTH_SCOPE_PREFIX": "https://mcp.example.com/mcp/", "AAC_OAUTH_ALLOWED_CLIENTS": "c1, c2",
		"AAC_OAUTH_DENY_LIST": "true", "AAC_CHALLENGE_ALL_SCOPES": "true", "AAC_DOCUMENTATION_URL": "https://docs.example.com",
		"AAC_OAUTH_FACADE_LOGIN_URL": "https://pool.example.com", "AAC_OAUTH_FACADE_CLIENT_ID": "c1", "AAC_OAUTH_FACADE_CALLBACKS": "https://a.example/cb,https://b.example/cb",
	}))
	want := signin.Config{
		BaseURL: "https://mcp.example.com", AllScopes: true, Documentation: "https://docs.example.com",
		Issuer: signin.Issuer{
			URL: "https://login.example.com", KeysURL: "https://login.example.com/keys", Audience: "https://mcp.example.com/mcp",
			ScopePrefix: "https://mcp.example.com/mcp/", Clients: []string{"c1", "c2"}, DenyList: true,
		},
		Facade: signin.Facade{LoginURL: "https://pool.example.com", ClientID: "c1", Callbacks: []string{"https://a.example/cb", "https://b.example/cb"}},
	}
	if diff := cmp.Diff(want, got.signIn); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestSettingsHaveDefaults(t *testing.T) {
	got, err := readSettings(env(nil))
	if err != nil || got.retention != 400*24*time.Hour || got.version != "dev" || got.origins != nil || got.signIn.ResourceMetadata() != "" || got.signIn.Issuers() != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSettingsNameAllThatIsWrong(t *testing.T) {
	tests := []struct {
		name string
		vars map[string]string
		want []string
	}{
		{"all missing", nil, []string{"AAC_DATA_TABLE, AAC_AUDIT_TABLE missing"}},
		{"all malformed", map[string]string{
			"AAC_PUBLIC_BASE_URL": "https://x.example.com/", "AAC_TOOL_FUNCTIONS": "list_issues", "AAC_AUDIT_RETENTION_DAYS": "0",
		}, []string{"missing", "AAC_PUBLIC_BASE_URL must", "AAC_TOOL_FUNCTIONS must", "AAC_AUDIT_RETENTION_DAYS must"}},
		{"quote in the address", map[string]string{"AAC_PUBLIC_BASE_URL": `https://x.example.com/"`}, []string{"AAC_PUBLIC_BASE_URL"}},
		{"other scheme", map[string]string{"AAC_PUBLIC_BASE_URL": "ftp://x.example.com"}, []string{"AAC_PUBLIC_BASE_URL"}},
		{"signing in", map[string]string{
			"AAC_OAUTH_ISSUER": "http://login.example.com", "AAC_OAUTH_JWKS_URI": "keys", "AAC_OAUTH_SCOPE_PREFIX": "a b", "AAC_OAUTH_DENY_LIST": "yes",
			"AAC_OAUTH_FACADE_CLIENT_ID": "c1",
		}, []string{"AAC_OAUTH_ISSUER must", "AAC_OAUTH_JWKS_URI must", "AAC_OAUTH_AUDIENCE is missing, and there is no AAC_PUBLIC_BASE_URL",
			"AAC_OAUTH_SCOPE_PREFIX and AAC_OAUTH_AUDIENCE must", "AAC_OAUTH_DENY_LIST and AAC_CHALLENGE_ALL_SCOPES must", "AAC_OAUTH_FACADE_LOGIN_URL is missing"}},
		{"no issuer", map[string]string{"AAC_OAUTH_ALLOWED_CLIENTS": "c1"}, []string{"AAC_OAUTH_ISSUER is missing"}},
		{"tool twice", map[string]string{"AAC_TOOL_FUNCTIONS": "a=b,a=c"}, []string{"names a tool twice"}},
		{"days that are none", map[string]string{"AAC_AUDIT_RETENTION_DAYS": "a year"}, []string{"AAC_AUDIT_RETENTION_DAYS"}},
	}
	for _, tt := range tests {
		_, err := readSettings(env(tt.vars), envDataTable, envAuditTable)
		if err == nil {
			t.Errorf("%s: accepted", tt.name)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q lacks %q", tt.name, err, part)
			}
		}
	}
}

func TestPrepare(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-west-1")
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	vars := map[string]string{"AAC_DATA_TABLE": "d", "AAC_AUDIT_TABLE": "a"}
	build := func(p program) (Handler, error) {
		if p.Log == nil || p.conn.API == nil || p.conn.Tables.Data != "d" || p.conn.Tables.Audit != "a" || p.aws.Region != "eu-west-1" {
			t.Errorf("not connected: %+v", p.conn.Tables)
		}
		if a, b := p.Audit.NewID(), p.Audit.NewID(); len(a) != 26 || a == b {
			t.Errorf("event ids %s, %s", a, b)
		}
		return func(context.Context, []byte) ([]byte, error) { return []byte(`"here"`), nil }, nil
	}
	h, err := prepare(env(vars), quiet, []string{envDataTable, envAuditTable}, build)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := h.Invoke(t.Context(), nil); err != nil || string(answer) != `"here"` {
		t.Errorf("%s, %v", answer, err)
	}
	if _, err := prepare(env(nil), quiet, []string{envAuditTable}, build); err == nil {
		t.Error("a program without its table was started")
	}
	if _, err := prepare(env(nil), quiet, nil, func(p program) (Handler, error) {
		if p.Log != nil || p.conn.API != nil {
			t.Error("a program that needs no table has a connection")
		}
		return nil, nil
	}); err != nil {
		t.Error(err)
	}
}

func TestFrontNeedsEveryFunction(t *testing.T) {
	p := program{settings: settings{toolFunctions: map[string]string{"a": "f"}}}
	tools := []*tool.Definition{{Spec: tool.Spec{Name: "a"}}, {Spec: tool.Spec{Name: "b"}}, {Spec: tool.Spec{Name: "c"}}}
	if err := p.covers(tools[:1]); err != nil {
		t.Error(err)
	}
	if err := p.covers(tools); err == nil || !strings.Contains(err.Error(), "b, c") {
		t.Errorf("got %v, want both that are missing named", err)
	}
}

func TestNewID(t *testing.T) {
	if a, b := newID[string](), newID[string](); len(a) != 36 || a >= b {
		t.Errorf("%s, %s: want two ids in order", a, b)
	}
}

// TestClientsSendPlainBodies holds that whatever the program makes of its configuration keeps a
// fast answer from tearing its connection down; see dynamo.PlainBody.
func TestClientsSendPlainBodies(t *testing.T) {
	_, err := prepare(env(map[string]string{envAuditTable: "audit"}), slog.New(slog.DiscardHandler), []string{envAuditTable}, func(p program) (Handler, error) {
		for name, options := range map[string][]func(*middleware.Stack) error{"of all clients": p.aws.APIOptions, "of DynamoDB": p.conn.API.Options().APIOptions} {
			stack := middleware.NewStack("test", smithyhttp.NewStackRequest)
			for _, option := range options {
				if err := option(stack); err != nil {
					t.Error(err)
				}
			}
			if _, ok := stack.Build.Get("PlainBody"); !ok {
				t.Errorf("the options %s lack PlainBody", name)
			}
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
