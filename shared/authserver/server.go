// Package authserver is an OAuth 2.1 authorization server as an http.Handler: it lets clients
// register, asks a person what a client may do, and issues access tokens (JWT, RFC 9068) and
// refresh tokens for one resource, the connector's /mcp.
//
// It is not an identity provider: who is at the browser is what a Login says. It checks no access
// token that comes with a call either; to the connector it is an issuer like any other. And it
// serves public clients only: PKCE proves that who redeems a code is who asked for it.
//
// # What the library does, and what is done here
//
// The protocol is the Server of zitadel/oidc v3 (package op; Apache-2.0, well kept): it routes and
// decodes /authorize, /token, /revoke and /jwks, finds out which client asks and for which grant,
// requires what each needs, holds redirect addresses, scopes, response types and PKCE methods
// against the client, and writes answers, errors and metadata. It calls the methods of protocol.go.
// What they decide is ours, and kept in a table: each decision that must happen once is one commit,
// with its audit event. So are the pages, the clients and how they become known, and the limits.
//
// Its ready-made Provider is not used, for it makes tokens before it deletes the request, so that a
// code sent twice at once is redeemed twice, and an ID token with each. ory/fosite was weighed too:
// no release since 2024, 465 modules. The Server is marked experimental until v4, so a new version
// is to be read before it is taken; these of its traits are designed around, each held by
// a test of library_test.go or beside it:
//
//   - It serves any method, takes a query for a form and the last of repeated parameters, knows
//     names in any case, and takes client secrets from a header: see handOver, which shows it no
//     more than what was checked.
//   - It compares neither scheme nor host of redirect addresses on this machine: see redirectsFor.
//   - It redirects to any client by itself when a request is wrong, without iss (RFC 9207) and
//     with what the client's address has sorted anew; it logs where to: see tell.
//   - It lets pass requests without PKCE, with the method plain, and short verifiers; it drops
//     resource (RFC 8707): see checkRequest, verifies and checkResource.
//   - It requires scope at /authorize, and redirect_uri with a code: see VerifyAuthRequest
//     and fillIn.
//   - It repeats an unknown grant type in its answer, and logs to slog's default logger, whatever
//     Config.Logger is: what it is not shown it cannot tell.
//   - It allows the pages of any site to read every answer, with cookies: its CORS is off.
//   - It types access tokens as plain JWT: see accessToken.
//
// # How a sign-in flows
//
// GET /authorize reads the request (request.go), lets the person sign in (login.go), finds the
// client (client.go; document.go or register.go) and shows the consent page (consent.go). POST
// /authorize takes the answer and sends a code back to the client. POST /token makes tokens of it
// (redeem.go), and later new ones of a refresh token (refresh.go). rows.go says what is kept.
// Begin with request.go, then protocol.go.
package authserver

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Paths that the server answers, below the issuer.
const (
	MetadataPath  = "/.well-known/oauth-authorization-server" // RFC 8414, section 3
	AuthorizePath = "/authorize"
	TokenPath     = "/token"
	RegisterPath  = "/register"
	RevokePath    = "/revoke"
	KeysPath      = "/jwks"
)

// How long things live.
const (
	flowLife    = 10 * time.Minute    // a consent page that waits for its answer
	codeLife    = time.Minute         // a code
	codeMemory  = 24 * time.Hour      // a used code is known again, to notice that it was stolen
	accessLife  = 10 * time.Minute    // an access token; Config.Revoked ends it sooner
	idleLife    = 30 * 24 * time.Hour // a refresh token that is not used
	grantLife   = 90 * 24 * time.Hour // a grant, however often it is refreshed
	unusedLife  = 24 * time.Hour      // a registered client that nobody has let in
	clientLife  = grantLife           // one that somebody has
	spentMemory = 30 * 24 * time.Hour // a refresh token that was used is known again
)

// clockSkew is how long after its end the connector still takes an access token, for clocks
// differ: skew of shared/identity/oauth, whose word it is. A test holds the two together.
const clockSkew = 60 * time.Second

// accessUse is how long after it was issued an access token may still be taken somewhere.
const accessUse = accessLife + clockSkew

// Tool is what the consent page tells of a tool.
type Tool struct {
	Name        string
	Title       string
	Scopes      []identity.Scope // all that a call needs
	Destructive bool
}

