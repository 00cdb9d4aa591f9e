package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// needed are the settings without which a function does not start, said by hand.
var needed = func() map[string][]string {
	tool := []string{"AAC_DATA_TABLE", "AAC_AUDIT_TABLE"}
	return map[string][]string{
		"list_issues": tool, "get_issue": tool, "list_comments": tool, "dashboard_usage_daily": tool,
		"create_issue": tool, "update_issue": tool, "comment_issue": tool, "assign_issue_to_agent": tool, "trigger_autopilot": tool,
		"delete_issue": tool, "delete_comment": tool,
		"authorizer":    tool,
		"mcp":           {"AAC_AUDIT_TABLE", "AAC_TOOL_FUNCTIONS"},
		"audit_query":   {"AAC_AUDIT_TABLE"},
		"discovery":     nil,
		"audit_monitor": tool,
		"audit_widget":  tool,
	}
}()

// TestColdStart starts every function of the template with its settings, then each without them.
func TestColdStart(t *testing.T) {
	s := startDeployed(t, Config{})
	var seen []string
	for _, id := range slices.Sorted(maps.Keys(s.functions)) {
		f := s.functions[id]
		program := strings.TrimPrefix(f.name, stackName+"-")
		want, known := needed[program]
		if !known {
			t.Errorf("say in coldstart_test.go which settings %s needs", program)
			continue
		}
		seen = append(seen, program)
		startsAndAnswers(t, f)
		for name := range f.settings {
			if strings.HasPrefix(name, "AAC_") {
				delete(f.settings, name)
			}
		}
		failsNaming(t, fresh(f), want)
	}
	if len(seen) != len(needed) {
		t.Errorf("saw %d functions, want %d: %v", len(seen), len(needed), seen)
	}
}

// startsAndAnswers sends what no function expects. It answers with a refusal or an error of its
// own, and stays alive.
func startsAndAnswers(t *testing.T, f *function) {
	t.Helper()
	_, err := f.Invoke(t.Context(), []byte(`{}`))
	if failed := (*functionError)(nil); err != nil && (!errors.As(err, &failed) || strings.HasPrefix(failed.Type, "Runtime.") || failed.Type == "Sandbox.Timedout") {
		t.Errorf("%s does not start: %v\n%s", f.name, err, f.log.String())
	}
	pid, err := f.pid()
	if err != nil || pid == 0 {
		t.Errorf("%s has no process after its first call: %v\n%s", f.name, err, f.log.String())
	}
}

// failsNaming requires that the function does not start, and that its log names all it lacks.
func failsNaming(t *testing.T, f *function, want []string) {
	t.Helper()
	_, err := f.Invoke(t.Context(), []byte(`{}`))
	if closeErr := f.close(); closeErr != nil { // all that it has printed is there then
		t.Error(closeErr)
	}
	if len(want) == 0 {
		if err != nil {
			t.Errorf("%s needs no settings, but does not start: %v\n%s", f.name, err, f.log.String())
		}
		return
	}
	log := f.log.String()
	if err == nil || !strings.Contains(log, "the function cannot start") || !strings.Contains(log, strings.Join(want, ", ")+" missing") {
		t.Errorf("%s without settings: %v; its log must name %v:\n%s", f.name, err, want, log)
	}
}

// fresh is the same function without an instance.
func fresh(f *function) *function {
	return &function{
		logicalID: f.logicalID, name: f.name, timeout: f.timeout, memory: f.memory, settings: f.settings,
		program: f.program, rie: f.rie, client: f.client, turn: make(chan struct{}, 1),
	}
}

// TestNothingIsLeft closes a system and looks for its processes.
func TestNothingIsLeft(t *testing.T) {
	s := startDeployed(t, Config{})
	f := s.functions["DiscoveryFunction"]
	startsAndAnswers(t, f)
	child, err := f.pid()
	if err != nil {
		t.Fatal(err)
	}
	pids := []int{child, f.instance.cmd.Process.Pid}
	for _, pid := range pids {
		if !alive(pid) {
			t.Errorf("process %d is not there: this test looks at the wrong one", pid)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
	if _, err := f.Invoke(t.Context(), []byte(`{}`)); err == nil {
		t.Error("a function of a closed system was called")
	}
}

// alive tells whether there is such a process, and it has not ended.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state := statOf(string(text))
	return state != zombie
}
