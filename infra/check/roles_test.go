package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/infra/stack"
)

// roles is what each program may do on AWS, by hand: to let one do more takes two edits, here
// and in template.yaml (for a tool: infra/gen/rights.go). A role holds these statements, the two
// managed policies below, and nothing else.
var roles = map[string][]string{
	"list_issues": {
		reads("BatchGetItem GetItem Query", "WS#*"),
		queries("DataTable", "byAssignee", "byStatus", "byUpdated"),
		records("list_issues"),
	},
	"get_issue": {
		reads("BatchGetItem", "IB#*", "WS#*"),
		records("get_issue"),
	},
	"list_comments": {
		reads("BatchGetItem GetItem Query", "C#*", "TH#*", "WS#*"),
		records("list_comments"),
	},
	"dashboard_usage_daily": {
		reads("Query", "USE#*"),
		records("dashboard_usage_daily"),
	},
	"create_issue": {
		reads("BatchGetItem", "IDEM#*", "WS#*"),
		takesNumbers(),
		commits("PutItem", "IB#*", "IDEM#*", "WS#*"),
		records("create_issue"),
	},
	"update_issue": {
		reads("BatchGetItem GetItem", "IB#*", "WS#*"),
		commits("PutItem", "IB#*", "WS#*"),
		commits("DeleteItem", "IB#*"),
		records("update_issue"),
	},
	"comment_issue": {
		reads("BatchGetItem", "C#*", "IDEM#*", "TH#*", "WS#*"),
		commits("PutItem", "C#*", "IDEM#*", "TH#*", "WS#*"),
		records("comment_issue"),
	},
	"assign_issue_to_agent": {
		reads("BatchGetItem", "WS#*"),
		commits("PutItem", "WS#*"),
		records("assign_issue_to_agent"),
	},
	"trigger_autopilot": {
		reads("BatchGetItem GetItem", "IDEM#*", "WS#*"),
		takesNumbers(),
		commits("PutItem", "IDEM#*", "RUN#*", "WS#*"),
		commits("ConditionCheckItem", "WS#*"),
		records("trigger_autopilot"),
	},
	"delete_issue": {
		reads("BatchGetItem Query", "C#*", "RUN#*", "WS#*"),
		commits("PutItem", "RUN#*", "WS#*"),
		commits("ConditionCheckItem", "WS#*"),
		records("delete_issue"),
	},
	"delete_comment": {
		reads("BatchGetItem", "C#*", "TH#*", "WS#*"),
		commits("PutItem", "C#*", "TH#*", "WS#*"),
		commits("ConditionCheckItem", "WS#*"),
		commits("DeleteItem", "TH#*"),
		records("delete_comment"),
	},
	"authorizer":  {reads("GetItem", "TOK#*", "WS#*"), reads("BatchGetItem", "REVOKED#*", "SUB#*"), records("_authorizer")},
	"mcp":         {invokes("list_issues get_issue list_comments dashboard_usage_daily create_issue update_issue comment_issue assign_issue_to_agent trigger_autopilot delete_issue delete_comment"), records("_mcp")},
	"audit_query": {queries("AuditTable", "byWorkspace"), records("_audit")},
	"audit_monitor": {
		readsStream(), queries("AuditTable", "byWorkspace"), reads("BatchGetItem GetItem", "FIND#*", "MON#*"), commits("PutItem", "FIND#*", "MON#*"),
		"Allow sns:Publish on ${FindingsTopic}", "Allow s3:ListBucket on ${AuditAside.Arn}", "Allow s3:PutObject on " + asideObjects,
	},
	"audit_widget": {queries("AuditTable", "byWorkspace"), reads("Query", "FIND#*")},
	"discovery":    nil,
}

// asideObjects is the one name of a resource with a wildcard: AWS makes up the names of the
// objects.
const asideObjects = "${AuditAside.Arn}/aws/lambda/*"

func readsStream() string {
	return "Allow kinesis:DescribeStream kinesis:DescribeStreamSummary kinesis:GetRecords kinesis:GetShardIterator kinesis:ListShards on ${AuditStream.Arn}"
}

// managed are the policies that SAM adds: to write logs, and traces. They hold wildcards, and
// are AWS's own.
var managed = []string{
	"arn:aws:iam::aws:policy/AWSXrayWriteOnlyAccess",
	"arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole",
}

// heldTo is the condition on the keys of a call. All of no keys are like anything, hence the
// second half.
func heldTo(keys []string, between string) string {
	return " if ForAllValues:StringLike dynamodb:LeadingKeys " + strings.Join(keys, " ") + between + " if Null dynamodb:LeadingKeys false"
}

func reads(operations string, keys ...string) string {
	return "Allow " + dynamoActions(operations) + " on ${DataTable.Arn}" + heldTo(keys, "")
}

func takesNumbers() string {
	return "Allow dynamodb:UpdateItem on ${DataTable.Arn}" + heldTo([]string{"SEQ#*"}, "")
}

func commits(operation string, keys ...string) string {
	return "Allow " + dynamoActions(operation) + " on ${DataTable.Arn}" +
		heldTo(keys, " if ForAnyValue:StringEquals dynamodb:EnclosingOperation TransactWriteItems")
}

