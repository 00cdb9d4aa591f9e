package check

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/aacworkflow/mcp-connector/infra/stack"
)

// said finds what a filter or a query wants a log line to say, and in which member.
var said = regexp.MustCompile(`\b(\w+) = ("[^"]+")`)

// checkQueries holds that what is looked for in the logs of the functions is written there: the
// words by the code, in the member in which Lambda's handler for logs has them.
func checkQueries(s *stack.Stack, read func(string) string) (findings []string) {
	message := lambdacontext.ReplaceAttr(nil, slog.String(slog.MessageKey, "")).Key
	for where, query := range queriesOf(s) {
		if regexp.MustCompile(`\b` + slog.MessageKey + `\b`).MatchString(query) {
			findings = append(findings, fmt.Sprintf("%s looks at %s, which is called %s in the logs", where, slog.MessageKey, message))
		}
		for _, m := range said.FindAllStringSubmatch(query, -1) {
			if m[1] == message {
				findings = append(findings, checkWords(where, m[2], read)...)
			}
		}
	}
	return findings
}

// queriesOf are the filters of metrics, the saved queries, and those of the dashboard.
func queriesOf(s *stack.Stack) map[string]string {
	all := map[string]string{}
	for kind, member := range map[string]string{"AWS::Logs::MetricFilter": "FilterPattern", "AWS::Logs::QueryDefinition": "QueryString"} {
		for _, id := range s.Names(kind) {
			all[id] = stack.Short(s.Resources[id].Properties[member])
		}
	}
	widgets, err := dashboardOf(s)
	if err != nil {
		return all // checkMetrics says so
	}
	for _, w := range widgets {
		if w.Properties.Query != "" {
			all["the widget "+strings.TrimSpace(w.Properties.Title)] = w.Properties.Query
		}
	}
	return all
}
