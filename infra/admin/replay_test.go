package main

import (
	"context"
	"strconv"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// committing appends by a commit, as a table.Writer can.
type committing struct{ table.Writer }

func (c committing) Append(ctx context.Context, item table.Item) error {
	return c.Commit(ctx, []table.Op{table.Put(item, table.IfAbsent())})
}

func cmdDenials(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: denials SLUG N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(scriptOf(ts).use(func(w table.Writer) error {
		ctx := context.Background()
		workspace, err := records.NewAdmin(w, newID).FindWorkspace(ctx, args[0])
		if err != nil {
			return err
		}
		set := audit.Settings{Now: time.Now, NewID: func() string { return ulid.Make().String() }, Retention: audit.DefaultRetention}
		for range n {
			call := set.Begin(audit.Start{
				Principal: &identity.Principal{WorkspaceID: string(workspace), UserID: "u", TokenID: "t"},
				Tool:      "get_issue", Recorder: "get_issue", Transport: audit.REST,
			})
			if err := call.Record(ctx, committing{w}, fault.New(fault.NotFound, fault.TargetNotFound, "no")); err != nil {
				return err
			}
		}
		return nil
	}))
}
