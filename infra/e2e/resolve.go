package main

import (
	"fmt"
	"strings"

	"github.com/aacworkflow/mcp-connector/infra/stack"
)

// resolver computes what CloudFormation would put in place of the functions of a template.
type resolver struct {
	*stack.Stack
	parameters map[string]string // instead of the defaults
	names      map[string]string // physical names of resources, by logical id
}

const stackName = "e2e"

// pseudo are the parameters that AWS itself gives.
var pseudo = map[string]string{
	"AWS::StackName": stackName, "AWS::Region": region, "AWS::AccountId": accountID, "AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com",
}

const (
	region    = "eu-west-1"
	accountID = "000000000000"
)

// text resolves a value that must come out as a text. What it does not know is an error.
func (r resolver) text(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case float64, int, bool:
		return fmt.Sprint(v), nil
	case map[string]any:
		if len(v) == 1 {
			for name, argument := range v {
				return r.call(name, argument)
			}
		}
	}
	return "", fmt.Errorf("a value of the template is no text: %v", v)
}

func (r resolver) call(name string, argument any) (string, error) {
	switch name {
	case "Ref":
		return r.ref(fmt.Sprint(argument))
	case "Fn::GetAtt":
		return r.attribute(argument)
	case "Fn::Sub":
		return r.sub(argument)
	case "Fn::Join":
		return r.join(argument)
	case "Fn::If":
		return r.choose(argument)
	}
	return "", fmt.Errorf("%s is not resolved here: add it to resolve.go", name)
}

func (r resolver) ref(name string) (string, error) {
	if value, ok := pseudo[name]; ok {
		return value, nil
	}
	if value, ok := r.parameters[name]; ok {
		return value, nil
	}
	if p, ok := r.Parameters[name]; ok {
		if p.Default == nil {
			return "", fmt.Errorf("the parameter %s has no default: give it a value", name)
		}
		return fmt.Sprint(p.Default), nil
	}
	if _, ok := r.Resources[name]; ok {
		return r.nameOf(name), nil
	}
	return "", fmt.Errorf("%s is nothing in the template", name)
}

// nameOf is what a reference to a resource gives: what is not here has a name all the same.
func (r resolver) nameOf(logicalID string) string {
	if name, ok := r.names[logicalID]; ok {
		return name
	}
	name := stackName + "-" + logicalID
	if r.Resources[logicalID].Type == "AWS::SNS::Topic" {
		return "arn:aws:sns:" + region + ":" + accountID + ":" + name
	}
	return name
}

// attribute knows ARNs only.
func (r resolver) attribute(argument any) (string, error) {
	id, attribute := "", ""
	switch a := argument.(type) {
	case string:
		id, attribute, _ = strings.Cut(a, ".")
	case []any:
		if len(a) == 2 {
			id, attribute = fmt.Sprint(a[0]), fmt.Sprint(a[1])
		}
	}
	switch resource, ok := r.Resources[id]; {
	case !ok || attribute != "Arn":
		return "", fmt.Errorf("%v is not resolved here: only ARNs are", argument)
	case resource.Type == "AWS::Lambda::Function":
		return functionARN(r.nameOf(id)), nil
	default:
		return "arn:aws:e2e:" + region + ":" + accountID + ":" + r.nameOf(id), nil
	}
}

func functionARN(name string) string {
	return "arn:aws:lambda:" + region + ":" + accountID + ":function:" + name
}

func (r resolver) sub(argument any) (string, error) {
	text, values := "", map[string]any{}
	switch a := argument.(type) {
	case string:
		text = a
	case []any:
		if len(a) == 2 {
			text, _ = a[0].(string)
			values, _ = a[1].(map[string]any)
		}
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, after, _ := strings.Cut(rest, "}")
		value, err := r.named(name, values)
		if err != nil {
			return "", err
		}
		out.WriteString(value)
		text = after
	}
}

func (r resolver) named(name string, values map[string]any) (string, error) {
	if value, ok := values[name]; ok {
		return r.text(value)
	}
	if strings.Contains(name, ".") {
		return r.attribute(name)
	}
	return r.ref(name)
}

func (r resolver) join(argument any) (string, error) {
	a, _ := argument.([]any)
	if len(a) != 2 {
		return "", fmt.Errorf("a malformed Fn::Join: %v", argument)
	}
	var parts []string
	for _, v := range stack.List(a[1]) {
		part, err := r.text(v)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, fmt.Sprint(a[0])), nil
}

func (r resolver) choose(argument any) (string, error) {
	a, _ := argument.([]any)
	if len(a) != 3 {
		return "", fmt.Errorf("a malformed Fn::If: %v", argument)
	}
	holds, err := r.condition(map[string]any{"Condition": a[0]})
	switch {
	case err != nil:
		return "", err
	case holds:
		return r.text(a[1])
	default:
		return r.text(a[2])
	}
}

// condition evaluates a condition of the template.
func (r resolver) condition(v any) (bool, error) {
	m, _ := v.(map[string]any)
	for name, argument := range m {
		a := stack.List(argument)
		switch name {
		case "Condition":
			return r.condition(r.Conditions[fmt.Sprint(argument)])
		case "Fn::Equals":
			left, err := r.text(a[0])
			if err != nil {
				return false, err
			}
			right, err := r.text(a[1])
			return left == right, err
		case "Fn::Not":
			holds, err := r.condition(a[0])
			return !holds, err
		case "Fn::Or", "Fn::And":
			for _, part := range a {
				if holds, err := r.condition(part); err != nil || holds == (name == "Fn::Or") {
					return holds, err
				}
			}
			return name == "Fn::And", nil
		}
	}
	return false, fmt.Errorf("a condition is not understood here: %v", v)
}
