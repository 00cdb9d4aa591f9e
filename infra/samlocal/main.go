// Command samlocal runs the connector under `sam local`: the functions as they were built for
// Lambda, in containers, on the project's template, with a DynamoDB on this machine that holds
// the demo data.
//
// With -test it checks what is there and ends: that calls work, and that the functions refuse
// what sam local lets through and API Gateway would not. It is no measure of the front door,
// which sam local only resembles; docs/sam-local.md lists where they differ. Start with
// stack.go for what is started; template.go says what sam local must be told, refuse.go what is
// checked.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/aacworkflow/mcp-connector/infra/proc"
)

func main() {
	s := settings{log: os.Stderr}
	flag.StringVar(&s.build, "build", ".aws-sam/build", "the directory that sam build made")
	flag.StringVar(&s.file, "file", ".local/sam/local.json", "where to write the tokens")
	flag.StringVar(&s.apiPort, "port", "3000", "port of the API, on 127.0.0.1")
	flag.StringVar(&s.lambdaPort, "lambda-port", "3001", "port of the Lambda API")
	flag.StringVar(&s.dynamoPort, "dynamodb-port", "8000", "port of the DynamoDB")
	flag.StringVar(&s.address, "address", "", "address of this machine at which containers reach it as "+hostName+"; found out if empty")
	test := flag.Bool("test", false, "check what is there and end; takes free ports, and starts a Docker daemon if none answers")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := serve
	if *test {
		run = check
	}
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "samlocal:", err)
		os.Exit(1)
	}
}

// serve runs until the context ends, or the API does.
func serve(ctx context.Context, s settings) (err error) {
	d, err := findDocker(ctx, false)
	if err != nil {
		return err
	}
	st, err := startStack(ctx, s, d)
	defer func() { err = errors.Join(err, st.stop()) }()
	if err != nil {
		return err
	}
	fmt.Printf("\nAACWorkflow runs under sam local. MCP endpoint: %s/mcp\nThe first call of each function takes seconds. Tokens, kept in %s:\n\n", st.url(), st.file)
	if err := st.access.Print(os.Stdout); err != nil {
		return err
	}
	fmt.Printf("\nTry it:\n  curl -s %s/tools/list_issues -H \"Authorization: Bearer %s\" -H 'Content-Type: application/json' -d '{\"limit\": 3}'\n\nStop with Ctrl-C; the data are then gone.\n",
		st.url(), st.access.Tokens["editor"])
	select {
	case <-ctx.Done():
		return nil
	case <-st.api.Ended():
		return fmt.Errorf("sam local start-api ended: %w", errors.Join(st.api.Err(), errors.New("see what it printed")))
	}
}

// check runs the checks. What the sam commands printed last is shown where one fails.
func check(ctx context.Context, s settings) (err error) {
	dir, err := os.MkdirTemp("", "aac-sam-local-")
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close(), os.RemoveAll(dir)) }()
	s.log, s.file = log, filepath.Join(dir, "local.json")
	d, err := findDocker(ctx, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	for _, port := range []*string{&s.apiPort, &s.lambdaPort, &s.dynamoPort} {
		if *port, err = proc.FreePort(); err != nil {
			return err
		}
	}
	st, err := startStack(ctx, s, d)
	defer func() { err = errors.Join(err, st.stop()) }()
	if err != nil {
		st.printLog()
		return err
	}
	return runChecks(ctx, st)
}
