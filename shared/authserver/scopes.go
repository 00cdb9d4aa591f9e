package authserver

import (
	"slices"

	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// scopeWords say for people what each scope lets a program do.
var scopeWords = map[identity.Scope]string{
	identity.IssuesRead:    "Read issues",
	identity.CommentsRead:  "Read comments",
	identity.DashboardRead: "Read the usage dashboard",
	identity.IssuesWrite:   "Create, change and delete issues",
	identity.CommentsWrite: "Write and delete comments",
	identity.AgentsWrite:   "Give issues to agents",
	identity.AutopilotRun:  "Start autopilots",
	identity.AuditRead:     "Read the audit log: what every member and program did",
}

// reads are the scopes that change nothing, without that of the audit log.
var reads = []identity.Scope{identity.IssuesRead, identity.CommentsRead, identity.DashboardRead}

// offered are the scopes that anybody may be asked for.
func offered() []identity.Scope {
	return slices.DeleteFunc(identity.Scopes(), func(s identity.Scope) bool { return s == identity.AuditRead })
}

// choose says which scopes the consent page offers to someone of this role, and which are ticked
// there. A client that names none is offered all, and only what reads is ticked. The audit log is
// offered to those who may read it, if it is asked for by name, and is never ticked.
func choose(asked []identity.Scope, named bool, role identity.Role) (shown, ticked []identity.Scope) {
	if !named {
		return offered(), slices.Clone(reads)
	}
	for _, scope := range identity.Scopes() {
		if !slices.Contains(asked, scope) || (scope == identity.AuditRead && !role.Manages()) {
			continue
		}
		shown = append(shown, scope)
		if scope != identity.AuditRead {
			ticked = append(ticked, scope)
		}
	}
	return shown, ticked
}

// subset tells whether each name is among the others.
func subset(names, of []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(of, name) })
}
