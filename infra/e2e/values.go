package main

import (
	"maps"

	"github.com/aacworkflow/mcp-connector/infra/stack"
)

const (
	stackName = "e2e"
	region    = "eu-west-1"
	accountID = "000000000000"
)

// values computes what stands in the template.
type values struct {
	*stack.Stack
	known map[string]string // by name of a parameter, a resource, or an attribute of one
}

// newValues knows all parameters that are given, and a name for every resource: also for those
// that are not here, such as the stream.
func newValues(s *stack.Stack, functions map[string]stack.Function, parameters map[string]string) values {
	v := values{s, map[string]string{
		"AWS::StackName": stackName, "AWS::Region": region, "AWS::AccountId": accountID, "AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com",
	}}
	for id, r := range s.Resources {
		name := stackName + "-" + id
		v.known[id], v.known[id+".Arn"] = name, "arn:aws:e2e:"+region+":"+accountID+":"+name
		if r.Type == "AWS::SNS::Topic" { // whose reference is its ARN
			v.known[id] = "arn:aws:sns:" + region + ":" + accountID + ":" + name
		}
	}
	for program, f := range functions {
		name := stackName + "-" + program
		v.known[f.LogicalID], v.known[f.LogicalID+".Arn"] = name, functionARN(name)
	}
	v.known["DataTable"], v.known["AuditTable"] = tables.Data, tables.Audit
	maps.Copy(v.known, parameters)
	return v
}

func (v values) text(value any) (string, error) { return v.Evaluate(value, v.known) }

func functionARN(name string) string {
	return "arn:aws:lambda:" + region + ":" + accountID + ":function:" + name
}
