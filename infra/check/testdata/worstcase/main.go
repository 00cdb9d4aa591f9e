// Command worstcase hands the full store to every read tool. No deployment does; the proof that
// read tools cannot write must hold even then, whatever the wiring becomes.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// generous gives a store where a reader is asked for.
type generous struct{ *records.Stores }

func (g generous) Reader(c *audit.Call) tracker.Reader { return g.Store(c) }

func main() {
	file, err := embedded.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	var engine table.Writer = file
	if len(os.Args) > 2 {
		var remote *writer.Writer
		engine = remote
	}
	stores := generous{records.NewStores(engine, func() tracker.ID { return tracker.ID(uuid.NewString()) })}
	deps := tool.Deps{Log: file, Logger: slog.Default(), Settings: audit.Settings{Now: time.Now, NewID: uuid.NewString}}
	for _, t := range catalog.Readers() {
		tool.BindRead(t, stores, deps).Invoke(context.Background(), tool.Request{})
	}
	for _, t := range catalog.Writers() {
		tool.BindWrite(t, stores, deps).Invoke(context.Background(), tool.Request{})
	}
}
