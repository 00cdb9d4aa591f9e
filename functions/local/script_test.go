package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
)

// The scripts in testdata run the program itself, as a process of its own: the test binary,
// started under the name local, is its main.
//
//	start [NAME] [flags]              start it with the script's environment, wait until it serves;
//	                                  ! start: it must refuse to, and its words go to stderr
//	stop [NAME]                       ask it to stop (SIGTERM) and wait for a clean end
//	call STATUS METHOD PATH WHO BODY  call it as a token of local.json, or "-" for nobody; the
//	                                  answer goes to stdout. BODY may be left out, and be @file
//	capture VAR path                  keep a member of the last answer, such as issue.id
//	grant VAR HOLDER DAYS [revoked]   issue a token that lives 30 days, so many days ago, with all
//	                                  scopes; the program must not be running
//	mode OCTAL FILE                   require the permissions of a file
//	busy VAR                          keep the address that the running program listens at

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"local": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			s := &script{running: map[string]*process{}}
			env.Values["script"] = s
			env.Setenv("ADDR", "127.0.0.1:0")
			env.Setenv("DATA", filepath.Join(env.WorkDir, "data"))
			env.Defer(s.killAll)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"start": cmdStart, "stop": cmdStop, "call": cmdCall, "capture": cmdCapture, "grant": cmdGrant, "mode": cmdMode, "busy": cmdBusy,
		},
	})
}

// script is what one script has running and last read.
type script struct {
	running map[string]*process
	last    []byte
}

func scriptOf(ts *testscript.TestScript) *script { return ts.Value("script").(*script) }

func (s *script) killAll() {
	for _, p := range s.running {
		_ = p.cmd.Process.Kill() // it may have ended
		_ = p.wait()
	}
}

// process is a started program.
type process struct {
	cmd     *exec.Cmd
	welcome string        // what it printed until it was ready
	stdout  *bytes.Buffer // all after that; read it after wait
	stderr  *bytes.Buffer // read it after wait
	rest    chan error
}

// lastWelcome is the last line that the program prints when it is ready.
const lastWelcome = "Stop with Ctrl-C."

// startLocal starts the program and waits until it serves or has ended.
func startLocal(dir string, env []string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command("local", args...), stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, rest: make(chan error, 1)}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = dir, env, p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		p.welcome += line
		if err != nil {
			p.rest <- nil
			return p, fmt.Errorf("the program ended: %w", p.wait())
		}
		if strings.TrimSpace(line) == lastWelcome {
			break
		}
	}
	go func() {
		_, err := io.Copy(p.stdout, lines)
		p.rest <- err
	}()
	return p, nil
}

// wait waits for the end and for all output.
func (p *process) wait() error {
	if err := <-p.rest; err != nil {
		return err
	}
	p.rest <- nil // so that it can be called again
	return p.cmd.Wait()
}

func cmdStart(ts *testscript.TestScript, neg bool, args []string) {
	s, name := scriptOf(ts), "local"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	env := os.Environ()
	for _, key := range []string{"ADDR", "DATA", "RESET"} {
		env = append(env, key+"="+ts.Getenv(key))
	}
	p, err := startLocal(ts.MkAbs("."), env, args...)
	if p == nil {
		ts.Fatalf("start: %v", err)
	}
	if err != nil {
		write(ts, ts.Stdout(), p.welcome)
		write(ts, ts.Stderr(), p.stderr.String())
		if !neg {
			ts.Fatalf("it did not start: %v", err)
		}
		return
	}
	s.running[name] = p
	write(ts, ts.Stdout(), p.welcome)
	if neg {
		ts.Fatalf("it started, but should not have")
	}
}

func cmdStop(ts *testscript.TestScript, neg bool, args []string) {
	s, name := scriptOf(ts), "local"
	if len(args) > 0 {
		name = args[0]
	}
	p := s.running[name]
	if p == nil || neg {
		ts.Fatalf("usage: stop [NAME] of a program that is running")
	}
	delete(s.running, name)
	ts.Check(p.cmd.Process.Signal(syscall.SIGTERM))
	err := p.wait()
	write(ts, ts.Stdout(), p.stdout.String())
	write(ts, ts.Stderr(), p.stderr.String())
	if err != nil {
		ts.Fatalf("it did not stop cleanly: %v", err)
	}
}

