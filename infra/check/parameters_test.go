package check

import (
	"fmt"
	"regexp"

	"github.com/aacworkflow/mcp-connector/infra/stack"
)

// What a parameter may be, where a careless answer would open the stack: it must refuse patterns,
// lists and whatever else stands for more than one thing.

// answers are what each such parameter takes and refuses, by hand.
var answers = map[string]struct{ taken, refused []string }{
	"EncryptionKey": { // CloudWatch Logs takes no alias
		taken: []string{"AWS_OWNED", "AWS_MANAGED", ownKey, "arn:aws-cn:kms:cn-north-1:123456789012:key/mrk-0123456789abcdef0123456789abcdef"},
		refused: []string{"", "*", "alias/mine", "arn:aws:kms:eu-west-1:123456789012:alias/mine", "arn:aws:kms:eu-west-1:123456789012:key/*",
			"arn:aws:kms:*:123456789012:key/1", "arn:aws:kms:eu-west-1:123456789012:key/1,arn:aws:kms:eu-west-1:123456789012:key/2"},
	},
	"BreakGlassRoleArn": { // it is compared with ArnNotLike, which knows wildcards and variables
		taken: []string{
			"", "arn:aws:iam::123456789012:role/break-glass", "arn:aws-us-gov:iam::123456789012:role/security/law/break.glass+1",
			"arn:aws:iam::123456789012:role/aws-reserved/sso.amazonaws.com/eu-west-1/AWSReservedSSO_Law_0123456789abcdef",
		},
		refused: []string{
			"*", "arn:aws:iam::123456789012:role/*", "arn:aws:iam::123456789012:role/break-*", "arn:aws:iam::123456789012:role/break-glas?",
			"arn:aws:iam::*:role/break-glass", "arn:aws:iam::????????????:role/x", "arn:*:iam::123456789012:role/x", "arn:aws:iam::123456789012:role/${aws:username}",
			"arn:aws:iam::123456789012:role/a,arn:aws:iam::123456789012:role/b", "arn:aws:iam::123456789012:role/a b", "arn:aws:iam::123456789012:role/",
			"arn:aws:iam::123456789012:role/a\nx", "arn:aws:iam::123456789012:root", "arn:aws:iam::123456789012:user/x", "arn:aws:sts::123456789012:assumed-role/x/y",
		},
	},
}

// checkParameters tries the answers.
func checkParameters(s *stack.Stack) (findings []string) {
	for name, tries := range answers {
		pattern, err := regexp.Compile(s.Parameters[name].AllowedPattern)
		if err != nil || s.Parameters[name].AllowedPattern == "" {
			findings = append(findings, fmt.Sprintf("%s must say what it takes (%v)", name, err))
			continue
		}
		for _, answer := range tries.taken {
			if !pattern.MatchString(answer) {
				findings = append(findings, fmt.Sprintf("%s refuses %q", name, answer))
			}
		}
		for _, answer := range tries.refused {
			if pattern.MatchString(answer) {
				findings = append(findings, fmt.Sprintf("%s takes %q", name, answer))
			}
		}
	}
	return findings
}
