package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// The scripts in testdata run the program on each engine, in the process of the test; exec
// infra-admin runs it as a process of its own.
//
//	admin ARGS      it must succeed and leave exactly one event, of a success
//	many N ARGS     the same with N events
//	refused ARGS    it must exit with 1, change no data, and leave one event at most, of no success
//	unusable ARGS   it must exit with 2, change no data and leave no event
//	from FILE       the standard input of the next of these
//	capture VAR path   keep a member of the JSON that was printed last, such as members.0.user_id
//	works TOKEN     the token opens the connector: says whose it is; ! works: it does not
//	demo [DAYS]     load the demo data, as if that were so many days ago
//	denials SLUG N  record so many refused calls of one token in the workspace, just now
//
// After each run the script looks for secrets: one that is printed twice, or on stderr, or that
// lies in the tables.

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"infra-admin": main})
}

func TestScriptsOnAFile(t *testing.T) {
	runScripts(t, func(*testing.T) place { return &onFile{} })
}

func TestScriptsOnDynamoDB(t *testing.T) {
	server := dynamotest.Start(t)
	for name, value := range server.Env() {
		t.Setenv(name, value) // for the AWS SDK, which reads the real environment
	}
	runScripts(t, func(t *testing.T) place { return &onDynamoDB{conn: server.Conn(t)} })
}

func runScripts(t *testing.T, newPlace func(*testing.T) place) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			at := newPlace(t)
			testscript.Run(t, testscript.Params{
				Files: []string{file},
				Setup: func(env *testscript.Env) error {
					env.Values["script"] = &script{place: at, seen: map[string]int{}}
					at.prepare(env)
					return nil
				},
				Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
					"admin": cmdAdmin, "many": cmdMany, "refused": cmdRefused, "unusable": cmdUnusable,
					"from": cmdFrom, "capture": cmdCapture, "works": cmdWorks, "demo": cmdDemo, "denials": cmdDenials,
				},
			})
		})
	}
}

// place is where the data of a script are.
type place interface {
	prepare(*testscript.Env)
	flags() []string                          // by which the program finds them
	dump() (map[string]string, error)         // all items of both tables, by table and key
	use(func(table.Writer) error) (err error) // while the program does not run
}

// script is what one script has seen.
type script struct {
	place
	seen  map[string]int // secrets, and how often they were printed
	last  []byte
	stdin string // of the next run
}

func scriptOf(ts *testscript.TestScript) *script { return ts.Value("script").(*script) }

func cmdAdmin(ts *testscript.TestScript, neg bool, args []string) {
	never(ts, neg, "use refused or unusable")
	runAdmin(ts, exitDone, 1, args)
}

func cmdMany(ts *testscript.TestScript, neg bool, args []string) {
	never(ts, neg, "use refused or unusable")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	runAdmin(ts, exitDone, n, args[1:])
}

func cmdRefused(ts *testscript.TestScript, neg bool, args []string) {
	never(ts, neg, "use admin")
	runAdmin(ts, exitRefused, 1, args)
}

func cmdUnusable(ts *testscript.TestScript, neg bool, args []string) {
	never(ts, neg, "use admin")
	runAdmin(ts, exitUsage, 0, args)
}

func never(ts *testscript.TestScript, neg bool, instead string) {
	if neg {
		ts.Fatalf("this command cannot be negated: %s", instead)
	}
}

// runAdmin runs the program and compares the tables before and after.
func runAdmin(ts *testscript.TestScript, status, events int, args []string) {
	s := scriptOf(ts)
	before, err := s.dump()
	ts.Check(err)
	for i, arg := range args {
		if i > 0 && args[i-1] == "-file" && arg != "-" {
			args[i] = ts.MkAbs(arg)
		}
	}
	var stdout, stderr bytes.Buffer
	p := program{
		env: ts.Getenv, user: func() string { return "tester" }, now: time.Now,
		stdin: strings.NewReader(s.stdin), stdout: &stdout, stderr: &stderr,
	}
	got := p.run(context.Background(), append(slices.Clone(args), s.flags()...))
	s.last, s.stdin = stdout.Bytes(), ""
	_, _ = ts.Stdout().Write(s.last)
	_, _ = ts.Stderr().Write(stderr.Bytes())
	if got != status {
		ts.Fatalf("exit status %d, want %d", got, status)
	}
	after, err := s.dump()
	ts.Check(err)
	s.checkSecrets(ts, stderr.String(), after)

	outcomes := newEvents(before, after)
	for _, o := range outcomes {
		if (o == fault.Success) != (status == exitDone) {
			ts.Fatalf("exit status %d, but an event says %s", status, o)
		}
	}
	if len(outcomes) > events || len(outcomes) < events && status == exitDone {
		ts.Fatalf("%d new events, want %d", len(outcomes), events)
	}
	if diff := cmp.Diff(dataOf(before), dataOf(after)); status != exitDone && diff != "" {
		ts.Fatalf("what is refused changes nothing (-before +after):\n%s", diff)
	}
}

