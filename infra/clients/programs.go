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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/infra/npm"
)

// Clients that are programs of Node.js. npm installs them at the versions of package-lock.json.
var (
	typeScript = filepath.Join("infra", "clients", "ts")
	others     = filepath.Join("infra", "clients", "others")
)

// programWithin bounds one run of a client.
const programWithin = 2 * time.Minute

// installOthers does not ask for ci: vite, which the Inspector brings, has an optional dependency for
// Windows that a lock file made elsewhere lacks, and ci demands.
func installOthers(ctx context.Context) error { return npm.Install(ctx, "install", others) }

// walkTypeScript runs the walk of walk.go with the TypeScript SDK.
func walkTypeScript(ctx context.Context, _ local, file string) (outcome, error) {
	calls, err := runTypeScript(ctx, "walk.mjs", file)
	return outcome{calls: calls}, err
}

// runTypeScript runs a walk that counts its calls on its last line.
func runTypeScript(ctx context.Context, script string, arguments ...string) (calls int, err error) {
	if err := npm.Install(ctx, "ci", typeScript); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, programWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", append([]string{script}, arguments...)...)
	cmd.Dir, cmd.Stderr = typeScript, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", script, err)
	}
	lines := strings.Fields(string(out))
	slices.Reverse(lines)
	if len(lines) == 0 {
		return 0, fmt.Errorf("%s said nothing", script)
	}
	return strconv.Atoi(lines[0])
}

// other is a client of the directory others, with a home of its own.
func other(ctx context.Context, home, program string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join("node_modules", ".bin", "node"), append([]string{filepath.Join("node_modules", program)}, arguments...)...)
	cmd.Dir, cmd.Env = others, headless(home)
	return cmd
}

// headless is the environment of a program that shall neither find a browser nor what an earlier
// run left.
func headless(home string) []string {
	return append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "BROWSER=true",
		"MCP_REMOTE_CONFIG_DIR="+home, "MCP_AUTO_OPEN_ENABLED=true", "MCP_INSPECTOR_SECRET_STORE=file", "NO_COLOR=1")
}

// inspector is the command line of the MCP Inspector. Each run is one connection and one request.
type inspector struct {
	local
	era, home string
	flags     []string
	consents  *consents
}

func (i inspector) run(ctx context.Context, into any, arguments ...string) error {
	ctx, cancel := context.WithTimeout(ctx, programWithin)
	defer cancel()
	cmd := other(ctx, i.home, "@modelcontextprotocol/inspector/clients/launcher/build/index.js",
		slices.Concat([]string{"--cli", i.MCPURL, "--transport", "http", "--protocol-era", i.era}, i.flags, arguments)...)
	attendant := &attendant{ctx: ctx, consents: i.consents}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, attendant
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(arguments, " "), errors.Join(err, i.consents.failed()), attendant.output())
	}
	return json.Unmarshal(out.Bytes(), into)
}

// call calls a tool, and requires that it succeeds.
func (i inspector) call(ctx context.Context, tool string, arguments string) (string, error) {
	var result struct {
		Content []struct{ Text string }
		IsError bool
	}
	err := i.run(ctx, &result, "--method", "tools/call", "--tool-name", tool, "--tool-args-json", arguments)
	if err == nil && (result.IsError || len(result.Content) != 1) {
		err = fmt.Errorf("%s: %+v", tool, result)
	}
	if err != nil {
		return "", err
	}
	return result.Content[0].Text, nil
}

// list requires how many tools there are, and that the Inspector finds nothing wrong with their
// schemas.
func (i inspector) list(ctx context.Context, tools int) error {
	var listed struct{ Tools []any }
	if err := i.run(ctx, &listed, "--method", "tools/list", "--strict"); err != nil {
		return err
	}
	if len(listed.Tools) != tools {
		return fmt.Errorf("%d tools, want %d", len(listed.Tools), tools)
	}
	return nil
}

// walkInspector reads and writes with tokens.
func walkInspector(ctx context.Context, l local, _ string) (made outcome, err error) {
	if err := installOthers(ctx); err != nil {
		return made, err
	}
	home, err := os.MkdirTemp("", "aac-inspector-")
	if err != nil {
		return made, err
	}
	defer os.RemoveAll(home)
	for _, era := range []string{"modern", "legacy"} {
		for _, h := range holders[:2] {
			i := inspector{local: l, era: era, home: home, consents: &consents{}, flags: []string{"--header", "Authorization: Bearer " + l.Tokens[h.name]}}
			if err := i.list(ctx, h.tools); err != nil {
				return made, fmt.Errorf("%s, as %s: %w", era, h.name, err)
			}
			text, err := i.call(ctx, "get_issue", `{"issue_id":"`+knownIssue+`"}`)
			if err != nil || !strings.Contains(text, knownIssueID) {
				return made, fmt.Errorf("%s, as %s: %w", era, h.name, errors.Join(err, errors.New(text)))
			}
			made.calls++
			if !h.writes {
				continue
			}
			if _, err := i.call(ctx, "create_issue", `{"title":"Made with the Inspector"}`); err != nil {
				return made, fmt.Errorf("%s, as %s: %w", era, h.name, err)
			}
			made.calls++
		}
	}
	return made, nil
}