func records(recorder string) string {
	return "Allow dynamodb:PutItem on ${AuditTable.Arn}" + heldTo([]string{"T#" + recorder + "#*"}, "")
}

func queries(table string, indexes ...string) string {
	arns := make([]string, len(indexes))
	for i, index := range indexes {
		arns[i] = "${" + table + ".Arn}/index/" + index
	}
	return "Allow dynamodb:Query on " + strings.Join(arns, " ")
}

func invokes(tools string) string {
	var arns []string
	for tool := range strings.FieldsSeq(tools) {
		arns = append(arns, "${"+camel(tool)+"Function.Arn}")
	}
	slices.Sort(arns)
	return "Allow lambda:InvokeFunction on " + strings.Join(arns, " ")
}

func dynamoActions(operations string) string {
	return "dynamodb:" + strings.Join(strings.Fields(operations), " dynamodb:")
}

// checkRoles compares every role with the table, statement by statement.
func checkRoles(s *stack.Stack) (findings []string, seen int) {
	functions, err := s.Functions()
	if err != nil {
		return []string{err.Error()}, 0
	}
	for _, program := range slices.Sorted(maps.Keys(functions)) {
		want, ok := roles[program]
		if !ok {
			findings = append(findings, fmt.Sprintf("%s: say in infra/check/roles_test.go what it may do", program))
		}
		role, err := s.RoleOf(functions[program].Role)
		if err != nil {
			findings = append(findings, err.Error())
			continue
		}
		findings = append(findings, checkRole(program, role, want)...)
		seen += len(role.Statements)
	}
	return append(findings, checkOtherRights(s, functions)...), seen
}

func checkRole(program string, role stack.Role, want []string) (findings []string) {
	var got []string
	for _, statement := range role.Statements {
		got = append(got, statement.String())
		for _, word := range append(slices.Clone(statement.Actions), statement.Resources...) {
			if strings.Contains(word, "*") && word != asideObjects {
				findings = append(findings, fmt.Sprintf("%s: %s is a wildcard", program, word))
			}
		}
	}
	for _, statement := range got {
		if !slices.Contains(want, statement) {
			findings = append(findings, fmt.Sprintf("%s: may do what infra/check/roles_test.go does not allow: %s", program, statement))
		}
	}
	for _, statement := range want {
		if !slices.Contains(got, statement) {
			findings = append(findings, fmt.Sprintf("%s: lacks what infra/check/roles_test.go says it needs: %s", program, statement))
		}
	}
	if !slices.Equal(role.Managed, managed) {
		findings = append(findings, fmt.Sprintf("%s: has the managed policies %v", program, role.Managed))
	}
	return findings
}

// checkOtherRights finds rights beside the functions' roles.
func checkOtherRights(s *stack.Stack, functions map[string]stack.Function) (findings []string) {
	known := map[string]bool{"ApiGatewayLogRole": true, "ArchiveRole": true} // checkArchive
	for _, f := range functions {
		known[f.Role] = true
	}
	for id, r := range s.Resources {
		switch {
		case r.Type == "AWS::IAM::Role" && !known[id]:
			findings = append(findings, fmt.Sprintf("%s is a role that no function has", id))
		case r.Type == "AWS::Lambda::EventSourceMapping" && id == "AuditFeed":
			findings = append(findings, checkFeed(r.Properties)...)
		case strings.HasPrefix(r.Type, "AWS::IAM::") && r.Type != "AWS::IAM::Role", r.Type == "AWS::Lambda::Url", r.Type == "AWS::Lambda::EventSourceMapping":
			findings = append(findings, fmt.Sprintf("%s: %s gives rights past the roles", id, r.Type))
		}
	}
	role := s.Resources["ApiGatewayLogRole"]
	if got := stack.Short(role.Properties["ManagedPolicyArns"]); role.Properties["Policies"] != nil ||
		got != `[{"Fn::Sub":"arn:${AWS::Partition}:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs"}]` {
		findings = append(findings, fmt.Sprintf("ApiGatewayLogRole may do more than write logs: %s", got))
	}
	return findings
}

// checkFeed holds that the stream, and nothing else, comes to the monitor, and that a broken
// record holds up nobody for ever.
func checkFeed(properties map[string]any) (findings []string) {
	listed := map[string]string{
		"FunctionName": "${AuditMonitorFunction}", "EventSourceArn": "${AuditStream.Arn}", "StartingPosition": "TRIM_HORIZON",
		"BatchSize": "500", "MaximumBatchingWindowInSeconds": "5", "ParallelizationFactor": "1", "FunctionResponseTypes": `["ReportBatchItemFailures"]`,
		"BisectBatchOnFunctionError": "true", "MaximumRetryAttempts": "10", "MaximumRecordAgeInSeconds": "86400",
		"DestinationConfig": `{"OnFailure":{"Destination":{"Fn::GetAtt":"AuditAside.Arn"}}}`,
	}
	for name := range properties {
		if _, ok := listed[name]; !ok { // a filter would hide events from the monitor, Enabled all of them
			findings = append(findings, fmt.Sprintf("AuditFeed: must not say %s", name))
		}
	}
	for name, want := range listed {
		if got := stack.Short(properties[name]); got != want {
			findings = append(findings, fmt.Sprintf("AuditFeed: %s is %s, want %s", name, got, want))
		}
	}
	return findings
}
