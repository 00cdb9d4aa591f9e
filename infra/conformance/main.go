// Command conformance runs the official MCP conformance suite against the connector and compares
// what fails with a baseline in which every line has its reason. With -update it writes
// docs/conformance.md; without, it fails if that page is stale.
//
// It tests what the suite tests; what a tools-only, token-protected server must do besides is
// tested in shared/mcpserver. Start with main.go; suite.go runs the suite and reads its results,
// fixtures.go is what the suite wants to find on a server.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"

	"github.com/aacworkflow/mcp-connector/functions/local/system"
	"github.com/aacworkflow/mcp-connector/infra/npm"
)

// revisions are the protocol revisions for which the suite has requirements.
var revisions = []string{"2026-07-28", "2025-11-25"}

const (
	home = "infra/conformance"
	page = "docs/conformance.md"
)

// subject is a server to be tested.
type subject struct {
	name  string // also the directory of its baselines
	about string
	start func(ctx context.Context, dir string) (url string, stop func() error, err error)
	// run runs the suite's scenarios for what there is at the address, and returns what it printed.
	run func(ctx context.Context, url, revision, out string) ([]byte, error)
}

var subjects = []subject{
	{"product", "The connector as `make run` starts it, behind a proxy that adds a token: the suite has no way to send one.", startProduct, server},
	{"fixtures", "The same program with the tools, prompts and resources that the suite prescribes beside its own: they are reached through the same front door, token check and guards, and each call of them is recorded. It is built for this test alone.", startFixtures, server},
	{"signin", "The authorization server in `make run`: a client that the suite plays registers, a person lets it in, and it redeems its code. The suite has the same scenarios for both revisions.", startSignIn, authorization},
}

func main() {
	update := flag.Bool("update", false, "write "+page)
	flag.Parse()
	if err := run(context.Background(), *update); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, update bool) error {
	if err := npm.Install(ctx, "ci", home); err != nil {
		return err
	}
	var reports []report
	var problems []error
	for _, s := range subjects {
		rs, err := test(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for _, r := range rs {
			fmt.Println(r)
			problems = append(problems, r.problems...)
		}
		reports = append(reports, rs...)
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	return writePage(reports, update)
}

// test runs the suite for each revision.
func test(ctx context.Context, s subject) (reports []report, err error) {
	dir, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	address, stop, err := s.start(ctx, filepath.Join(dir, "data"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for _, revision := range revisions {
		r, err := runSuite(ctx, s, revision, address, filepath.Join(dir, revision))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", revision, err)
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// startProduct and startFixtures start the local system, and before it a proxy that adds the
// owner's token.
func startProduct(ctx context.Context, dir string) (string, func() error, error) {
	return startSystem(ctx, system.Config{Data: dir})
}

func startSystem(ctx context.Context, cfg system.Config) (string, func() error, error) {
	cfg.Addr = "127.0.0.1:0"
	s, err := system.Start(ctx, cfg)
	if err != nil {
		return "", nil, err
	}
	target, err := url.Parse(s.URL)
	if err != nil {
		return "", nil, errors.Join(err, s.Close())
	}
	address, stop, err := serve(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // the suite tries foreign hosts
		r.Out.Header.Set("Authorization", "Bearer "+s.Tokens["owner"])
		// Read here: else a fast answer closes the body under the transport, which still looks
		// whether it has ended, and then breaks off the answer.
		body, _ := io.ReadAll(r.In.Body) // what is too short is refused as that
		r.Out.Body = io.NopCloser(bytes.NewReader(body))
	}})
	if err != nil {
		return "", nil, errors.Join(err, s.Close())
	}
	return address + "/mcp", func() error { return errors.Join(stop(), s.Close()) }, nil
}

// serve serves on a free loopback port.
func serve(h http.Handler) (address string, stop func() error, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(listener) }() // it ends with stop
	return "http://" + listener.Addr().String(), server.Close, nil
}
