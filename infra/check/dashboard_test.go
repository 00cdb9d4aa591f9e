package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aacworkflow/mcp-connector/infra/stack"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

// What the dashboard and the alarms look at is there to be seen, and what is emitted is looked at.
// That shared/monitor emits what it declares, with these dimensions, its own tests hold.

// awsMetrics are those of AWS that are looked at: names and dimensions, by hand.
// Sources: the user guides' lists of metrics of each service.
var awsMetrics = map[string]string{
	"AWS/ApiGateway 4XXError":                    "ApiName Stage",
	"AWS/ApiGateway 5XXError":                    "ApiName Stage",
	"AWS/ApiGateway Count":                       "ApiName Stage",
	"AWS/ApiGateway Latency":                     "ApiName Stage",
	"AWS/DynamoDB AgeOfOldestUnreplicatedRecord": "DelegatedOperation TableName",
	"AWS/DynamoDB FailedToReplicateRecordCount":  "DelegatedOperation TableName",
	"AWS/DynamoDB ThrottledPutRecordCount":       "DelegatedOperation TableName",
	"AWS/DynamoDB WriteThrottleEvents":           "TableName",
	"AWS/Lambda Duration":                        "FunctionName",
	"AWS/Lambda Errors":                          "FunctionName",
	"AWS/Lambda IteratorAge":                     "FunctionName",
	"AWS/Lambda Throttles":                       "FunctionName",
}

// logWords are the words that a metric filter or a query looks for in the logs, and the file that
// writes them.
var logWords = map[string]string{
	`record the call: `:           "shared/audit/call.go",
	`"anonymous request refused"`: "shared/lambdarun/authorizer.go",
	`"finding"`:                   "shared/monitor/monitor.go",
	`"call denied"`:               "shared/monitor/metrics.go",
}

// ownNamespace is that of the metrics of the stack that is called stack. With the name in it, two
// stacks in one account and Region do not count together.
const ownNamespace = "McpAudit/stack"

// look is one look at a metric. Values of dimensions are "" if all are looked at.
type look struct {
	where, namespace, name string
	dimensions             map[string]string
}

func (l look) set() string { return strings.Join(slices.Sorted(maps.Keys(l.dimensions)), " ") }

// named are the names that AWS gives: each resource is called by its logical id.
func named(s *stack.Stack) map[string]string {
	names := map[string]string{"AWS::Region": "eu-west-1", "AWS::StackName": "stack"}
	for id := range s.Resources {
		names[id], names[id+".Arn"] = id, "arn:"+id
	}
	return names
}

// widget is as much of a widget as matters here. Source: Amazon CloudWatch API Reference,
// "Dashboard body structure and syntax".
type widget struct {
	Type       string `json:"type"`
	X          int    `json:"x"`
	Y          int    `json:"y"`
	Width      int    `json:"width"`
	Height     int    `json:"height"`
	Properties struct {
		Title    string            `json:"title"`
		Region   string            `json:"region"`
		Stat     string            `json:"stat"`
		Metrics  [][]any           `json:"metrics"`
		Query    string            `json:"query"`
		Endpoint string            `json:"endpoint"`
		Params   map[string]string `json:"params"`
		Markdown string            `json:"markdown"`
	} `json:"properties"`
}

func dashboardOf(s *stack.Stack) ([]widget, error) {
	ids := s.Names("AWS::CloudWatch::Dashboard")
	if len(ids) != 1 {
		return nil, fmt.Errorf("there must be one dashboard, not %d", len(ids))
	}
	text, err := s.Evaluate(s.Resources[ids[0]].Properties["DashboardBody"], named(s))
	if err != nil {
		return nil, err
	}
	var body struct{ Widgets []widget }
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		return nil, fmt.Errorf("the dashboard is no JSON: %w", err)
	}
	return body.Widgets, nil
}

