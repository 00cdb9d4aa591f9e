// Package proc starts programs that are to be stopped by whoever started them, and waits until
// they are ready.
package proc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Process is a program that was started here and is to be stopped here.
type Process struct {
	name  string
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has
	err   error         // how it ended; set before ended is closed
}

// Start starts a program in a process group of its own: a Ctrl-C at the terminal reaches
// this program alone, which then stops the others in order.
func Start(name string, cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{name: name, cmd: cmd, ended: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// WaitUntil waits until a program is ready: until ready returns no error.
func (p *Process) WaitUntil(ctx context.Context, within time.Duration, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended: %w", p.name, errors.Join(p.err, err))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", p.name, errors.Join(ctx.Err(), err))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Stop asks the program to end, and ends it if it takes too long.
func (p *Process) Stop(signal syscall.Signal, within time.Duration) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	select {
	case <-p.ended:
		return nil // a program that was told to end may say that it was
	case <-time.After(within):
	}
	if err := p.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("end %s, which took longer than %s to stop: %w", p.name, within, err)
	}
	<-p.ended
	return fmt.Errorf("%s took longer than %s to stop, and was ended", p.name, within)
}

// Ended is closed when the program has ended; Err then says how.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Err says how the program ended. Call it once Ended is closed.
func (p *Process) Err() error { return p.err }

// FreePort returns a port that is free on all addresses.
func FreePort() (string, error) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// LastLines returns the end of what a program printed.
func LastLines(b []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// WithoutCredentials returns an environment in which nothing says whose cloud account to use,
// with the variables added. Programs that talk to a stand-in of AWS get it: they could not reach
// the real one by mistake.
func WithoutCredentials(environ []string, add ...string) []string {
	kept := append([]string{
		"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
	}, add...)
	for _, pair := range environ {
		if !strings.HasPrefix(pair, "AWS_") && !strings.HasPrefix(pair, "AAC_") {
			kept = append(kept, pair)
		}
	}
	return kept
}

// Architecture is this machine's, as AWS names it.
func Architecture() (string, error) {
	switch runtime.GOARCH {
	case "amd64":
		return "x86_64", nil
	case "arm64":
		return "arm64", nil
	}
	return "", fmt.Errorf("no function of Lambda runs on a processor of the kind %s: use a machine with amd64 or arm64", runtime.GOARCH)
}
