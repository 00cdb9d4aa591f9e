package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/functions/local/system"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// side is one of the two systems that are compared, with a way past its front door.
type side struct {
	t      *testing.T
	name   string
	url    string
	tokens map[string]string // of local.json
	tables table.Writer
}

// issuer is where both sides send people to sign in. Nobody does here.
const issuer = "https://issuer.example.com"

// In these the template's defaults differ from local mode.
var (
	sameSettings   = map[string]string{"AAC_VERSION": "local"}
	sameParameters = map[string]string{"AllowedOrigins": "http://localhost:*,http://127.0.0.1:*,http://[::1]:*", "OAuthIssuer": issuer}
)

// startDeployed starts the system as it is deployed, for one test.
func startDeployed(t *testing.T, cfg Config) *System {
	t.Helper()
	lookAtSources(t)
	cfg.Addr, cfg.Builder = "127.0.0.1:0", programs
	s, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// lookAtSources opens what the programs are built from. The go command keeps the result of a
// test for as long as nothing has changed that the test has opened; it sees no other processes.
func lookAtSources(t *testing.T) {
	t.Helper()
	root := filepath.Join("..", "..")
	for _, name := range []string{"template.yaml", "Makefile", "go.mod", "go.sum", filepath.Join(".tools", "bin", emulator)} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"functions", "shared"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			t.Fatal(err)
		}
	}
}

// startBoth starts local mode and the deployed system, with the demo data of this moment.
func startBoth(t *testing.T) (sides [2]*side) {
	t.Helper()
	local, err := system.Start(t.Context(), system.Config{
		Addr: "127.0.0.1:0", Data: filepath.Join(t.TempDir(), "data"), Issuer: signin.Issuer{URL: issuer},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := local.Close(); err != nil {
			t.Error(err)
		}
	})
	deployed := startDeployed(t, Config{Settings: sameSettings, Parameters: sameParameters})
	return [2]*side{
		{t, "local mode", local.URL, local.Tokens, local.Tables},
		{t, "as deployed", deployed.URL, deployed.Access.Tokens, writer.Open(deployed.Conn)},
	}
}

// call is one request, without what differs from side to side.
type call struct {
	method, path string
	who          string // name of a token of local.json, or a secret of its own; empty: no token
	body         string
	headers      []string // pairs; an empty value removes what is sent otherwise
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (s *side) send(c call) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), c.method, s.url+c.path, strings.NewReader(c.body))
	if err != nil {
		s.t.Error(s.name, err)
		return answer{}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("User-Agent", "tests/1.0")
	if secret, ok := s.tokens[c.who]; ok {
		r.Header.Set("Authorization", "Bearer "+secret)
	} else if c.who != "" {
		r.Header.Set("Authorization", "Bearer "+c.who)
	}
	for i := 0; i < len(c.headers); i += 2 {
		r.Header.Set(c.headers[i], c.headers[i+1])
		if c.headers[i+1] == "" {
			r.Header.Del(c.headers[i])
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Error(s.name, err) // not Fatal: callers come side by side
		return answer{}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Error(s.name, err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}
}

// get makes a request of a handler without a server.
func get(t *testing.T, h http.Handler, path string) answer {
	t.Helper()
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return answer{recorder.Code, recorder.Header(), recorder.Body.String()}
}

// door is a way to call a tool.
type door string

const (
	rest   door = "REST"
	modern door = "2026-07-28"
	legacy door = "2025-11-25"
)

// callOf writes the call of a tool for a door.
func callOf(d door, who, tool, arguments string) call {
	if d == rest {
		return call{method: http.MethodPost, path: "/tools/" + tool, who: who, body: arguments}
	}
	params := fmt.Sprintf(`"name":%q`, tool)
	if arguments != "" {
		params += `,"arguments":` + arguments
	}
	return mcp(d, who, "tools/call", params, "Mcp-Name", tool)
}

// mcp writes one MCP request; params are members, without braces. The headers are sent in the
// era that has them.
func mcp(d door, who, method, params string, headers ...string) call {
	c := call{method: http.MethodPost, path: "/mcp", who: who, headers: []string{"MCP-Protocol-Version", string(d)}}
	if d == modern {
		meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{},`+
			`"io.modelcontextprotocol/clientInfo":{"name":"tests","version":"1.0"}}`, d)
		params = strings.TrimPrefix(params+","+meta, ",")
		c.headers = append(append(c.headers, "Mcp-Method", method), headers...)
	}
	c.body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
	return c
}

// person is a member of the demo data.
type person struct {
	workspace tracker.ID
	user      tracker.ID
}

// people are the members of snapshots by first name.
func people(snapshots []records.Snapshot) map[string]person {
	all := map[string]person{}
	for _, s := range snapshots {
		for _, m := range s.Members {
			first, _, _ := strings.Cut(m.Name, " ")
			all[first] = person{s.Workspace.ID, m.UserID}
		}
	}
	return all
}

// issue makes a token for a person, as of a time; it lives 30 days.
func (s *side) issue(p person, at time.Time, scopes ...identity.Scope) (string, token.Record) {
	s.t.Helper()
	t, record, err := token.Issue(s.t.Context(), s.tables, token.Grant{
		ID: uuid.NewString(), WorkspaceID: string(p.workspace), UserID: string(p.user), Name: "a test",
		Scopes: scopes, Lifetime: 30 * 24 * time.Hour, At: at,
	})
	if err != nil {
		s.t.Fatalf("%s: %v", s.name, err)
	}
	return t.Secret(), record
}

// load loads snapshots.
func (s *side) load(ctx context.Context, snapshots ...records.Snapshot) {
	s.t.Helper()
	for _, snapshot := range snapshots {
		if err := records.Load(ctx, s.tables, snapshot); err != nil {
			s.t.Fatalf("%s: %v", s.name, err)
		}
	}
}

// workspace returns the n-th copy of the demo workspace, with its foreign one, which is shared.
func workspace(n int, now time.Time) []records.Snapshot {
	snapshots := slices.Clone(demo.Snapshots(now))
	snapshots[0].Workspace.ID = tracker.ID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n))
	snapshots[0].Workspace.Slug = fmt.Sprintf("case-%d", n)
	return snapshots
}
