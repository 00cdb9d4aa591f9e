package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// report is what the suite found.
type report struct {
	subject   subject
	revision  string
	scenarios int
	passed    int
	skipped   int
	warned    []string // scenario:check
	failed    []string
	said      map[string]string // scenario:check to what the suite says of it
	baseline  map[string]string // scenario:check to reason
	problems  []error
}

func (r report) String() string {
	return fmt.Sprintf("%s %s: %d scenarios, %d checks passed, %d failed as expected, %d warnings, %d skipped, %d problems",
		r.subject.name, r.revision, r.scenarios, r.passed, len(r.failed), len(r.warned), r.skipped, len(r.problems))
}

// check is one finding in a scenario's checks.json.
type check struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Error  string `json:"errorMessage"`
}

// runSuite runs exactly what the revision requires. The suite's own verdict is not used: it does
// not know the reasons, and its exit code hides how much it looked at.
func runSuite(ctx context.Context, s subject, revision, url, out string) (report, error) {
	r := report{subject: s, revision: revision, said: map[string]string{}}
	var err error
	if r.baseline, err = readBaseline(filepath.Join(home, s.name, revision+".yml")); err != nil {
		return r, err
	}
	output, err := s.run(ctx, url, revision, out)
	if err != nil {
		return r, fmt.Errorf("%w\n%s", err, output)
	}
	files, err := filepath.Glob(filepath.Join(out, "*", "checks.json"))
	if err != nil || len(files) == 0 {
		return r, fmt.Errorf("the suite left no results: %w\n%s", err, output)
	}
	for _, file := range files {
		if err := r.add(file); err != nil {
			return r, err
		}
	}
	r.compare()
	return r, nil
}

// server runs the suite against a server.
func server(ctx context.Context, url, revision, out string) ([]byte, error) {
	output, err := command(ctx, "server", "--url", url, "--requirements", revision, "-o", out).CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return output, err
	}
	return output, nil // what failed stands in its results
}

// command is the suite's program.
func command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "node_modules/.bin/node", append([]string{"node_modules/@modelcontextprotocol/conformance/dist/index.js"}, args...)...)
	cmd.Dir = home
	return cmd
}

// The directory of a scenario is server-<scenario>-<time>, or authorization-server-<scenario>-<time>.
var scenarioForm = regexp.MustCompile(`^(?:authorization-)?server-(.+)-\d{4}-\d\d-\d\dT[0-9-]+Z$`)

func (r *report) add(file string) error {
	m := scenarioForm.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
	if m == nil {
		return fmt.Errorf("%s: the suite names its results otherwise than before", file)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var checks []check
	if err := json.Unmarshal(content, &checks); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	r.scenarios++
	for _, c := range checks {
		name := m[1] + ":" + c.ID
		r.said[name] = c.Error
		switch c.Status {
		case "SUCCESS":
			r.passed++
		case "FAILURE":
			r.failed = append(r.failed, name)
		case "WARNING":
			r.warned = append(r.warned, name)
		case "SKIPPED":
			r.skipped++
		case "INFO":
		default:
			return fmt.Errorf("%s: unknown status %s", file, c.Status)
		}
	}
	return nil
}

// compare finds what failed without a reason, and reasons for what does not fail.
func (r *report) compare() {
	slices.Sort(r.failed)
	r.failed = slices.Compact(r.failed)
	slices.Sort(r.warned)
	file := filepath.Join(home, r.subject.name, r.revision+".yml")
	notPassed := append(slices.Clone(r.failed), r.warned...)
	for _, name := range notPassed {
		if r.baseline[name] == "" {
			r.problems = append(r.problems, fmt.Errorf("%s %s: %s did not pass: mend it, or give the reason in %s: %s", r.subject.name, r.revision, name, file, r.said[name]))
		}
	}
	for name := range r.baseline {
		if !slices.Contains(notPassed, name) {
			r.problems = append(r.problems, fmt.Errorf("%s %s: %s passes now, or is gone: remove its line from %s", r.subject.name, r.revision, name, file))
		}
	}
}

// readBaseline reads lines of the form "- scenario:check # reason".
func readBaseline(file string) (map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	reasons := map[string]string{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		entry, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "- ")
		if !ok {
			continue
		}
		name, reason, ok := strings.Cut(entry, " # ")
		if !ok || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s:%d: a line needs a reason: - scenario:check # why", file, n)
		}
		reasons[strings.TrimSpace(name)] = strings.TrimSpace(reason)
	}
	return reasons, lines.Err()
}
