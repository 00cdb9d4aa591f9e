// Command clients proves the connector with software that others wrote: it starts the local
// program with fresh demo data, then lets the official Go and TypeScript MCP clients and the MCP
// Inspector walk through the tools, with every token, in both protocol eras. Where the program
// signs people in, clients that know the address alone do that too. After each the audit log is
// compared with the calls that were made. With -local it walks through a system that runs
// already, of which that file tells.
//
// It is not for the wire's details; shared/mcpserver tests those. Start with main.go; walk.go is
// the walk in Go, ts/walk.mjs the same in TypeScript; signin.go and ts/signin.mjs sign in,
// person.go is who answers the consent page; programs.go runs clients that are programs.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// startsWithin bounds the wait for the local program, which compiles first.
const startsWithin = 3 * time.Minute

// localProgram is what is started unless another is named. It signs people in.
const localProgram = "./functions/local"

// local is what the program writes about itself: $DATA/local.json.
type local struct {
	URL         string            `json:"url"`
	MCPURL      string            `json:"mcp_url"`
	WorkspaceID string            `json:"workspace_id"`
	Tokens      map[string]string `json:"tokens"`
}

func main() {
	running := flag.String("local", "", "the local.json of a running system with fresh demo data; empty to start one")
	program := flag.String("program", localProgram, "the program to start: it reads ADDR and DATA, and writes local.json, as local mode does")
	flag.Parse()
	if err := run(context.Background(), *running, *program); err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
}

// run walks through the running system of a local.json, or through one that it starts.
func run(ctx context.Context, running, program string) (err error) {
	if running != "" {
		if running, err = filepath.Abs(running); err != nil {
			return err
		}
		return walk(ctx, running, false)
	}
	dir, err := os.MkdirTemp("", "aac-clients-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	stop, err := start(ctx, dir, program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return walk(ctx, filepath.Join(dir, "data", "local.json"), program == localProgram)
}

// walk lets all clients walk. A program that must sign people in, and does not, is an error.
func walk(ctx context.Context, file string, mustSignIn bool) error {
	l, err := waitFor(ctx, file)
	if err != nil {
		return err
	}
	signsIn := l.signsIn(ctx)
	if mustSignIn && !signsIn {
		return fmt.Errorf("%s publishes no authorization server", l.URL)
	}
	for _, client := range clients {
		if client.signsIn && !signsIn {
			fmt.Printf("%s: not here, for this program signs nobody in\n", client.name)
			continue
		}
		before, err := countEvents(ctx, l)
		if err != nil {
			return err
		}
		made, err := client.walk(ctx, l, file)
		if err != nil {
			return fmt.Errorf("%s: %w", client.name, err)
		}
		after, err := countEvents(ctx, l)
		if err != nil {
			return err
		}
		if recorded := (outcome{after.calls - before.calls, after.grants - before.grants}); recorded != made {
			return fmt.Errorf("%s: made %s, the audit logs gained %s", client.name, made, recorded)
		}
		fmt.Printf("%s: %s, and as many events in the audit logs\n", client.name, made)
	}
	return nil
}

// clients are all that walk, in this order.
var clients = []struct {
	name    string
	walk    func(context.Context, local, string) (outcome, error)
	signsIn bool // needs a program that signs people in
}{
	{"Go SDK", walkGo, false},
	{"TypeScript SDK", walkTypeScript, false},
	{"MCP Inspector", walkInspector, false},
	{"Go SDK, signing in", walkGoSignIn, true},
	{"TypeScript SDK, signing in", walkTypeScriptSignIn, true},
	{"MCP Inspector, signing in", walkInspectorSignIn, true},
	{"mcp-remote, signing in", walkRemote, true},
}

// outcome is what a client did that must be on record.
type outcome struct {
	calls  int // of tools
	grants int // by a person to a client
}

func (o outcome) String() string { return fmt.Sprintf("%d calls and %d grants", o.calls, o.grants) }

// signsIn tells whether the system is its own authorization server.
func (l local) signsIn(ctx context.Context) bool {
	_, err := get(ctx, l.URL+"/.well-known/oauth-authorization-server", "")
	return err == nil
}

// start builds and starts a program on a free port of the loopback interface.
func start(ctx context.Context, dir, pkg string) (stop func() error, err error) {
	program := filepath.Join(dir, "program")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, pkg)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build %s (run this from the directory of go.mod): %w", pkg, err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), "ADDR="+addr, "DATA="+filepath.Join(dir, "data"))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("the program did not stop cleanly: %w", err)
		}
		return nil
	}, nil
}

// waitFor waits until the program has said where it is and answers there.
func waitFor(ctx context.Context, file string) (l local, err error) {
	ctx, cancel := context.WithTimeout(ctx, startsWithin)
	defer cancel()
	for {
		if l, err = ask(ctx, file); err == nil {
			return l, nil
		}
		select {
		case <-ctx.Done():
			return l, fmt.Errorf("the program did not start: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func ask(ctx context.Context, file string) (l local, err error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(content, &l); err != nil {
		return l, err
	}
	_, err = get(ctx, l.URL+"/health", "")
	return l, err
}

// get returns the JSON object at a URL.
func get(ctx context.Context, url, token string) (map[string]any, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var body map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s: %v", req.URL.Path, resp.Status, body["error"])
	}
	return body, nil
}

// countEvents counts in the audit logs of both workspaces. Reading a log is recorded too, and not
// counted.
func countEvents(ctx context.Context, l local) (count outcome, err error) {
	for _, owner := range []string{"owner", "outsider"} {
		cursor := ""
		for {
			page, err := get(ctx, l.URL+"/audit?limit=100"+cursor, l.Tokens[owner])
			if err != nil {
				return count, err
			}
			events, _ := page["events"].([]any)
			for _, e := range events {
				switch event, _ := e.(map[string]any); {
				case event["tool"] == "oauth.grant":
					count.grants++
				case event["recorder"] != "_audit":
					count.calls++
				}
			}
			next, _ := page["next_cursor"].(string)
			if next == "" {
				break
			}
			cursor = "&cursor=" + next
		}
	}
	return count, nil
}
