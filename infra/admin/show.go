package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// writePairs writes names and values, a line each.
func writePairs(w io.Writer, pairs ...any) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if _, err := fmt.Fprintf(w, "%-10s %v\n", fmt.Sprint(pairs[i], ":"), pairs[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// writeTable writes a row for each.
func writeTable[T any](w io.Writer, head []string, all []T, row func(T) []any) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(head, "\t")) // errors come with Flush
	for _, one := range all {
		cells := row(one)
		for i, c := range cells {
			if i > 0 {
				fmt.Fprint(t, "\t")
			}
			fmt.Fprint(t, c)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// timeOf is nil for none.
func timeOf(m records.Micros) *tracker.Time {
	if m == 0 {
		return nil
	}
	t := tracker.At(time.UnixMicro(int64(m)).UTC())
	return &t
}

// since is what a list shows of a time.
func since(word string, t *tracker.Time) string {
	if t == nil {
		return ""
	}
	return word + " " + t.UTC().Format(time.DateTime)
}
