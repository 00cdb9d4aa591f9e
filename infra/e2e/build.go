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

// builder builds functions as `sam build` does, for the processor of this machine.
type builder struct {
	root  string // of the repository
	dir   string // for programs
	rie   string // the emulator
	stack *stack.Stack
}

const emulator = "aws-lambda-rie"

// newBuilder builds every function of the template; a call would not wait for that. Root is the
// repository, dir an empty directory.
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
	if err != nil {
		return nil, err
	}
	b := &builder{root: root, dir: dir, rie: rie, stack: s}
	return b, b.buildAll()
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

// program is the path of a function's program.
func (b *builder) program(logicalID string) string {
	return filepath.Join(b.dir, logicalID, "bootstrap")
}

// atOnce is how many functions are built side by side; the go command uses several processors
// for each where it can.
const atOnce = 2

func (b *builder) buildAll() error {
	functions, err := b.stack.Functions()
	if err != nil {
		return err
	}
	ids := make(chan string)
	errs := make([]error, atOnce)
	var work sync.WaitGroup
	for worker := range atOnce {
		work.Go(func() {
			for id := range ids {
				errs[worker] = errors.Join(errs[worker], b.build(id))
			}
		})
	}
	for _, f := range functions {
		ids <- f.LogicalID
	}
	close(ids)
	work.Wait()
	return errors.Join(errs...)
}

// build has the Makefile build: its flags are those that are deployed.
func (b *builder) build(logicalID string) error {
	arch, ok := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("functions are not built for %s", runtime.GOARCH)
	}
	dir := filepath.Dir(b.program(logicalID))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	cmd := exec.Command("make", "--silent", "--no-print-directory", "build-"+logicalID, "ARTIFACTS_DIR="+dir, "ARCH="+arch)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=") // those of a make that runs this are not for it
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", logicalID, err, out)
	}
	return nil
}