// Config is what a Server needs. Members that say so may be left out.
type Config struct {
	// Issuer is the server's own address: scheme and host, no path, no slash at the end. It must
	// be https, unless Local.
	Issuer string
	// Resource is the one audience of all tokens: the address of /mcp, as people type it.
	Resource string
	Name     string // of the product, on pages
	Tools    []Tool
	Tables   table.Writer
	Members  token.Members
	Login    Login
	// Log takes events of the recorder _oauth only.
	Log    audit.Log
	Audit  audit.Settings
	Logger *slog.Logger

	// Local lets the issuer be http on a loopback address, and clients keep their metadata
	// documents at one. It is for local mode.
	Local bool
	// AppSchemes are the schemes of redirect addresses that are let in although they are no
	// domain name in reverse. Left out: those of well-known editors.
	AppSchemes []string
	Limits     Limits
	// Revoked is told of each access token (its claim jti) that may still be taken when its grant
	// ends, and until when, for a list of those that are not to be taken any more. The grant ends
	// only if it can be told; the same token may be told again. Left out: access tokens
	// live to their end.
	Revoked func(ctx context.Context, jti string, until time.Time) error
	Random  io.Reader // left out: the system's source
}

// Server is the authorization server. It is safe for concurrent use.
type Server struct {
	Config
	documents *documents
	failures  *rate        // codes and tokens that were wrong, by source
	sources   *rate        // registrations, by source
	asks      *rate        // requests for consent, by source
	endpoints http.Handler // the library's
	routes    map[string]map[string]http.HandlerFunc
}

// New returns a Server. The error says what is missing or does not fit.
func New(cfg Config) (*Server, error) {
	if cfg.Random == nil {
		cfg.Random = rand.Reader
	}
	if cfg.AppSchemes == nil {
		cfg.AppSchemes = []string{"cursor", "vscode", "vscode-insiders", "windsurf", "zed"}
	}
	cfg.Limits.fill()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	s := &Server{
		Config:   cfg,
		failures: newRate(cfg.Limits.FailuresPerMinute, time.Minute, cfg.Audit.Now),
		sources:  newRate(cfg.Limits.RegistrationsPerSource, time.Hour, cfg.Audit.Now),
		asks:     newRate(cfg.Limits.AsksPerMinute, time.Minute, cfg.Audit.Now),
	}
	s.documents = newDocuments(guardedClient(cfg.Local), cfg.Audit.Now)
	endpoints, metadata := newProtocol(s)
	s.endpoints = endpoints
	s.routes = map[string]map[string]http.HandlerFunc{
		MetadataPath:  {http.MethodGet: s.document(metadata)},
		KeysPath:      {http.MethodGet: s.document(endpoints)},
		AuthorizePath: {http.MethodGet: s.authorize, http.MethodPost: s.decide},
		TokenPath:     {http.MethodPost: s.machine(endpoints, tokenFields)},
		RegisterPath:  {http.MethodPost: s.register},
		RevokePath:    {http.MethodPost: s.machine(endpoints, revokeFields)},
	}
	return s, nil
}

func (c Config) check() error {
	issuer, err := url.Parse(c.Issuer)
	switch {
	case err != nil || issuer.Host == "" || c.Issuer != issuer.Scheme+"://"+issuer.Host:
		return errors.New("authserver: Issuer must be like https://auth.example.com, without a path")
	case issuer.Scheme != "https" && (issuer.Scheme != "http" || !c.Local || !isThisMachine(issuer.Hostname())):
		return errors.New("authserver: Issuer must be https, or, if Local, http on this machine")
	case c.Resource == "" || c.Name == "" || len(c.Tools) == 0:
		return errors.New("authserver: Resource, Name and Tools are needed")
	case c.Tables == nil || c.Members == nil || c.Login == nil || c.Log == nil || c.Logger == nil:
		return errors.New("authserver: Tables, Members, Login, Log and Logger are needed")
	case c.Audit.Now == nil || c.Audit.NewID == nil:
		return errors.New("authserver: Audit needs Now and NewID")
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	methods, ok := s.routes[r.URL.Path]
	if !ok {
		e := refuse(&oidc.Error{ErrorType: "not_found"}, "there is nothing under this path: see "+MetadataPath)
		s.fail(w, r, op.NewStatusError(e, http.StatusNotFound))
		return
	}
	if r.URL.Path != AuthorizePath {
		// No cookie is read there, so a page of any origin can do no more than any program.
		w.Header().Set("Access-Control-Allow-Origin", "*")
	}
	serve, ok := methods[r.Method]
	if !ok {
		s.otherMethod(w, r, methods)
		return
	}
	serve(w, r)
}

// otherMethod answers a browser's preflight, and refuses all else: the library would serve any
// method, and take a query for a form.
func (s *Server) otherMethod(w http.ResponseWriter, r *http.Request, methods map[string]http.HandlerFunc) {
	allow := http.MethodPost
	if methods[http.MethodGet] != nil {
		allow = http.MethodGet
	}
	if r.Method == http.MethodOptions && r.URL.Path != AuthorizePath {
		w.Header().Set("Access-Control-Allow-Methods", allow)
		w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Allow", allow)
	e := refuse(oidc.ErrInvalidRequest(), "this method is not served here: use "+allow)
	s.fail(w, r, op.NewStatusError(e, http.StatusMethodNotAllowed))
}

func (s *Server) now() time.Time { return s.Audit.Now() }
