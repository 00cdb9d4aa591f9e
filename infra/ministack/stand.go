package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/aacworkflow/mcp-connector/infra/proc"
	"github.com/aacworkflow/mcp-connector/infra/seed"
	"github.com/aacworkflow/mcp-connector/shared/dynamo"
)

// stand is MiniStack with the stack deployed into it.
type stand struct {
	dir      string // for what it writes
	endpoint string // of every service
	server   *proc.Process
	http     *http.Client

	ids    map[string]string // physical ids of the stack's resources, by logical id
	data   dynamo.Conn
	access seed.Access
}

// Where make puts the programs, below the working directory, and what sam build made.
const (
	serverProgram  = ".tools/ministack/bin/ministack"
	samProgram     = ".tools/sam/bin/sam"
	buildDirectory = ".aws-sam/build"
)

const (
	stackName     = "aacworkflow"
	stageName     = "v1" // of the template
	publicBaseURL = "https://mcp.example.com"
)

const (
	serverStarts = time.Minute
	serverStops  = 30 * time.Second
)

// Logical ids of the template's resources.
const (
	apiID           = "Api"
	dataTable       = "DataTable"
	auditTable      = "AuditTable"
	auditStream     = "AuditStream"
	auditFeed       = "AuditFeed"
	monitorFunction = "AuditMonitorFunction"
	findingsTopic   = "FindingsTopic"
	functionLog     = "FunctionLog"
)

// startServer starts MiniStack on a free port of the loopback interface, with nothing but what
// it needs in its environment, which the functions inherit.
func startServer(ctx context.Context, dir string) (*stand, error) {
	port, err := proc.FreePort()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s := &stand{dir: dir, endpoint: "http://" + net.JoinHostPort("127.0.0.1", port), http: &http.Client{Timeout: time.Minute}}
	program, err := filepath.Abs(serverProgram)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "BIND_HOST=127.0.0.1", "GATEWAY_PORT=" + port,
		"MINISTACK_REGION=" + seed.Region, "LAMBDA_EXECUTOR=local", "AWS_ENDPOINT_URL=" + s.endpoint,
	}
	cmd.Stdout, cmd.Stderr = log, log
	if s.server, err = proc.Start("MiniStack", cmd); err != nil {
		return nil, fmt.Errorf("%w; make ministack-test installs it", err)
	}
	err = s.server.WaitUntil(ctx, serverStarts, func(ctx context.Context) error {
		_, err := s.do(ctx, http.MethodGet, "/_ministack/health", "", "")
		return err
	})
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *stand) stop() error { return s.server.Stop(syscall.SIGTERM, serverStops) }

// deploy deploys what sam build made, as `sam deploy` does it into an account, and loads the demo
// data.
func (s *stand) deploy(ctx context.Context) error {
	built, err := os.ReadFile(filepath.Join(buildDirectory, "template.yaml"))
	if err != nil {
		return fmt.Errorf("read what sam build made: %w; make ministack-test builds first", err)
	}
	template, err := ministackTemplate(built)
	if err != nil {
		return err
	}
	path := filepath.Join(buildDirectory, "ministack.yaml") // beside the built one, for the paths in it are relative to it
	if err := os.WriteFile(path, template, 0o600); err != nil {
		return err
	}
	if err := s.samDeploy(ctx, path); err != nil {
		return err
	}
	if err := s.readResources(ctx); err != nil {
		return err
	}
	// The gateway responses are made beside the deployment of the API, which holds those that
	// were there before it.
	if _, err := s.do(ctx, http.MethodPost, "/restapis/"+s.ids[apiID]+"/deployments", "apigateway", `{"stageName":"`+stageName+`"}`); err != nil {
		return fmt.Errorf("deploy the API again: %w", err)
	}
	if err := s.enableFeed(ctx); err != nil {
		return err
	}
	if s.access, err = seed.Demo(ctx, s.data, time.Now()); err != nil {
		return err
	}
	return s.access.WriteFile(s.file(), s.url())
}

