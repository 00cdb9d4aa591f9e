// Package mcpserver is the MCP front: POST /mcp as one http.Handler over the official Go SDK,
// in the protocol of 2026-07-28 and in the three before it that begin with initialize. What is
// called most it answers as the SDK would, without it. It also answers for tool names that no
// route knows.
//
// It runs no tool and knows no data: a call goes to a tool.Invoker with the arguments as the
// caller wrote them. It does not find out who calls either; that stands in the context.
//
// Open envelope.go first: what a message says is decided there, once. guard.go is what a
// request passes before that, agree.go and method.go what it passes after, direct.go what is
// answered here, forward.go how the SDK gets the rest and how its answer leaves.
package mcpserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// The protocol versions that are served, newest first. Modern is the first one: it has no
// handshake, and every request says of itself what it needs. All others are legacy.
const modernVersion = "2026-07-28"

var versions = []string{modernVersion, "2025-11-25", "2025-06-18", "2025-03-26"}

// instructions tell a model what the server is for. Clients cut them at 2 KB.
const instructions = "The issue tracker of one AACWorkflow workspace, whose issues are worked on by people and by AI agents. " +
	"Name an issue by its id or by an identifier such as AAC-42. " +
	"Before a deletion show the user what dry_run reports, ask, and only then send confirm: true. " +
	"A refusal says what to change; do not repeat the same call unchanged."

// How long a client may keep a list, in milliseconds. Tools change with a release only, but
// what a token sees of them changes with its scopes.
const listTTL = 5 * 60 * 1000

// Config is what the front needs. Log and Logger may not be nil: without an audit log nothing
// is served.
type Config struct {
	Tools   []*tool.Definition // what there is, in the order in which it is listed
	Invoker tool.Invoker
	Audit   audit.Settings
	Log     audit.Log
	Logger  *slog.Logger
	Version string // of the connector, shown to clients
	// Hosts are those under which the front is reached: host or host:port as in the Host
	// header, host:* for any port, or * alone for any host, behind a gateway that checks it.
	Hosts []string
	// Origins are the web pages that may call: scheme://host or scheme://host:port, or
	// scheme://host:* for any port. Programs that are no browser send none.
	Origins []string
	// SignIn is for challenges, and for what tools/list says of scopes.
	SignIn signin.Config
}

// front serves what New returns.
type front struct {
	Config
	tools      map[string]*tool.Definition
	listing    func() []listed
	serverInfo func() []byte // JSON
	sdk        http.Handler
	ext        *extension // nil: tools alone, as everywhere but in the conformance suite
	slow       bool       // the SDK answers all; for tests
}

// New returns the front for POST /mcp and ANY /tools/{name}. It finds the caller with
// identity.FromContext and the rest of what is known of a request with audit.OriginFrom. It
// panics if the config lacks something, for that is a mistake of the program.
func New(c Config) http.Handler { return build(c, nil).guarded() }

func build(c Config, ext *extension) *front {
	switch {
	case len(c.Tools) == 0:
		panic("mcpserver: Config.Tools is empty")
	case c.Invoker == nil || c.Log == nil || c.Logger == nil || c.Audit.Now == nil || c.Audit.NewID == nil:
		panic("mcpserver: Config needs Invoker, Audit, Log and Logger")
	case c.Version == "" || len(c.Hosts) == 0:
		panic("mcpserver: Config needs Version and Hosts")
	}
	f := &front{Config: c, ext: ext, tools: make(map[string]*tool.Definition, len(c.Tools))}
	for _, d := range c.Tools {
		f.tools[d.Name] = d
	}
	f.listing, f.serverInfo = sync.OnceValue(f.list), sync.OnceValue(f.aboutServer)
	f.sdk = lazy(sync.OnceValue(f.newSDK))
	if ext != nil {
		f.sdk = f.newSDK()
	}
	f.Hosts, f.Origins = lower(c.Hosts), lower(c.Origins)
	return f
}

// guarded puts before the front what every request passes.
func (f *front) guarded() http.Handler {
	return f.recovering(f.readable(f.identified(http.HandlerFunc(f.route))))
}

func lower(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = strings.ToLower(out[i])
	}
	return out
}

// route tells the two entries apart. It does not clean paths: an address that is nearly right
// gets JSON too, not a redirect.
func (f *front) route(w http.ResponseWriter, r *http.Request) {
	name, isTool := strings.CutPrefix(r.URL.Path, "/tools/")
	foreign := f.foreign(r)
	switch {
	case r.URL.Path == "/mcp" && r.Method == http.MethodPost:
		f.serve(w, r, foreign)
	case isTool && name != "":
		f.rest(w, r, name, foreign)
	case foreign != nil:
		f.refuse(w, r, nil, foreign)
	case r.URL.Path == "/mcp":
		w.Header().Set("Allow", http.MethodPost)
		f.refuse(w, r, nil, malformedAs(http.StatusMethodNotAllowed, "send messages with POST: there are no streams and no sessions here"))
	default:
		f.answerFault(w, r, http.StatusNotFound,
			fault.New(fault.NotFound, fault.TargetNotFound, "there is nothing under this path: see GET /tools for what there is"))
	}
}

// lazy is a handler that is made when it is first needed.
type lazy func() http.Handler

func (l lazy) ServeHTTP(w http.ResponseWriter, r *http.Request) { l().ServeHTTP(w, r) }

func (f *front) implementation() *mcp.Implementation {
	return &mcp.Implementation{Name: "aacworkflow", Title: "AACWorkflow", Version: f.Version}
}

func (f *front) aboutServer() []byte {
	b, _ := json.Marshal(f.implementation()) // strings always encode
	return b
}

// newSDK builds the one server that serves all requests but those that direct.go answers.
func (f *front) newSDK() http.Handler {
	server := mcp.NewServer(f.implementation(), f.ext.options(&mcp.ServerOptions{
		Instructions: instructions,
		// Tools alone, and no changes of their list. Without this the SDK promises logging and
		// list changes, and clients hold streams open to wait for them.
		Capabilities:              &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		SupportedProtocolVersions: versions,
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
			c.TTLMs, c.CacheScope = listTTL, "private"
		},
	}))
	for _, d := range f.Tools {
		server.AddTool(&mcp.Tool{Name: d.Name, InputSchema: anyObject}, f.handler(d))
	}
	f.ext.addTo(server)
	server.AddReceivingMiddleware(f.receive)
	return sdkHandler(server, true)
}

func sdkHandler(server *mcp.Server, jsonAnswers bool) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless:    true,
		JSONResponse: jsonAnswers,
		// Host and Origin are checked in guard.go, against a list.
		DisableLocalhostProtection: true,
	})
}
