package check

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

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
	"WafRateLimit": { // WAF takes no less than 10, and would say so only in the middle of a deployment
		taken:   []string{"0", "10", "99", "2000", "999999999"},
		refused: []string{"", "1", "5", "9", "00", "05", "-10", "1.5", "1e3", " 10", "10000000000"},
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

// defaults are what a deployment without answers gets, by hand: nobody beside the stack itself may do
// or see anything, and what protects it is on.
var defaults = map[string]string{
	"AlarmTopicArn": "", "AllowedOrigins": "", "Architecture": "arm64", "AuditArchive": "off", "AuditRetentionDays": "400",
	"AuthorizerConcurrency": "0", "BreakGlassRoleArn": "", "CertificateArn": "", "ChallengeAllScopes": "false",
	"CognitoCallbacks": "https://claude.ai/api/mcp/auth_callback,https://claude.com/api/mcp/auth_callback",
	"CreateCognito":    "false", "DashboardWorkspace": "", "DeletionProtection": "true", "DocumentationUrl": "", "DomainName": "",
	"EncryptionKey": "AWS_OWNED", "FindingsEmail": "", "HostedZoneId": "", "LogRetentionDays": "30", "ManageApiGatewayLogRole": "true",
	"MemorySize": "512", "OAuthAllowedClients": "", "OAuthAudience": "", "OAuthDenyList": "false", "OAuthFacadeCallbacks": "",
	"OAuthFacadeClientId": "", "OAuthFacadeLoginUrl": "", "OAuthIssuer": "", "OAuthJwksUri": "", "OAuthScopePrefix": "", "PublicBaseUrl": "",
	"ThrottleBurst": "100", "ThrottleRate": "50", "ToolConcurrency": "0", "WafRateLimit": "0",
}

// checkParameters compares the defaults with the table, and tries the answers.
func checkParameters(s *stack.Stack) (findings []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		want, ok := defaults[name]
		if got := stack.Short(s.Parameters[name].Default); !ok || got != want {
			findings = append(findings, fmt.Sprintf("%s is %q by default, infra/check/parameters_test.go says %q (%v)", name, got, want, ok))
		}
	}
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
