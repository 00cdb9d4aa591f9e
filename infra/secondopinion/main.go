// Command secondopinion runs the storage contracts against another DynamoDB than the gate's:
// moto's server, written by other people in another language. It handles requests side by side
// without locks and loses updates, so a proxy hands it one request at a time.
//
// It is no gate of its own for behaviour that moto is known to get wrong: those cases are named
// in main.go, with what moto does, and everything else must pass.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/aacworkflow/mcp-connector/infra/proc"
)

// packages hold the contract suites.
var packages = []string{"./shared/dynamo/writer", "./shared/records"}

// motoIsWrong are the cases that moto fails, and why that is moto's fault.
var motoIsWrong = map[string]string{
	"TestContract/commit/too_large": "moto refuses a commit of ten items of 399 KB, which is within DynamoDB's limits",
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: secondopinion path/to/moto_server")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "secondopinion:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, moto string) error {
	port, err := proc.FreePort()
	if err != nil {
		return err
	}
	server, err := proc.Start("moto_server", exec.CommandContext(ctx, moto, "-H", "127.0.0.1", "-p", port))
	if err != nil {
		return err
	}
	defer server.Stop(syscall.SIGTERM, 5*time.Second)
	target := &url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", port)}
	if err := server.WaitUntil(ctx, time.Minute, func(ctx context.Context) error { return answers(ctx, target) }); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	front := &http.Server{Handler: oneAtATime(httputil.NewSingleHostReverseProxy(target))}
	go func() { _ = front.Serve(listener) }() // it ends with Close
	defer front.Close()
	return test(ctx, "http://"+listener.Addr().String())
}

func oneAtATime(next http.Handler) http.Handler {
	var turn sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		turn.Lock()
		defer turn.Unlock()
		next.ServeHTTP(w, r)
	})
}

// test runs the suites over the endpoint and tells what did not pass.
func test(ctx context.Context, endpoint string) error {
	args := append([]string{"test", "-count=1", "-v", "-run", "^(TestContract|TestContractOverDynamoDB)$"}, packages...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "AAC_TEST_DYNAMODB="+endpoint)
	out, err := cmd.CombinedOutput()
	failed, passed := verdicts(string(out))
	var unexpected []string
	for _, name := range failed {
		if motoIsWrong[name] == "" {
			unexpected = append(unexpected, name)
		}
	}
	fmt.Printf("%d cases passed, %d failed, %d of them as moto is known to\n", passed, len(failed), len(failed)-len(unexpected))
	switch {
	case len(unexpected) > 0:
		return fmt.Errorf("%s\nnot expected to fail: %s", out, strings.Join(unexpected, ", "))
	case passed == 0:
		return fmt.Errorf("no case ran: %w\n%s", err, out)
	}
	return nil
}

// verdicts reads the output of go test -v: the cases that failed, without those that failed
// only by what is below them, and how many passed.
func verdicts(out string) (failed []string, passed int) {
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			name, _, _ = strings.Cut(name, " ")
			failed = append(failed, name)
		}
		if strings.HasPrefix(line, "--- PASS: ") {
			passed++
		}
	}
	var leaves []string
	for _, name := range failed {
		if !hasBelow(failed, name) {
			leaves = append(leaves, name)
		}
	}
	return leaves, passed
}

func hasBelow(names []string, name string) bool {
	for _, other := range names {
		if strings.HasPrefix(other, name+"/") {
			return true
		}
	}
	return false
}

func answers(ctx context.Context, u *url.URL) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
