package check

import (
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

// Several stacks may be in one account and Region, such as dev and prod: none may take a name of
// another's, or stand for it.

// Ways in which a resource comes by its name.
const (
	within = "within another resource" // that has a name of its own
	chosen = "as a parameter says"     // whoever deploys answers for it
	shared = "one for all stacks"      // AWS has no second one
)

// namedBy is how each type of resource is named, by hand: the property that names it, where AWS
// makes up a name if there is none, or one of the ways above.
// Source: AWS CloudFormation Template Reference, the return values of each type.
var namedBy = map[string]string{
	"AWS::ApiGateway::Account":             shared,
	"AWS::ApiGateway::BasePathMapping":     within,
	"AWS::ApiGateway::Deployment":          within,
	"AWS::ApiGateway::DomainName":          chosen,
	"AWS::ApiGateway::RestApi":             "Name", // not unique, but the dimension of its metrics
	"AWS::ApiGateway::Stage":               within,
	"AWS::CloudWatch::Alarm":               "AlarmName",
	"AWS::CloudWatch::Dashboard":           "DashboardName",
	"AWS::Cognito::ManagedLoginBranding":   within,
	"AWS::Cognito::UserPool":               "UserPoolName",
	"AWS::Cognito::UserPoolClient":         within,
	"AWS::Cognito::UserPoolDomain":         "Domain",
	"AWS::Cognito::UserPoolResourceServer": within,
	"AWS::DynamoDB::Table":                 "TableName",
	"AWS::IAM::Role":                       "RoleName",
	"AWS::Kinesis::Stream":                 "Name",
	"AWS::KinesisFirehose::DeliveryStream": "DeliveryStreamName",
	"AWS::Lambda::EventSourceMapping":      within,
	"AWS::Lambda::Function":                "FunctionName",
	"AWS::Lambda::Permission":              within,
	"AWS::Logs::LogGroup":                  "LogGroupName",
	"AWS::Logs::MetricFilter":              within,
	"AWS::Logs::QueryDefinition":           "Name",
	"AWS::Route53::RecordSet":              chosen,
	"AWS::S3::Bucket":                      "BucketName",
	"AWS::S3::BucketPolicy":                within,
	"AWS::SNS::TopicPolicy":                within,
	"AWS::SNS::Subscription":               within,
	"AWS::SNS::Topic":                      "TopicName",
	"AWS::WAFv2::WebACL":                   "Name",
	"AWS::WAFv2::WebACLAssociation":        within,
}

// seenAs are names that need not be unique to AWS, but that people or metrics tell stacks apart by:
// the sender of mails, and the dimension of the firewall's metrics.
var seenAs = map[string][]string{
	"FindingsTopic": {"DisplayName"},
	"WebAcl":        {"VisibilityConfig", "MetricName"},
}

// ofTheStack tells a name that two stacks cannot share: a text, nowhere chosen by a condition, that
// holds the name of the stack or its id.
func ofTheStack(v any) bool {
	text := stack.Short(v)
	return (strings.Contains(text, "AWS::StackName") || strings.Contains(text, "AWS::StackId")) && !strings.Contains(text, "Fn::If")
}

func checkNames(s *stack.Stack) (findings []string, seen int) {
	for _, id := range slices.Sorted(maps.Keys(s.Resources)) {
		r := s.Resources[id]
		property, known := namedBy[r.Type]
		switch {
		case !known:
			findings = append(findings, fmt.Sprintf("%s: say in infra/check/neighbours_test.go how %s is named", id, r.Type))
		case property == within || property == chosen:
		case property == shared:
			if r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain" {
				findings = append(findings, id+" is of all stacks, and must outlive this one")
			}
		case r.Properties[property] != nil:
			seen++
			if !ofTheStack(r.Properties[property]) {
				findings = append(findings, fmt.Sprintf("%s is called %s in every stack: put ${AWS::StackName} into it", id, stack.Short(r.Properties[property])))
			}
		}
	}
	for id, path := range seenAs {
		if v := stack.At(s.Resources[id].Properties, path...); !ofTheStack(v) {
			findings = append(findings, fmt.Sprintf("%s is seen as %q in every stack: put ${AWS::StackName} into it", id, stack.Short(v)))
		}
	}
	for name, output := range s.Outputs {
		if output.Export != nil {
			findings = append(findings, fmt.Sprintf("the output %s is exported, under a name that the account and Region has once", name))
		}
	}
	return findings, seen
}

// maxFunctionName is how long Lambda lets a name be. Source: AWS Lambda API Reference, CreateFunction.
const maxFunctionName = 64

// TestStackNameLength: the longest name of a function says how long that of a stack may be, and the
// page for those who deploy says it.
func TestStackNameLength(t *testing.T) {
	s, err := stack.Load(root(t))
	if err != nil {
		t.Fatal(err)
	}
	functions, err := s.Functions()
	if err != nil {
		t.Fatal(err)
	}
	longest := 0
	for program := range functions {
		longest = max(longest, len("-"+program))
	}
	page, err := os.ReadFile(filepath.Join(root(t), "docs/deploy.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("at most %d characters", maxFunctionName-longest)
	if longest == 0 || !regexp.MustCompile(`stack name[^.]*`+want).Match(page) {
		t.Errorf("docs/deploy.md should say of the stack name: %s", want)
	}
}
