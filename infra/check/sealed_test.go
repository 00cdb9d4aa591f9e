package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/infra/stack"
)

// What is kept and sent beside the tables is for nobody else: buckets and topics, and the policies
// that say so.

// sealed are the policies of buckets and topics, by hand, by the resource that each is for.
var sealed = map[string][]string{
	"AuditAside":    {overTLS("s3:*", "${AuditAside.Arn} ${AuditAside.Arn}/*")},
	"ArchiveBucket": {overTLS("s3:*", "${ArchiveBucket.Arn} ${ArchiveBucket.Arn}/*")},
	"FindingsTopic": {
		overTLS("sns:Publish", "${FindingsTopic}"),
		`Allow sns:Publish on ${FindingsTopic} if StringEquals aws:SourceAccount ${AWS::AccountId} for {"Service":"cloudwatch.amazonaws.com"}`,
	},
}

func overTLS(action, resources string) string {
	return "Deny " + action + " on " + resources + " if Bool aws:SecureTransport false for *"
}

// checkSealed compares the policies with the table. A bucket or topic without one is told, and so is
// a policy for anything else.
func checkSealed(s *stack.Stack) (findings []string, seen int) {
	got := map[string][]string{}
	for _, id := range append(s.Names("AWS::S3::BucketPolicy"), s.Names("AWS::SNS::TopicPolicy")...) {
		r := s.Resources[id]
		subjects := append(stack.List(r.Properties["Bucket"]), stack.List(r.Properties["Topics"])...)
		subject := strings.Trim(stack.Short(subjects[0]), "${}")
		of := s.Resources[subject]
		if len(subjects) != 1 || of.Condition != r.Condition || of.DeletionPolicy != r.DeletionPolicy || of.UpdateReplacePolicy != r.UpdateReplacePolicy {
			findings = append(findings, fmt.Sprintf("%s must be there as long as %s is, and for it alone", id, subject))
		}
		document, _ := r.Properties["PolicyDocument"].(map[string]any)
		statements, err := stack.Statements(document)
		if err != nil {
			return append(findings, fmt.Sprintf("%s: %v", id, err)), seen
		}
		for i, statement := range statements {
			principal := stack.Short(stack.At(stack.List(document["Statement"])[i], "Principal"))
			got[subject] = append(got[subject], statement.String()+" for "+principal)
		}
	}
	for _, id := range append(s.Names("AWS::S3::Bucket"), s.Names("AWS::SNS::Topic")...) {
		seen++
		if sealed[id] == nil || !slices.Equal(got[id], sealed[id]) {
			findings = append(findings, fmt.Sprintf("the policy of %s is\n%s\nwant\n%s", id, strings.Join(got[id], "\n"), strings.Join(sealed[id], "\n")))
		}
	}
	findings = append(findings, checkSubscriptions(s)...)
	for _, id := range s.Names("AWS::S3::Bucket") {
		findings = append(findings, checkBucket(id, s.Resources[id])...)
	}
	return findings, seen
}

// checkSubscriptions holds that findings are sent to the address of the parameter, and nowhere else.
func checkSubscriptions(s *stack.Stack) (findings []string) {
	const want = `{"Endpoint":{"Ref":"FindingsEmail"},"Protocol":"email","TopicArn":{"Ref":"FindingsTopic"}}`
	if s.Resources["FindingsMail"].Type != "AWS::SNS::Subscription" {
		findings = append(findings, "FindingsMail is missing")
	}
	for _, id := range s.Names("AWS::SNS::Subscription") {
		r := s.Resources[id]
		if got := stack.Short(r.Properties); id != "FindingsMail" || got != want || r.Condition != "HasFindingsEmail" {
			findings = append(findings, fmt.Sprintf("%s sends findings to others than FindingsEmail: %s", id, got))
		}
	}
	for _, id := range s.Names("AWS::SNS::Topic") {
		if s.Resources[id].Properties["Subscription"] != nil {
			findings = append(findings, id+" must name no subscriptions within itself")
		}
	}
	return findings
}

// checkBucket holds that a bucket is never public, has one owner, and outlives the stack.
func checkBucket(id string, r stack.Resource) (findings []string) {
	for what, is := range map[string]bool{
		"must never be public":    stack.Short(r.Properties["PublicAccessBlockConfiguration"]) == `{"BlockPublicAcls":true,"BlockPublicPolicy":true,"IgnorePublicAcls":true,"RestrictPublicBuckets":true}`,
		"must know no ACLs":       stack.Short(r.Properties["OwnershipControls"]) == `{"Rules":[{"ObjectOwnership":"BucketOwnerEnforced"}]}` && r.Properties["AccessControl"] == nil,
		"must outlive the stack":  r.DeletionPolicy == "Retain" && r.UpdateReplacePolicy == "Retain",
		"must serve no web pages": r.Properties["WebsiteConfiguration"] == nil && r.Properties["CorsConfiguration"] == nil,
	} {
		if !is {
			findings = append(findings, id+" "+what)
		}
	}
	return findings
}

// checkArchive holds that what is archived can be changed by nobody, and that only the feed is.
func checkArchive(s *stack.Stack) (findings []string) {
	bucket, stream := s.Resources["ArchiveBucket"], s.Resources["Archive"]
	for what, is := range map[string]bool{
		"the archive must be locked as the parameter says": stack.Short(stack.At(bucket.Properties, "ObjectLockConfiguration", "Rule", "DefaultRetention")) ==
			`{"Days":{"Ref":"AuditRetentionDays"},"Mode":{"Ref":"AuditArchive"}}` && bucket.Properties["ObjectLockEnabled"] == true && stack.At(bucket.Properties, "VersioningConfiguration", "Status") == "Enabled",
		"the archive must take the feed":        stack.Short(stack.At(stream.Properties, "KinesisStreamSourceConfiguration", "KinesisStreamARN")) == "${AuditStream.Arn}",
		"the archive must be made if asked for": bucket.Condition == "HasArchive" && stream.Condition == "HasArchive" && s.Resources["ArchiveRole"].Condition == "HasArchive",
	} {
		if !is {
			findings = append(findings, what)
		}
	}
	role, err := s.RoleOf("ArchiveRole")
	if err != nil {
		return append(findings, err.Error())
	}
	want := []string{
		"Allow kinesis:DescribeStream kinesis:GetRecords kinesis:GetShardIterator kinesis:ListShards on ${AuditStream.Arn}",
		"Allow s3:GetBucketLocation s3:ListBucket s3:ListBucketMultipartUploads on ${ArchiveBucket.Arn}",
		"Allow s3:AbortMultipartUpload s3:PutObject on ${ArchiveBucket.Arn}/*",
	}
	var got []string
	for _, statement := range role.Statements {
		got = append(got, statement.String())
	}
	if !slices.Equal(got, want) || role.Managed != nil {
		findings = append(findings, fmt.Sprintf("ArchiveRole may do %v", got))
	}
	return findings
}
