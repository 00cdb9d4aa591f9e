package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"syscall"

	"github.com/aacworkflow/mcp-connector/functions/local/system"
)

const usage = `Runs the whole connector here, with demo data.

  ADDR=127.0.0.1:3000   where to listen; port 0 takes any free port
  DATA=.local           the directory of the data and of local.json
  RESET=1               begin anew with fresh demo data and tokens

Flags:
`

// run is the program: it returns the exit status, 0 after a signal to stop, 1 after a failure,
// 2 for settings that cannot be used.
func run(args []string, env func(string) string, stdout, stderr io.Writer) int {
	cfg, err := settings(args, env, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "local:", err)
		return 2
	}
	cfg.Log = slog.New(slog.NewTextHandler(stderr, nil))
	// Libraries log to the default logger; what they say of their own start is of no interest.
	slog.SetLogLoggerLevel(slog.LevelWarn)
	slog.SetDefault(slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, stop, cfg, stdout); err != nil {
		fmt.Fprintln(stderr, "local:", err)
		return 1
	}
	return 0
}

// serve runs the system until the context ends. A second signal, after stop, ends the process
// at once.
func serve(ctx context.Context, stop func(), cfg system.Config, stdout io.Writer) error {
	s, err := system.Start(ctx, cfg)
	if err != nil {
		return err
	}
	printWelcome(stdout, s)
	select {
	case <-ctx.Done():
	case err := <-s.Failed():
		return errors.Join(err, s.Close())
	}
	stop()
	fmt.Fprintln(stdout, "Stopping: waiting for calls under way.")
	return s.Close()
}

// settings reads flags and environment.
func settings(args []string, env func(string) string, stderr io.Writer) (system.Config, error) {
	flags := flag.NewFlagSet("local", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	expose := flags.Bool("expose", false, "allow ADDR to be reached from other machines; the traffic is not encrypted")
	if err := flags.Parse(args); err != nil {
		return system.Config{}, err
	}
	if flags.NArg() > 0 {
		return system.Config{}, fmt.Errorf("there are no arguments besides the flags: leave %q out, see -h", flags.Arg(0))
	}
	cfg := system.Config{Addr: orDefault(env("ADDR"), "127.0.0.1:3000"), Data: orDefault(env("DATA"), ".local"), Expose: *expose}
	if err := checkAddr(cfg.Addr, *expose); err != nil {
		return system.Config{}, err
	}
	switch env("RESET") {
	case "", "0":
	case "1":
		cfg.Reset = true
	default:
		return system.Config{}, errors.New("RESET is not understood: set RESET=1 to begin anew, or leave it out")
	}
	return cfg, nil
}

func orDefault(value, def string) string {
	if value == "" {
		return def
	}
	return value
}

// checkAddr holds the program to this machine unless asked otherwise.
func checkAddr(addr string, expose bool) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" {
		return errors.New("ADDR is not understood: set it to a host and a port, such as ADDR=127.0.0.1:3000")
	}
	if expose || host == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		return nil
	}
	return errors.New("ADDR can be reached from other machines: set it to a loopback address such as 127.0.0.1:3000, " +
		"or start with the flag -expose (make run RUNFLAGS=-expose) if that is meant")
}
