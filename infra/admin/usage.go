package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

func usageCommands() []command {
	return []command{
		{name: "usage import", about: "store daily usage, each row in place of the one of its day, provider and model",
			needs: []string{"file"}, setup: importUsage},
	}
}

type importedOut struct {
	Added     int `json:"added"`
	Changed   int `json:"changed"`
	Unchanged int `json:"unchanged"`
}

func (o importedOut) writeText(w io.Writer) error {
	return writePairs(w, "added", o.Added, "changed", o.Changed, "unchanged", o.Unchanged)
}

// importUsage reads and checks all of the file first. Then each commit is an act of its own,
// with its event, so that no row is stored without one; the same import again goes on where one
// broke off.
func importUsage(f *flag.FlagSet) act {
	file := f.String("file", "", "the `file`, JSON Lines or CSV with a head line; - for the standard input")
	return func(ctx context.Context, s *session) (result, error) {
		rows, err := s.readFile(*file)
		if err != nil {
			return nil, err
		}
		var sum importedOut
		for chunk := range slices.Chunk(rows, records.MaxUsageImport) {
			out, err := record(ctx, s, "import_usage", func(call *audit.Call) (records.ImportedUsage, error) {
				return s.admin.ImportUsage(ctx, call, chunk)
			})
			if err != nil {
				return nil, fmt.Errorf("%d of %d rows are stored; run the same import again to go on: %w",
					sum.Added+sum.Changed+sum.Unchanged, len(rows), err)
			}
			sum.Added += out.Added
			sum.Changed += out.Changed
			sum.Unchanged += out.Unchanged
		}
		return sum, nil
	}
}

func (s *session) readFile(path string) ([]tracker.UsageRow, error) {
	if path == "-" {
		return readUsage(s.stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, usageError("-file: it cannot be opened: name a file that you may read")
	}
	defer f.Close()
	return readUsage(f)
}
