package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// policyDocument is an IAM policy, as far as an authorizer needs one. Anything else in it
// (conditions, NotAction, NotResource) is an error rather than ignored: what is not understood
// must not allow.
type policyDocument struct {
	Version   string
	ID        string `json:"Id"`
	Statement oneOrMore[statement]
}

type statement struct {
	Sid      string
	Effect   string
	Action   oneOrMore[string]
	Resource oneOrMore[string]
}

// oneOrMore is a value or a list of values.
type oneOrMore[T any] []T

func (o *oneOrMore[T]) UnmarshalJSON(data []byte) error {
	var many []T
	if data[0] == '[' {
		err := decodeStrictly(data, &many)
		*o = many
		return err
	}
	var one T
	err := decodeStrictly(data, &one)
	*o = oneOrMore[T]{one}
	return err
}

const invokeAction = "execute-api:Invoke"

// evaluatePolicy tells whether the policy allows the call: an Allow must match, and no Deny.
func evaluatePolicy(doc json.RawMessage, arn string) (bool, error) {
	if len(doc) == 0 {
		return false, errors.New("malformed answer: no policyDocument")
	}
	var policy policyDocument
	if err := decodeStrictly(doc, &policy); err != nil {
		return false, fmt.Errorf("policy: %w", err)
	}
	if policy.Version != "2012-10-17" || len(policy.Statement) == 0 {
		return false, errors.New("policy: version 2012-10-17 and at least one statement are needed")
	}
	allowed, denied := false, false
	for _, s := range policy.Statement {
		if (s.Effect != "Allow" && s.Effect != "Deny") || len(s.Action) == 0 || len(s.Resource) == 0 {
			return false, errors.New("policy: a statement needs Effect (Allow or Deny), Action and Resource")
		}
		if slices.ContainsFunc(s.Resource, func(r string) bool { return len(r) > MaxResourceBytes }) {
			return false, fmt.Errorf("policy: a resource has more than %d characters", MaxResourceBytes)
		}
		if !s.matches(arn) {
			continue
		}
		allowed = allowed || s.Effect == "Allow"
		denied = denied || s.Effect == "Deny"
	}
	return allowed && !denied, nil
}

func (s statement) matches(arn string) bool {
	return anyMatches(s.Action, func(pattern string) bool {
		return glob(strings.ToLower(pattern), strings.ToLower(invokeAction))
	}) && anyMatches(s.Resource, func(pattern string) bool { return glob(pattern, arn) })
}

func anyMatches(patterns []string, match func(string) bool) bool {
	for _, p := range patterns {
		if match(p) {
			return true
		}
	}
	return false
}

// glob matches * with any text, slashes included, and ? with any one byte. It takes time
// proportional to the product of the lengths at worst.
func glob(pattern, text string) bool {
	star, resume := -1, 0
	p := 0
	for t := 0; t < len(text); {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			resume++
			p, t = star+1, resume
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