// newEvents returns the outcomes of events that were not there before. Those that were must not
// have changed.
func newEvents(before, after map[string]string) (outcomes []fault.Outcome) {
	for key, doc := range after {
		old, known := before[key]
		if !strings.HasPrefix(key, "audit ") || old == doc {
			continue
		}
		var e struct {
			Outcome fault.Outcome `json:"outcome"`
		}
		if err := json.Unmarshal([]byte(doc), &e); err != nil || known {
			e.Outcome = fault.Outcome(fmt.Sprintf("changed: %v %v", known, err))
		}
		outcomes = append(outcomes, e.Outcome)
	}
	return outcomes
}

func dataOf(dump map[string]string) map[string]string {
	data := maps.Clone(dump)
	maps.DeleteFunc(data, func(key, _ string) bool { return !strings.HasPrefix(key, "data ") })
	return data
}

var secretForm = regexp.MustCompile(`aac_pat_[0-9A-Za-z]{49}`)

func (s *script) checkSecrets(ts *testscript.TestScript, stderr string, dump map[string]string) {
	for _, secret := range secretForm.FindAllString(string(s.last), -1) {
		s.seen[secret]++
	}
	if secretForm.MatchString(stderr) {
		ts.Fatalf("there is a secret on stderr")
	}
	for secret, times := range s.seen {
		if times > 1 {
			ts.Fatalf("a secret was printed %d times", times)
		}
		for key, doc := range dump {
			if strings.Contains(key+doc, secret[token.PrefixLength:]) {
				ts.Fatalf("a secret lies in the tables, at %s", key)
			}
		}
	}
}

func cmdFrom(ts *testscript.TestScript, neg bool, args []string) {
	never(ts, neg, "it always works")
	scriptOf(ts).stdin = ts.ReadFile(args[0])
}

func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture VAR path")
	}
	var at any
	ts.Check(json.Unmarshal(scriptOf(ts).last, &at))
	for step := range strings.SplitSeq(args[1], ".") {
		switch in := at.(type) {
		case map[string]any:
			at = in[step]
		case []any:
			n, err := strconv.Atoi(step)
			ts.Check(err)
			at = in[n]
		default:
			ts.Fatalf("there is no %s", args[1])
		}
	}
	ts.Setenv(args[0], fmt.Sprint(at))
}

func cmdWorks(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: works TOKEN")
	}
	err := scriptOf(ts).use(func(w table.Writer) error {
		v := token.Verifier{Tokens: w, Members: records.Members(w), Now: time.Now}
		p, err := v.Verify(context.Background(), args[0])
		if err == nil {
			_, err = fmt.Fprintf(ts.Stdout(), "%s, %s, %d scopes\n", p.Name, p.Role, len(p.Scopes))
		}
		return err
	})
	if (err != nil) != neg {
		ts.Fatalf("works %v: %v", !neg, err)
	}
}

func cmdDemo(ts *testscript.TestScript, neg bool, args []string) {
	never(ts, neg, "it always works")
	days := 0
	if len(args) == 1 {
		var err error
		days, err = strconv.Atoi(args[0])
		ts.Check(err)
	}
	ts.Check(scriptOf(ts).use(func(w table.Writer) error {
		for _, snapshot := range demo.Snapshots(time.Now().AddDate(0, 0, -days)) {
			if err := records.Load(context.Background(), w, snapshot); err != nil {
				return err
			}
		}
		return nil
	}))
}

// TestTheScriptsWouldNotice plants what runAdmin must see.
func TestTheScriptsWouldNotice(t *testing.T) {
	event := `{"outcome":"success"}`
	before := map[string]string{"audit a": event, "data d": "1"}
	if got := newEvents(before, map[string]string{"audit a": event, "audit b": event}); !slices.Equal(got, []fault.Outcome{fault.Success}) {
		t.Errorf("a new event: %v", got)
	}
	if got := newEvents(before, map[string]string{"audit a": `{"outcome":"denied"}`}); len(got) != 1 || got[0] == fault.Success || got[0] == fault.Denied {
		t.Errorf("an event that was changed: %v", got)
	}
	if cmp.Equal(dataOf(before), dataOf(map[string]string{"data d": "2"})) {
		t.Error("changed data")
	}
	secret, err := token.New(bytes.NewReader(make([]byte, 32)))
	if err != nil || !secretForm.MatchString("x "+secret.Secret()+"\n") {
		t.Errorf("a secret is not known: %v", err)
	}
}
