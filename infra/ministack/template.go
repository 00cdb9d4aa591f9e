package main

import (
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/aacworkflow/mcp-connector/infra/yamledit"
)

// anyMethod are the methods that ANY stands for here.
var anyMethod = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}

// ministackTemplate returns the template for MiniStack: the built one, less what MiniStack 1.5
// refuses, and with what it takes from elsewhere than AWS does said there too.
//
//   - Alarms of metric math and saved log queries are left out: MiniStack refuses them.
//   - The method ANY is written as single methods: MiniStack's import of an API passes it over.
//   - Gateway responses are resources besides: the import passes them over too. A body that is a
//     variable of the authorizer's stands in JSON: MiniStack does not fill it in.
func ministackTemplate(built []byte) ([]byte, error) {
	root, err := yamledit.Root(built)
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	resources := yamledit.Member(root, "Resources")
	responses := yamledit.Member(resources, apiID, "Properties", "GatewayResponses")
	if responses == nil {
		return nil, errors.New("the template has no resource Api with GatewayResponses: this program must follow it")
	}
	var refused []string
	yamledit.Entries(resources, func(id string, r *yaml.Node) {
		switch kind := yamledit.Member(r, "Type"); {
		case kind == nil:
		case isRefused(kind.Value, r):
			refused = append(refused, id)
		case kind.Value == "AWS::Serverless::Function":
			splitAny(yamledit.Member(r, "Properties", "Events"))
		}
	})
	for _, id := range refused {
		yamledit.Remove(resources, id)
	}
	yamledit.Entries(responses, func(kind string, r *yaml.Node) {
		yamledit.Add(resources, "GatewayResponse"+idOf(kind), gatewayResponse(kind, r))
	})
	return yaml.Marshal(root)
}

// isRefused tells whether MiniStack would refuse the template for a resource.
func isRefused(kind string, r *yaml.Node) bool {
	return kind == "AWS::Logs::QueryDefinition" || kind == "AWS::CloudWatch::Alarm" && yamledit.Member(r, "Properties", "Metrics") != nil
}

// splitAny replaces an event of the method ANY by one for each method.
func splitAny(events *yaml.Node) {
	var names []string
	yamledit.Entries(events, func(name string, e *yaml.Node) {
		if method := yamledit.Member(e, "Properties", "Method"); method != nil && method.Value == "ANY" {
			names = append(names, name)
		}
	})
	for _, name := range names {
		event := yamledit.Member(events, name)
		yamledit.Remove(events, name)
		for _, method := range anyMethod {
			properties := mapping()
			yamledit.Entries(yamledit.Member(event, "Properties"), func(key string, value *yaml.Node) {
				if key == "Method" {
					value = yamledit.Text(method)
				}
				yamledit.Add(properties, key, value)
			})
			yamledit.Add(events, name+method, mapping("Type", yamledit.Text("Api"), "Properties", properties))
		}
	}
}

const jsonType = "application/json"

// unfilled is a body that says which variable would be it.
func unfilled(variable string) string { return `{"unfilled":"` + variable + `"}` }

// gatewayResponse is the CloudFormation resource for a gateway response of SAM's.
func gatewayResponse(kind string, sam *yaml.Node) *yaml.Node {
	parameters := mapping()
	yamledit.Entries(yamledit.Member(sam, "ResponseParameters", "Headers"), func(name string, value *yaml.Node) {
		yamledit.Add(parameters, "gatewayresponse.header."+name, value)
	})
	properties := mapping("RestApiId", mapping("Ref", yamledit.Text(apiID)), "ResponseType", yamledit.Text(kind), "ResponseParameters", parameters)
	for _, name := range []string{"StatusCode", "ResponseTemplates"} {
		if value := yamledit.Member(sam, name); value != nil {
			if value.Kind == yaml.ScalarNode {
				value = yamledit.Text(value.Value)
			}
			if body := yamledit.Member(value, jsonType); body != nil && strings.HasPrefix(body.Value, "$context.") {
				value = mapping(jsonType, yamledit.Text(unfilled(body.Value)))
			}
			yamledit.Add(properties, name, value)
		}
	}
	return mapping("Type", yamledit.Text("AWS::ApiGateway::GatewayResponse"), "Properties", properties)
}

// mapping makes a mapping of keys and values.
func mapping(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i < len(pairs); i += 2 {
		yamledit.Add(n, pairs[i].(string), pairs[i+1].(*yaml.Node))
	}
	return n
}

// idOf makes a logical id, which has no underscores.
func idOf(kind string) string {
	id := ""
	for _, r := range kind {
		if r != '_' {
			id += string(r)
		}
	}
	return id
}
