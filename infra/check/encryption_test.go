package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/infra/stack"
)

// What is kept is encrypted: by keys of AWS's, or all of it by the one key that the parameter names.

const ownKey = "arn:aws:kms:eu-west-1:123456789012:key/00000000-0000-0000-0000-000000000000"

// keeps says where each type of resource that keeps data says by which key, by hand: the path of
// the key, what stands there without a key of one's own, and the service by which the key is used.
var keeps = map[string]struct {
	path    []string
	without string
	service string
}{
	"AWS::DynamoDB::Table": {[]string{"SSESpecification", "KMSMasterKeyId"}, "", "dynamodb"},
	"AWS::Kinesis::Stream": {[]string{"StreamEncryption", "KeyId"}, "alias/aws/kinesis", "kinesis"},
	"AWS::Logs::LogGroup":  {[]string{"KmsKeyId"}, "", "logs"},
	"AWS::S3::Bucket":      {[]string{"BucketEncryption", "ServerSideEncryptionConfiguration", "ServerSideEncryptionByDefault", "KMSMasterKeyID"}, "", "s3"},
	"AWS::SNS::Topic":      {[]string{"KmsMasterKeyId"}, "", "sns"},
}

// keepsNothing are the types that keep no data of anybody, or none that a key of one's own could
// encrypt. Firehose, which passes the feed on, keeps it no longer than a delivery takes.
var keepsNothing = []string{"AWS::Cognito::UserPool", "AWS::KinesisFirehose::DeliveryStream", "AWS::Lambda::Function"}

// mayKeep are the services whose resources keep data.
var mayKeep = regexp.MustCompile(`^AWS::(DynamoDB|Kinesis|KinesisFirehose|S3|SQS|SNS|Logs|Cognito|Lambda|EFS|RDS|SecretsManager|SSM)::(Table|Stream|DeliveryStream|LogGroup|Bucket|Queue|Topic|UserPool|Function|FileSystem|Secret|Parameter|\w*Cluster)$`)

func checkEncryption(s *stack.Stack) (findings []string, seen int) {
	for _, id := range slices.Sorted(maps.Keys(s.Resources)) {
		r := s.Resources[id]
		kept, known := keeps[r.Type]
		if !known {
			if mayKeep.MatchString(r.Type) && !slices.Contains(keepsNothing, r.Type) {
				findings = append(findings, fmt.Sprintf("%s: say in infra/check/encryption_test.go how %s is encrypted", id, r.Type))
			}
			continue
		}
		seen++
		for answer, want := range map[string]string{ownKey: ownKey, "AWS_OWNED": kept.without, "AWS_MANAGED": kept.without} {
			parameters := map[string]string{"EncryptionKey": answer}
			if got, err := s.Evaluate(inside(r.Properties, kept.path), parameters); err != nil || got != want {
				findings = append(findings, fmt.Sprintf("%s, with the key %s, is encrypted by %q, want %q (%v)", id, answer, got, want, err))
			}
			findings = append(findings, checkMethod(s, id, r, parameters)...)
		}
	}
	return findings, seen
}

// methods are what must be said beside the key, for each answer: tables and buckets take it only
// together with a method.
var methods = map[string]struct {
	path []string
	want map[string]string
}{
	"AWS::DynamoDB::Table": {[]string{"SSESpecification", "SSEType"}, map[string]string{ownKey: "KMS", "AWS_OWNED": "", "AWS_MANAGED": "KMS"}},
	"AWS::S3::Bucket": {[]string{"BucketEncryption", "ServerSideEncryptionConfiguration", "ServerSideEncryptionByDefault", "SSEAlgorithm"},
		map[string]string{ownKey: "aws:kms", "AWS_OWNED": "AES256", "AWS_MANAGED": "AES256"}},
	"AWS::Kinesis::Stream": {[]string{"StreamEncryption", "EncryptionType"}, map[string]string{ownKey: "KMS", "AWS_OWNED": "KMS", "AWS_MANAGED": "KMS"}},
}

