package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
)

func auditCommands() []command {
	return []command{
		{name: "audit tail", about: "show the last events", setup: tailAudit},
		{name: "audit export", about: "print all events of a time, oldest first, as JSON Lines", setup: exportAudit},
		{name: "audit replay", about: "hand the events of a time to the monitor again", setup: replayAudit},
	}
}

// filterFlags are the flags that choose events.
func filterFlags(f *flag.FlagSet) func() (audit.Filter, error) {
	since := f.String("since", "", "events at or after this `time`: 2025-06-22T15:30:00Z, or a day, in UTC")
	until := f.String("until", "", "events before this `time`")
	tool := f.String("tool", "", "events of this `tool`, such as delete_issue or admin.issue_token")
	outcome := f.String("outcome", "", "`success, denied or error`")
	reason := f.String("reason", "", "events with this `reason`, see docs/errors.md")
	actor := f.String("actor", "", "events of this `user id`, or of operator:<name>")
	return func() (audit.Filter, error) {
		from, err1 := parseTime("since", *since)
		to, err2 := parseTime("until", *until)
		var err3 error
		if !slices.Contains([]fault.Outcome{"", fault.Success, fault.Denied, fault.Failed}, fault.Outcome(*outcome)) {
			err3 = usageError("-outcome: must be success, denied or error")
		}
		return audit.Filter{
			Tool: *tool, Outcome: fault.Outcome(*outcome), Reason: fault.Reason(*reason), Actor: *actor, Since: from, Until: to,
		}, cmp.Or(err1, err2, err3)
	}
}

func parseTime(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usageError("-" + name + ": must be like 2025-06-22T15:30:00Z or 2025-06-22")
}

// exportOut is a finished export: JSON Lines, whatever form is asked for.
type exportOut struct{ file *os.File }

func (o exportOut) writeText(w io.Writer) error {
	_, err := o.file.Seek(0, io.SeekStart)
	if err == nil {
		_, err = io.Copy(w, o.file)
	}
	return err
}

func exportAudit(f *flag.FlagSet) act {
	filter := filterFlags(f)
	return func(ctx context.Context, s *session) (result, error) {
		chosen, err := filter()
		if err != nil {
			return nil, err
		}
		return record(ctx, s, "export_audit", func(call *audit.Call) (exportOut, error) {
			call.Target("workspace", string(s.workspace))
			return s.export(ctx, call, chosen)
		})
	}
}

// export writes the events into a file first, so that what is printed is whole, and recorded
// before it is printed.
func (s *session) export(ctx context.Context, call *audit.Call, filter audit.Filter) (exportOut, error) {
	file, err := os.CreateTemp("", "aac-audit-*") // mode 0600
	if err != nil {
		return exportOut{}, err
	}
	last := s.close
	s.close = func() error { return errors.Join(file.Close(), os.Remove(file.Name()), last()) }
	buffered := bufio.NewWriter(file)
	lines := json.NewEncoder(buffered)
	lines.SetEscapeHTML(false)
	now := call.Now()
	x := audit.Export{Workspace: string(s.workspace), Filter: filter, Now: now, Retention: s.settings.Retention}
	err = x.Each(ctx, s.tables, func(e audit.Event) error { return lines.Encode(e) })
	if err = cmp.Or(err, buffered.Flush()); err != nil {
		return exportOut{}, fmt.Errorf("export the audit log: %w", err)
	}
	return exportOut{file}, nil
}

const maxTail = 1000

type tailOut struct {
	Events []audit.Event `json:"events"` // oldest first
}

func (o tailOut) writeText(w io.Writer) error {
	return writeTable(w, []string{"TIME", "OUTCOME", "TOOL", "ACTOR", "TARGET", "REASON"}, o.Events, func(e audit.Event) []any {
		return []any{e.Timestamp.UTC().Format(time.RFC3339), e.Outcome, e.Tool, e.Actor, e.Target, e.Reason}
	})
}

func tailAudit(f *flag.FlagSet) act {
	filter := filterFlags(f)
	n := f.Int("n", 20, fmt.Sprintf("how `many`, 1 to %d", maxTail))
	return func(ctx context.Context, s *session) (result, error) {
		chosen, err := filter()
		if err == nil && (*n < 1 || *n > maxTail) {
			err = usageError(fmt.Sprintf("-n: must be 1 to %d", maxTail))
		}
		if err != nil {
			return nil, err
		}
		return record(ctx, s, "tail_audit", func(call *audit.Call) (tailOut, error) {
			call.Target("workspace", string(s.workspace))
			return s.tail(ctx, call, chosen, *n)
		})
	}
}

// tail reads pages, newest first, until it has n events or all.
func (s *session) tail(ctx context.Context, call *audit.Call, filter audit.Filter, n int) (tailOut, error) {
	out := tailOut{[]audit.Event{}}
	q := audit.Query{Workspace: string(s.workspace), Filter: filter, Now: call.Now(), Retention: s.settings.Retention}
	for {
		q.Limit = min(n-len(out.Events), audit.MaxQueryLimit)
		page, err := q.Run(ctx, s.tables)
		if err != nil {
			return tailOut{}, err
		}
		out.Events = append(out.Events, page.Events...)
		if q.Cursor = page.Next; q.Cursor == "" || len(out.Events) == n {
			slices.Reverse(out.Events)
			return out, nil
		}
	}
}
