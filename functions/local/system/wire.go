package system

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/auditpage"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/gateway"
	"github.com/aacworkflow/mcp-connector/shared/identity/oauth"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/mcpserver"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/rest"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// version is what MCP clients are told.
const version = "local"

// wire puts the functions behind the front door:
//
//	POST GET DELETE /mcp     functions/mcp, which calls the tools' functions
//	POST /tools/<tool>       functions/<tool>
//	ANY  /tools/{name}       functions/mcp, which refuses and records a tool that is not there
//	GET  /tools  GET /health functions/discovery
//	GET  /.well-known/…      functions/discovery
//	GET  /audit              functions/audit_query
//	/authorize, /token, …    the authorization server; see oauth.go
//	GET  / and /page…        the page; see page.go. It is no part of the front door
//
// Each is a handler of bytes, as on Lambda, so what crosses between them is what would cross
// there.
func (s *System) wire(cfg Config) (http.Handler, error) {
	settings := audit.Settings{Now: cfg.Now, NewID: newEventID, Retention: audit.DefaultRetention}
	signIn := signin.Config{BaseURL: s.URL, Issuer: cfg.Issuer, AllScopes: cfg.AllScopes}
	verifier, err := s.verifier(cfg, signIn)
	if err != nil {
		return nil, err
	}
	authorizer := lambdarun.Authorizer(lambdarun.AuthorizerConfig{
		Verifier: verifier, ScopesOf: catalog.ScopesOf, SignIn: signIn, Audit: settings, Log: s.Tables, Logger: cfg.Log,
	})
	tools := s.tools(tool.Deps{Settings: settings, Log: s.Tables, Logger: cfg.Log}, unwelcome(cfg.Expose))
	front := lambdarun.HTTP(cfg.Front(mcpserver.Config{
		Tools: catalog.All(), Invoker: lambdarun.InvokerOver(tools.invoke), Version: version,
		Audit: settings, Log: s.Tables, Logger: cfg.Log, Hosts: hosts(cfg.Expose, s.URL), Origins: loopbackOrigins, SignIn: signIn,
	}), cfg.Log)
	discovery := lambdarun.HTTP(rest.SignIn(signIn, rest.Discovery(catalog.Entries, version)), cfg.Log)
	auditQuery := lambdarun.HTTP(rest.Audit(rest.AuditConfig{
		Reader: s.Tables, Settings: settings, Log: s.Tables, Logger: cfg.Log,
	}), cfg.Log)
	routes := []gateway.Route{
		{Method: http.MethodPost, Path: mcpPath, Function: front},
		{Method: http.MethodGet, Path: mcpPath, Function: front},
		{Method: http.MethodDelete, Path: mcpPath, Function: front},
		{Method: http.MethodGet, Path: "/tools", Function: discovery},
		{Method: http.MethodGet, Path: "/health", Function: discovery, Public: true, AnyOrigin: true},
		{Method: http.MethodGet, Path: "/.well-known/{document+}", Function: discovery, Public: true, AnyOrigin: true},
		{Method: http.MethodGet, Path: "/audit", Function: auditQuery},
	}
	for name, f := range tools {
		routes = append(routes, gateway.Route{Method: http.MethodPost, Path: "/tools/" + name, Function: f})
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		routes = append(routes, gateway.Route{Method: method, Path: "/tools/{name}", Function: front})
	}
	oauth, err := s.oauthRoutes(cfg, settings)
	if err != nil {
		return nil, err
	}
	door, err := gateway.New(gateway.API{
		Routes: append(routes, oauth...), Authorizer: authorizer, PublicBaseURL: s.URL,
		ChallengeScope: signIn.FirstScope(), CORSOrigins: loopbackOrigins,
		RequestID: uuid.NewString, Now: cfg.Now, Log: cfg.Log,
	})
	return &auditSite{
		next: door, tables: auditpage.Tables{Audit: s.Tables, Findings: s.Tables}, verifier: verifier,
		changes: s.changes, closing: s.closing, now: cfg.Now, log: cfg.Log,
	}, err
}

// toolFunctions are the functions of the tools, by name.
type toolFunctions map[string]lambdarun.Handler

// tools makes the function of each tool. Those that read get a tracker that cannot write.
func (s *System) tools(deps tool.Deps, unwelcome func(hosts, origins []string) *fault.Fault) toolFunctions {
	functions := toolFunctions{}
	readers, stores := records.NewReaders(s.Tables), records.NewStores(s.Tables, newID)
	for _, t := range catalog.Readers() {
		functions[t.Name] = lambdarun.Tool(tool.BindRead(t, readers, deps), deps.Logger, unwelcome)
	}
	for _, t := range catalog.Writers() {
		functions[t.Name] = lambdarun.Tool(tool.BindWrite(t, stores, deps), deps.Logger, unwelcome)
	}
	return functions
}

// invoke stands for an invocation of one function by another.
func (functions toolFunctions) invoke(ctx context.Context, name string, payload []byte) ([]byte, error) {
	f, ok := functions[name]
	if !ok {
		return nil, fmt.Errorf("there is no function for %s", name)
	}
	return f.Invoke(ctx, payload)
}

// verifier tells whose a token is, a personal one or an access token.
func (s *System) verifier(cfg Config, signIn signin.Config) (lambdarun.Verifier, error) {
	members := records.Members(s.Tables)
	access, err := oauth.New(oauth.Config{Issuers: signIn.Issuers(), Links: s.Tables, Members: members, Now: cfg.Now, Logger: cfg.Log})
	return oauth.Bearer{Personal: &token.Verifier{Tokens: s.Tables, Members: members, Now: cfg.Now}, Access: access}, err
}

// loopbackOrigins are the pages that may call.
var loopbackOrigins = []string{"http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"}

// hosts are the names under which the MCP front may be called: those of this machine, and that of
// the address itself, which can be any of the loopback ones.
func hosts(exposed bool, address string) []string {
	if exposed {
		return []string{"*"}
	}
	own := strings.TrimPrefix(address, "http://")
	own = own[:strings.LastIndexByte(own, ':')]
	return []string{"localhost:*", "127.0.0.1:*", "[::1]:*", own + ":*"}
}

func newID() tracker.ID { return tracker.ID(uuid.Must(uuid.NewV7()).String()) }

func newEventID() string { return ulid.Make().String() }
