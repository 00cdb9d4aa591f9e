package main

import (
	"context"
	"errors"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// maxAttempts is how often an act is tried while others change the workspace.
const maxAttempts = 5

// errAnswerLost: the event of the commit is there already, for the engine has tried twice. Only
// this act writes under its event's key.
var errAnswerLost = errors.New("it is done, but the answer was lost")

// forHolder does what is done for a present member. commit takes the operations that hold the
// member to being one and record the act, before its own; about notes what the act is about.
func (s *session) forHolder(ctx context.Context, call *audit.Call, ref tracker.MemberRef, changed string,
	about func(records.Member), commit func(records.Member, ...table.Op) error) error {
	for range maxAttempts {
		call.Event.Target = ""
		holder, present, err := s.admin.Holder(ctx, call, ref)
		if err != nil {
			return err
		}
		about(holder)
		event, err := call.CommitOp([]string{changed})
		if err != nil {
			return err
		}
		err = commit(holder, present, event)
		switch {
		case err == nil:
			call.Committed()
			return nil
		case table.FailedAt(err, 1):
			return errAnswerLost
		case !table.IsConflict(err):
			if fault.KindOf(err) != fault.Internal {
				call.Event.Target = "" // refused: nothing was made
			}
			return err
		}
	}
	return busy()
}

func busy() error {
	f := fault.New(fault.RateLimited, fault.Contention, "others kept changing this workspace and nothing was done: try again")
	f.RetryAfter = time.Second
	return f
}
