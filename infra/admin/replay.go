package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

// replayOut is what came of a replay.
type replayOut struct {
	Events   int               `json:"events"`   // judged again
	Findings []monitor.Finding `json:"findings"` // that were not raised before
}

func (o replayOut) writeText(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "events: %d, new findings: %d\n", o.Events, len(o.Findings)); err != nil || len(o.Findings) == 0 {
		return err
	}
	return writeTable(w, []string{"SEVERITY", "RULE", "FINDING"}, o.Findings, func(f monitor.Finding) []any {
		return []any{f.Severity, f.Rule, f.Text}
	})
}

// replayAudit makes the feed of the audit table anew for a time.
func replayAudit(f *flag.FlagSet) act {
	since := f.String("since", "", "events at or after this `time`: 2025-06-22T15:30:00Z, or a day, in UTC")
	until := f.String("until", "", "events before this `time`")
	printed := f.Bool("print", false, "judge nothing: print the records, one a line, as the stream carries them")
	return func(ctx context.Context, s *session) (result, error) {
		from, err1 := parseTime("since", *since)
		to, err2 := parseTime("until", *until)
		if err := cmp.Or(err1, err2); err != nil {
			return nil, err
		}
		r := replay{s: s, filter: audit.Filter{Since: from, Until: to}}
		if *printed {
			return record(ctx, s, "replay_audit", func(call *audit.Call) (exportOut, error) { return r.print(ctx, call) })
		}
		return record(ctx, s, "replay_audit", func(call *audit.Call) (replayOut, error) { return r.judge(ctx, call) })
	}
}

// replay is one run over a workspace's events.
type replay struct {
	s      *session
	filter audit.Filter
}

// each makes the records, oldest first.
func (r replay) each(ctx context.Context, call *audit.Call, f func(data []byte) error) error {
	call.Target("workspace", string(r.s.workspace))
	x := audit.Export{Workspace: string(r.s.workspace), Filter: r.filter, Now: call.Now(), Retention: r.s.settings.Retention}
	return x.Each(ctx, r.s.tables, func(e audit.Event) error {
		data, err := monitor.ReplayOf(e, call.Now())
		return cmp.Or(err, f(data))
	})
}

// print writes the records into a file first, as an export does.
func (r replay) print(ctx context.Context, call *audit.Call) (exportOut, error) {
	file, err := os.CreateTemp("", "aac-replay-*") // mode 0600
	if err != nil {
		return exportOut{}, err
	}
	last := r.s.close
	r.s.close = func() error { return errors.Join(file.Close(), os.Remove(file.Name()), last()) }
	buffered := bufio.NewWriter(file)
	err = r.each(ctx, call, func(data []byte) error {
		_, err := buffered.Write(append(data, '\n'))
		return err
	})
	if err = cmp.Or(err, buffered.Flush()); err != nil {
		return exportOut{}, fmt.Errorf("replay the audit log: %w", err)
	}
	return exportOut{file}, nil
}

// replayBatch is how many records the monitor is handed at once.
const replayBatch = 500

// judge hands the records to a monitor of this process, over the tables of the deployment: what
// it finds is kept where the deployed one keeps it, and what that one has found is not found
// again. Nothing is counted or sent.
func (r replay) judge(ctx context.Context, call *audit.Call) (replayOut, error) {
	out := &replayOut{Findings: []monitor.Finding{}}
	m := monitor.New(monitor.Config{
		Tables: r.s.tables, Tools: catalog.Destroying(), Metrics: io.Discard, Publisher: out, Logger: slog.New(slog.DiscardHandler),
		Now: time.Now, Retention: r.s.settings.Retention,
	})
	var batch []monitor.Record
	flush := func() error {
		if failed := m.Consume(ctx, batch); len(failed) > 0 {
			return fmt.Errorf("%d of %d events could not be judged: run the replay again, it does nothing twice", len(failed), len(batch))
		}
		out.Events, batch = out.Events+len(batch), nil
		return nil
	}
	err := r.each(ctx, call, func(data []byte) error {
		batch = append(batch, monitor.Record{Sequence: fmt.Sprint(out.Events + len(batch)), Data: data})
		if len(batch) == replayBatch {
			return flush()
		}
		return nil
	})
	if err = cmp.Or(err, flush()); err != nil {
		return replayOut{}, fmt.Errorf("replay the audit log: %w", err)
	}
	return *out, nil
}

// Publish implements monitor.Publisher.
func (o *replayOut) Publish(_ context.Context, f monitor.Finding) error {
	o.Findings = append(o.Findings, f)
	return nil
}
