package main

import (
	"fmt"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

// namespace is that of the stack's metrics, as CloudFormation's Sub makes it.
const namespace = monitor.Namespace + "/${AWS::StackName}"

// dashboardRows are the rows of the dashboard's widgets that follow from the catalogue, as values
// that are put into its body: JSON in YAML. A tool that is never called has no metric; the sum
// with zero, the series z, makes it show as zero.
func dashboardRows() ([]string, error) {
	calls, functions := []string{`[{"expression":"TIME_SERIES(0)","id":"z","visible":false}]`}, []string{}
	durations := map[string][]string{}
	for i, d := range catalog.All() {
		calls = append(calls,
			fmt.Sprintf(`["%s","Calls","Tool","%s",{"id":"m%d","visible":false}]`, namespace, d.Name, i),
			fmt.Sprintf(`[{"expression":"SUM([m%d,z])","id":"e%d","label":"%s"}]`, i, i, d.Name))
		for _, stat := range percentiles {
			durations[stat] = append(durations[stat], fmt.Sprintf(`["%s","Duration","Tool","%s",{"stat":"%s","label":"%s"}]`, namespace, d.Name, stat, d.Name))
		}
		for _, metric := range []string{"Errors", "Throttles"} {
			functions = append(functions, fmt.Sprintf(`["AWS/Lambda","%s","FunctionName","${AWS::StackName}-%s",{"label":"%s %s"}]`, metric, d.Name, d.Name, metric))
		}
	}
	lines := rows("Calls: !Sub >-", calls)
	for _, stat := range percentiles {
		lines = append(lines, rows("Duration"+stat+": !Sub >-", durations[stat])...)
	}
	return append(lines, rows("Functions: !Sub >-", functions)...), nil
}

var percentiles = []string{"p50", "p90", "p99"}

// rows are a value of several lines; every row but the last ends with a comma.
func rows(head string, rows []string) []string {
	lines := []string{head}
	for i, row := range rows {
		if i < len(rows)-1 {
			row += ","
		}
		lines = append(lines, "  "+row)
	}
	return lines
}
