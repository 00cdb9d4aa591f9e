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
	{pkg: "shared/audit", may: []string{"shared/fault", "shared/identity", "shared/table"}, never: domainNever},
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
	{pkg: "shared/mcpserver", may: []string{"shared/catalog", "shared/tool", "shared/identity", "shared/audit", "shared/fault"},
		never: map[string]string{dynamo: noEngine, "go.etcd.io/bbolt": noEngine, awsRun: noHost, awsProxy: noHost, "shared/records": "the front reaches no tracker data"}},
	{pkg: "shared/gateway", may: []string{"shared/fault"},
		never: map[string]string{dynamo: "the emulation needs no cloud", awsRun: noHost, awsProxy: noHost}},
	{pkg: "shared/lambdarun", may: []string{"shared/tool", "shared/identity", "shared/records", "shared/table", "shared/audit", "shared/fault",
		"shared/dynamo", "shared/dynamo/appender"}, never: map[string]string{"shared/dynamo/writer": noWrite, "shared/tools/...": "the host is the same for all tools", "go.etcd.io/bbolt": noEngine}},
	{pkg: "functions/local", may: []string{"functions/local/..."}},
	{pkg: "functions/local/...", may: []string{"shared/...", "functions/local/..."}},
	{pkg: "infra/check"},
	{pkg: "infra/clients"},
	{pkg: "infra/gen", may: []string{"shared/catalog", "shared/fault", "shared/identity", "shared/tool"},
		never: map[string]string{"infra/check": "generator and guard share no code"}},
}

var engineNever = map[string]string{
	"shared/records": "an engine knows no domain", "shared/tools/...": "an engine knows no domain",
	"go.etcd.io/bbolt": "one engine at a time", awsRun: noHost, awsProxy: noHost,
}
