package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/aacworkflow/mcp-connector/infra/stack"
)

// builder builds functions as `sam build` does, for the processor of this machine, each once.
type builder struct {
	root  string // of the repository
	dir   string // for programs
	rie   string // the emulator
	stack *stack.Stack

	mu    sync.Mutex
	built map[string]func() (string, error) // by logical id
}

const emulator = "aws-lambda-rie"

// newBuilder reads the template and looks for the emulator. Root is the repository, dir an empty
// directory.
func newBuilder(root, dir string) (*builder, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	s, err := stack.Load(root)
	if err != nil {
		return nil, err
	}
	rie, err := findEmulator(root)
	return &builder{root: root, dir: dir, rie: rie, stack: s, built: map[string]func() (string, error){}}, err
}

// findEmulator looks where `make tools` puts it, then on the PATH.
func findEmulator(root string) (string, error) {
	ours := filepath.Join(root, ".tools", "bin", emulator)
	if _, err := os.Stat(ours); err == nil {
		return ours, nil
	}
	found, err := exec.LookPath(emulator)
	if err != nil {
		return "", errors.New("the Lambda Runtime Interface Emulator is not installed: run make tools")
	}
	return found, nil
}

// program returns the path of a function's program.
func (b *builder) program(logicalID string) (string, error) {
	b.mu.Lock()
	once, ok := b.built[logicalID]
	if !ok {
		once = sync.OnceValues(func() (string, error) { return b.build(logicalID) })
		b.built[logicalID] = once
	}
	b.mu.Unlock()
	return once()
}

// build has the Makefile build: its flags are those that are deployed.
func (b *builder) build(logicalID string) (string, error) {
	arch, ok := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
	if !ok {
		return "", fmt.Errorf("functions are not built for %s", runtime.GOARCH)
	}
	dir := filepath.Join(b.dir, logicalID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	cmd := exec.Command("make", "--silent", "--no-print-directory", "build-"+logicalID, "ARTIFACTS_DIR="+dir, "ARCH="+arch)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=") // those of a make that runs this are not for it
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w: %s", logicalID, err, out)
	}
	return filepath.Join(dir, "bootstrap"), nil
}
