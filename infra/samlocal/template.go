package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/aacworkflow/mcp-connector/infra/yamledit"
)

// localTemplate returns the template for sam local: the built one, with two changes that sam
// local needs and AWS must not have.
//
//   - Variables, such as AWS_ENDPOINT_URL_DYNAMODB, for all functions: sam local passes no
//     variable that the template does not name, and the deployed functions name no endpoint.
//   - Functions without FunctionName: sam local does not find the authorizer of an API by a name
//     that is an !Sub (aws-sam-cli 1.164), says so in a warning, and serves without one.
func localTemplate(built []byte, variables map[string]string) ([]byte, error) {
	root, err := yamledit.Root(built)
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	environment := yamledit.Member(root, "Globals", "Function", "Environment", "Variables")
	resources := yamledit.Member(root, "Resources")
	if environment == nil || resources == nil {
		return nil, errors.New("the template has no Resources, or no Environment under Globals: this program must follow it")
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		yamledit.Add(environment, name, yamledit.Text(variables[name]))
	}
	unnamed := 0
	yamledit.Entries(resources, func(_ string, r *yaml.Node) {
		if kind := yamledit.Member(r, "Type"); kind == nil || kind.Value != "AWS::Serverless::Function" {
			return
		}
		if yamledit.Remove(yamledit.Member(r, "Properties"), "FunctionName") {
			unnamed++
		}
	})
	if unnamed == 0 {
		return nil, errors.New("no function of the template has a name: leave this change out")
	}
	return yaml.Marshal(root)
}
