package policy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/appender"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// TestAuditMonitorUnderItsRole has the monitor find a burst of refusals and a removal, and tell
// of them at the second try, in another process. It needs all of its rights on the tables.
func TestAuditMonitorUnderItsRole(t *testing.T) {
	a := accountWithData(t)
	told := &topic{refuse: 1}
	watch := func() *monitor.Monitor {
		return monitor.New(monitor.Config{
			Tables: writer.Open(a.as("audit_monitor")), Tools: catalog.Destroying(), Metrics: io.Discard, Publisher: told,
			Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: time.Now,
		})
	}
	var records []monitor.Record
	log := &remembering{Log: appender.Open(a.conn)}
	for range 25 {
		refused := fault.New(fault.NotFound, fault.TargetNotFound, "no")
		if err := begin("get_issue").Record(t.Context(), log, refused); err != nil {
			t.Fatal(err)
		}
	}
	removal := begin("delete_issue")
	removal.Target("issue", "1")
	op, err := removal.CommitOp([]string{"deleted_at"})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Append(t.Context(), op.Item); err != nil {
		t.Fatal(err)
	}
	for i, item := range log.items {
		data, err := monitor.RecordOf(item, time.Now(), false)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, monitor.Record{Sequence: fmt.Sprint(i), Data: data})
	}
	if failed := watch().Consume(t.Context(), records); len(failed) == 0 {
		t.Error("nothing failed, and nobody could be told")
	}
	if failed := watch().Consume(t.Context(), records); len(failed) > 0 {
		t.Errorf("failed: %v", failed)
	}
	found := map[monitor.RuleName]bool{}
	for _, f := range told.findings {
		found[f.Rule] = true
	}
	for _, r := range []monitor.RuleName{monitor.DenialBurst, monitor.DestructiveWithoutRead, monitor.FirstDestructiveUse} {
		if !found[r] {
			t.Errorf("nobody was told of %s", r)
		}
	}
	// What the event source mapping and SNS need is not asked of DynamoDB.
	wantAllUsed(t, a.policies["audit_monitor"], "ReadFeed", "TellPeople", "FindWhereToSetAside", "SetAside")
}

func begin(tool string) *audit.Call {
	return settings.Begin(audit.Start{
		Principal: &identity.Principal{WorkspaceID: string(demo.WorkspaceID()), UserID: "u", TokenID: "t"}, Tool: tool, Recorder: tool, Transport: audit.MCP,
	})
}

// remembering is a log that keeps what was appended.
type remembering struct {
	audit.Log
	items []table.Item
}

func (r *remembering) Append(ctx context.Context, item table.Item) error {
	r.items = append(r.items, item)
	return r.Log.Append(ctx, item)
}

// topic refuses so many times.
type topic struct {
	refuse   int
	findings []monitor.Finding
}

func (t *topic) Publish(_ context.Context, f monitor.Finding) error {
	if t.refuse > 0 {
		t.refuse--
		return errors.New("the topic is gone")
	}
	t.findings = append(t.findings, f)
	return nil
}
