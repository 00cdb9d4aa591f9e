// Command admin does what no tool can: it makes workspaces, changes who and what is in them,
// issues tokens, restores, imports and reads the audit log, on the data of a local connector or
// on the tables in AWS. Every act leaves its event in the audit log.
//
// It is for operators, who have access to the data; members use the tools. Start with
// program.go; commands.go lists the commands, and each other file holds those of one noun.
package main

import (
	"context"
	"os"
	"os/signal"
	"os/user"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := program{env: os.Getenv, user: currentUser, now: time.Now, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(p.run(ctx, os.Args[1:]))
}

// currentUser is the name of who runs this; empty if the system does not say.
func currentUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
