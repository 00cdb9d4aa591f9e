package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// instance is a function's process, the child of an emulator's.
type instance struct {
	url   string // where the emulator takes calls
	cmd   *exec.Cmd
	ended chan error
}

// startsWithin bounds the time until the emulator listens; the function itself starts later,
// with the first call.
const startsWithin = 20 * time.Second

// startInstance starts an emulator for a program, on loopback ports that are free.
func startInstance(ctx context.Context, rie, program string, env []string, log io.Writer) (*instance, error) {
	ctx, cancel := context.WithTimeout(ctx, startsWithin)
	defer cancel()
	const tries = 5 // another program may take the port first
	var err error
	for range tries {
		var i *instance
		if i, err = startOnce(ctx, rie, program, env, log); err == nil || ctx.Err() != nil {
			return i, err
		}
	}
	return nil, err
}

func startOnce(ctx context.Context, rie, program string, env []string, log io.Writer) (*instance, error) {
	calls, api, err := freeAddresses()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(rie, "--log-level", "warn", "--runtime-api-address", api, "--runtime-interface-emulator-address", calls, program, filepath.Base(program))
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = filepath.Dir(program), env, log, log
	// Should this process be killed, so is the emulator, and the function ends when it asks
	// the emulator for work.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	i := &instance{url: "http://" + calls + "/2015-03-31/functions/function/invocations", cmd: cmd, ended: make(chan error, 1)}
	if err := onLastingThread(cmd.Start); err != nil {
		return nil, fmt.Errorf("start the emulator: %w", err)
	}
	go func() { i.ended <- cmd.Wait() }()
	if err := i.listens(ctx, calls); err != nil {
		return nil, errors.Join(err, i.stop())
	}
	return i, nil
}

// listens waits until the emulator takes calls. It does not say when.
func (i *instance) listens(ctx context.Context, address string) error {
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case err := <-i.ended:
			i.ended <- err
			return fmt.Errorf("the emulator ended: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("the emulator does not listen: %w", err)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// stop ends the function and the emulator, in this order, and waits for both.
func (i *instance) stop() error {
	child, err := i.child()
	if err == nil && child != 0 {
		err = kill(child)
	}
	if killErr := i.cmd.Process.Kill(); killErr != nil && !errors.Is(killErr, os.ErrProcessDone) {
		err = errors.Join(err, killErr)
	}
	waited := <-i.ended // its error is that it was killed
	i.ended <- waited
	return err
}

func kill(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop process %d: %w", pid, err)
	}
	return nil
}

// child finds the process that the emulator started, 0 if there is none.
func (i *instance) child() (int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		if parent, state := statOf(string(text)); parent == i.cmd.Process.Pid && state != zombie {
			pid, _, _ := strings.Cut(string(text), " ")
			return strconv.Atoi(pid)
		}
	}
	return 0, nil
}

// zombie is the state of a process that has ended and is not waited for.
const zombie = "Z"

// statOf reads a line of /proc: pid (name) state parent …, where the name may hold anything.
func statOf(line string) (parent int, state string) {
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 2 {
		return 0, ""
	}
	parent, _ = strconv.Atoi(fields[1]) // 0 is nobody's parent here
	return parent, fields[0]
}

func freeAddresses() (one, other string, err error) {
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	second, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", errors.Join(err, first.Close())
	}
	return first.Addr().String(), second.Addr().String(), errors.Join(first.Close(), second.Close())
}

// onLastingThread runs start on a thread that ends with this process only: Linux sends the
// signal of a parent's death when the thread ends that has started the child.
func onLastingThread(start func() error) error {
	lastingThread.once.Do(func() {
		lastingThread.work = make(chan func())
		go func() {
			runtime.LockOSThread()
			for do := range lastingThread.work {
				do()
			}
		}()
	})
	done := make(chan error)
	lastingThread.work <- func() { done <- start() }
	return <-done
}

var lastingThread struct {
	once sync.Once
	work chan func()
}