var (
	// A namespace that holds more than letters, digits and slashes must be in quotes.
	searched = regexp.MustCompile(`^SEARCH\('\{(?:([\w/]+)|"([\w/-]+)")((?:,\w+)+)\} MetricName="(\w+)"(?: TableName="(\w+)")?', '\w+', \d+\)$`)
	selected = regexp.MustCompile(`^SELECT \w+\((\w+)\) FROM SCHEMA\("([^"]+)", ([\w, ]+)\) WHERE TableName = '(\w+)'$`)
	computed = regexp.MustCompile(`^(TIME_SERIES\(0\)|SUM\(\[\w+,z\]\)|errors \+ throttles|IF\(failed >= 5, 100 \* failed / calls, 0\)|ANOMALY_DETECTION_BAND\(denials, 3\))$`)
)

// looked reads an expression: a search, a query, or arithmetic with what has an id.
func looked(where, expression string) (*look, error) {
	if m := searched.FindStringSubmatch(expression); m != nil {
		l := look{where, m[1] + m[2], m[4], map[string]string{}}
		for d := range strings.SplitSeq(m[3][1:], ",") {
			l.dimensions[d] = ""
		}
		if m[5] != "" {
			l.dimensions["TableName"] = m[5]
		}
		return &l, nil
	}
	if m := selected.FindStringSubmatch(expression); m != nil {
		l := look{where, m[2], m[1], map[string]string{}}
		for d := range strings.SplitSeq(m[3], ", ") {
			l.dimensions[d] = ""
		}
		l.dimensions["TableName"] = m[4]
		return &l, nil
	}
	if computed.MatchString(expression) {
		return nil, nil
	}
	return nil, fmt.Errorf("%s: the expression %s is not understood here", where, expression)
}

// looks are all looks of the dashboard and of the alarms.
func looks(s *stack.Stack, widgets []widget) (all []look, findings []string) {
	add := func(l *look, err error) {
		if err != nil {
			findings = append(findings, err.Error())
		} else if l != nil {
			all = append(all, *l)
		}
	}
	for _, w := range widgets {
		for _, row := range w.Properties.Metrics {
			where := "the dashboard's " + w.Properties.Title
			options, _ := row[len(row)-1].(map[string]any)
			if expression, ok := options["expression"].(string); ok {
				add(looked(where, expression))
				continue
			}
			if options != nil {
				row = row[:len(row)-1]
			}
			l := look{where: where, dimensions: map[string]string{}}
			words := make([]string, len(row))
			for i := range row {
				words[i], _ = row[i].(string)
			}
			if len(words) < 2 || len(words)%2 != 0 {
				findings = append(findings, fmt.Sprintf("%s: malformed row %v", where, row))
				continue
			}
			l.namespace, l.name = words[0], words[1]
			for i := 2; i < len(words); i += 2 {
				l.dimensions[words[i]] = words[i+1]
			}
			all = append(all, l)
		}
	}
	for _, id := range s.Names("AWS::CloudWatch::Alarm") {
		p := s.Resources[id].Properties
		metrics := []any{p}
		for _, m := range stack.List(p["Metrics"]) {
			if expression := stack.At(m, "Expression"); expression != nil {
				text, err := s.Evaluate(expression, named(s))
				if err != nil {
					findings = append(findings, fmt.Sprintf("%s: %v", id, err))
				}
				add(looked(id, text))
			}
			metrics = append(metrics, stack.At(m, "MetricStat", "Metric"))
		}
		for _, m := range metrics {
			namespace, err := s.Evaluate(stack.At(m, "Namespace"), named(s))
			if err != nil {
				findings = append(findings, fmt.Sprintf("%s: %v", id, err))
			}
			if namespace == "" {
				continue
			}
			l := look{id, namespace, stack.Short(stack.At(m, "MetricName")), map[string]string{}}
			for _, d := range stack.List(stack.At(m, "Dimensions")) {
				value, err := s.Evaluate(stack.At(d, "Value"), named(s))
				if err != nil {
					findings = append(findings, fmt.Sprintf("%s: %v", id, err))
				}
				l.dimensions[stack.Short(stack.At(d, "Name"))] = value
			}
			all = append(all, l)
		}
	}
	return all, findings
}

