// Package system is the connector as one process: the functions that are deployed one by one,
// behind an emulation of their front door, over one file. functions/local serves it, and tests
// and client walks start it in process.
//
// Only the two ends are local: the front door and the storage engine. All between them is the
// code that is deployed. Open wire.go for how the parts are put together; seed.go is what
// happens at the first start.
package system

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/mcpserver"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Config says what to start.
type Config struct {
	Addr string // where to listen: host:port; port 0 takes any free port
	Data string // the directory of the data; it is made if it is not there
	// Reset throws the data away and begins anew.
	Reset bool
	// Expose tells that Addr is meant to be reached from other machines: requests may then name
	// any address as their host.
	Expose bool
	// Issuer is an authorization server whose access tokens are taken besides personal tokens;
	// none: the system is its own, unless Expose.
	Issuer signin.Issuer
	// AllScopes makes the first challenge ask for every scope at once.
	AllScopes bool
	// Front makes the MCP front; nil: mcpserver.New. The conformance suite is served by one that
	// offers more.
	Front func(mcpserver.Config) http.Handler
	Now   func() time.Time // nil: the clock
	Log   *slog.Logger     // nil: nothing is logged

	openTables func(path string) (*embedded.DB, error) // nil: embedded.Open
}

// System is a running connector.
type System struct {
	URL         string // without a slash at the end
	WorkspaceID tracker.ID
	// Tokens are those of local.json: reader, editor, owner and outsider.
	Tokens map[string]string
	// SignsIn tells that clients can sign people in here, with nothing but the address of /mcp.
	SignsIn bool
	// TokenFile is the path of local.json.
	TokenFile string
	// Issued are the tokens that are new since this start.
	Issued []Issued
	// Replaced says why tokens were issued although there were data; empty if that is not so.
	Replaced string
	// Tables are the data and the audit log, for tests that look behind the front door.
	Tables *embedded.DB

	feed    *feed
	changes *changes // of what the page shows
	server  *http.Server
	failed  chan error
	closing chan struct{} // closed when no more calls are taken
}

// Limits of the HTTP server. The front door is stricter on headers and bodies; these bound what
// reaches it.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second // a call may take 29 s
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
	drainTimeout      = 30 * time.Second // a call may take 29 s
)

// Start listens, opens the data and serves until Close. The context bounds the start alone.
func Start(ctx context.Context, cfg Config) (*System, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Front == nil {
		cfg.Front = mcpserver.New
	}
	if cfg.openTables == nil {
		cfg.openTables = embedded.Open
	}
	listener, err := listen(cfg.Addr)
	if err != nil {
		return nil, err
	}
	s := &System{URL: urlOf(listener.Addr()), failed: make(chan error, 1), changes: newChanges(), closing: make(chan struct{})}
	if err := s.open(ctx, cfg); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	go func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("serve: %w", err)
		}
	}()
	return s, nil
}

func (s *System) open(ctx context.Context, cfg Config) error {
	if err := s.openData(ctx, cfg); err != nil {
		return err
	}
	cfg.Issuer = s.issuer(cfg)
	s.SignsIn = cfg.Issuer.URL == s.URL
	if err := s.prepareSignIn(ctx, cfg); err != nil {
		return errors.Join(err, s.Tables.Close())
	}
	if err := s.startFeed(ctx, cfg); err != nil {
		return errors.Join(err, s.Tables.Close())
	}
	front, err := s.wire(cfg)
	if err != nil {
		s.feed.close()
		return errors.Join(err, s.Tables.Close())
	}
	s.server = &http.Server{
		Handler:           guard(front, cfg.Expose),
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:       slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn),
	}
	s.server.RegisterOnShutdown(sync.OnceFunc(func() { close(s.closing) })) // feeds of the page do not end by themselves
	return nil
}

// Close stops: no new calls, those under way are finished (at most 30 s), the file is let go.
func (s *System) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("wait for calls under way: %w", err), s.server.Close())
	}
	s.feed.close()
	return errors.Join(err, s.Tables.Close())
}

// Failed reports an error that ended the serving by itself.
func (s *System) Failed() <-chan error { return s.failed }

// MCPURL returns the address for MCP clients.
func (s *System) MCPURL() string { return s.URL + mcpPath }

func listen(addr string) (net.Listener, error) {
	listener, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use: stop the program that uses it, or set ADDR to another address, such as ADDR=127.0.0.1:3001", addr)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("this port is not yours to use: set ADDR to one above 1023, such as ADDR=127.0.0.1:3000")
	case err != nil:
		return nil, fmt.Errorf("listen: %w; set ADDR to a host and a port of this machine, such as ADDR=127.0.0.1:3000", err)
	}
	return listener, nil
}

// urlOf returns the address under which this machine reaches the listener.
func urlOf(addr net.Addr) string {
	host, port, _ := net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}
