package check

// importRules is the table: who may import whom of our packages, and what is never reached at
// any distance. A package without a rule fails, and so does a rule without a package.
var importRules = []rule{
	{pkg: "shared/fault", never: domainNever},
	{pkg: "shared/table", never: domainNever},
	{pkg: "shared/table/tabletest", may: []string{"shared/table"}},
	{pkg: "shared/tracker", may: []string{"shared/fault"}, never: domainNever},
	{pkg: "shared/tracker/trackertest", may: []string{"shared/tracker", "shared/fault", "shared/identity"}},
	{pkg: "shared/identity", may: []string{"shared/fault"}, never: domainNever},
	{pkg: "shared/identity/token", may: []string{"shared/identity", "shared/table", "shared/fault"},
		never: map[string]string{dynamo: noEngine, "go.etcd.io/bbolt": noEngine, awsRun: noHost}},
	{pkg: "shared/identity/signin", may: []string{"shared/identity"}, never: domainNever},
	{pkg: "shared/identity/subject", may: []string{"shared/table", "shared/fault"}, never: domainNever},
	{pkg: "shared/identity/oauth", may: []string{"shared/identity", "shared/identity/token", "shared/identity/signin", "shared/identity/subject", "shared/table", "shared/fault"},
		never: map[string]string{dynamo: noEngine, "go.etcd.io/bbolt": noEngine, awsRun: noHost}},
	{pkg: "shared/audit", may: []string{"shared/fault", "shared/identity", "shared/table"}, never: domainNever},
	{pkg: "shared/monitor", may: []string{"shared/audit", "shared/fault", "shared/identity", "shared/table", "shared/dynamo/schema"}, never: domainNever},
	{pkg: "shared/monitor/topic", may: []string{"shared/monitor"}, never: map[string]string{"shared/dynamo/writer": noWrite, awsRun: noHost}},
	{pkg: "shared/records", may: []string{"shared/tracker", "shared/table", "shared/audit", "shared/identity", "shared/fault"}, never: domainNever},
	{pkg: "shared/tool", may: []string{"shared/tracker", "shared/fault", "shared/identity", "shared/audit"}, never: toolNever},
	{pkg: "shared/tools/read", may: []string{"shared/tool", "shared/identity", "shared/tracker", "shared/fault"}, never: readNever},
	{pkg: "shared/tools/write", may: []string{"shared/tool", "shared/identity", "shared/tracker", "shared/fault"},
		never: also(toolNever, map[string]string{"shared/dynamo/...": noEngine, "shared/embedded": noEngine, "shared/records": noEngine})},
	{pkg: "shared/tools/toolstest", may: []string{"shared/...", "functions/local/demo"}},
	{pkg: "shared/catalog", may: []string{"shared/tool", "shared/identity", "shared/tools/read", "shared/tools/write"}, never: domainNever},
	{pkg: "shared/embedded", may: []string{"shared/table"},
		never: map[string]string{dynamo: "local mode needs no cloud", "shared/records": "an engine knows no domain"}},
	{pkg: "shared/dynamo", may: []string{"shared/table", "shared/dynamo/schema"}, never: engineNever},
	{pkg: "shared/dynamo/schema", may: []string{"shared/table"}, never: domainNever},
	{pkg: "shared/dynamo/reader", may: []string{"shared/table", "shared/dynamo", "shared/dynamo/schema"},
		never: also(engineNever, map[string]string{"shared/dynamo/writer": noWrite})},
	{pkg: "shared/dynamo/appender", may: []string{"shared/table", "shared/dynamo", "shared/dynamo/schema"},
		never: also(engineNever, map[string]string{"shared/dynamo/writer": noWrite})},
	{pkg: "shared/dynamo/writer", may: []string{"shared/table", "shared/dynamo", "shared/dynamo/schema", "shared/dynamo/reader"}, never: engineNever},
	{pkg: "shared/dynamo/dynamotest", may: []string{"shared/table", "shared/dynamo", "shared/dynamo/schema"}},
	{pkg: "shared/mcpserver", may: []string{"shared/catalog", "shared/tool", "shared/identity", "shared/identity/signin", "shared/audit", "shared/fault"},
		never: map[string]string{dynamo: noEngine, "go.etcd.io/bbolt": noEngine, awsRun: noHost, awsProxy: noHost, "shared/records": "the front reaches no tracker data"}},
	{pkg: "shared/gateway", may: []string{"shared/fault"},
		never: map[string]string{dynamo: "the emulation needs no cloud", awsRun: noHost, awsProxy: noHost}},
	{pkg: "shared/lambdarun", may: []string{"shared/tool", "shared/identity", "shared/identity/signin", "shared/records", "shared/table", "shared/audit", "shared/fault",
		"shared/dynamo", "shared/dynamo/appender", "shared/monitor"}, never: map[string]string{"shared/dynamo/writer": noWrite, "shared/tools/...": "the host is the same for all tools", "go.etcd.io/bbolt": noEngine}},
	{pkg: "shared/rest", may: []string{"shared/catalog", "shared/tool", "shared/identity", "shared/identity/signin", "shared/audit", "shared/table", "shared/fault"},
		never: map[string]string{dynamo: noEngine, "go.etcd.io/bbolt": noEngine, awsRun: noHost, awsProxy: noHost, "shared/records": "it reaches no tracker data"}},
	{pkg: "shared/authserver", may: []string{"shared/authserver/page", "shared/identity", "shared/identity/token", "shared/table", "shared/audit", "shared/fault"},
		never: map[string]string{dynamo: noEngine, "go.etcd.io/bbolt": noEngine, awsRun: noHost, awsProxy: noHost,
			"shared/records": "it knows members by what it is handed", "shared/tools/...": "it knows tools by what it is told", "shared/mcpserver": "to the connector it is an issuer like any other"}},
	{pkg: "shared/authserver/page", never: map[string]string{"shared/...": "a page knows nothing of what is on it", dynamo: noEngine}},
	{pkg: "functions/list_issues", may: readFunction, never: readFunctionNever},
	{pkg: "functions/get_issue", may: readFunction, never: readFunctionNever},
	{pkg: "functions/list_comments", may: readFunction, never: readFunctionNever},
	{pkg: "functions/dashboard_usage_daily", may: readFunction, never: readFunctionNever},
	{pkg: "functions/create_issue", may: writeFunction, never: functionNever},
	{pkg: "functions/update_issue", may: writeFunction, never: functionNever},
	{pkg: "functions/comment_issue", may: writeFunction, never: functionNever},
	{pkg: "functions/assign_issue_to_agent", may: writeFunction, never: functionNever},
	{pkg: "functions/trigger_autopilot", may: writeFunction, never: functionNever},
	{pkg: "functions/delete_issue", may: writeFunction, never: functionNever},
	{pkg: "functions/delete_comment", may: writeFunction, never: functionNever},
	{pkg: "functions/authorizer", may: []string{"shared/lambdarun", "shared/identity/token", "shared/identity/oauth", "shared/catalog", "shared/dynamo/reader"},
		never: also(functionNever, map[string]string{"shared/dynamo/writer": noWrite, "shared/mcpserver": "it decides before any front"})},
	{pkg: "functions/mcp", may: []string{"shared/lambdarun", "shared/catalog", "shared/mcpserver"},
		never: also(functionNever, map[string]string{"shared/dynamo/writer": noWrite, "shared/dynamo/reader": "the front reaches no tracker data"})},
	{pkg: "functions/discovery", may: []string{"shared/lambdarun", "shared/catalog", "shared/rest"},
		never: also(functionNever, map[string]string{"shared/dynamo/writer": noWrite, "shared/dynamo/reader": "what there is stands in the program"})},
	{pkg: "functions/audit_monitor", may: []string{"shared/lambdarun", "shared/monitor/topic", "shared/catalog", "shared/dynamo/writer"}, // it keeps what its rules remember
		never: also(functionNever, map[string]string{"shared/mcpserver": "it watches, it does not serve"})},
	{pkg: "functions/audit_query", may: []string{"shared/lambdarun", "shared/dynamo/reader", "shared/rest"},
		never: also(functionNever, map[string]string{"shared/dynamo/writer": noWrite, "shared/mcpserver": "it is no MCP"})},
	{pkg: "functions/local", may: []string{"functions/local/..."}},
	{pkg: "functions/local/...", may: []string{"shared/...", "functions/local/..."}},
	{pkg: "infra/seed", may: []string{"functions/local/demo", "shared/dynamo", "shared/dynamo/writer", "shared/identity/token", "shared/records"}},
	{pkg: "infra/samlocal", may: []string{"infra/seed", "shared/catalog", "shared/dynamo", "shared/dynamo/dynamotest"}},
	{pkg: "infra/localdynamo", may: []string{"infra/seed", "shared/dynamo", "shared/dynamo/dynamotest"}},
	{pkg: "infra/check"},
	{pkg: "infra/budget"},
	{pkg: "infra/e2e", may: []string{"infra/seed", "infra/stack", "shared/dynamo", "shared/dynamo/dynamotest", "shared/gateway"}},
	{pkg: "infra/browser", may: []string{"functions/local/system", "shared/authserver"}},
	{pkg: "infra/clients"},
	{pkg: "infra/admin", may: []string{"shared/records", "shared/tracker", "shared/table", "shared/audit", "shared/identity", "shared/identity/token", "shared/identity/subject", "shared/fault",
		"shared/dynamo", "shared/dynamo/appender", "shared/dynamo/writer", "shared/embedded",
		"shared/monitor", "shared/catalog"}, // not shared/tool: an operator is no caller of tools, and can bind none
		never: map[string]string{awsRun: noHost, awsProxy: noHost}},
	{pkg: "infra/conformance", may: []string{"functions/local/system"}},
	{pkg: "infra/stack"},
	{pkg: "infra/policy", may: []string{"infra/stack", "shared/dynamo", "shared/dynamo/schema"}},
	{pkg: "infra/gen", may: []string{"shared/catalog", "shared/fault", "shared/identity", "shared/table", "shared/tool"},
		never: map[string]string{"infra/check": "generator and guard share no code"}},
}

// What the functions of the tools may import, by effect, and what no deployed program links.
var (
	readFunction  = []string{"shared/lambdarun", "shared/tools/read", "shared/dynamo/reader"}
	writeFunction = []string{"shared/lambdarun", "shared/tools/write", "shared/dynamo/writer"}
	functionNever = map[string]string{
		"shared/embedded": "it is for local mode and tests", "shared/gateway": "it is for local mode and tests", "testing": "it is for tests",
		"go.etcd.io/bbolt": "it is for local mode and tests", "functions/local/...": "it is for local mode and tests", "infra/...": "infra is not shipped",
	}
	readFunctionNever = also(functionNever, map[string]string{
		"shared/dynamo/writer": noWrite, "shared/tools/write": noWrite, "shared/catalog": noWrite,
		"text/template": keepsAll, "html/template": keepsAll, "net/rpc": keepsAll,
	})
)

var engineNever = map[string]string{
	"shared/records": "an engine knows no domain", "shared/tools/...": "an engine knows no domain",
	"go.etcd.io/bbolt": "one engine at a time", awsRun: noHost, awsProxy: noHost,
}
