package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// program is one run of the command, and all that it takes from its surroundings.
type program struct {
	env            func(string) string
	user           func() string // who runs it
	now            func() time.Time
	stdin          io.Reader
	stdout, stderr io.Writer
}

// Exit statuses.
const (
	exitDone    = 0
	exitRefused = 1 // the act was refused, or failed
	exitUsage   = 2 // the command line cannot be used: nothing was tried
)

// usageError is a command line that cannot be used.
type usageError string

func (e usageError) Error() string { return string(e) }

// options are the flags that commands share.
type options struct {
	data, workspace, operator string
	json, confirm             bool
}

// run does what the arguments say and returns the exit status.
func (p program) run(ctx context.Context, args []string) int {
	if len(args) == 0 {
		writeHelp(p.stderr)
		return exitUsage
	}
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		return p.help(args[1:])
	}
	c, ok := find(args)
	if !ok {
		return p.fail(usageError("there is no such command: see help"), options{}, "")
	}
	flags, o, do := c.parser()
	err := parse(flags, args[2:])
	if errors.Is(err, flag.ErrHelp) {
		c.writeHelp(p.stdout)
		return exitDone
	}
	if err = cmp.Or(err, c.check(flags, *o)); err != nil {
		return p.fail(err, *o, "")
	}
	callID := uuid.Must(uuid.NewV7()).String()
	if err := p.perform(ctx, c, *o, do, callID); err != nil {
		return p.fail(err, *o, callID)
	}
	return exitDone
}

func (p program) help(args []string) int {
	if c, ok := find(args); ok {
		c.writeHelp(p.stdout)
	} else {
		writeHelp(p.stdout)
	}
	return exitDone
}

// parse reads the flags of a command. There are no arguments besides.
func parse(flags *flag.FlagSet, args []string) error {
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return usageError(fmt.Sprintf("%v: see help %s", err, flags.Name()))
	case flags.NArg() > 0:
		return usageError(fmt.Sprintf("%q belongs to no flag: see help %s", flags.Arg(0), flags.Name()))
	}
	return nil
}

// perform opens the data, does the act and shows its result.
func (p program) perform(ctx context.Context, c command, o options, do act, callID string) (err error) {
	s, err := p.session(ctx, c, o, callID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	out, err := do(ctx, s)
	if err != nil {
		return err
	}
	if err := show(p.stdout, out, o.json); err != nil {
		return fmt.Errorf("the act is done, but its result could not be shown: %w%s", err, unshown(out))
	}
	return nil
}

// result is what an act has to say: to people, and as one JSON object.
type result interface{ writeText(io.Writer) error }

func show(w io.Writer, out result, asJSON bool) error {
	if _, lines := out.(exportOut); lines || !asJSON {
		return out.writeText(w)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

// fail says on stderr what went wrong. An operator may read what a caller of a tool may not: the
// words of an internal error too.
func (p program) fail(err error, o options, callID string) int {
	status := exitRefused
	var usage usageError
	if errors.As(err, &usage) {
		status = exitUsage
	}
	f := fault.Of(err)
	if f.Kind == fault.Internal || status == exitUsage {
		f = &fault.Fault{Reason: fault.ReasonInternal, Text: err.Error()}
		if status == exitUsage {
			f.Reason = fault.InvalidArguments
		}
	}
	if o.json {
		fmt.Fprintf(p.stderr, "%s\n", f.PublicJSON(callID))
		return status
	}
	fmt.Fprintf(p.stderr, "admin: %s\n", f.Text)
	if choices, _ := f.Member("choices").([]string); len(choices) > 0 {
		fmt.Fprintf(p.stderr, "choices: %s\n", strings.Join(choices, ", "))
	}
	return status
}
