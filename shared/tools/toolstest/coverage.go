package toolstest

import (
	"fmt"
	"sync"

	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// refusals says, by hand, with what each tool can refuse a call; each needs a case. A caller
// without a token is not here: no tool is reached then, and one test covers all.
var refusals = func() map[string][]fault.Reason {
	all := []fault.Reason{fault.InsufficientScope, fault.InvalidArguments, fault.ReasonRateLimited}
	refs := []fault.Reason{fault.UnknownReference, fault.AmbiguousReference}
	with := func(groups ...[]fault.Reason) []fault.Reason {
		reasons := append([]fault.Reason(nil), all...)
		for _, g := range groups {
			reasons = append(reasons, g...)
		}
		return reasons
	}
	one := func(r ...fault.Reason) []fault.Reason { return r }
	destructive := with(one(fault.ConfirmMissing, fault.NotPermitted, fault.Contention))
	return map[string][]fault.Reason{
		"list_issues":           with(refs, one(fault.InvalidCursor)),
		"get_issue":             with(one(fault.TargetNotFound)),
		"list_comments":         with(one(fault.TargetNotFound, fault.UnknownReference, fault.InvalidCursor)),
		"dashboard_usage_daily": with(one(fault.InvalidCursor)),
		"create_issue":          with(refs, one(fault.LimitReached, fault.IdempotencyConflict, fault.Contention)),
		"update_issue":          with(refs, one(fault.TargetNotFound, fault.RevisionConflict, fault.Contention)),
		"comment_issue": with(one(fault.TargetNotFound, fault.UnknownReference, fault.LimitReached,
			fault.IdempotencyConflict, fault.Contention)),
		// Names of agents are their own, so none is ambiguous.
		"assign_issue_to_agent": with(one(fault.UnknownReference, fault.TargetNotFound, fault.InvocationNotAllowed,
			fault.TargetUnavailable, fault.RevisionConflict, fault.Contention)),
		"trigger_autopilot": with(one(fault.TargetNotFound, fault.AmbiguousReference, fault.NotPermitted,
			fault.AutopilotNotActive, fault.IdempotencyConflict, fault.Contention)),
		"delete_issue":   destructive,
		"delete_comment": destructive,
	}
}()

// coverage collects what the cases of one tool show.
type coverage struct {
	tool string

	mu       sync.Mutex
	accepted bool
	reasons  map[fault.Reason]bool
}

func (c *coverage) add(r result, quiet bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reasons == nil {
		c.reasons = map[fault.Reason]bool{}
	}
	if r.status == 200 {
		c.accepted = c.accepted || !quiet
		return
	}
	c.reasons[r.reason] = true
}

func (c *coverage) problems() []string {
	var problems []string
	if !c.accepted {
		problems = append(problems, c.tool+" has no case that is accepted")
	}
	wanted, ok := refusals[c.tool]
	if !ok {
		problems = append(problems, fmt.Sprintf("say in coverage.go with what %s can refuse a call", c.tool))
	}
	for _, r := range wanted {
		if !c.reasons[r] {
			problems = append(problems, fmt.Sprintf("%s can refuse with %s, and no case shows it", c.tool, r))
		}
		delete(c.reasons, r)
	}
	for r := range c.reasons {
		problems = append(problems, fmt.Sprintf("%s refuses with %s, which coverage.go does not know of", c.tool, r))
	}
	return problems
}
