package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/aacworkflow/mcp-connector/infra/proc"
	"github.com/aacworkflow/mcp-connector/infra/seed"
	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
)

// settings say what to start, and where.
type settings struct {
	build      string // the directory that sam build made
	file       string // local.json
	apiPort    string // of 127.0.0.1; the others are of the address that containers reach
	lambdaPort string
	dynamoPort string
	address    string   // at which containers reach this machine; empty to find out
	log        *os.File // what the sam commands print, logs of the functions among it
}

// stack is the connector under sam local: a DynamoDB with the demo data, the Lambda API by which
// the MCP front calls the tools, and the REST API.
type stack struct {
	settings
	docker       *docker
	architecture string
	tell         bool   // whether they must be told that it is hostName
	template     string // path
	data         dynamo.Conn
	access       seed.Access
	api          *proc.Process
	stops        []func() error
}

// tables are the names that sam local resolves a !Ref of the tables to: their logical ids.
var tables = dynamo.Tables{Data: "DataTable", Audit: "AuditTable"}

// samProgram is where make puts the version that the project pins.
const samProgram = ".tools/sam/bin/sam"

const (
	samStartsWithin = 2 * time.Minute
	samStopsWithin  = 90 * time.Second // it ends its containers one after the other
)

// startStack starts all of it. Whoever calls it calls stop, also after an error.
func startStack(ctx context.Context, s settings, d *docker) (*stack, error) {
	st := &stack{settings: s, docker: d}
	for _, step := range []func(context.Context) error{st.prepare, st.startData, st.startLambda} {
		if err := step(ctx); err != nil {
			return st, err
		}
	}
	return st, st.startAPI(ctx)
}

// prepare finds out what is there, and writes the template.
func (st *stack) prepare(ctx context.Context) (err error) {
	if st.architecture, err = proc.Architecture(); err != nil {
		return err
	}
	which, err := st.docker.ensureImage(ctx, imageFor(st.architecture))
	if err != nil {
		return err
	}
	fmt.Fprintf(st.log, "The functions run in %s, %s.\n", which, imageFor(st.architecture))
	if st.tell = st.address != ""; !st.tell {
		if st.address, st.tell, err = st.docker.hostAddress(ctx); err != nil {
			return err
		}
	}
	built, err := os.ReadFile(filepath.Join(st.build, "template.yaml"))
	if err != nil {
		return fmt.Errorf("read what sam build made: %w; run make sam-local, which builds first", err)
	}
	local, err := localTemplate(built, map[string]string{
		"AWS_ENDPOINT_URL_DYNAMODB": "http://" + net.JoinHostPort(hostName, st.dynamoPort),
		"AWS_ENDPOINT_URL_LAMBDA":   "http://" + net.JoinHostPort(hostName, st.lambdaPort),
	})
	if err != nil {
		return err
	}
	// Beside the built one, for the paths in it are relative to it.
	st.template = filepath.Join(st.build, "local.yaml")
	return os.WriteFile(st.template, local, 0o600)
}

func (st *stack) startData(ctx context.Context) error {
	engine, err := dynamotest.Launch(net.JoinHostPort(st.address, st.dynamoPort))
	if err != nil {
		return err
	}
	st.stops = append(st.stops, engine.Stop)
	st.data = dynamo.Conn{API: seed.Client(engine.Endpoint), Tables: tables}
	if err := dynamotest.CreateTables(ctx, st.data.API, tables); err != nil {
		return err
	}
	if st.access, err = seed.Demo(ctx, st.data, time.Now()); err != nil {
		return err
	}
	return st.access.WriteFile(st.file, st.url())
}

func (st *stack) startLambda(ctx context.Context) error {
	p, err := st.sam("start-lambda", "--host", st.address, "--port", st.lambdaPort)
	if err != nil {
		return err
	}
	return p.WaitUntil(ctx, samStartsWithin, func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(st.address, st.lambdaPort))
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

func (st *stack) startAPI(ctx context.Context, flags ...string) (err error) {
	st.api, err = st.sam("start-api", append([]string{"--host", "127.0.0.1", "--port", st.apiPort}, flags...)...)
	if err != nil {
		return err
	}
	return st.api.WaitUntil(ctx, samStartsWithin, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, st.url()+"/health", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("GET /health answers %s", resp.Status)
		}
		return errors.Join(err, resp.Body.Close())
	})
}

// restartAPI starts the REST API anew, with other flags.
func (st *stack) restartAPI(ctx context.Context, flags ...string) error {
	if err := st.api.Stop(syscall.SIGINT, samStopsWithin); err != nil {
		return err
	}
	return st.startAPI(ctx, flags...)
}

// sam starts a command of sam local on the template.
func (st *stack) sam(command string, flags ...string) (*proc.Process, error) {
	args := append([]string{"local", command, "--template-file", st.template, "--region", seed.Region,
		"--skip-pull-image", "--warm-containers", "LAZY", "--parameter-overrides", "Architecture=" + st.architecture}, flags...)
	if st.tell {
		args = append(args, "--add-host", hostName+":"+st.address)
	}
	cmd := exec.Command(samProgram, args...)
	cmd.Env = append(samEnvironment(os.Environ()), st.docker.env...)
	cmd.Stdout, cmd.Stderr = st.log, st.log
	p, err := proc.Start("sam local "+command, cmd)
	if err != nil {
		return nil, fmt.Errorf("start sam local: %w", err)
	}
	st.stops = append(st.stops, func() error { return p.Stop(syscall.SIGINT, samStopsWithin) })
	return p, nil
}

// samEnvironment is an environment without credentials of the user's, which sam local would hand
// to the functions, and without variables that it would put in the place of theirs.
func samEnvironment(environ []string) []string {
	return proc.WithoutCredentials(environ, "SAM_CLI_TELEMETRY=0", "SAM_CLI_CONTAINER_CONNECTION_TIMEOUT=120",
		"AWS_REGION="+seed.Region, "AWS_ACCESS_KEY_ID="+seed.Key, "AWS_SECRET_ACCESS_KEY="+seed.Key)
}

func (st *stack) url() string { return "http://" + net.JoinHostPort("127.0.0.1", st.apiPort) }

// printLog shows what the sam commands printed last.
func (st *stack) printLog() {
	said, err := os.ReadFile(st.log.Name())
	if err != nil {
		said = []byte(err.Error())
	}
	fmt.Fprintf(os.Stderr, "what sam local printed last:\n%s\n", proc.LastLines(said, 40))
}

// stop stops what was started, the last first.
func (st *stack) stop() error {
	var errs []error
	for i := len(st.stops) - 1; i >= 0; i-- {
		errs = append(errs, st.stops[i]())
	}
	st.stops = nil
	return errors.Join(errs...)
}
