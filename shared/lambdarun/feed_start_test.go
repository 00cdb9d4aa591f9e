package lambdarun

import (
	"strings"
	"testing"
)

func TestFindingsTopic(t *testing.T) {
	const arn = "arn:aws:sns:eu-west-1:123456789012:findings"
	for value, ok := range map[string]bool{"": true, arn: true, "findings": false} {
		s, err := readSettings(env(map[string]string{envFindingsTopic: value}))
		if (err == nil) != ok || ok && s.findingsTopic != value {
			t.Errorf("%q: %q, %v", value, s.findingsTopic, err)
		}
		if !ok && !strings.Contains(err.Error(), envFindingsTopic) {
			t.Errorf("%q: %v does not name the setting", value, err)
		}
	}
}

func TestMetricNamespace(t *testing.T) {
	for value, ok := range map[string]bool{"": true, "McpAudit": true, "McpAudit/aacworkflow-dev": true, "AWS/Lambda": false, "McpAudit\n": false} {
		s, err := readSettings(env(map[string]string{envNamespace: value}))
		if (err == nil) != ok || ok && s.namespace != value {
			t.Errorf("%q: %q, %v", value, s.namespace, err)
		}
		if !ok && !strings.Contains(err.Error(), envNamespace) {
			t.Errorf("%q: %v does not name the setting", value, err)
		}
	}
}
