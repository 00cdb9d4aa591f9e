// Command e2e runs the connector as it is deployed, without AWS: each function built for Lambda
// and in a process of its own under the Lambda Runtime Interface Emulator, with the settings,
// time-outs and routes of template.yaml, an emulation of API Gateway in front and a DynamoDB
// with the demo data behind. Its tests compare it with local mode, and let functions fail.
//
// It is not for trying the connector out: `make run` is that, in one process. The emulators know
// no roles (infra/policy judges those) and one instance of each function. Start with system.go;
// function.go is one function, invokeapi.go how functions reach each other.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, orDefault(os.Getenv("ADDR"), "127.0.0.1:3000"), orDefault(os.Getenv("DATA"), ".local/e2e")); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
}

// run serves at an address until the context ends, and says in local.json of the directory who
// may call, as local mode does.
func run(ctx context.Context, addr, dir string) error {
	programs, err := os.MkdirTemp("", "aac-e2e-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(programs)
	b, err := newBuilder(".", programs)
	if err != nil {
		return err
	}
	s, err := Start(ctx, Config{Addr: addr, Builder: b})
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "local.json")
	if err := s.Access.WriteFile(file, s.URL); err != nil {
		return errors.Join(err, s.Close())
	}
	fmt.Printf("The connector as it is deployed: %s/mcp\nThe tokens are in %s.\nStop with Ctrl-C; the data are then gone.\n", s.URL, file)
	<-ctx.Done()
	return s.Close()
}

func orDefault(value, def string) string {
	if value == "" {
		return def
	}
	return value
}
