package dynamotest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	module := t.TempDir()
	below := filepath.Join(module, "shared", "x")
	tools := filepath.Join(module, ".tools", "bin")
	for _, dir := range []string{below, tools} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	t.Chdir(below)

	write(filepath.Join(module, "go.mod"))
	if _, err := find(); err == nil || !strings.Contains(err.Error(), "run make tools") {
		t.Errorf("no engine: %v; want the command that installs it", err)
	}
	onPath := filepath.Join(os.Getenv("PATH"), "dynoxide")
	write(onPath)
	if got, err := find(); got != onPath || err != nil {
		t.Errorf("on the PATH: %q, %v", got, err)
	}
	ours := filepath.Join(tools, "dynoxide")
	write(ours)
	if got, err := find(); err != nil || !strings.HasSuffix(got, filepath.Join(".tools", "bin", "dynoxide")) {
		t.Errorf("installed for the module: %q, %v", got, err)
	}
}

func TestStartReportsWhatTheEngineSays(t *testing.T) {
	program := filepath.Join(t.TempDir(), "engine")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho 'error: no room' >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := start(program, "127.0.0.1", "0"); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("error %v; want the engine's words", err)
	}
}
