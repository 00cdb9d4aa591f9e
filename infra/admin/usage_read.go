package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Limits of an import.
const (
	maxUsageLine = 64 << 10 // bytes
	maxUsageRows = 100_000  // a year of 270 models
	maxProblems  = 20       // said of one file
)

// usageNames are the members of a row and the columns of a CSV file. The first three are its
// key and must be there; a number that is left out is 0.
var usageNames = []string{
	"date", "provider", "model",
	"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd_ticks",
	"uncosted_input_tokens", "uncosted_output_tokens", "uncosted_cache_read_tokens", "uncosted_cache_write_tokens", "task_count",
}

const keyColumns = 3

// usageReader collects rows, and what is wrong with them, by line.
type usageReader struct {
	rows     []tracker.UsageRow
	lines    map[[3]string]int // where the day, provider and model were read first
	problems []string
}

// readUsage reads JSON Lines or CSV, whichever it is by its first character. If anything is
// wrong the error names the lines, and there are no rows.
func readUsage(r io.Reader) ([]tracker.UsageRow, error) {
	in := bufio.NewReaderSize(r, maxUsageLine)
	if bom, err := in.Peek(3); err == nil && bytes.Equal(bom, []byte("\ufeff")) {
		_, _ = in.Discard(3) // they are in the buffer
	}
	u := &usageReader{lines: map[[3]string]int{}}
	var err error
	if first, _ := in.Peek(1); string(first) == "{" {
		err = u.readJSON(in)
	} else {
		err = u.readCSV(in)
	}
	switch {
	case err != nil:
		return nil, err
	case len(u.problems) > 0:
		return nil, refuseFile(strings.Join(u.problems, "\n"))
	case len(u.rows) == 0:
		return nil, refuseFile("it holds no row")
	case len(u.rows) > maxUsageRows:
		return nil, refuseFile(fmt.Sprintf("it holds more than %d rows: split it", maxUsageRows))
	}
	return u.rows, nil
}

func refuseFile(text string) error {
	return fault.New(fault.Invalid, fault.InvalidArguments, "the file is not in order, nothing was stored: "+text).With("field", "file")
}

// full tells whether there is no use in reading on.
func (u *usageReader) full() bool {
	return len(u.problems) >= maxProblems || len(u.rows) > maxUsageRows
}

func (u *usageReader) problem(line int, text string) {
	u.problems = append(u.problems, fmt.Sprintf("line %d: %s", line, text))
}

// add takes a row if it can be stored.
func (u *usageReader) add(line int, row tracker.UsageRow) {
	if err := records.CheckUsage(row); err != nil {
		u.problem(line, err.Error())
		return
	}
	key := [3]string{string(row.Date), row.Provider, row.Model}
	if first, twice := u.lines[key]; twice {
		u.problem(line, fmt.Sprintf("has the same date, provider and model as line %d", first))
		return
	}
	u.lines[key] = line
	u.rows = append(u.rows, row)
}

func (u *usageReader) readJSON(in *bufio.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxUsageLine)
	n := 0
	for !u.full() && lines.Scan() {
		n++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var row tracker.UsageRow
		if err := json.Unmarshal(lines.Bytes(), &row, json.RejectUnknownMembers(true)); err != nil {
			u.problem(n, jsonProblem(err))
			continue
		}
		u.add(n, row)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		u.problem(n+1, fmt.Sprintf("is longer than %d bytes", maxUsageLine))
		return nil
	}
	return readError(lines.Err())
}

func readError(err error) error {
	if err != nil {
		return fmt.Errorf("read the file: %w", err)
	}
	return nil
}

// jsonProblem says where the mistake is, not what was read there.
func jsonProblem(err error) string {
	var semantic *json.SemanticError
	name := ""
	if errors.As(err, &semantic) {
		name = semantic.JSONPointer.LastToken()
	}
	var f *fault.Fault
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return "names a member twice"
	case errors.Is(err, json.ErrUnknownName):
		return "has a member that is none of " + strings.Join(usageNames, ", ")
	case errors.As(err, &f) && name != "":
		return name + ": " + f.Text
	case slices.Contains(usageNames[:keyColumns], name):
		return name + ": must be a string"
	case slices.Contains(usageNames, name):
		return name + ": must be a whole number"
	}
	return "must be one JSON object"
}

func (u *usageReader) readCSV(in *bufio.Reader) error {
	r := csv.NewReader(in)
	head, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		err = checkHead(head)
	}
	for err == nil && !u.full() {
		var fields []string
		if fields, err = r.Read(); err == nil {
			line, _ := r.FieldPos(0)
			u.addFields(line, head, fields)
		}
	}
	var malformed *csv.ParseError
	switch {
	case errors.As(err, &malformed):
		u.problem(malformed.Line, csvProblem(malformed))
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

func csvProblem(err *csv.ParseError) string {
	if errors.Is(err, csv.ErrFieldCount) {
		return "must have as many fields as the head line"
	}
	return "has quotes that do not fit together"
}

func checkHead(head []string) error {
	for i, name := range head {
		if !slices.Contains(usageNames, name) {
			return refuseFile(fmt.Sprintf("line 1: column %d is none of %s", i+1, strings.Join(usageNames, ", ")))
		}
		if slices.Contains(head[:i], name) {
			return refuseFile(fmt.Sprintf("line 1: column %d is there twice", i+1))
		}
	}
	for _, name := range usageNames[:keyColumns] {
		if !slices.Contains(head, name) {
			return refuseFile("line 1: there must be a column " + name)
		}
	}
	return nil
}

func (u *usageReader) addFields(line int, head, fields []string) {
	var row tracker.UsageRow
	numbers := map[string]*int64{
		"input_tokens": &row.InputTokens, "output_tokens": &row.OutputTokens,
		"cache_read_tokens": &row.CacheReadTokens, "cache_write_tokens": &row.CacheWriteTokens,
		"cost_usd_ticks":        &row.CostUSDTicks,
		"uncosted_input_tokens": &row.UncostedInputTokens, "uncosted_output_tokens": &row.UncostedOutputTokens,
		"uncosted_cache_read_tokens": &row.UncostedCacheReadTokens, "uncosted_cache_write_tokens": &row.UncostedCacheWriteTokens,
		"task_count": &row.TaskCount,
	}
	for i, name := range head {
		switch name {
		case "date":
			row.Date = tracker.Day(fields[i])
		case "provider":
			row.Provider = fields[i]
		case "model":
			row.Model = fields[i]
		default:
			if fields[i] == "" {
				continue
			}
			var err error
			if *numbers[name], err = strconv.ParseInt(fields[i], 10, 64); err != nil {
				u.problem(line, name+": must be a whole number")
				return
			}
		}
	}
	u.add(line, row)
}
