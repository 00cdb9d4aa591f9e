package npm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// world is a directory with a lock file, and a PATH with the programs alone. npm does as the
// script says, in that directory.
func world(t *testing.T, programs map[string]string) (dir string) {
	t.Helper()
	dir, bin := t.TempDir(), t.TempDir()
	for name, script := range programs {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	if err := os.WriteFile(filepath.Join(dir, "package-lock.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "node_modules"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

const working = `echo "$@" >>asked; : >node_modules/.package-lock.json`

func TestInstallOnceForEachLockFile(t *testing.T) {
	dir := world(t, map[string]string{"node": "", "npm": working})
	install := func() string {
		t.Helper()
		if err := Install(t.Context(), "ci", dir); err != nil {
			t.Fatal(err)
		}
		asked, err := os.ReadFile(filepath.Join(dir, "asked"))
		if err != nil {
			t.Fatal(err)
		}
		return string(asked)
	}
	once := "ci --no-save --no-audit --no-fund --silent\n"
	if got := install(); got != once {
		t.Errorf("asked npm for %q, want %q", got, once)
	}
	if got := install(); got != once {
		t.Errorf("installed again what was there: %q", got)
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(filepath.Join(dir, "package-lock.json"), later, later); err != nil {
		t.Fatal(err)
	}
	if got := install(); got != once+once {
		t.Errorf("a new lock file was not followed: %q", got)
	}
}

func TestInstallSaysWhatIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		programs map[string]string
		want     string
	}{
		"no node":   {map[string]string{"npm": working}, "node is not there: install Node.js 20 or later"},
		"no npm":    {map[string]string{"node": ""}, "npm is not there: install Node.js 20 or later"},
		"npm fails": {map[string]string{"node": "", "npm": "exit 3"}, "registry"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Install(t.Context(), "ci", world(t, c.programs))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}
