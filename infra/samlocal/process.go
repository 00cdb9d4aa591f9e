package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is a program that was started here and is to be stopped here.
type process struct {
	name  string
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has
	err   error         // how it ended; set before ended is closed
}

// startProcess starts a program in a process group of its own: a Ctrl-C at the terminal reaches
// this program alone, which then stops the others in order.
func startProcess(name string, cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{name: name, cmd: cmd, ended: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// waitUntil waits until a program is ready: until ready returns no error.
func (p *process) waitUntil(ctx context.Context, within time.Duration, ready func(context.Context) error) error {
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

// stop asks the program to end, and ends it if it takes too long.
func (p *process) stop(signal syscall.Signal, within time.Duration) error {
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
