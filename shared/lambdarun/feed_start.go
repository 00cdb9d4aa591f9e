package lambdarun

import (
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// ServeMonitor runs the consumer of the audit table's changes. tools are the tools there are,
// true for those that destroy. It reads the audit table and writes rows of its own in the data
// table (package monitor says which). publisher reaches the topic that the environment names, if
// it names one.
func ServeMonitor(open func(dynamo.Conn) table.Writer, publisher func(aws.Config, string) monitor.Publisher, tools map[string]bool) {
	start([]string{envDataTable, envAuditTable}, func(p program) (Handler, error) {
		cfg := monitor.Config{
			Tables: open(p.conn), Tools: tools, Metrics: os.Stdout, Namespace: p.namespace, Logger: p.Logger, Now: time.Now, Retention: p.Audit.Retention,
		}
		if p.findingsTopic != "" {
			cfg.Publisher = publisher(p.aws, p.findingsTopic)
		}
		return Feed(monitor.New(cfg), p.Logger), nil
	})
}
