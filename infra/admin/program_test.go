package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/functions/local/system"
	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

var now = time.Date(2025, 6, 22, 15, 30, 0, 0, time.UTC)

// in runs the program in this process, on the data in a directory.
func in(t *testing.T, dir string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := program{
		env: func(string) string { return "" }, user: func() string { return "tests" }, now: time.Now,
		stdin: strings.NewReader(""), stdout: &out, stderr: &errs,
	}
	status = p.run(t.Context(), append(args, "-data", dir))
	return status, out.String(), errs.String()
}

// TestOnTheDataOfTheLocalConnector holds that both mean the same file, and that what is done
// here counts there.
func TestOnTheDataOfTheLocalConnector(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	status, _, said := in(t, dir, "workspace", "show", "-workspace", "aacworkflow-demo")
	if status != exitUsage || !strings.Contains(said, "there is no tracker.db") {
		t.Errorf("without data: %d, %s", status, said)
	}
	start := func() *system.System {
		t.Helper()
		s, err := system.Start(t.Context(), system.Config{Addr: "127.0.0.1:0", Data: dir})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := start()
	status, _, said = in(t, dir, "workspace", "show", "-workspace", "aacworkflow-demo")
	if status != exitRefused || !strings.Contains(said, "another connector is using") {
		t.Errorf("while it runs: %d, %s", status, said)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	status, out, said := in(t, dir, "token", "issue", "-workspace", "aacworkflow-demo", "-member", "Tomas Rey", "-name", "x", "-scopes", "all", "-json")
	var issued struct{ Token string }
	if err := json.Unmarshal([]byte(out), &issued); status != exitDone || err != nil {
		t.Fatalf("%d, %s, %v", status, said, err)
	}
	s = start()
	v := token.Verifier{Tokens: s.Tables, Members: records.Members(s.Tables), Now: time.Now}
	p, err := v.Verify(t.Context(), issued.Token)
	if err := errors.Join(err, s.Close()); err != nil || p.Name != "Tomas Rey" {
		t.Errorf("the token there: %+v, %v", p, err)
	}
}

// full is an output that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// TestATokenThatNobodySaw holds that a secret which could not be shown can be revoked.
func TestATokenThatNobodySaw(t *testing.T) {
	dir := newWorkspace(t)
	var errs bytes.Buffer
	p := program{env: func(string) string { return "" }, user: func() string { return "tests" }, now: time.Now, stdout: full{}, stderr: &errs}
	status := p.run(t.Context(), []string{"token", "issue", "-data", dir, "-workspace", "fjord", "-member", "Ida Moe", "-name", "x", "-scopes", "all"})
	_, id, found := strings.Cut(strings.TrimSpace(errs.String()), "token revoke -id ")
	if status != exitRefused || !found {
		t.Fatalf("%d, %s", status, errs.String())
	}
	if status, _, said := in(t, dir, "token", "revoke", "-workspace", "fjord", "-id", id, "-confirm"); status != exitDone {
		t.Errorf("revoking it: %s", said)
	}
}

// newWorkspace makes a directory with the workspace fjord of Ida Moe in it.
func newWorkspace(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if status, _, said := in(t, dir, "workspace", "create", "-name", "Fjord", "-slug", "fjord", "-prefix", "FJO", "-owner", "Ida Moe"); status != exitDone {
		t.Fatal(said)
	}
	return dir
}

// open makes a session on the directory, over tables that change may wrap.
func open(t *testing.T, dir string, wrap func(*embedded.DB) (table.Writer, audit.Log)) *session {
	t.Helper()
	db, err := embedded.OpenUnsynced(filepath.Join(dir, dataFile))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := &session{operator: "tests", callID: "call", settings: audit.Settings{
		Now: func() time.Time { return now }, NewID: func() string { return string(newID()) }, Retention: audit.DefaultRetention,
	}}
	s.tables, s.log = wrap(db)
	s.admin = records.NewAdmin(s.tables, newID)
	if s.workspace, err = s.admin.FindWorkspace(t.Context(), "fjord"); err != nil {
		t.Fatal(err)
	}
	return s
}

func plain(db *embedded.DB) (table.Writer, audit.Log) { return db, db }

func (s *session) outcomes(t *testing.T) (all []string) {
	t.Helper()
	x := audit.Export{Workspace: string(s.workspace), Now: now.AddDate(1, 0, 0), Filter: audit.Filter{Until: now.Add(time.Hour)}, Retention: 2 * audit.DefaultRetention}
	err := x.Each(t.Context(), s.tables, func(e audit.Event) error {
		all = append(all, fmt.Sprint(e.Tool, " ", e.Outcome))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var errDown = errors.New("the engine is down")

// broken is a log that takes nothing, and tables whose commits fail once some were made.
type broken struct {
	*embedded.DB
	commits int
}

func (*broken) Append(context.Context, table.Item) error { return errDown }

func (b *broken) Commit(ctx context.Context, ops []table.Op) error {
	if b.commits == 0 {
		return errDown
	}
	b.commits--
	return b.DB.Commit(ctx, ops)
}

func TestWhatCannotBeRecordedHasNoResult(t *testing.T) {
	s := open(t, newWorkspace(t), func(db *embedded.DB) (table.Writer, audit.Log) { return db, &broken{DB: db} })
	d, err := s.directory(t.Context(), "list_members")
	if !errors.Is(err, errDown) || len(d.Members) != 0 {
		t.Errorf("%d members, %v", len(d.Members), err)
	}
}

func TestAnImportThatBreaksOff(t *testing.T) {
	dir := newWorkspace(t)
	rows := &strings.Builder{}
	for i := range 300 {
		fmt.Fprintf(rows, "{\"date\":\"2025-06-%02d\",\"provider\":\"p\",\"model\":\"m%d\"}\n", 1+i%30, i)
	}
	do := func(s *session) (result, error) {
		s.stdin = strings.NewReader(rows.String())
		c, _ := find([]string{"usage", "import"})
		f, _, do := c.parser()
		if err := f.Parse([]string{"-file", "-"}); err != nil {
			t.Fatal(err)
		}
		return do(t.Context(), s)
	}
	s := open(t, dir, func(db *embedded.DB) (table.Writer, audit.Log) { return &broken{db, 2}, db })
	if _, err := do(s); !errors.Is(err, errDown) || !strings.Contains(err.Error(), "196 of 300 rows are stored") {
		t.Errorf("%v", err)
	}
	s.tables = s.tables.(*broken).DB
	s.admin = records.NewAdmin(s.tables, newID)
	out, err := do(s)
	if want := (importedOut{Added: 104, Unchanged: 196}); out != want || err != nil {
		t.Errorf("the same import again: %+v, %v", out, err)
	}
	want := "admin.import_usage success,admin.import_usage success,admin.import_usage error," +
		"admin.import_usage success,admin.import_usage success,admin.import_usage success,admin.import_usage success"
	if got := strings.Join(s.outcomes(t), ","); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestTokensOfWhoLeavesMeanwhile issues tokens to a member while they are removed, and holds
// that none of them is in force afterwards.
func TestTokensOfWhoLeavesMeanwhile(t *testing.T) {
	dir := newWorkspace(t)
	if status, _, said := in(t, dir, "member", "add", "-workspace", "fjord", "-name", "Bo Lie"); status != exitDone {
		t.Fatal(said)
	}
	s := open(t, dir, plain)
	var wg sync.WaitGroup
	run := func(name string, flags ...string) {
		c, _ := find(strings.Fields(name))
		f, _, do := c.parser()
		if err := f.Parse(flags); err != nil {
			t.Error(err)
		}
		wg.Go(func() {
			for range 50 {
				_, err := do(context.Background(), s)
				if f := fault.Of(err); err == nil || f.Reason == fault.UnknownReference {
					return
				} else if f.Reason != fault.Contention {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	for n := range 6 {
		if n == 3 {
			run("member remove", "-member", "Bo Lie")
		}
		run("token issue", "-member", "Bo Lie", "-name", "x", "-scopes", "all")
	}
	wg.Wait()
	all, err := token.List(t.Context(), s.tables, string(s.workspace))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Usable(now) {
			t.Errorf("a token of one who left is in force")
		}
	}
	removed := 0
	for _, o := range s.outcomes(t) {
		if o == "admin.remove_member success" {
			removed++
		}
	}
	if removed != 1 {
		t.Errorf("the removal has %d events", removed)
	}
}

func TestEveryCommandIsWhole(t *testing.T) {
	names := map[string]bool{}
	for _, c := range commands() {
		var help bytes.Buffer
		c.writeHelp(&help)
		f, _, do := c.parser()
		for _, name := range c.required() {
			if f.Lookup(name) == nil {
				t.Errorf("%s needs -%s, but has no such flag", c.name, name)
			}
		}
		if names[c.name] || c.about == "" || do == nil || !strings.Contains(help.String(), "-operator") || len(strings.Fields(c.name)) != 2 {
			t.Errorf("%q is not whole", c.name)
		}
		names[c.name] = true
		for _, verb := range []string{"remove", "revoke", "archive", "purge"} {
			if strings.HasSuffix(c.name, " "+verb) && c.confirm == "" {
				t.Errorf("%s does not ask for -confirm", c.name)
			}
		}
	}
	if len(names) < 20 {
		t.Errorf("only %d commands", len(names))
	}
}

func TestAnOperatorIsNoMember(t *testing.T) {
	s := open(t, newWorkspace(t), plain)
	call, err := s.begin("show_workspace")
	if err != nil {
		t.Fatal(err)
	}
	if identity.Require(call.Principal, identity.IssuesRead) == nil || call.Event.Recorder != audit.RecorderAdmin {
		t.Errorf("%+v", call.Event)
	}
}