func (s *stand) samDeploy(ctx context.Context, template string) error {
	architecture, err := proc.Architecture()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, samProgram, "deploy", "--template-file", template, "--stack-name", stackName, "--resolve-s3",
		"--capabilities", "CAPABILITY_IAM", "--no-confirm-changeset", "--no-progressbar", "--region", seed.Region,
		"--parameter-overrides", "Architecture="+architecture, "DeletionProtection=false", "PublicBaseUrl="+publicBaseURL)
	cmd.Env = proc.WithoutCredentials(os.Environ(), "SAM_CLI_TELEMETRY=0", "AWS_ENDPOINT_URL="+s.endpoint,
		"AWS_REGION="+seed.Region, "AWS_ACCESS_KEY_ID="+seed.Key, "AWS_SECRET_ACCESS_KEY="+seed.Key)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("sam deploy: %w: %s", err, proc.LastLines(out.Bytes(), 20))
	}
	return nil
}

// readResources asks which resources the stack has.
func (s *stand) readResources(ctx context.Context) error {
	content, err := s.do(ctx, http.MethodGet, "/?Action=DescribeStackResources&Version=2010-05-15&StackName="+stackName, "cloudformation", "")
	if err != nil {
		return err
	}
	var answer struct {
		Resources []struct {
			Logical  string `xml:"LogicalResourceId"`
			Physical string `xml:"PhysicalResourceId"`
		} `xml:"DescribeStackResourcesResult>StackResources>member"`
	}
	if err := xml.Unmarshal(content, &answer); err != nil {
		return fmt.Errorf("read the resources of the stack: %w", err)
	}
	s.ids = map[string]string{}
	for _, r := range answer.Resources {
		s.ids[r.Logical] = r.Physical
	}
	for _, id := range []string{apiID, dataTable, auditTable, auditStream, auditFeed, monitorFunction, findingsTopic, functionLog} {
		if s.ids[id] == "" {
			return fmt.Errorf("the stack has no resource %s: this program must follow the template", id)
		}
	}
	s.data = dynamo.Conn{API: seed.Client(s.endpoint), Tables: dynamo.Tables{Data: s.ids[dataTable], Audit: s.ids[auditTable]}}
	return nil
}

// file is the local.json of the stand.
func (s *stand) file() string { return filepath.Join(s.dir, "local.json") }

// url is where MiniStack serves the stage of the API.
func (s *stand) url() string {
	return s.endpoint + "/restapis/" + s.ids[apiID] + "/" + stageName + "/_user_request_"
}

// do sends a request to one of the services whose API is not JSON by target; scope is the
// service's name in a signature, by which MiniStack tells whom it is for.
func (s *stand) do(ctx context.Context, method, path, scope, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.endpoint+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if scope != "" {
		req.Header.Set("Authorization", authorization(scope))
	}
	req.Header.Set("Content-Type", "application/json")
	return s.answer(req)
}

// call calls an operation of a service with a JSON API by target, such as
// DynamoDB_20120810.DescribeTable, and decodes the answer.
func (s *stand) call(ctx context.Context, target string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.endpoint+"/", bytes.NewReader(body))
	if err != nil {
		return err
	}
	service, _, _ := strings.Cut(strings.ToLower(target), "_")
	req.Header.Set("Authorization", authorization(service))
	req.Header.Set("Content-Type", "application/x-amz-json-1.1")
	req.Header.Set("X-Amz-Target", target)
	answer, err := s.answer(req)
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	return nil
}

// authorization is a signature that tells the service, and nothing else: nobody checks it.
func authorization(service string) string {
	return "AWS4-HMAC-SHA256 Credential=" + seed.Key + "/20260101/" + seed.Region + "/" + service + "/aws4_request, SignedHeaders=host, Signature=0"
}

func (s *stand) answer(req *http.Request) ([]byte, error) {
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s %s answers %s: %s", req.Method, req.URL.Path, resp.Status, proc.LastLines(content, 3))
	}
	return content, nil
}
