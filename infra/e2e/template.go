package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/infra/stack"
	"github.com/aacworkflow/mcp-connector/shared/gateway"
)

// deployment is what the template says, its values resolved.
type deployment struct {
	functions  map[string]*function // by logical id
	routes     []gateway.Route
	authorizer *function
	stage      string
}

// deploy makes the functions and routes of the template. They start at their first call.
// Parameters are those without their defaults; extra is for the environment of every function.
func deploy(b *builder, parameters, extra map[string]string) (*deployment, error) {
	declared, err := b.stack.Functions()
	if err != nil {
		return nil, err
	}
	v := newValues(b.stack, declared, parameters)
	d := &deployment{functions: map[string]*function{}}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	for _, declaration := range declared {
		f, err := newFunction(v, declaration, extra)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", declaration.LogicalID, err)
		}
		f.program, f.rie, f.client = b.program(f.logicalID), b.rie, client
		d.functions[f.logicalID] = f
	}
	return d, d.readAPI(v)
}

func newFunction(v values, declaration stack.Function, extra map[string]string) (*function, error) {
	p := declaration.Properties
	f := &function{logicalID: declaration.LogicalID, settings: map[string]string{}, turn: make(chan struct{}, 1)}
	for property, value := range map[string]*string{"FunctionName": &f.name, "MemorySize": &f.memory} {
		var err error
		if *value, err = v.text(p[property]); err != nil {
			return nil, fmt.Errorf("%s: %w", property, err)
		}
	}
	timeout, err := v.text(p["Timeout"])
	if err != nil {
		return nil, fmt.Errorf("its Timeout: %w", err)
	}
	seconds, err := strconv.Atoi(timeout)
	if err != nil {
		return nil, fmt.Errorf("its Timeout: %w", err)
	}
	f.timeout = time.Duration(seconds) * time.Second
	variables, _ := stack.At(p, "Environment", "Variables").(map[string]any)
	for name, value := range variables {
		if f.settings[name], err = v.text(value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	maps.Copy(f.settings, extra)
	return f, nil
}

// anyMethod stands for all methods that have no entry of their own.
const anyMethod = "x-amazon-apigateway-any-method"

var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// readAPI reads the routes and the authorizer out of the API's description. Options is left to
// the gateway.
func (d *deployment) readAPI(v values) error {
	apis := v.Names("AWS::ApiGateway::RestApi")
	if len(apis) != 1 {
		return fmt.Errorf("the template has %d APIs, not one", len(apis))
	}
	stages := v.Names("AWS::ApiGateway::Stage")
	if len(stages) != 1 {
		return fmt.Errorf("the template has %d stages, not one", len(stages))
	}
	var err error
	if d.stage, err = v.text(v.Resources[stages[0]].Properties["StageName"]); err != nil {
		return err
	}
	body := v.Resources[apis[0]].Properties["Body"]
	uri := stack.At(body, "components", "securitySchemes", "Token", "x-amazon-apigateway-authorizer", "authorizerUri")
	if d.authorizer, err = d.target(v, uri); err != nil {
		return fmt.Errorf("the authorizer: %w", err)
	}
	paths, _ := stack.At(body, "paths").(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		operations, _ := paths[path].(map[string]any)
		for method, operation := range operations {
			if err := d.addRoute(v, path, method, operation, operations); err != nil {
				return fmt.Errorf("%s %s: %w", method, path, err)
			}
		}
	}
	if len(d.routes) == 0 {
		return fmt.Errorf("the API of the template has no routes")
	}
	return nil
}

func (d *deployment) addRoute(v values, path, method string, operation any, beside map[string]any) error {
	if method == "options" { // answered by the gateway itself
		return nil
	}
	target, err := d.target(v, stack.At(operation, "x-amazon-apigateway-integration", "uri"))
	if err != nil {
		return err
	}
	route := gateway.Route{Method: strings.ToUpper(method), Path: path, Function: target, Public: true}
	for _, requirement := range stack.List(stack.At(operation, "security")) {
		if stack.At(requirement, "Token") != nil {
			route.Public = false
		}
	}
	if method != anyMethod {
		d.routes = append(d.routes, route)
		return nil
	}
	for _, each := range methods {
		if _, own := beside[strings.ToLower(each)]; !own {
			route.Method = each
			d.routes = append(d.routes, route)
		}
	}
	return nil
}

// target finds the function that an integration's address names.
func (d *deployment) target(v values, uri any) (*function, error) {
	text, err := v.text(uri)
	if err != nil {
		return nil, err
	}
	_, arn, _ := strings.Cut(text, functionsPath)
	arn = strings.TrimSuffix(arn, invocationsPath)
	for _, f := range d.functions {
		if functionARN(f.name) == arn {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%s is no function of the template", text)
}
