package dynamotest

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Engine is a running engine, its data in memory.
type Engine struct {
	Endpoint string // its URL

	cmd *exec.Cmd
}

// Launch starts an engine at host:port; port 0 takes any free one. The engine asks for no
// credentials: let nobody but this machine reach the address. It runs until Stop.
func Launch(addr string) (*Engine, error) {
	program, err := find()
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if port != "0" {
		return start(program, host, port)
	}
	// Between finding a free port and using it another program may take it: then the next.
	const tries = 5
	for range tries {
		if port, err = freePort(host); err != nil {
			return nil, err
		}
		var engine *Engine
		if engine, err = start(program, host, port); err == nil {
			return engine, nil
		}
	}
	return nil, err
}

// Stop ends the engine, and its data.
func (e *Engine) Stop() error {
	if err := e.cmd.Process.Kill(); err != nil {
		return err
	}
	_ = e.cmd.Wait() // its error is that it was killed
	return nil
}

// find looks for the engine where `make tools` puts it, then on the PATH.
func find() (string, error) {
	const name = "dynoxide"
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			return "", errors.New("no go.mod above the working directory: run this inside the module")
		}
		dir = filepath.Dir(dir)
	}
	program := filepath.Join(dir, ".tools", "bin", name)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if program, err := exec.LookPath(name); err == nil {
		return program, nil
	}
	return "", fmt.Errorf("%s, the DynamoDB engine of the tests, is not installed: run make tools", name)
}

// start returns when the engine listens, or has ended instead.
func start(program, host, port string) (*Engine, error) {
	cmd := exec.Command(program, "--host", host, "--port", port)
	out, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// It says on stderr that it listens, once it does.
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		if strings.Contains(lines.Text(), "listening on") {
			go drain(lines)
			return &Engine{Endpoint: "http://" + net.JoinHostPort(host, port), cmd: cmd}, nil
		}
		said = append(said, lines.Text())
	}
	return nil, fmt.Errorf("%s does not start: %w", program, errors.Join(cmd.Wait(), errors.New(strings.Join(said, "\n"))))
}

// drain reads on, so that the engine never blocks on a full pipe.
func drain(lines *bufio.Scanner) {
	for lines.Scan() {
	}
}

func freePort(host string) (string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}
