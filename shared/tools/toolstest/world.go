package toolstest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// anchor is the day of the demo data, start the time of a case's first call.
var (
	anchor = time.Date(2025, 6, 22, 0, 0, 0, 0, time.UTC)
	start  = anchor.Add(15*time.Hour + 30*time.Minute)
)

// world is what one case runs in: its own data, clock and ids.
type world struct {
	engine *engine
	names  *names
	people map[string]identity.Principal // by first name, without scopes
	bound  map[string]*tool.Bound
	logged *strings.Builder
	// engineOf is the engine of each tool; nil if they share one.
	engineOf func(tool string) Engine

	mu     sync.Mutex
	now    time.Time
	calls  int
	events int
}

// openWorld opens a world with the demo data and the preparations. If trap is set, a read tool
// gets a tracker whose every write fails the test.
func openWorld(t testing.TB, given []string, trap bool) *world {
	t.Helper()
	prepared, snapshots := prepare(t, given)
	path := filepath.Join(t.TempDir(), "data.db")
	if err := os.WriteFile(path, loaded(t, given, snapshots), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := embedded.OpenUnsynced(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w := &world{
		engine: &engine{Engine: db, path: path}, names: namesOf(snapshots), people: peopleOf(demo.Snapshots(anchor)),
		logged: new(strings.Builder), now: start,
	}
	for _, p := range prepared {
		if p.engine != nil {
			p.engine(w.engine)
		}
	}
	w.bind(t, trap)
	return w
}

// prepare returns the preparations, and the demo data as they make them.
func prepare(t testing.TB, given []string) ([]preparation, []records.Snapshot) {
	t.Helper()
	prepared, err := preparationsOf(given)
	if err != nil {
		t.Fatal(err)
	}
	snapshots := demo.Snapshots(anchor)
	for _, p := range prepared {
		if p.data != nil {
			p.data(&snapshots[0])
		}
	}
	return prepared, snapshots
}

// loadedFiles keeps the file with the demo data, for each set of preparations: loading takes
// longer than a case.
var loadedFiles sync.Map

func loaded(t testing.TB, given []string, snapshots []records.Snapshot) []byte {
	t.Helper()
	key := strings.Join(given, "\n")
	if raw, ok := loadedFiles.Load(key); ok {
		return raw.([]byte)
	}
	path := filepath.Join(t.TempDir(), "load.db")
	db, err := embedded.OpenUnsynced(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range snapshots {
		if err := records.Load(t.Context(), db, s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	loadedFiles.Store(key, raw)
	return raw
}

// peopleOf are the callers, as their tokens have them: a preparation that changes a role or lets
// a member leave does not change the token.
func peopleOf(snapshots []records.Snapshot) map[string]identity.Principal {
	people := map[string]identity.Principal{}
	for _, s := range snapshots {
		for _, m := range s.Members {
			first := firstName(m.Name)
			people[first] = identity.Principal{
				WorkspaceID: string(s.Workspace.ID), UserID: string(m.UserID), TokenID: "token of " + first,
				Name: m.Name, Role: m.Role,
			}
		}
	}
	return people
}

// bind makes every tool callable, as a deployment does.
func (w *world) bind(t testing.TB, trap bool) {
	readers := w.readers()
	if trap {
		readers = trapped{t: t, Readers: readers}
	}
	stores := records.NewStores(w.engine, w.names.newID)
	w.bound = map[string]*tool.Bound{}
	for _, r := range catalog.Readers() {
		w.bound[r.Name] = tool.BindRead(r, readers, w.deps())
	}
	for _, s := range catalog.Writers() {
		w.bound[s.Name] = tool.BindWrite(s, stores, w.deps())
	}
}

func (w *world) readers() tool.Readers { return records.NewReaders(w.engine) }

func (w *world) deps() tool.Deps {
	return tool.Deps{
		Settings: audit.Settings{Now: w.time, NewID: w.eventID, Retention: audit.DefaultRetention},
		Log:      w.engine,
		Logger:   slog.New(slog.NewTextHandler(w.logged, nil)),
	}
}

func (w *world) time() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) eventID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events++
	return fmt.Sprintf("01JYC%021d", w.events)
}

// principal returns the caller of a call: nil for nobody.
func (w *world) principal(c call, d *tool.Definition) (*identity.Principal, error) {
	if c.Who == "" {
		return nil, nil
	}
	p, ok := w.people[c.Who]
	if !ok {
		return nil, fmt.Errorf("nobody is called %q", c.Who)
	}
	p.Scopes = d.Scopes()
	if c.Scopes != nil {
		p.Scopes = identity.ParseScopes(strings.Join(c.Scopes, " "))
		if len(p.Scopes) != len(c.Scopes) {
			return nil, fmt.Errorf("a scope of %v is unknown or there twice", c.Scopes)
		}
	}
	return &p, nil
}

// invoke makes one call and returns the reply.
func (w *world) invoke(ctx context.Context, name string, p *identity.Principal, arguments string) tool.Reply {
	w.calls++
	if w.engineOf != nil {
		w.engine.Engine = w.engineOf(name)
	}
	return w.bound[name].Invoke(ctx, tool.Request{
		Principal: p, Arguments: []byte(arguments), CallID: fmt.Sprintf("call-%d", w.calls),
		Transport: audit.REST, Client: audit.Client{Name: "toolstest", Version: "1"}, SourceIP: "192.0.2.1",
	})
}

// trapped gives readers that could write, so that a tool which finds a way to is caught.
type trapped struct {
	tool.Readers
	t testing.TB
}

func (r trapped) Reader(c *audit.Call) tracker.Reader {
	return trap{Reader: r.Readers.Reader(c), t: r.t, tool: c.Event.Tool}
}
