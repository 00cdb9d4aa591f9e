package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// act is what a command does once its flags are read.
type act func(context.Context, *session) (result, error)

// command is one thing that can be done. Its name is a noun and a verb.
type command struct {
	name  string
	about string
	needs []string // flags that must be given
	// confirm says why -confirm is asked for; empty if it is not.
	confirm string
	// creates: it makes the workspace that the others need.
	creates bool
	setup   func(*flag.FlagSet) act
}

// commands are all there are, in the order of the help.
func commands() []command {
	return slices.Concat(workspaceCommands(), memberCommands(), tokenCommands(), linkCommands(), agentCommands(),
		autopilotCommands(), labelCommands(), issueCommands(), usageCommands(), auditCommands())
}

// find returns the command that the first two words name.
func find(args []string) (command, bool) {
	if len(args) < 2 {
		return command{}, false
	}
	all := commands()
	at := slices.IndexFunc(all, func(c command) bool { return c.name == args[0]+" "+args[1] })
	if at < 0 {
		return command{}, false
	}
	return all[at], true
}

// parser makes the flags of a command. What they say is in the options, and in the act.
func (c command) parser() (*flag.FlagSet, *options, act) {
	f, o := flag.NewFlagSet(c.name, flag.ContinueOnError), &options{}
	f.SetOutput(io.Discard) // we say it in our own words
	f.StringVar(&o.data, "data", "", "the `directory` of a local connector; else the tables in AWS")
	f.StringVar(&o.operator, "operator", "", "the `name` of who acts, for the audit log (default: yours on this system)")
	f.BoolVar(&o.json, "json", false, "print the result, or the error, as one JSON object")
	if !c.creates {
		f.StringVar(&o.workspace, "workspace", "", "the workspace, by `slug or id`")
	}
	if c.confirm != "" {
		f.BoolVar(&o.confirm, "confirm", false, "do it, although "+c.confirm)
	}
	return f, o, c.setup(f)
}

// check tells what the command line lacks.
func (c command) check(f *flag.FlagSet, o options) error {
	var missing []string
	for _, name := range c.required() {
		if f.Lookup(name).Value.String() == "" {
			missing = append(missing, "-"+name)
		}
	}
	switch {
	case len(missing) > 0:
		return usageError(fmt.Sprintf("say %s: see help %s", strings.Join(missing, ", "), c.name))
	case c.confirm != "" && !o.confirm:
		return usageError(fmt.Sprintf("%s: add -confirm if that is meant", c.confirm))
	}
	return nil
}

func (c command) required() []string {
	if c.creates {
		return c.needs
	}
	return append([]string{"workspace"}, c.needs...)
}

const helpHead = `Administers the connector: its workspaces, and who and what is in them.

  go run ./infra/admin <noun> <verb> -data .local …         the data of a local connector, which must not run meanwhile
  AAC_DATA_TABLE=… AAC_AUDIT_TABLE=… go run ./infra/admin …  the tables in AWS, with the AWS SDK's standard configuration

Every act leaves an event in the audit log. Exit status: 0 done, 1 refused or failed, 2 not understood.

`

func writeHelp(w io.Writer) {
	fmt.Fprint(w, helpHead)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range commands() {
		fmt.Fprintf(t, "  %s\t%s\n", c.name, c.about)
	}
	fmt.Fprintf(t, "  help\t<noun> <verb>: the flags of a command\n")
	_ = t.Flush() // to a terminal; a help that cannot be shown helps nobody
}

func (c command) writeHelp(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n\n", c.name, c.about)
	if c.confirm != "" {
		fmt.Fprintf(w, "%s, so it asks for -confirm.\n\n", strings.ToUpper(c.confirm[:1])+c.confirm[1:])
	}
	f, _, _ := c.parser()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	f.VisitAll(func(one *flag.Flag) {
		kind, text := flag.UnquoteUsage(one)
		if slices.Contains(c.required(), one.Name) {
			text += " (required)"
		} else if one.DefValue != "" && one.DefValue != "false" {
			text += fmt.Sprintf(" (default %s)", one.DefValue)
		}
		fmt.Fprintf(t, "  -%s %s\t%s\n", one.Name, kind, text)
	})
	_ = t.Flush()
}
