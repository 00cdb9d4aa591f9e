package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"
)

// localTemplate returns the template for sam local: the built one, with two changes that sam
// local needs and AWS must not have.
//
//   - Variables, such as AWS_ENDPOINT_URL_DYNAMODB, for all functions: sam local passes no
//     variable that the template does not name, and the deployed functions name no endpoint.
//   - Functions without FunctionName: sam local does not find the authorizer of an API by a name
//     that is an !Sub (aws-sam-cli 1.164), says so in a warning, and serves without one.
func localTemplate(built []byte, variables map[string]string) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(built, &doc); err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	if len(doc.Content) != 1 {
		return nil, errors.New("the template is empty")
	}
	root := doc.Content[0]
	environment := member(root, "Globals", "Function", "Environment", "Variables")
	resources := member(root, "Resources")
	if environment == nil || resources == nil {
		return nil, errors.New("the template has no Resources, or no Environment under Globals: this program must follow it")
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		environment.Content = append(environment.Content, text(name), text(variables[name]))
	}
	unnamed := 0
	for i := 1; i < len(resources.Content); i += 2 {
		if kind := member(resources.Content[i], "Type"); kind == nil || kind.Value != "AWS::Serverless::Function" {
			continue
		}
		if remove(member(resources.Content[i], "Properties"), "FunctionName") {
			unnamed++
		}
	}
	if unnamed == 0 {
		return nil, errors.New("no function of the template has a name: leave this change out")
	}
	return yaml.Marshal(&doc)
}

// member returns the value at a path of keys; nil if there is none.
func member(n *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		if n == nil || n.Kind != yaml.MappingNode {
			return nil
		}
		i := keyIndex(n, key)
		if i < 0 {
			return nil
		}
		n = n.Content[i+1]
	}
	return n
}

// remove takes a key and its value out of a mapping, and tells whether it was there.
func remove(n *yaml.Node, key string) bool {
	if n == nil || n.Kind != yaml.MappingNode {
		return false
	}
	i := keyIndex(n, key)
	if i < 0 {
		return false
	}
	n.Content = slices.Delete(n.Content, i, i+2)
	return true
}

// keyIndex returns where a key is among a mapping's contents; -1 if it is not.
func keyIndex(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

func text(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}