// checkMetrics compares what is looked at with what there is, both ways. Read reads a file of the
// repository.
func checkMetrics(s *stack.Stack, read func(string) string) (findings []string, seen int) {
	widgets, err := dashboardOf(s)
	if err != nil {
		return []string{err.Error()}, 0
	}
	all, findings := looks(s, widgets)
	emitted := map[string]bool{} // metric and dimensions: is it looked at?
	for _, m := range monitor.Metrics() {
		for _, set := range m.Dimensions {
			emitted[m.Name+" by "+strings.Join(slices.Sorted(slices.Values(set)), " ")] = false
		}
	}
	for _, id := range s.Names("AWS::Logs::MetricFilter") {
		for _, m := range stack.List(s.Resources[id].Properties["MetricTransformations"]) {
			if namespace, err := s.Evaluate(stack.At(m, "MetricNamespace"), named(s)); err != nil || namespace != ownNamespace || stack.At(m, "Dimensions") != nil {
				findings = append(findings, id+" must make a metric of the namespace of the stack, without dimensions")
			}
			emitted[stack.Short(stack.At(m, "MetricName"))+" by "] = false
		}
		findings = append(findings, checkWords(id, stack.Short(s.Resources[id].Properties["FilterPattern"]), read)...)
	}
	findings = append(findings, checkNamespace(s)...)
	findings = append(findings, checkLooks(s, all, emitted)...)
	for metric, isLookedAt := range emitted {
		if !isLookedAt {
			findings = append(findings, "nobody looks at "+metric+": put it on the dashboard, or emit it no more")
		}
	}
	findings = append(findings, checkWidgets(widgets, all)...)
	return findings, len(all)
}

// checkNamespace holds that the monitor is told the namespace at which everybody looks, and takes it.
func checkNamespace(s *stack.Stack) []string {
	told := stack.At(s.Resources["AuditMonitorFunction"].Properties, "Environment", "Variables", "AAC_METRIC_NAMESPACE")
	namespace, err := s.Evaluate(told, named(s))
	if err != nil || namespace != ownNamespace || !monitor.ValidNamespace(namespace) {
		return []string{fmt.Sprintf("the monitor counts in %q, everybody looks at %s (%v)", namespace, ownNamespace, err)}
	}
	return nil
}

// checkWords holds that what a filter looks for is written by the code.
func checkWords(id, pattern string, read func(string) string) []string {
	for words, file := range logWords {
		if strings.Contains(pattern, words) {
			if !strings.Contains(read(file), words) {
				return []string{fmt.Sprintf("%s looks for %s, which %s does not write", id, words, file)}
			}
			return nil
		}
	}
	return []string{fmt.Sprintf("%s: say in infra/check/dashboard_test.go who writes what it looks for", id)}
}

func checkLooks(s *stack.Stack, all []look, emitted map[string]bool) (findings []string) {
	functions, err := s.Functions()
	if err != nil {
		return []string{err.Error()}
	}
	tools := slices.Sorted(maps.Keys(promises))
	for _, l := range all {
		say := func(format string, a ...any) {
			findings = append(findings, fmt.Sprintf("%s looks at %s %s by %q: ", l.where, l.namespace, l.name, l.set())+fmt.Sprintf(format, a...))
		}
		if l.namespace != ownNamespace {
			if dimensions, ok := awsMetrics[l.namespace+" "+l.name]; !ok || dimensions != l.set() {
				say("there is no such metric of AWS")
			}
			for dimension, value := range l.dimensions {
				program, ours := strings.CutPrefix(value, "stack-")
				_, there := functions[program]
				if dimension == "FunctionName" && !(ours && there) && s.Resources[value].Type != "AWS::Lambda::Function" {
					say("there is no function %s", value)
				}
				if dimension == "TableName" && s.Resources[value].Type != "AWS::DynamoDB::Table" {
					say("there is no table %s", value)
				}
				if dimension == "ApiName" && value != "stack" || dimension == "Stage" && value != "v1" {
					say("there is no API of this name and stage")
				}
			}
			continue
		}
		if _, ok := emitted[l.name+" by "+l.set()]; !ok {
			say("nobody emits that")
			continue
		}
		emitted[l.name+" by "+l.set()] = true
		for dimension, value := range l.dimensions {
			if value != "" && !slices.Contains(monitor.Values(dimension, tools), value) {
				say("%s is never %s", dimension, value)
			}
		}
	}
	return findings
}

