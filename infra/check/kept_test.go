package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/infra/stack"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/schema"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

var tables = map[string]table.Name{"DataTable": table.Data, "AuditTable": table.Audit}

// checkTables compares the tables with their layout, and holds that what is in them stays.
func checkTables(s *stack.Stack) (findings []string, seen int) {
	if got := s.Names("AWS::DynamoDB::Table"); !slices.Equal(got, []string{"AuditTable", "DataTable"}) {
		findings = append(findings, fmt.Sprintf("the tables are %v", got))
	}
	for id, name := range tables {
		r := s.Resources[id]
		if r.Type == "" {
			continue
		}
		seen++
		layout, err := layoutOf(r.Properties)
		if err != nil {
			findings = append(findings, fmt.Sprintf("%s: %v", id, err))
		}
		layout.Name = name
		if d := cmp.Diff(schema.For(name), layout); d != "" {
			findings = append(findings, fmt.Sprintf("%s differs from shared/dynamo/schema (-there +template):\n%s", id, d))
		}
		for what, is := range map[string]bool{
			"must be kept when the stack goes":         r.DeletionPolicy == "Retain" && r.UpdateReplacePolicy == "Retain",
			"must have deletion protection":            stack.Short(r.Properties["DeletionProtectionEnabled"]) == "${DeletionProtection}" && s.Parameters["DeletionProtection"].Default == "true",
			"must have backups of the last 35 days":    stack.Short(r.Properties["PointInTimeRecoverySpecification"]) == `{"PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":35}`,
			"must let items expire":                    stack.At(r.Properties, "TimeToLiveSpecification", "Enabled") == true,
			"must be paid by request":                  r.Properties["BillingMode"] == "PAY_PER_REQUEST",
			"must be called as its statements call it": stack.Short(r.Properties["TableName"]) == "${AWS::StackName}-"+name.String(),
		} {
			if !is {
				findings = append(findings, id+" "+what)
			}
		}
	}
	data := s.Resources["DataTable"].Properties
	if data["ResourcePolicy"] != nil {
		findings = append(findings, "DataTable must have no policy of its own: the roles alone say who reads it")
	}
	if data["KinesisStreamSpecification"] != nil || data["StreamSpecification"] != nil || s.Resources["AuditTable"].Properties["StreamSpecification"] != nil {
		findings = append(findings, "no table may have a stream but AuditTable, and that only AuditStream")
	}
	return append(findings, checkAuditTable(s)...), seen
}

func layoutOf(properties map[string]any) (schema.Table, error) {
	t := schema.Table{TTL: fmt.Sprint(stack.At(properties, "TimeToLiveSpecification", "AttributeName"))}
	var err error
	if t.PK, t.SK, err = keys(properties["KeySchema"]); err != nil {
		return t, err
	}
	used := []string{t.PK, t.SK}
	for _, v := range stack.List(properties["GlobalSecondaryIndexes"]) {
		index := schema.Index{Name: fmt.Sprint(stack.At(v, "IndexName"))}
		if index.PK, index.SK, err = keys(stack.At(v, "KeySchema")); err != nil {
			return t, err
		}
		if stack.At(v, "Projection", "ProjectionType") != "ALL" {
			return t, fmt.Errorf("the index %s must project all attributes", index.Name)
		}
		used = append(used, index.PK, index.SK)
		t.Indexes = append(t.Indexes, index)
	}
	for _, v := range stack.List(properties["AttributeDefinitions"]) {
		if !slices.Contains(used, fmt.Sprint(stack.At(v, "AttributeName"))) || stack.At(v, "AttributeType") != "S" {
			return t, fmt.Errorf("the attribute %s must be a text, and a key", stack.Short(v))
		}
	}
	return t, nil
}

func keys(v any) (pk, sk string, err error) {
	list := stack.List(v)
	if len(list) != 2 || stack.At(list[0], "KeyType") != "HASH" || stack.At(list[1], "KeyType") != "RANGE" {
		return "", "", fmt.Errorf("keys are a HASH and a RANGE, found %s", stack.Short(v))
	}
	return fmt.Sprint(stack.At(list[0], "AttributeName")), fmt.Sprint(stack.At(list[1], "AttributeName")), nil
}

// neverOnAudit are the ways in which DynamoDB changes or removes what is there.
var neverOnAudit = []string{
	"dynamodb:BatchWriteItem", "dynamodb:DeleteItem", "dynamodb:DeleteTable", "dynamodb:PartiQLDelete", "dynamodb:PartiQLInsert",
	"dynamodb:PartiQLUpdate", "dynamodb:UpdateItem",
}

// checkAuditTable holds that the audit table is only added to, and feeds the stream.
func checkAuditTable(s *stack.Stack) (findings []string) {
	properties := s.Resources["AuditTable"].Properties
	document, _ := stack.At(properties, "ResourcePolicy", "PolicyDocument").(map[string]any)
	statements, err := stack.Statements(document)
	if err != nil || len(statements) != 1 {
		return append(findings, fmt.Sprintf("AuditTable must have a policy of one statement (%v)", err))
	}
	breakGlass := `{"Fn::If":["HasBreakGlassRole",{"Ref":"BreakGlassRoleArn"},{"Fn::Sub":"arn:${AWS::Partition}:iam::000000000000:role/nobody"}]}`
	want := "Deny " + strings.Join(neverOnAudit, " ") + " on arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${AWS::StackName}-audit" +
		" if ArnNotLike aws:PrincipalArn " + breakGlass + " if Bool aws:PrincipalIsAWSService false"
	if got := statements[0].String(); got != want || stack.At(stack.List(document["Statement"])[0], "Principal") != "*" {
		findings = append(findings, fmt.Sprintf("AuditTable must be only added to:\n got %s\nwant %s", got, want))
	}
	if stack.Short(properties["KinesisStreamSpecification"]) != `{"ApproximateCreationDateTimePrecision":"MICROSECOND","StreamArn":{"Fn::GetAtt":"AuditStream.Arn"}}` {
		findings = append(findings, "AuditTable must feed AuditStream, with times in microseconds")
	}
	if stack.At(s.Resources["AuditStream"].Properties, "StreamEncryption", "EncryptionType") != "KMS" {
		findings = append(findings, "AuditStream must be encrypted")
	}
	return findings
}
