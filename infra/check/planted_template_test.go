package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/infra/stack"
)

// planted are violations of what the template promises, each a change of its text, and the words
// by which a guard must tell. The first place of the text is changed, or the first after a mark.
var plantedInTemplate = []struct {
	name, after, old, new string
	finding               []string
}{
	{"half of an issuer", "IssuerComesFirst:", "RuleCondition: !Equals [!Ref OAuthIssuer, '']", "RuleCondition: !Equals [!Ref OAuthIssuer, nobody]",
		[]string{"a facade of nobody: no rule refuses it"}},
	{"a rule that refuses the defaults", "FacadeIsWhole:", "RuleCondition: !Or [!Not [!Equals [!Ref OAuthFacadeClientId, '']], !Not [!Equals [!Ref OAuthFacadeCallbacks, '']]]", "RuleCondition: !Equals [!Ref OAuthIssuer, '']",
		[]string{"the defaults: the rule FacadeIsWhole refuses it"}},
	{"a read tool that writes", "ListIssuesFunction:", "Action: [dynamodb:BatchGetItem, ", "Action: [dynamodb:PutItem, dynamodb:BatchGetItem, ",
		[]string{"list_issues: may do what", "dynamodb:PutItem"}},
	{"a whole service", "GetIssueFunction:", "Action: dynamodb:BatchGetItem", "Action: dynamodb:*",
		[]string{"get_issue: dynamodb:* is a wildcard"}},
	{"all tables", "GetIssueFunction:", "Resource: !GetAtt DataTable.Arn", "Resource: '*'",
		[]string{"get_issue: * is a wildcard"}},
	{"any index", "", "!Sub '${DataTable.Arn}/index/byAssignee'", "!Sub '${DataTable.Arn}/index/*'",
		[]string{"list_issues", "/index/* is a wildcard"}},
	{"a write outside a transaction", "UpdateIssueFunction:", "                ForAnyValue:StringEquals: {dynamodb:EnclosingOperation: [TransactWriteItems]}\n", "",
		[]string{"update_issue: may do what", "PutItem"}},
	{"the rows of tokens", "CommentIssueFunction:", "['WS#*', 'C#*', 'TH#*', 'IDEM#*']", "['WS#*', 'C#*', 'TH#*', 'IDEM#*', 'TOK#*']",
		[]string{"comment_issue: may do what", "TOK#*"}},
	{"the events of another tool", "", "'T#delete_issue#*'", "'T#*'",
		[]string{"delete_issue: may do what", "T#*"}},
	{"a condition that no key satisfies", "RecordDenials", "                'Null': {dynamodb:LeadingKeys: 'false'}\n", "",
		[]string{"authorizer: may do what", "T#_authorizer#*"}},
	{"a change of the audit log", "ReadEvents", "Action: dynamodb:PutItem", "Action: [dynamodb:PutItem, dynamodb:DeleteItem]",
		[]string{"audit_query: may do what", "DeleteItem"}},
	{"a monitor that writes to the tracker", "KeepWhatIsFound", "['FIND#*', 'MON#*']", "['FIND#*', 'MON#*', 'WS#*']",
		[]string{"audit_monitor: may do what", "WS#*"}},
	{"a monitor that changes the audit log", "LookBack", "Action: dynamodb:Query", "Action: [dynamodb:Query, dynamodb:UpdateItem]",
		[]string{"audit_monitor: may do what", "UpdateItem"}},
	{"a broken record that blocks the feed", "", "      MaximumRetryAttempts: 10\n", "",
		[]string{"AuditFeed: MaximumRetryAttempts"}},
	{"a feed that forgets broken records", "", "OnFailure: {Destination: !GetAtt AuditAside.Arn}", "OnFailure: !Ref AWS::NoValue",
		[]string{"AuditFeed: DestinationConfig"}},
	{"another feed", "", "Resources:", "Resources:\n  Spare: {Type: 'AWS::Lambda::EventSourceMapping', Properties: {FunctionName: !Ref DeleteIssueFunction, EventSourceArn: !GetAtt AuditStream.Arn}}",
		[]string{"Spare: AWS::Lambda::EventSourceMapping gives rights"}},
	{"a right too few", "AssignIssueToAgentFunction:", "Action: dynamodb:BatchGetItem", "Action: dynamodb:GetItem",
		[]string{"assign_issue_to_agent: lacks", "BatchGetItem"}},
	{"a tool that the front cannot call", "which tools may be called", "                - !GetAtt DeleteIssueFunction.Arn\n", "",
		[]string{"mcp: lacks"}},
	{"a front that calls anything", "which tools may be called", "- !GetAtt DeleteIssueFunction.Arn", "- '*'",
		[]string{"mcp: * is a wildcard"}},
	{"a policy template", "DiscoveryFunction:", "      Events:", "      Policies: [DynamoDBCrudPolicy: {TableName: !Ref DataTable}]\n      Events:",
		[]string{"discovery: may do what", "dynamodb:Scan"}},
	{"a managed policy", "DiscoveryFunction:", "      Events:", "      Policies: ['arn:aws:iam::aws:policy/AdministratorAccess']\n      Events:",
		[]string{"discovery: has the managed policies", "AdministratorAccess"}},
	{"another role", "", "Resources:", "Resources:\n  Spare: {Type: 'AWS::IAM::Role', Properties: {AssumeRolePolicyDocument: {}}}",
		[]string{"Spare is a role that no function has"}},
	{"a policy beside the roles", "", "Resources:", "Resources:\n  Spare: {Type: 'AWS::IAM::ManagedPolicy', Properties: {PolicyDocument: {}, Roles: [!Ref McpFunctionRole]}}",
		[]string{"Spare: AWS::IAM::ManagedPolicy gives rights"}},
	{"a function URL", "DiscoveryFunction:", "      Events:", "      FunctionUrlConfig: {AuthType: NONE}\n      Events:",
		[]string{"AWS::Lambda::Url gives rights"}},
	{"an API that anybody may have", "", "Resources:", "Resources:\n  Spare: {Type: 'AWS::Lambda::Permission', Properties: {Action: 'lambda:InvokeFunction', FunctionName: !Ref McpFunction, Principal: '*'}}",
		[]string{"Spare lets * call a function"}},
	{"a public tool", "", "Path: /tools/delete_issue}", "Path: /tools/delete_issue, Auth: {Authorizer: NONE}}",
		[]string{"POST /tools/delete_issue is answered by delete_issue, public"}},
	{"a public audit log", "", "Method: GET, Path: /audit}", "Method: GET, Path: /audit, Auth: {Authorizer: NONE}}",
		[]string{"GET /audit is answered by audit_query, public"}},
	{"another authorizer", "", "        Authorizers:\n", "        Authorizers:\n          Spare: {FunctionPayloadType: REQUEST, FunctionArn: !GetAtt McpFunction.Arn, Identity: {Headers: [X]}}\n",
		[]string{"there must be one authorizer"}},
	{"another function under a tool's route", "UpdateIssueFunction:", "Path: /tools/update_issue}", "Path: /tools/other}",
		[]string{"POST /tools/update_issue is missing"}},
	{"a cached authorizer", "", "ReauthorizeEvery: 0", "ReauthorizeEvery: 300",
		[]string{"asked for every request"}},
	{"a token authorizer", "", "FunctionPayloadType: REQUEST", "FunctionPayloadType: TOKEN",
		[]string{"must get the request"}},
	{"a gateway response that is gone", "", "        REQUEST_TOO_LARGE:", "        WAF_FILTERED:",
		[]string{"REQUEST_TOO_LARGE is missing"}},
	{"another body", "DEFAULT_5XX:", "internal error;", "oops;",
		[]string{"DEFAULT_5XX differs"}},
	{"a challenge that is gone", "", "              WWW-Authenticate: context.authorizer.wwwAuthenticate\n", "",
		[]string{"ACCESS_DENIED differs"}},
	{"a challenge without the prefix", "", "'${Prefix}issues:read'", "'issues:read'",
		[]string{"the challenge of a 401, with a prefix"}},
	{"a scope that the challenge forgets", "", " ${Prefix}autopilot:run", "",
		[]string{"the challenge of a 401, with all scopes"}},
	{"a challenge that pages cannot read", "", "              Access-Control-Expose-Headers: !If [HasAllowedOrigins, \"'WWW-Authenticate'\", !Ref AWS::NoValue]\n", "",
		[]string{"must be able to read UNAUTHORIZED: it lacks Access-Control-Expose-Headers"}},
	{"a refusal that pages cannot read", "THROTTLED:", "              Access-Control-Allow-Origin: !If [HasAllowedOrigins, \"'*'\", !Ref AWS::NoValue]\n", "",
		[]string{"must be able to read THROTTLED: it lacks Access-Control-Allow-Origin"}},
	{"a filter of a member that no line has", "AnonymousRefusals:", "$.message = ", "$.msg = ",
		[]string{"AnonymousRefusals looks at msg, which is called message"}},
	{"a query for words that nobody writes", "FindingsQuery:", "filter message = \"finding\"", "filter message = \"findings\"",
		[]string{"FindingsQuery: say in infra/check"}},
	{"a preflight that lets any header pass", "Cors:", "AllowHeaders: \"'Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name'\"", "AllowHeaders: \"'*'\"",
		[]string{"not answered as shared/gateway/cors.go does"}},
	{"an authorizer that does not know who signed in", "ReadWhoSignedIn", "'SUB#*', 'REVOKED#*'", "'SUB#*'",
		[]string{"authorizer: may do what", "SUB#*"}},
	{"a program that is told of another issuer", "DiscoveryFunction:", "!Ref OAuthIssuer]", "'']",
		[]string{"with another issuer: discovery is told something else"}},
	{"a pool whose client is not the one that is let in", "", "AAC_OAUTH_ALLOWED_CLIENTS: !If [UseCognito, !Ref UserPoolClient, ", "AAC_OAUTH_ALLOWED_CLIENTS: !If [UseCognito, other, ",
		[]string{"with a user pool of ours: discovery is told something else"}},
	{"a deny list of no issuer", "AuthorizerFunction:", "!If [HasIssuer, !Ref OAuthDenyList, '']", "!Ref OAuthDenyList",
		[]string{"still to be: the programs do not start"}},
	{"a scope that the pool does not know", "UserPoolScopes:", "        - {ScopeName: 'audit:read', ScopeDescription: Read the audit log}\n", "",
		[]string{"it knows each of our scopes"}},
	{"a pool that anybody may enter", "UserPool:", "AllowAdminCreateUserOnly: true", "AllowAdminCreateUserOnly: false",
		[]string{"nobody makes an account by themselves"}},
	{"a client that is told a secret", "UserPoolClient:", "GenerateSecret: false", "GenerateSecret: true",
		[]string{"its client has no secret"}},
	{"an open default address", "", "!If [HasDomain, true, false]", "false",
		[]string{"the default address must be off"}},
	{"paths in the log", "", "$context.resourcePath", "$context.path",
		[]string{"the access log must not hold $context.path"}},
	{"what a client calls itself in the log", "", "$context.httpMethod", "$context.identity.userAgent",
		[]string{"the access log must not hold $context.identity.userAgent"}},
	{"an API that speaks TLS 1.0", "", "      SecurityPolicy: SecurityPolicy_TLS13_1_2_2021_06\n      EndpointAccessMode: BASIC # goes with such a policy\n", "",
		[]string{"the API must refuse TLS below 1.2"}},
	{"a domain that speaks TLS 1.0", "", "SecurityPolicy: TLS_1_2", "SecurityPolicy: TLS_1_0",
		[]string{"a custom domain must refuse TLS below 1.2"}},
	{"bodies in the log", "", "DataTraceEnabled: false", "DataTraceEnabled: true",
		[]string{"must not be logged"}},
	{"no limit", "", "          ThrottlingRateLimit: !Ref ThrottleRate\n", "",
		[]string{"all methods must have limits"}},
	{"an index that is gone", "", "        - IndexName: byUpdated", "        - IndexName: byDate",
		[]string{"DataTable differs from shared/dynamo/schema"}},
	{"a table that goes with the stack", "AuditTable:", "DeletionPolicy: Retain", "DeletionPolicy: Delete",
		[]string{"AuditTable must be kept"}},
	{"an audit log that can be deleted from", "", "                - dynamodb:DeleteItem\n", "",
		[]string{"AuditTable must be only added to"}},
	{"an unwatched audit log", "AuditTable:", "MICROSECOND", "MILLISECOND",
		[]string{"AuditTable must feed AuditStream"}},
	{"a table without backups", "AuditTable:", "PointInTimeRecoveryEnabled: true", "PointInTimeRecoveryEnabled: false",
		[]string{"AuditTable must have backups"}},
	{"a program without a function", "", "'${AWS::StackName}-get_issue'", "'${AWS::StackName}-get_issues'",
		[]string{"functions/get_issue is no function"}},
	{"a setting that nobody reads", "", "AAC_ALLOWED_ORIGINS:", "AAC_ORIGINS:",
		[]string{"mcp: shared/lambdarun knows no setting AAC_ORIGINS"}},
	{"a function that outlives its request", "McpFunction:", "Timeout: 28", "Timeout: 30",
		[]string{"mcp must end before API Gateway"}},
	{"an alarm on each 401", "AuthorizerThrottleAlarm:", "MetricName: Throttles", "MetricName: Errors",
		[]string{"each 401 is an error"}},
	{"a widget that reads the tracker", "AuditWidgetFunction:", "['FIND#*']", "['FIND#*', 'WS#*']",
		[]string{"audit_widget: may do what", "WS#*"}},
	{"a widget on the internet", "AuditWidgetFunction:", "      Policies:", "      Events: {Show: {Type: Api, Properties: {RestApiId: !Ref Api, Method: GET, Path: /show, Auth: {Authorizer: NONE}}}}\n      Policies:",
		[]string{"GET /show is answered by audit_widget, public"}},
	{"a metric that nobody emits", "  Dashboard:", `"McpAudit/${AWS::StackName}","Calls","Outcome","success"`, `"McpAudit/${AWS::StackName}","Calls","Result","success"`,
		[]string{`looks at McpAudit/stack Calls by "Result": nobody emits that`}},
	{"a value that there never is", "  Dashboard:", `"Outcome","success"`, `"Outcome","succeeded"`,
		[]string{"Outcome is never succeeded"}},
	{"a metric at which nobody looks", "  Dashboard:", `"McpAudit/${AWS::StackName}","Findings",{`, `"McpAudit/${AWS::StackName}","AuditTampering",{`,
		[]string{"nobody looks at Findings by "}},
	{"a search for nothing", "  Dashboard:", `StackName}\",Reason}`, `StackName}\",Reasons}`,
		[]string{`McpAudit/stack Denials by "Reasons": nobody emits that`}},
	{"a tool that the dashboard lacks", "  Dashboard:", `"McpAudit/${AWS::StackName}","Calls","Tool","delete_issue"`, `"McpAudit/${AWS::StackName}","Calls","Tool","list_issues"`,
		[]string{"does not show Calls of delete_issue"}},
	{"a tool that shows nothing instead of zero", "  Dashboard:", "SUM([m3,z])", "SUM([m33,z])",
		[]string{"SUM([m33,z]) is about nothing"}},
	{"a function that is called otherwise", "  Dashboard:", "${AWS::StackName}-authorizer", "${AWS::StackName}-authoriser",
		[]string{"there is no function stack-authoriser"}},
	{"a metric that AWS does not have", "  Dashboard:", `"AWS/Lambda","IteratorAge"`, `"AWS/Lambda","Age"`,
		[]string{"AWS/Lambda Age", "no such metric of AWS"}},
	{"a dashboard that is no JSON", "  Dashboard:", `{"widgets":[`, `{"widgets":[,`,
		[]string{"the dashboard is no JSON"}},
	{"widgets over one another", "  Dashboard:", `"x":8,"y":6`, `"x":7,"y":6`,
		[]string{"covers How calls end"}},
	{"an alarm about another metric", "TamperingAlarm:", "MetricName: AuditTampering", "MetricName: Tampering",
		[]string{"there is no alarm TamperingAlarm about McpAudit/stack AuditTampering"}},
	{"an alarm that knows no usual", "DenialAlarm:", "GreaterThanUpperThreshold", "GreaterThanThreshold",
		[]string{"DenialAlarm must compare with what is usual"}},
	{"an alarm that another stack sets off", "TamperingAlarm:", "Namespace: !Sub 'McpAudit/${AWS::StackName}'", "Namespace: McpAudit",
		[]string{"TamperingAlarm looks at McpAudit AuditTampering", "no such metric"}},
	{"a search over all stacks", "  Dashboard:", `{\"McpAudit/${AWS::StackName}\",Reason}`, "{McpAudit,Reason}",
		[]string{`looks at McpAudit Denials by "Reason"`, "no such metric"}},
	{"a search that CloudWatch cannot read", "  Dashboard:", `{\"McpAudit/${AWS::StackName}\",Reason}`, "{McpAudit/${AWS::StackName}-x,Reason}",
		[]string{"is not understood here"}},
	{"a filter that counts for all stacks", "AnonymousRefusals:", "MetricNamespace: !Sub 'McpAudit/${AWS::StackName}'", "MetricNamespace: McpAudit",
		[]string{"AnonymousRefusals must make a metric of the namespace of the stack"}},
	{"a monitor that counts for all stacks", "", "AAC_METRIC_NAMESPACE: !Sub 'McpAudit/${AWS::StackName}'", "AAC_METRIC_NAMESPACE: McpAudit",
		[]string{"the monitor counts in"}},
	{"a filter for words that nobody writes", "", `"anonymous request refused" }'`, `"anonymous request denied" }'`,
		[]string{"AnonymousRefusals: say in infra/check/dashboard_test.go"}},
	{"an archive that can be changed", "ArchiveBucket:", "Mode: !Ref AuditArchive", "Mode: GOVERNANCE",
		[]string{"the archive must be locked"}},
	{"an archive that reads other streams", "ArchiveRole:", "Resource: !GetAtt AuditStream.Arn", "Resource: '*'",
		[]string{"ArchiveRole may do"}},
	{"a name that two stacks share", "", "LogGroupName: !Sub '/aacworkflow/${AWS::StackName}/access'", "LogGroupName: /aacworkflow/access",
		[]string{"AccessLog is called /aacworkflow/access in every stack"}},
	{"a name that two stacks share in some cases", "  Dashboard:", "DashboardName: !Ref AWS::StackName", "DashboardName: !If [HasDomain, !Ref AWS::StackName, aacworkflow]",
		[]string{"Dashboard is called", "in every stack"}},
	{"a topic with a name of its own", "FindingsTopic:", "    Properties:\n", "    Properties:\n      TopicName: findings\n",
		[]string{"FindingsTopic is called findings in every stack"}},
	{"mails of nobody knows which stack", "", "DisplayName: !Sub 'AACWorkflow audit ${AWS::StackName}'", "DisplayName: AACWorkflow audit",
		[]string{`FindingsTopic is seen as "AACWorkflow audit" in every stack`}},
	{"a resource of an unknown kind", "", "Resources:", "Resources:\n  Spare: {Type: 'AWS::SSM::Parameter', Properties: {Name: spare, Type: String, Value: x}}",
		[]string{"say in infra/check/neighbours_test.go how AWS::SSM::Parameter is named"}},
	{"an exported output", "  AuditStreamArn:", "Value:", "Export: {Name: AuditStreamArn}\n    Value:",
		[]string{"the output AuditStreamArn is exported"}},
	{"the log role of the account that goes with the stack", "  ApiGatewayAccount:", "DeletionPolicy: Retain", "DeletionPolicy: Delete",
		[]string{"ApiGatewayAccount is of all stacks"}},
	{"a role that may be all roles", "  BreakGlassRoleArn:\n    Type", ":role/[A-Za-z0-9+=,.@_/-]+", ":role/.+",
		[]string{`BreakGlassRoleArn takes "arn:aws:iam::123456789012:role/*"`}},
	{"a role that may be of any account", "  BreakGlassRoleArn:\n    Type", "[0-9]{12}", "[0-9*]+",
		[]string{`BreakGlassRoleArn takes "arn:aws:iam::*:role/break-glass"`}},
	{"nobody, whom somebody can make", "AuditTable:", "iam::000000000000:role/nobody", "iam::${AWS::AccountId}:role/nobody",
		[]string{"AuditTable must be only added to"}},
	{"a bucket that answers without TLS", "AuditAsidePolicy:", "            Condition: {Bool: {aws:SecureTransport: 'false'}}\n", "            Condition: {Bool: {aws:SecureTransport: 'true'}}\n",
		[]string{"the policy of AuditAside is", "SecureTransport true"}},
	{"objects that are answered without TLS", "ArchivePolicy:", "Resource: [!GetAtt ArchiveBucket.Arn, !Sub '${ArchiveBucket.Arn}/*']", "Resource: !GetAtt ArchiveBucket.Arn",
		[]string{"the policy of ArchiveBucket is"}},
	{"a policy that goes before its bucket", "AuditAsidePolicy:", "DeletionPolicy: Retain", "DeletionPolicy: Delete",
		[]string{"AuditAsidePolicy must be there as long as AuditAside is"}},
	{"a bucket that anybody reads", "AuditAsidePolicy:", "Effect: Deny", "Effect: Allow",
		[]string{"the policy of AuditAside is", "Allow s3:*"}},
	{"a bucket that may be made public", "AuditAside:", "RestrictPublicBuckets: true", "RestrictPublicBuckets: false",
		[]string{"AuditAside must never be public"}},
	{"a bucket of which nobody says who may", "", "Resources:", "Resources:\n  Spare: {Type: 'AWS::S3::Bucket', Properties: {}}",
		[]string{"Spare must never be public"}},
	{"a topic of which nobody says who may", "", "Resources:", "Resources:\n  Spare: {Type: 'AWS::SNS::Topic', Properties: {}}",
		[]string{"the policy of Spare is"}},
	{"a topic that is told without TLS", "FindingsTopicPolicy:", "Effect: Deny", "Effect: Allow",
		[]string{"the policy of FindingsTopic is"}},
	{"a topic that alarms of other accounts reach", "FindingsTopicPolicy:", "            Condition: {StringEquals: {aws:SourceAccount: !Ref AWS::AccountId}}\n", "",
		[]string{"the policy of FindingsTopic is"}},
	{"a topic that anybody tells", "FindingsTopicPolicy:", "Principal: {Service: cloudwatch.amazonaws.com}", "Principal: '*'",
		[]string{"the policy of FindingsTopic is"}},
	{"a stream that another key encrypts", "AuditStream:", "KeyId: !If [HasOwnKey, !Ref EncryptionKey, alias/aws/kinesis]", "KeyId: alias/aws/kinesis",
		[]string{"AuditStream, with the key " + ownKey}},
	{"logs that another key encrypts", "FunctionLog:", "      KmsKeyId: !If [HasOwnKey, !Ref EncryptionKey, !Ref AWS::NoValue]\n", "",
		[]string{"FunctionLog, with the key " + ownKey}},
	{"a topic whose key is a word", "FindingsTopic:", "KmsMasterKeyId: !If [HasOwnKey, !Ref EncryptionKey, !Ref AWS::NoValue]", "KmsMasterKeyId: !Ref EncryptionKey",
		[]string{"FindingsTopic, with the key AWS_OWNED"}},
	{"a bucket whose key has no method", "ArchiveBucket:", "SSEAlgorithm: !If [HasOwnKey, 'aws:kms', AES256]", "SSEAlgorithm: AES256",
		[]string{"ArchiveBucket, with the key " + ownKey, "is encrypted as"}},
	{"a table by AWS's own key", "AuditTable:", "        SSEType: !If [KeyIsOwnedByAws, !Ref AWS::NoValue, KMS]\n", "",
		[]string{"AuditTable, with the key AWS_MANAGED"}},
	{"a queue that nobody encrypts", "", "Resources:", "Resources:\n  Spare: {Type: 'AWS::SQS::Queue', Properties: {}}",
		[]string{"say in infra/check/encryption_test.go how AWS::SQS::Queue is encrypted"}},
	{"a parameter that must be answered", "  PublicBaseUrl:\n    Type", "    Default: ''\n", "",
		[]string{"PublicBaseUrl has no default"}},
}