// checkWidgets holds that the dashboard shows every tool, called or not, that its widgets do not
// cover one another, and that it has the page of the audit log.
func checkWidgets(widgets []widget, all []look) (findings []string) {
	for tool := range promises {
		for _, metric := range []string{"Calls", "Duration"} {
			if !slices.ContainsFunc(all, func(l look) bool {
				return l.namespace == ownNamespace && l.name == metric && len(l.dimensions) == 1 && l.dimensions["Tool"] == tool
			}) {
				findings = append(findings, fmt.Sprintf("the dashboard does not show %s of %s: run make generate", metric, tool))
			}
		}
	}
	custom, ids := 0, map[string]bool{}
	for i, w := range widgets {
		title := w.Properties.Title
		if w.Type == "custom" && w.Properties.Endpoint == "arn:AuditWidgetFunction" {
			custom++
		}
		if title == "" && w.Properties.Markdown == "" || w.Properties.Region != "eu-west-1" && (w.Type == "metric" || w.Type == "log") {
			findings = append(findings, fmt.Sprintf("the dashboard's widget %d needs a title and the Region", i))
		}
		if w.Width < 1 || w.Height < 1 || w.X+w.Width > 24 {
			findings = append(findings, title+" is off the dashboard")
		}
		for _, other := range widgets[:i] {
			if w.X < other.X+other.Width && other.X < w.X+w.Width && w.Y < other.Y+other.Height && other.Y < w.Y+w.Height {
				findings = append(findings, title+" covers "+other.Properties.Title)
			}
		}
		clear(ids)
		for _, row := range w.Properties.Metrics {
			options, _ := row[len(row)-1].(map[string]any)
			if id, ok := options["id"].(string); ok {
				if ids[id] {
					findings = append(findings, fmt.Sprintf("%s: the id %s is there twice", title, id))
				}
				ids[id] = true
			}
		}
		for _, row := range w.Properties.Metrics {
			options, _ := row[len(row)-1].(map[string]any)
			expression, _ := options["expression"].(string)
			if m := regexp.MustCompile(`^SUM\(\[(\w+),z\]\)$`).FindStringSubmatch(expression); m != nil && (!ids[m[1]] || !ids["z"]) {
				findings = append(findings, fmt.Sprintf("%s: %s is about nothing", title, expression))
			}
		}
	}
	if custom != 1 {
		findings = append(findings, "the dashboard must have the widget of functions/audit_widget once")
	}
	return findings
}

// promisedAlarms must be there, by what they look at.
var promisedAlarms = map[string]string{
	"AuditWriteAlarm": ownNamespace + " AuditWriteFailures", "TamperingAlarm": ownNamespace + " AuditTampering", "PoisonAlarm": ownNamespace + " PoisonRecords",
	"StreamAgeAlarm": "AWS/DynamoDB AgeOfOldestUnreplicatedRecord", "FeedAgeAlarm": "AWS/Lambda IteratorAge",
	"ErrorRateAlarm": ownNamespace + " Calls", "DenialAlarm": ownNamespace + " Denials", "ServerErrorAlarm": "AWS/ApiGateway 5XXError",
}