func checkMethod(s *stack.Stack, id string, r stack.Resource, parameters map[string]string) []string {
	method, ok := methods[r.Type]
	if !ok {
		return nil
	}
	answer := parameters["EncryptionKey"]
	if got, err := s.Evaluate(inside(r.Properties, method.path), parameters); err != nil || got != method.want[answer] {
		return []string{fmt.Sprintf("%s, with the key %s, is encrypted as %q, want %q (%v)", id, answer, got, method.want[answer], err)}
	}
	return nil
}

// inside follows a path, through lists of one.
func inside(v any, path []string) any {
	for _, name := range path {
		v = stack.At(v, name)
		if list, ok := v.([]any); ok && len(list) == 1 {
			v = list[0]
		}
	}
	return v
}

// keyPolicy finds the policy that docs/deploy.md asks of a key.
var keyPolicy = regexp.MustCompile("(?s)\n## A key of your own\n.*?```json\n(.*?)```")

// checkKeyPolicy holds that the page asks for what the stack needs of a key, and for no more than
// the services that use it, on behalf of this account.
func checkKeyPolicy(s *stack.Stack, page string) (findings []string) {
	m := keyPolicy.FindStringSubmatch(page)
	var document map[string]any
	if m == nil || json.Unmarshal([]byte(m[1]), &document) != nil {
		return []string{"docs/deploy.md has no policy of a key under its heading"}
	}
	var services []string
	for _, kept := range keeps {
		services = append(services, kept.service+".<region>.amazonaws.com")
	}
	slices.Sort(services)
	used, byLogs := false, false
	for _, v := range stack.List(document["Statement"]) {
		account := stack.Short(stack.At(v, "Condition", "StringEquals", "kms:CallerAccount")) == "<account>"
		switch {
		case stack.At(v, "Principal", "AWS") == "*":
			via := stack.List(stack.At(v, "Condition", "StringEquals", "kms:ViaService"))
			if !account || len(via) == 0 {
				findings = append(findings, "docs/deploy.md gives the key to everybody")
			}
			var names []string
			for _, name := range via {
				names = append(names, stack.Short(name))
			}
			slices.Sort(names)
			used = used || slices.Equal(names, services)
		case stack.At(v, "Principal", "Service") == "logs.<region>.amazonaws.com":
			groups := stack.Short(stack.At(v, "Condition", "ArnLike", "kms:EncryptionContext:aws:logs:arn"))
			byLogs = groups == "arn:aws:logs:<region>:<account>:log-group:/aacworkflow/<stack>/*"
		}
	}
	if !used {
		findings = append(findings, fmt.Sprintf("docs/deploy.md must let the key be used by way of %v", services))
	}
	if !byLogs {
		findings = append(findings, "docs/deploy.md must let CloudWatch Logs use the key, for the stack's log groups alone")
	}
	for _, id := range s.Names("AWS::Logs::LogGroup") {
		if name := stack.Short(s.Resources[id].Properties["LogGroupName"]); !strings.HasPrefix(name, "/aacworkflow/${AWS::StackName}/") {
			findings = append(findings, fmt.Sprintf("the log group %s is not one of those that docs/deploy.md lets use the key", name))
		}
	}
	return findings
}

func TestKeyPolicy(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root(t), "docs/deploy.md"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := stack.Load(root(t))
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	for _, f := range checkKeyPolicy(s, page) {
		t.Error(f)
	}
	for _, planted := range []struct{ old, new, finding string }{
		{`"kinesis.<region>.amazonaws.com", `, "", "by way of"},
		{`"kms:CallerAccount": "<account>", `, "", "to everybody"},
		{"log-group:/aacworkflow/<stack>/*", "log-group:*", "CloudWatch Logs"},
		{"## A key of your own", "## Keys", "under its heading"},
	} {
		if !strings.Contains(page, planted.old) {
			t.Fatalf("docs/deploy.md does not hold %s: plant it elsewhere", planted.old)
		}
		wantFinding(t, checkKeyPolicy(s, strings.ReplaceAll(page, planted.old, planted.new)), planted.finding)
	}
}