func write(ts *testscript.TestScript, w io.Writer, text string) {
	_, err := io.WriteString(w, text)
	ts.Check(err)
}

// localFile is local.json.
type localFile struct {
	URL         string            `json:"url"`
	MCPURL      string            `json:"mcp_url"`
	WorkspaceID string            `json:"workspace_id"`
	Tokens      map[string]string `json:"tokens"`
}

func readLocalFile(data string) (localFile, error) {
	var l localFile
	b, err := os.ReadFile(filepath.Join(data, "local.json"))
	if err != nil {
		return l, err
	}
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	return l, decoder.Decode(&l)
}

func cmdCall(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 || len(args) > 5 {
		ts.Fatalf("usage: call STATUS METHOD PATH WHO [BODY]")
	}
	l, err := readLocalFile(ts.Getenv("DATA"))
	ts.Check(err)
	who, body := args[3], ""
	if len(args) == 5 {
		body = args[4]
	}
	if file, ok := strings.CutPrefix(body, "@"); ok {
		body = ts.ReadFile(file)
	}
	if secret, ok := l.Tokens[who]; ok {
		who = secret
	}
	status, answer, err := request(l.URL, args[1], args[2], who, body)
	ts.Check(err)
	scriptOf(ts).last = answer
	write(ts, ts.Stdout(), string(answer)+"\n")
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("status %d, want %s: %s", status, args[0], answer)
	}
}

// request makes one call; the token "-" is none.
func request(url, method, path, token, body string) (int, []byte, error) {
	r, err := http.NewRequest(method, url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if token != "-" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture VAR path.to.member")
	}
	var at any
	ts.Check(json.Unmarshal(scriptOf(ts).last, &at))
	for _, step := range strings.Split(args[1], ".") {
		switch in := at.(type) {
		case map[string]any:
			at = in[step]
		case []any:
			n, err := strconv.Atoi(step)
			ts.Check(err)
			if n >= len(in) {
				ts.Fatalf("%s: there are only %d", args[1], len(in))
			}
			at = in[n]
		default:
			ts.Fatalf("the answer has no %s", args[1])
		}
	}
	ts.Setenv(args[0], fmt.Sprint(at))
}

func cmdGrant(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: grant VAR HOLDER DAYS [revoked]")
	}
	grants := demo.Grants()
	holder := slices.IndexFunc(grants, func(g demo.Grant) bool { return strings.HasPrefix(g.Holder, args[1]) })
	if holder < 0 {
		ts.Fatalf("there is no %s", args[1])
	}
	days, err := strconv.Atoi(args[2])
	ts.Check(err)
	db, err := embedded.Open(filepath.Join(ts.Getenv("DATA"), "tracker.db"))
	ts.Check(err)
	defer db.Close()
	ctx := context.Background()
	workspace := string(grants[holder].WorkspaceID)
	t, record, err := token.Issue(ctx, db, token.Grant{
		ID: uuid.NewString(), WorkspaceID: workspace, UserID: string(grants[holder].UserID), Name: args[0],
		Scopes: identity.Scopes(), Lifetime: 30 * 24 * time.Hour, At: time.Now().AddDate(0, 0, -days),
	})
	ts.Check(err)
	if len(args) == 4 && args[3] == "revoked" {
		_, err := token.Revoke(ctx, db, workspace, record.ID, time.Now())
		ts.Check(err)
	}
	ts.Setenv(args[0], t.Secret())
}

func cmdMode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode OCTAL FILE")
	}
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has the mode %s, want %s", args[1], got, args[0])
	}
}

func cmdBusy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: busy VAR")
	}
	l, err := readLocalFile(ts.Getenv("DATA"))
	ts.Check(err)
	ts.Setenv(args[0], strings.TrimPrefix(l.URL, "http://"))
}
