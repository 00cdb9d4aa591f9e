// Command ministack deploys the stack into MiniStack, an emulator of AWS on this machine, as
// `sam deploy` deploys it into an account, and checks what came of it: that the tables, the
// stream and the feed are as the template says, that the client walk goes through it, and that
// what is recorded reaches the monitor.
//
// MiniStack is another's reading of AWS and no measure of it; docs/testing.md says where it is
// known to differ. Start with stand.go for what is started; template.go says what MiniStack must
// be told, kept.go, front.go and feed.go what is checked.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/aacworkflow/mcp-connector/infra/proc"
)

func main() {
	hold := flag.Bool("hold", false, "deploy, then wait for Ctrl-C instead of checking")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *hold); err != nil {
		fmt.Fprintln(os.Stderr, "ministack:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, hold bool) (err error) {
	dir, err := os.MkdirTemp("", "aac-ministack-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			said, _ := os.ReadFile(filepath.Join(dir, "log"))
			fmt.Fprintf(os.Stderr, "what MiniStack printed last:\n%s\n", proc.LastLines(said, 40))
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	s, err := startServer(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.deploy(ctx); err != nil {
		return err
	}
	if hold {
		fmt.Printf("MiniStack: %s\nAPI: %s\n", s.endpoint, s.url())
		if err := s.access.Print(os.Stdout); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	return runChecks(ctx, s)
}
