// Package policy runs DynamoDB calls under the statements of the template: what the role of a
// function does not allow is denied, as AWS would, and what it allows but nobody uses is told.
// So a right that is missing fails a test, and so does one too many.
//
// It is for tests. It knows as much of IAM as the template uses, and refuses what it does not
// know: no engine that runs on a developer's machine judges these statements. It does not say
// which statements are right; infra/check does. Start with ForFunction; access.go says what a
// call asks for, condition.go how a condition is judged.
package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"github.com/aacworkflow/mcp-connector/infra/stack"
	"github.com/aacworkflow/mcp-connector/shared/dynamo"
)

// Policy is what one function may do. It is safe for concurrent use.
type Policy struct {
	program    string
	statements []stack.Statement

	mu   sync.Mutex
	used map[string]bool // rights, as rightsOf names them
}

// ForFunction returns the policy of the role of a program's function. It fails if a statement
// holds what this package cannot judge.
func ForFunction(s *stack.Stack, program string) (*Policy, error) {
	functions, err := s.Functions()
	if err != nil {
		return nil, err
	}
	f, ok := functions[program]
	if !ok {
		return nil, fmt.Errorf("the template has no function for %s", program)
	}
	role, err := s.RoleOf(f.Role)
	if err != nil {
		return nil, err
	}
	return New(program, role.Statements)
}

// New makes a policy of statements.
func New(program string, statements []stack.Statement) (*Policy, error) {
	for _, st := range statements {
		if st.Effect != "Allow" && st.Effect != "Deny" {
			return nil, fmt.Errorf("%s: the effect %q is unknown", program, st.Effect)
		}
		for operator, keys := range st.Condition {
			for key := range keys {
				if _, ok := operators[operator]; !ok || (key != leadingKeys && key != enclosingOperation) {
					return nil, fmt.Errorf("%s: the condition %s on %s cannot be judged here: teach infra/policy", program, operator, key)
				}
			}
		}
	}
	return &Policy{program: program, statements: statements, used: map[string]bool{}}, nil
}

// Under returns the API option that runs a client's calls under the policy. Tables are the names
// of the tables that the client uses.
func (p *Policy) Under(tables dynamo.Tables) func(*middleware.Stack) error {
	check := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		if err := p.Check(tables, in.Parameters); err != nil {
			return middleware.InitializeOutput{}, middleware.Metadata{}, err
		}
		return next.HandleInitialize(ctx, in)
	}
	return func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("Policy", check), middleware.Before)
	}
}

// Check judges the input of one call of the SDK. Its error has the form of AWS's own.
func (p *Policy) Check(tables dynamo.Tables, input any) error {
	parts, err := accessesOf(tables, input)
	if err != nil {
		return denied(p.program, err.Error())
	}
	var used []string
	for _, a := range parts {
		rights, ok := p.judge(a)
		if !ok {
			return denied(p.program, a.String())
		}
		used = append(used, rights...)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, right := range used {
		p.used[right] = true
	}
	return nil
}

func denied(program, what string) error {
	return &smithy.GenericAPIError{
		Code: "AccessDeniedException", Fault: smithy.FaultClient,
		Message: fmt.Sprintf("the role of %s in template.yaml does not allow: %s", program, what),
	}
}

// judge returns the rights by which an access is allowed: those of the first statement that
// allows it. A statement that denies outweighs all.
func (p *Policy) judge(a access) (rights []string, ok bool) {
	for i, st := range p.statements {
		granted, applies := apply(i, st, a)
		if applies && st.Effect == "Deny" {
			return nil, false
		}
		if applies && !ok {
			rights, ok = granted, true
		}
	}
	return rights, ok
}

// apply tells whether a statement is about an access, and by which of its words.
func apply(position int, st stack.Statement, a access) (rights []string, applies bool) {
	action := slices.IndexFunc(st.Actions, func(pattern string) bool { return like(strings.ToLower(pattern), strings.ToLower(a.action)) })
	resource := slices.IndexFunc(st.Resources, func(pattern string) bool { return like(pattern, a.resource) })
	if action < 0 || resource < 0 {
		return nil, false
	}
	rights = []string{rightOf(position, st, "action", st.Actions[action]), rightOf(position, st, "resource", st.Resources[resource])}
	for operator, keys := range st.Condition {
		for key, wanted := range keys {
			matched, holds := operators[operator](a.context(key), wanted)
			if !holds {
				return nil, false
			}
			for _, value := range matched {
				rights = append(rights, rightOf(position, st, key, value))
			}
		}
	}
	return rights, true
}

// rightOf names one word of a statement: an action, a resource, or a value of a condition.
func rightOf(position int, st stack.Statement, kind, word string) string {
	return fmt.Sprintf("statement %d (%s): %s %s", position, st.Sid, kind, word)
}

// Unused lists what the policy allows and no call has needed so far.
func (p *Policy) Unused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var unused []string
	note := func(right string) {
		if !p.used[right] {
			unused = append(unused, p.program+": "+right)
		}
	}
	for i, st := range p.statements {
		if st.Effect != "Allow" {
			continue
		}
		for _, action := range st.Actions {
			note(rightOf(i, st, "action", action))
		}
		for _, resource := range st.Resources {
			note(rightOf(i, st, "resource", resource))
		}
		for operator, keys := range st.Condition {
			if operator == "Null" {
				continue
			}
			for key, values := range keys {
				for _, value := range values {
					note(rightOf(i, st, key, value))
				}
			}
		}
	}
	slices.Sort(unused)
	return unused
}
