package main

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
