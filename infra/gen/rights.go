package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// right is what a tool's function may do to the data table. What is left out it may not do. Keys
// are the first parts of partition keys, up to the first #; no tool reaches the rows of tokens.
// Every tool may besides add events of its own to the audit table.
//
// The table does not follow from the declarations: it follows from what shared/records does for
// a tool. Tests compare it with a second table, and with what the tools are seen to use.
type right struct {
	read     []string // operations
	readKeys []string
	indexes  []table.Index // to query
	counter  bool          // take a number of an issue

	// In a transaction only.
	put    []string // keys
	check  []string // keys
	remove []string // keys
}

const (
	get      = "GetItem"
	batchGet = "BatchGetItem"
	query    = "Query"
)

var rights = map[string]right{
	"list_issues": {
		read: []string{batchGet, get, query}, readKeys: []string{"WS"},
		indexes: []table.Index{table.ByAssignee, table.ByStatus, table.ByUpdated},
	},
	"get_issue":             {read: []string{batchGet}, readKeys: []string{"WS", "IB"}},
	"list_comments":         {read: []string{batchGet, get, query}, readKeys: []string{"WS", "C", "TH"}},
	"dashboard_usage_daily": {read: []string{query}, readKeys: []string{"USE"}},
	"create_issue": {
		read: []string{batchGet}, readKeys: []string{"WS", "IDEM"}, counter: true,
		put: []string{"WS", "IB", "IDEM"},
	},
	"update_issue": {
		read: []string{batchGet, get}, readKeys: []string{"WS", "IB"},
		put: []string{"WS", "IB"}, remove: []string{"IB"}, // an empty description has no row
	},
	"comment_issue": {
		read: []string{batchGet}, readKeys: []string{"WS", "C", "TH", "IDEM"},
		put: []string{"WS", "C", "TH", "IDEM"},
	},
	"assign_issue_to_agent": {read: []string{batchGet}, readKeys: []string{"WS"}, put: []string{"WS"}},
	"trigger_autopilot": {
		read: []string{batchGet, get}, readKeys: []string{"WS", "IDEM"}, counter: true,
		put: []string{"WS", "RUN", "IDEM"}, check: []string{"WS"},
	},
	"delete_issue": {
		read: []string{batchGet, query}, readKeys: []string{"WS", "C", "RUN"},
		put: []string{"WS", "RUN"}, check: []string{"WS"},
	},
	"delete_comment": {
		read: []string{batchGet}, readKeys: []string{"WS", "C", "TH"},
		put: []string{"WS", "C", "TH"}, check: []string{"WS"}, remove: []string{"TH"}, // of a thread that is gone
	},
}

// rightOf returns the right of a tool, if it fits the effect that the tool declares.
func rightOf(d *tool.Definition) (right, error) {
	r, ok := rights[d.Name]
	switch writes := len(r.put)+len(r.check)+len(r.remove) > 0 || r.counter; {
	case !ok:
		return r, fmt.Errorf("say in infra/gen/rights.go what the function of %s may do", d.Name)
	case d.Effect == tool.Reads && writes:
		return r, fmt.Errorf("%s only reads, but infra/gen/rights.go lets it write", d.Name)
	case d.Effect != tool.Reads && len(r.put) == 0:
		return r, fmt.Errorf("%s writes, but infra/gen/rights.go does not let it", d.Name)
	}
	return r, nil
}

// checkRights finds rights of tools that are gone.
func checkRights(defs []*tool.Definition) error {
	var problems []error
	for name := range rights {
		if !slices.ContainsFunc(defs, func(d *tool.Definition) bool { return d.Name == name }) {
			problems = append(problems, fmt.Errorf("infra/gen/rights.go is about %s, which is no tool", name))
		}
	}
	return errors.Join(problems...)
}
