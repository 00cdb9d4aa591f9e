package main

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
)

func TestStandIn(t *testing.T) {
	program := filepath.Join(t.TempDir(), "busybox")
	if err := os.WriteFile(program, []byte("a program"), 0o600); err != nil {
		t.Fatal(err)
	}
	layer, err := standIn(program)
	if err != nil {
		t.Fatal(err)
	}
	links, files := map[string]string{}, map[string]string{}
	for r := tar.NewReader(layer); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch h.Typeflag {
		case tar.TypeSymlink:
			links[h.Name] = h.Linkname
		case tar.TypeReg:
			content, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if h.Mode != 0o755 {
				t.Errorf("%s has mode %o", h.Name, h.Mode)
			}
			files[h.Name] = string(content)
		}
	}
	if files["bin/busybox"] != "a program" {
		t.Errorf("files: %q", files)
	}
	for _, name := range []string{"bin/sh", "bin/mv", "bin/chmod"} {
		if links[name] != "busybox" {
			t.Errorf("%s leads to %q", name, links[name])
		}
	}
	if _, err := standIn(filepath.Join(t.TempDir(), "gone")); err == nil {
		t.Error("made without a program")
	}
}

// TestSamEnvironment holds that no credentials of the user's reach the functions.
func TestSamEnvironment(t *testing.T) {
	got := samEnvironment([]string{"PATH=/bin", "AWS_PROFILE=prod", "AWS_SESSION_TOKEN=secret", "AWS_ACCESS_KEY_ID=AKIA", "AAC_DATA_TABLE=prod-data"})
	if !slices.Contains(got, "PATH=/bin") || !slices.Contains(got, "AWS_ACCESS_KEY_ID=test") {
		t.Errorf("%q lacks PATH or the key for stand-ins", got)
	}
	for _, pair := range got {
		if strings.Contains(pair, "prod") || strings.Contains(pair, "secret") || strings.Contains(pair, "AKIA") {
			t.Errorf("%q is handed on", pair)
		}
	}
}

// TestLogicalID holds that every tool's function is found in the template.
func TestLogicalID(t *testing.T) {
	template, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range catalog.All() {
		if !strings.Contains(string(template), "\n  "+logicalID(d.Name)+":\n") {
			t.Errorf("%s: the template has no %s", d.Name, logicalID(d.Name))
		}
	}
}

func TestProcess(t *testing.T) {
	start := func(t *testing.T, script string) *process {
		t.Helper()
		p, err := startProcess("it", exec.Command("sh", "-c", script))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	never := func(context.Context) error { return errors.New("not yet") }
	t.Run("ends by itself", func(t *testing.T) {
		p := start(t, "exit 3")
		err := p.waitUntil(t.Context(), time.Minute, never)
		if err == nil || !strings.Contains(err.Error(), "it ended") || !strings.Contains(err.Error(), "exit status 3") {
			t.Errorf("error %v", err)
		}
		if err := p.stop(syscall.SIGTERM, time.Minute); err != nil {
			t.Errorf("stopping what has ended: %v", err)
		}
	})
	t.Run("stops when told", func(t *testing.T) {
		p := start(t, "exec sleep 60")
		if err := p.waitUntil(t.Context(), time.Minute, func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if err := p.stop(syscall.SIGTERM, time.Minute); err != nil {
			t.Error(err)
		}
	})
	t.Run("is ended when it does not stop", func(t *testing.T) {
		ready := filepath.Join(t.TempDir(), "ready")
		p := start(t, "trap '' TERM; : > '"+ready+"'; exec sleep 60")
		err := p.waitUntil(t.Context(), time.Minute, func(context.Context) error {
			_, err := os.Stat(ready)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.stop(syscall.SIGTERM, 10*time.Millisecond); err == nil || !strings.Contains(err.Error(), "was ended") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("is not waited for without end", func(t *testing.T) {
		p := start(t, "exec sleep 60")
		if err := p.waitUntil(t.Context(), time.Millisecond, never); err == nil || !strings.Contains(err.Error(), "not ready") {
			t.Errorf("error %v", err)
		}
		if err := p.stop(syscall.SIGKILL, time.Minute); err != nil {
			t.Error(err)
		}
	})
}
