package proc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestProcess(t *testing.T) {
	start := func(t *testing.T, script string) *Process {
		t.Helper()
		p, err := Start("it", exec.Command("sh", "-c", script))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	never := func(context.Context) error { return errors.New("not yet") }
	t.Run("ends by itself", func(t *testing.T) {
		p := start(t, "exit 3")
		err := p.WaitUntil(t.Context(), time.Minute, never)
		if err == nil || !strings.Contains(err.Error(), "it ended") || !strings.Contains(err.Error(), "exit status 3") {
			t.Errorf("error %v", err)
		}
		if err := p.Stop(syscall.SIGTERM, time.Minute); err != nil {
			t.Errorf("stopping what has ended: %v", err)
		}
	})
	t.Run("stops when told", func(t *testing.T) {
		p := start(t, "exec sleep 60")
		if err := p.WaitUntil(t.Context(), time.Minute, func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if err := p.Stop(syscall.SIGTERM, time.Minute); err != nil {
			t.Error(err)
		}
	})
	t.Run("is ended when it does not stop", func(t *testing.T) {
		ready := filepath.Join(t.TempDir(), "ready")
		p := start(t, "trap '' TERM; : > '"+ready+"'; exec sleep 60")
		err := p.WaitUntil(t.Context(), time.Minute, func(context.Context) error {
			_, err := os.Stat(ready)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Stop(syscall.SIGTERM, 10*time.Millisecond); err == nil || !strings.Contains(err.Error(), "was ended") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("is not waited for without end", func(t *testing.T) {
		p := start(t, "exec sleep 60")
		if err := p.WaitUntil(t.Context(), time.Millisecond, never); err == nil || !strings.Contains(err.Error(), "not ready") {
			t.Errorf("error %v", err)
		}
		if err := p.Stop(syscall.SIGKILL, time.Minute); err != nil {
			t.Error(err)
		}
	})
}
