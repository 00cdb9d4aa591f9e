package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/appender"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Settings, beside those of the AWS SDK.
const (
	envDataTable  = "AAC_DATA_TABLE"
	envAuditTable = "AAC_AUDIT_TABLE"
	envRetention  = "AAC_AUDIT_RETENTION_DAYS" // as the functions have it
)

// dataFile is the file in the directory of a local connector.
const dataFile = "tracker.db"

const maxRetentionDays = 3650

// session is where a command acts: the data, one workspace, one operator.
type session struct {
	tables    table.Writer
	log       audit.Log
	admin     *records.Admin
	settings  audit.Settings
	workspace tracker.ID // empty until it is made
	operator  string
	callID    string
	stdin     io.Reader
	close     func() error
}

// session opens the data and finds the workspace.
func (p program) session(ctx context.Context, c command, o options, callID string) (*session, error) {
	s := &session{operator: o.operator, callID: callID, stdin: p.stdin, settings: audit.Settings{
		Now: p.now, NewID: func() string { return ulid.Make().String() },
	}}
	var err error
	if s.settings.Retention, err = retention(p.env(envRetention)); err != nil {
		return nil, err
	}
	if s.operator == "" {
		s.operator = p.user()
	}
	if _, err := identity.Operator("", s.operator); err != nil {
		return nil, usageError(err.Error() + ", with -operator")
	}
	if err := s.open(ctx, p.env, o.data, c.creates); err != nil {
		return nil, err
	}
	s.admin = records.NewAdmin(s.tables, newID)
	if c.creates {
		return s, nil
	}
	if s.workspace, err = s.admin.FindWorkspace(ctx, o.workspace); err != nil {
		return nil, errors.Join(s.explain(err), s.close())
	}
	return s, nil
}

func newID() tracker.ID { return tracker.ID(uuid.Must(uuid.NewV7()).String()) }

func retention(days string) (time.Duration, error) {
	if days == "" {
		return audit.DefaultRetention, nil
	}
	n, err := strconv.Atoi(days)
	if err != nil || n < 1 || n > maxRetentionDays {
		return 0, usageError(fmt.Sprintf("%s must be a number of days from 1 to %d: set it as the deployment has it", envRetention, maxRetentionDays))
	}
	return time.Duration(n) * 24 * time.Hour, nil
}

// open opens the data: of one place, said in one way.
func (s *session) open(ctx context.Context, env func(string) string, dir string, creates bool) error {
	tables := dynamo.Tables{Data: env(envDataTable), Audit: env(envAuditTable)}
	inAWS := tables.Data != "" || tables.Audit != ""
	switch {
	case dir != "" && inAWS:
		return usageError(fmt.Sprintf("the data are said twice: leave out -data, or unset %s and %s", envDataTable, envAuditTable))
	case dir != "":
		return s.openLocal(dir, creates)
	case tables.Data == "" || tables.Audit == "":
		return usageError(fmt.Sprintf("say where the data are: -data with the directory of a local connector, or %s and %s with the names of the tables in AWS",
			envDataTable, envAuditTable))
	}
	conn, err := dynamo.Connect(ctx, tables)
	if err != nil {
		return err
	}
	s.tables, s.log, s.close = writer.Open(conn), appender.Open(conn), func() error { return nil }
	return nil
}

func (s *session) openLocal(dir string, creates bool) error {
	path := filepath.Join(dir, dataFile)
	if _, err := os.Stat(path); err != nil && !creates {
		return usageError(fmt.Sprintf("-data: there is no %s that can be read in this directory: name the one that the local connector uses (make run: .local), or create a workspace there", dataFile))
	}
	db, err := embedded.Open(path)
	if err != nil {
		return err
	}
	s.tables, s.log, s.close = db, db, db.Close
	return nil
}

// explain adds to the first failure of a session what most often lies behind it.
func (s *session) explain(err error) error {
	if _, local := s.tables.(*embedded.DB); local || fault.KindOf(err) != fault.Internal {
		return err
	}
	return fmt.Errorf("%w; check %s, %s, AWS_REGION and your credentials", err, envDataTable, envAuditTable)
}

// recordWithin bounds the writing of an event that is not committed with its act.
const recordWithin = 10 * time.Second

// record does one act under one event. f commits the event with what it changes; if it changes
// nothing or fails, the event is written here. An act that cannot be recorded has no result.
func record[T any](ctx context.Context, s *session, tool string, f func(*audit.Call) (T, error)) (T, error) {
	var none T
	call, err := s.begin(tool)
	if err != nil {
		return none, err
	}
	out, err := f(call)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWithin)
	defer cancel()
	if unrecorded := call.Record(ctx, s.log, err); unrecorded != nil {
		err = errors.Join(err, unrecorded)
	}
	if err != nil {
		return none, err
	}
	return out, nil
}

// begin opens the record of an act. All acts of one run have one call id.
func (s *session) begin(tool string) (*audit.Call, error) {
	operator, err := identity.Operator(string(s.workspace), s.operator)
	if err != nil {
		return nil, err
	}
	return s.settings.Begin(audit.Start{
		Principal: operator, Tool: "admin." + tool, Recorder: audit.RecorderAdmin, Transport: audit.CLI,
		CallID: s.callID, Client: audit.Client{Name: "infra/admin"},
	}), nil
}
