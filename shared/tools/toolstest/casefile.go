package toolstest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// A case is a txtar file: a head in prose that says which behaviour it guards, then
//
//	-- given --    optional: what differs from the demo data, one preparation a line (given.go)
//	-- call --     JSON, see type call
//	-- reply --    the status as over REST, then the answer or the error
//	-- audit --    the call's event, or "none"
//	-- data --     "changed", "unchanged" or "not read": the data table around the call
//
// and call, reply, audit, data again for each further call. Calls share one clock, which starts
// at 15:30 UTC on the anchor day, and one set of data. Ids are written as names (names.go), so
// that a case can be read.

// call says who calls what.
type call struct {
	Who    string   `json:"who"`              // first name of a member; "" is nobody
	Scopes []string `json:"scopes,omitempty"` // left out: exactly those that the tool needs
	Tool   string   `json:"tool,omitempty"`   // left out: that of the directory
	After  string   `json:"after,omitempty"`  // time since the call before; left out: 1m
	Times  int      `json:"times,omitempty"`  // so often; the last is compared, the others must succeed
	// Quiet calls prepare: they must succeed, and nothing else of them is compared.
	Quiet     bool            `json:"quiet,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Raw       string          `json:"raw,omitempty"` // instead of arguments, for what is not JSON

	text string // as in the file
}

func (c call) arguments() string {
	if c.Raw != "" {
		return c.Raw
	}
	return string(c.Arguments)
}

func (c call) pause() (time.Duration, error) {
	if c.After == "" {
		return time.Minute, nil
	}
	return time.ParseDuration(c.After)
}

type step struct {
	call               call
	reply, audit, data string
}

type caseFile struct {
	prose string
	given []string
	steps []step
}

func readCase(path string) (*caseFile, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseCase(raw)
}

func parseCase(raw []byte) (*caseFile, error) {
	a := txtar.Parse(raw)
	c := &caseFile{prose: string(a.Comment)}
	if strings.TrimSpace(c.prose) == "" {
		return nil, errors.New("a case begins with prose that says which behaviour it guards")
	}
	for _, f := range a.Files {
		if err := c.add(f.Name, string(f.Data)); err != nil {
			return nil, fmt.Errorf("section %s: %w", f.Name, err)
		}
	}
	if len(c.steps) == 0 {
		return nil, errors.New("a case needs a call section")
	}
	return c, nil
}

func (c *caseFile) add(section, text string) error {
	switch section {
	case "given":
		for line := range strings.Lines(text) {
			c.given = append(c.given, strings.TrimSpace(line))
		}
		return nil
	case "call":
		parsed, err := parseCall(text)
		c.steps = append(c.steps, step{call: parsed})
		return err
	}
	if len(c.steps) == 0 {
		return errors.New("it stands before any call")
	}
	last := &c.steps[len(c.steps)-1]
	for name, to := range map[string]*string{"reply": &last.reply, "audit": &last.audit, "data": &last.data} {
		if name == section {
			if *to != "" || last.call.Quiet {
				return errors.New("the call has one already, or is quiet")
			}
			*to = text
			return nil
		}
	}
	return errors.New("there is no such section: use given, call, reply, audit, data")
}

func parseCall(text string) (call, error) {
	var c call
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return c, err
	}
	c.text = text
	if c.Raw != "" && len(c.Arguments) > 0 {
		return c, errors.New("give arguments or raw, not both")
	}
	if _, err := c.pause(); err != nil {
		return c, err
	}
	return c, nil
}

func (c *caseFile) write(path string) error {
	a := &txtar.Archive{Comment: []byte(c.prose)}
	section := func(name, text string) {
		a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(text)})
	}
	if len(c.given) > 0 {
		section("given", strings.Join(c.given, "\n")+"\n")
	}
	for _, s := range c.steps {
		section("call", s.call.text)
		if !s.call.Quiet {
			section("reply", s.reply)
			section("audit", s.audit)
			section("data", s.data)
		}
	}
	return os.WriteFile(path, txtar.Format(a), 0o644)
}

func compare(t *testing.T, i int, section, want, got string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("call %d, %s (-want +got); if that is meant, run this test with -update and review the file:\n%s", i+1, section, diff)
	}
}

// indent lays JSON out for reading.
func indent(raw []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return "not JSON: " + err.Error()
	}
	return b.String()
}
