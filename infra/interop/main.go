// Command interop signs people in at an authorization server that others wrote, Ory Hydra, and
// shows its tokens to the connector: those that are good, and those that are not, or not any
// more. The connector is the local system, which finds Hydra's keys over HTTP; its clock can be
// set forward, so that nothing here waits for an hour to pass.
//
// It is not for every way in which a token can be forged; shared/identity/oauth tests those. Start
// with checks.go, where one reads what is shown; hydra.go runs Hydra, signin.go is a client.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/functions/local/system"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/identity/subject"
)

// Whom Hydra signs in, as it names them: one who is linked to a member, and one who is not.
const (
	priya    = "hydra-priya"
	stranger = "hydra-stranger"
	member   = "Priya Raman"
)

func main() {
	program := flag.String("hydra", ".tools/bin/hydra", "the program that make interop builds")
	flag.Parse()
	if err := run(context.Background(), *program); err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program string) (err error) {
	dir, err := os.MkdirTemp("", "aac-interop-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	h, err := startHydra(ctx, program, dir)
	if err != nil {
		return err
	}
	defer func() { h.pages.Close(); err = errors.Join(err, h.stop()) }()
	w := &world{hydra: h, dir: filepath.Join(dir, "data")}
	if err := w.start(ctx, signin.Issuer{URL: h.URL, DenyList: true}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.system.Close()) }()
	for _, c := range checks {
		if err := c.run(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Println("ok:", c.name)
	}
	return nil
}

// world is a connector that takes Hydra's tokens.
type world struct {
	hydra  *hydra
	system *system.System
	dir    string
	ahead  atomic.Int64 // nanoseconds by which the connector's clock is ahead
	log    lines        // what the connector says of refused tokens that are nobody's
}

// lines is a log.
type lines struct {
	mu   sync.Mutex
	said strings.Builder
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said.Write(line)
}

// took returns what was said since the last time.
func (l *lines) took() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.said.Reset()
	return l.said.String()
}

func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

// pass lets time pass for the connector.
func (w *world) pass(d time.Duration) { w.ahead.Add(int64(d)) }

func (w *world) start(ctx context.Context, issuer signin.Issuer) (err error) {
	w.system, err = system.Start(ctx, system.Config{
		Addr: "127.0.0.1:0", Data: w.dir, Now: w.now, Issuer: issuer, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
	})
	if err != nil {
		return err
	}
	if err := w.link(ctx, priya); err != nil {
		return errors.Join(err, w.system.Close())
	}
	return nil
}

// link says that a person of Hydra is a member of the demo.
func (w *world) link(ctx context.Context, who string) error {
	for _, s := range demo.Snapshots(w.now()) {
		for _, m := range s.Members {
			if m.Name == member {
				return subject.Make(ctx, w.system.Tables, subject.Link{
					Issuer: w.hydra.URL, Subject: who, WorkspaceID: string(s.Workspace.ID), UserID: string(m.UserID), LinkedAt: w.now(),
				})
			}
		}
	}
	return fmt.Errorf("%s is not in the demo data", member)
}
