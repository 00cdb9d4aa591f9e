package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/functions/local/system"
	"github.com/aacworkflow/mcp-connector/shared/audit"
)

// hostile is what programs, tools and people are called here who want to be something else than
// text. It is as long as the name of a program may be.
const hostile = `<img src=x onerror="pwned=1"><script>pwned=1</script>`

// task is what the scripts are told, in JSON on their standard input: no token is in an argument
// or in the environment.
type task struct {
	Chromium string            `json:"chromium"` // its path
	Shots    string            `json:"shots"`    // a directory, or empty for no pictures
	URL      string            `json:"url"`      // of the system
	Site     string            `json:"site"`     // of the client: scheme, host and port
	Tokens   map[string]string `json:"tokens"`
	Hostile  string            `json:"hostile"`
	// Ask are addresses that a client opens in the browser, by what is special about them.
	Ask map[string]string `json:"ask"`
}

// walk starts a system, lets the scripts walk through it, and compares what is left behind.
func walk(ctx context.Context, dir, chromium, shots string) (err error) {
	sys, err := system.Start(ctx, system.Config{Addr: "127.0.0.1:0", Data: filepath.Join(dir, "data")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sys.Close()) }()
	begun := time.Now()
	c, err := openSite(sys)
	if err != nil {
		return err
	}
	defer c.close()
	ask, err := c.addresses(ctx)
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	if err := runScripts(ctx, task{chromium, shots, sys.URL, c.url, sys.Tokens, hostile, ask}); err != nil {
		return err
	}
	return errors.Join(c.compare(), compareLog(ctx, sys, begun))
}

func runScripts(ctx context.Context, t task) error {
	input, err := json.Marshal(t)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "node", "walk.mjs")
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = home, bytes.NewReader(input), os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it closes the browser first
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		return errors.Join(fmt.Errorf("walk.mjs: %w; above is what it found", err), ctx.Err())
	}
	return nil
}

// watched is the event of who may read the log and does. How many there are is up to the browser: a
// choice that is changed at once may have been asked for, or not.
const watched = "_audit success"

// logged is what the walk leaves in the audit log of the workspace besides: tool, outcome and
// reason, and how often.
func logged() map[string]int {
	all := map[string]int{
		"oauth.grant success":                          1, // of the three who were asked, one said yes
		"list_issues success":                          4, // one of them by somebody with a hostile name
		"list_issues denied invalid_arguments":         1,
		"create_issue success":                         1,
		"create_issue denied insufficient_scope":       2,
		"dashboard_usage_daily success":                1,
		"get_issue denied not_found":                   1,
		"delete_issue denied destructive_flag_missing": 1,
		"_audit denied insufficient_scope":             1,
		hostile + " denied unknown_tool":               1,
	}
	for i := range 6 {
		all[fmt.Sprintf("export_%d denied unknown_tool", i)] = 1
	}
	return all
}

func compareLog(ctx context.Context, sys *system.System, begun time.Time) error {
	got := map[string]int{}
	export := audit.Export{Workspace: string(sys.WorkspaceID), Filter: audit.Filter{Since: begun}, Now: time.Now(), Retention: audit.DefaultRetention}
	err := export.Each(ctx, sys.Tables, func(e audit.Event) error {
		got[strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Tool, e.Outcome, e.Reason))]++
		return nil
	})
	if err == nil && got[watched] == 0 {
		err = errors.New("the audit log does not say who watched it")
	}
	delete(got, watched)
	if diff := cmp.Diff(logged(), got); err == nil && diff != "" {
		err = fmt.Errorf("the audit log does not hold what was done (-want +got):\n%s", diff)
	}
	return err
}
