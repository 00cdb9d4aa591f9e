package monitor_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

// page reads docs/monitoring.md.
func page(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// partOf returns the lines between two marks that begin with a prefix.
func partOf(t *testing.T, text, name, prefix string) (lines []string) {
	t.Helper()
	_, rest, ok := strings.Cut(text, "<!-- "+name+": ")
	rest, _, closed := strings.Cut(rest, "<!-- "+name+": end -->")
	if !ok || !closed {
		t.Fatalf("docs/monitoring.md has no part %s", name)
	}
	for line := range strings.Lines(rest) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, prefix) {
			lines = append(lines, line)
		}
	}
	return lines
}

func short(d time.Duration) string {
	if d == 0 {
		return "ever"
	}
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}

func TestDocsSayWhatTheRulesAre(t *testing.T) {
	var rules, todo []string
	for _, r := range monitor.Rules() {
		window := short(r.Window)
		if r.Window > 0 && r.Window < time.Hour {
			window = fmt.Sprintf("%dm", int(r.Window.Minutes()))
		}
		rules = append(rules, fmt.Sprintf("| `%s` | %s | %s | %s | %d | %s |", r.Name, r.Severity, r.Subject, window, r.Threshold, r.Means))
		todo = append(todo, fmt.Sprintf("- `%s`: %s", r.Name, r.Do))
		if r.Spread > 0 && !strings.Contains(r.Means, fmt.Sprintf("%d minutes", int(r.Spread.Minutes()))) {
			t.Errorf("%s does not say its spread", r.Name)
		}
	}
	text := page(t)
	if diff := cmp.Diff(rules, partOf(t, text, "rules", "| `")); diff != "" {
		t.Errorf("docs/monitoring.md is stale (-code +page):\n%s", diff)
	}
	if diff := cmp.Diff(todo, partOf(t, text, "what to do", "- `")); diff != "" {
		t.Errorf("docs/monitoring.md is stale (-code +page):\n%s", diff)
	}
}

func TestDocsSayWhatTheMetricsAre(t *testing.T) {
	var metrics []string
	for _, m := range monitor.Metrics() {
		var by []string
		for _, set := range m.Dimensions {
			words := strings.Join(set, " and ")
			if words == "" {
				words = "all"
			}
			by = append(by, words)
		}
		metrics = append(metrics, fmt.Sprintf("| `%s` | %s | %s | %s |", m.Name, m.Unit, strings.Join(by, "; "), m.Means))
	}
	text := page(t)
	if diff := cmp.Diff(metrics, partOf(t, text, "metrics", "| `")); diff != "" {
		t.Errorf("docs/monitoring.md is stale (-code +page):\n%s", diff)
	}
	n := monitor.Series(toolNames())
	want := fmt.Sprintf("With the %d tools of today that is at most %d series, or %d.%02d USD a month", len(toolNames()), n, n*30/100, n*30%100)
	if !strings.Contains(text, want) {
		t.Errorf("docs/monitoring.md should say: %s", want)
	}
}

// TestDocsSayTheReasons: each reason for setting a record aside is on the page.
func TestDocsSayTheReasons(t *testing.T) {
	text := page(t)
	for _, reason := range []string{
		monitor.NotJSON, monitor.OtherFormat, monitor.UnknownName, monitor.NoTime, monitor.BadImage, monitor.NotAnEvent, monitor.KeyMismatch,
	} {
		if !strings.Contains(text, "`"+reason+"`") {
			t.Errorf("docs/monitoring.md does not say %s", reason)
		}
	}
}
