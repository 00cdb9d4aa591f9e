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
