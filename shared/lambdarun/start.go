package lambdarun

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/appender"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// The exported functions here are what a main calls, one each. They read the settings once,
// make the connections without sending a request, and hand over to the Lambda runtime. What a
// program can do to the tables is the engine that its main hands in: this package holds none
// but the appender of the audit log. A program that lacks a setting ends at once, naming all
// that it lacks.

// Read runs a tool that changes nothing.
func Read(t tool.ReadTool, open func(dynamo.Conn) table.Reader) {
	start([]string{envDataTable, envAuditTable}, func(p program) (Handler, error) {
		return Tool(tool.BindRead(t, records.NewReaders(open(p.conn)), p.deps()), p.Logger), nil
	})
}

// Write runs a tool that adds, changes or removes.
func Write(t tool.WriteTool, open func(dynamo.Conn) table.Writer) {
	start([]string{envDataTable, envAuditTable}, func(p program) (Handler, error) {
		return Tool(tool.BindWrite(t, records.NewStores(open(p.conn), newID), p.deps()), p.Logger), nil
	})
}

// Directory is what a Verifier looks into.
type Directory struct {
	Tokens  table.Reader // of the data table
	Members records.Membership
	Now     func() time.Time
	Issuers []signin.Issuer // whose access tokens are taken; none: only personal tokens are
	Logger  *slog.Logger
}

// ServeAuthorizer runs the authorizer.
func ServeAuthorizer(open func(dynamo.Conn) table.Reader, scopesOf func(tool string) ([]identity.Scope, bool), verifier func(Directory) (Verifier, error)) {
	start([]string{envDataTable, envAuditTable}, func(p program) (Handler, error) {
		data := open(p.conn)
		v, err := verifier(Directory{data, records.Members(data), time.Now, p.SignIn.Issuers(), p.Logger})
		if err != nil {
			return nil, err
		}
		return Authorizer(AuthorizerConfig{
			Verifier: v, ScopesOf: scopesOf, SignIn: p.SignIn, Audit: p.Audit, Log: p.Log, Logger: p.Logger,
		}), nil
	})
}

// Program is what the handler of a program other than a tool is built from. Those that say so
// are set for one program only.
type Program struct {
	Version string // of the connector
	Logger  *slog.Logger
	Audit   audit.Settings
	Log     audit.Log // nil in ServeDiscovery
	SignIn  signin.Config
	Origins []string     // ServeFront: the web pages that may call
	Invoker tool.Invoker // ServeFront: the tools
	Reader  table.Reader // ServeAudit: the audit table; ServeWidget: the data table too
}

// ServeFront runs an HTTP front that reaches these tools in functions of their own, by reach, and
// no table but the audit log.
func ServeFront(tools []*tool.Definition, reach func(cfg aws.Config, functions map[string]string) tool.Invoker, build func(Program) http.Handler) {
	start([]string{envAuditTable, ToolFunctions}, func(p program) (Handler, error) {
		if err := p.covers(tools); err != nil {
			return nil, err
		}
		p.Invoker = reach(p.aws, p.toolFunctions)
		return HTTP(build(p.Program), p.Logger), nil
	})
}

// ServeAudit runs an HTTP handler that reads the audit table.
func ServeAudit(open func(dynamo.Conn) table.Reader, build func(Program) http.Handler) {
	start([]string{envAuditTable}, func(p program) (Handler, error) {
		p.Reader = open(p.conn)
		return HTTP(build(p.Program), p.Logger), nil
	})
}

// ServeDiscovery runs an HTTP handler that needs nothing of AWS.
func ServeDiscovery(build func(Program) http.Handler) {
	start(nil, func(p program) (Handler, error) { return HTTP(build(p.Program), p.Logger), nil })
}

// program is a Program and what the functions here need besides.
type program struct {
	Program
	settings
	aws  aws.Config
	conn dynamo.Conn
}

func start(needed []string, build func(program) (Handler, error)) {
	logger := slog.New(lambdacontext.NewLogHandler())
	handler, err := prepare(os.Getenv, logger, needed, build)
	if err != nil {
		logger.Error("the function cannot start", "error", err.Error())
		os.Exit(1)
	}
	lambda.Start(handler)
}

// prepare makes the handler of a program.
func prepare(getenv func(string) string, logger *slog.Logger, needed []string, build func(program) (Handler, error)) (Handler, error) {
	s, err := readSettings(getenv, needed...)
	if err != nil {
		return nil, err
	}
	p := program{settings: s, Program: Program{
		Version: s.version, Logger: logger, Origins: s.origins, SignIn: s.signIn,
		Audit: audit.Settings{Now: time.Now, NewID: func() string { return ulid.Make().String() }, Retention: s.retention},
	}}
	if slices.Contains(needed, envAuditTable) {
		if err := p.connect(context.Background()); err != nil {
			return nil, err
		}
	}
	return build(p)
}

// connect makes the program's one configuration and its one connection to the tables. It reads
// the environment and sends nothing.
func (p *program) connect(ctx context.Context) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return fmt.Errorf("load the AWS configuration: %w", err)
	}
	cfg.APIOptions = append(cfg.APIOptions, dynamo.PlainBody)
	p.aws = cfg
	p.conn = dynamo.Conn{API: dynamodb.NewFromConfig(cfg), Tables: dynamo.Tables{Data: p.dataTable, Audit: p.auditTable}}
	p.Log = appender.Open(p.conn)
	return nil
}

func (p *program) deps() tool.Deps {
	return tool.Deps{Settings: p.Audit, Log: p.Log, Logger: p.Logger}
}

// covers tells whether the function of every tool is known.
func (p *program) covers(tools []*tool.Definition) error {
	var missing []string
	for _, d := range tools {
		if p.toolFunctions[d.Name] == "" {
			missing = append(missing, d.Name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("correct the function's environment: %s names no function for %s", ToolFunctions, strings.Join(missing, ", "))
	}
	return nil
}

// newID makes an id for something new in the tracker. They sort as they were made.
func newID[ID ~string]() ID { return ID(uuid.Must(uuid.NewV7()).String()) }
