package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// auditName is what reading the log is called in the log: the tool and the recorder of its own
// events.
const auditName = audit.RecorderAudit

// AuditConfig is what reading the log needs.
type AuditConfig struct {
	Reader table.Reader // of the audit table
	audit.Settings
	Log    audit.Log // takes events of the recorder _audit only
	Logger *slog.Logger
}

// Audit serves GET /audit: the events of the caller's workspace, newest first, for owners and
// administrators whose token has audit:read. Each read is itself one event, denied or not, and
// what cannot be recorded is not shown.
//
// The answer is {"events": […], "next_cursor": "…"}, without next_cursor at the end of the log.
// A page may be short or empty and yet have a cursor: the work for one is bounded.
func Audit(cfg AuditConfig) http.Handler {
	return onlyGet(map[string]http.HandlerFunc{"/audit": cfg.serve})
}

func (cfg AuditConfig) serve(w http.ResponseWriter, r *http.Request) {
	p := identity.FromContext(r.Context())
	if err := identity.Require(p); err != nil {
		writeFault(w, r, fault.Of(err)) // nobody has no event
		return
	}
	origin := audit.OriginFrom(r.Context())
	call := cfg.Begin(audit.Start{
		Principal: p, Tool: auditName, Recorder: auditName, Required: []identity.Scope{identity.AuditRead}, Transport: audit.REST,
		CallID: origin.CallID, Client: origin.Client, SourceIP: origin.SourceIP, TraceID: origin.TraceID,
	})
	body, err := cfg.read(r, p)
	if recErr := cfg.record(r.Context(), call, err); recErr != nil {
		err = recErr // what cannot be recorded is withheld
	}
	if err == nil {
		write(w, http.StatusOK, body)
		return
	}
	if fault.KindOf(err) == fault.Internal {
		cfg.Logger.ErrorContext(r.Context(), "read of the audit log failed", "call_id", origin.CallID, "error", err.Error())
	}
	writeFault(w, r, fault.Of(err))
}

func (cfg AuditConfig) record(ctx context.Context, call *audit.Call, outcome error) error {
	ctx, cancel := audit.Recording(ctx)
	defer cancel()
	return call.Record(ctx, cfg.Log, outcome)
}

// read decides and reads: scope, role, request, log.
func (cfg AuditConfig) read(r *http.Request, p *identity.Principal) (body []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			body, err = nil, fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if err := identity.Require(p, identity.AuditRead); err != nil {
		return nil, err
	}
	if !p.Role.Manages() {
		return nil, fault.New(fault.Forbidden, fault.NotPermitted, "only owners and administrators may read the audit log: ask one of them")
	}
	q, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	q.Workspace, q.Now, q.Retention = p.WorkspaceID, cfg.Now(), cfg.Retention
	ctx, cancel := audit.BeforeRecording(r.Context())
	defer cancel()
	page, err := q.Run(ctx, cfg.Reader)
	if err != nil {
		return nil, slowDown(err)
	}
	return json.Marshal(struct {
		Events []audit.Event `json:"events"`
		Next   string        `json:"next_cursor,omitempty"`
	}{page.Events, page.Next})
}

// slowDown makes what an engine asks of us a request to the caller.
func slowDown(err error) error {
	var throttled *table.Throttled
	if !errors.As(err, &throttled) {
		return err
	}
	f := fault.New(fault.RateLimited, fault.ReasonRateLimited, "too many reads at once: wait as retry_after_s says, then try again").Because(err)
	f.RetryAfter = max(throttled.RetryAfter, time.Second)
	return f
}