func TestTemplateViolationsAreCaught(t *testing.T) {
	text := templateText(t)
	texts := make([]string, len(plantedInTemplate))
	for i, p := range plantedInTemplate {
		head, rest, ok := strings.Cut(text, p.after)
		if !ok || !strings.Contains(rest, p.old) {
			t.Fatalf("%s: %q is not in the template after %q: plant it elsewhere", p.name, p.old, p.after)
		}
		texts[i] = head + p.after + strings.Replace(rest, p.old, p.new, 1)
	}
	stacks, err := stack.Translate(root(t), texts...)
	if err != nil {
		t.Fatal(err)
	}
	programs, settings := programsIn(t), settingsOf(t)
	for i, p := range plantedInTemplate {
		t.Run(p.name, func(t *testing.T) {
			findings, _ := checkTemplate(stacks[i], programs, settings, fileOf(root(t)))
			wantFinding(t, findings, p.finding...)
		})
	}
}

// A program that has no function, and a setting that no program reads any more, are seen from
// the side of the code too.
func TestTemplateFollowsTheCode(t *testing.T) {
	s, err := stack.Load(root(t))
	if err != nil {
		t.Fatal(err)
	}
	programs, settings := programsIn(t), settingsOf(t)
	findings, _ := checkTemplate(s, append(programs, "archive_issue"), settings, fileOf(root(t)))
	wantFinding(t, findings, "functions/archive_issue is no function")
	findings, _ = checkTemplate(s, slices.DeleteFunc(programs, func(p string) bool { return p == "mcp" }), settings, fileOf(root(t)))
	wantFinding(t, findings, "there is no functions/mcp")
	findings, _ = checkTemplate(s, programsIn(t), slices.DeleteFunc(settings, func(s string) bool { return s == "AAC_DATA_TABLE" }), fileOf(root(t)))
	wantFinding(t, findings, "knows no setting AAC_DATA_TABLE")
}