// goOff is when alarms go off, by hand: statistic, seconds, periods, how many of them, comparison and
// threshold, as far as each has them. Those of the tools and of /mcp go off at one failure, as toolGoesOff.
var goOff = map[string]string{
	"AuditThrottleAlarm":      "Sum 300 1 GreaterThanOrEqualToThreshold 1",
	"AuditWriteAlarm":         "Sum 60 1 GreaterThanOrEqualToThreshold 1",
	"AuthorizerThrottleAlarm": "Sum 300 1 GreaterThanOrEqualToThreshold 1",
	"DataThrottleAlarm":       "Sum 300 1 GreaterThanOrEqualToThreshold 1",
	"DenialAlarm":             "3 2 GreaterThanUpperThreshold",
	"ErrorRateAlarm":          "1 GreaterThanThreshold 2",
	"FeedAgeAlarm":            "Maximum 300 2 GreaterThanOrEqualToThreshold 600000",
	"PoisonAlarm":             "Sum 300 1 GreaterThanOrEqualToThreshold 1",
	"ServerErrorAlarm":        "Sum 300 1 GreaterThanOrEqualToThreshold 5",
	"StreamAgeAlarm":          "2 GreaterThanOrEqualToThreshold 600000",
	"TamperingAlarm":          "Sum 60 1 GreaterThanOrEqualToThreshold 1",
}

const toolGoesOff = "1 GreaterThanOrEqualToThreshold 1"

// checkGoOff holds that alarms go off when they should, always, and tell somebody.
func checkGoOff(s *stack.Stack) (findings []string) {
	for _, id := range s.Names("AWS::CloudWatch::Alarm") {
		r := s.Resources[id]
		var words []string
		for _, name := range []string{"Statistic", "Period", "EvaluationPeriods", "DatapointsToAlarm", "ComparisonOperator", "Threshold"} {
			if v := r.Properties[name]; v != nil {
				if n, ok := v.(float64); ok { // else large ones are written with an exponent
					v = strconv.FormatFloat(n, 'f', -1, 64)
				}
				words = append(words, stack.Short(v))
			}
		}
		want, ok := goOff[id]
		if !ok {
			want = toolGoesOff
		}
		if got := strings.Join(words, " "); got != want {
			findings = append(findings, fmt.Sprintf("%s goes off at %q, want %q", id, got, want))
		}
		if r.Properties["ActionsEnabled"] != nil || r.Condition != "" {
			findings = append(findings, id+" must always be there, and its actions on")
		}
	}
	return findings
}

func checkAlarms(s *stack.Stack) (findings []string) {
	all, _ := looks(s, nil)
	for id, metric := range promisedAlarms {
		if !slices.ContainsFunc(all, func(l look) bool { return l.where == id && l.namespace+" "+l.name == metric }) {
			findings = append(findings, fmt.Sprintf("there is no alarm %s about %s", id, metric))
		}
	}
	findings = append(findings, checkGoOff(s)...)
	denial := s.Resources["DenialAlarm"].Properties
	if denial["ThresholdMetricId"] != "band" || denial["ComparisonOperator"] != "GreaterThanUpperThreshold" {
		findings = append(findings, "DenialAlarm must compare with what is usual")
	}
	for _, id := range s.Names("AWS::CloudWatch::Alarm") {
		if s.Resources[id].Properties["TreatMissingData"] != "notBreaching" {
			findings = append(findings, id+": no calls are no alarm")
		}
	}
	if n := len(s.Names("AWS::Logs::QueryDefinition")); n < 5 {
		findings = append(findings, fmt.Sprintf("there are %d saved queries only", n))
	}
	return findings
}

// fileOf reads files of the repository for checkMetrics.
func fileOf(root string) func(string) string {
	return func(path string) string {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return ""
		}
		return string(text)
	}
}
