package authserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

const (
	issuer   = "https://auth.example.com"
	resource = "https://mcp.example.com/mcp"
	callback = "https://client.example.com/callback?keep=1"
	verifier = "a-verifier-of-at-least-forty-three-characters-0123"
)

// Codes of the protocol, as they are on the wire.
const (
	invalidRequest   = "invalid_request"
	invalidClient    = "invalid_client"
	invalidGrant     = "invalid_grant"
	invalidScope     = "invalid_scope"
	invalidTarget    = "invalid_target"
	accessDenied     = "access_denied"
	unauthorized     = "unauthorized_client"
	unsupportedGrant = "unsupported_grant_type"
	tryLater         = "temporarily_unavailable"
	invalidRedirect  = "invalid_redirect_uri"
	invalidMetadata  = "invalid_client_metadata"
)

// tokens is an answer of /token, as it is on the wire.
type tokens struct {
	Access    string `json:"access_token"`
	Type      string `json:"token_type"`
	ExpiresIn int    `json:"expires_in"`
	Refresh   string `json:"refresh_token"`
	Scope     string `json:"scope"`
}

// world is a server with one person at one browser.
type world struct {
	*Server
	t       testing.TB
	db      *embedded.DB
	login   *fakeLogin
	members *fakeMembers
	clock   *fakeClock
	log     *bytes.Buffer
	cookies map[string]string
	source  string // IP address
	file    string // of the tables
}

type fakeClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *fakeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// fakeLogin has whom it is told at the browser.
type fakeLogin struct {
	person Person
	gone   bool
	back   string // of the last call of SignIn or SignOut
	outs   int
}

func (f *fakeLogin) Who(*http.Request) (Person, bool, error) { return f.person, !f.gone, nil }

func (f *fakeLogin) SignIn(w http.ResponseWriter, _ *http.Request, back string) {
	f.back = back
	w.WriteHeader(http.StatusOK)
}

func (f *fakeLogin) SignOut(w http.ResponseWriter, r *http.Request, back string) {
	f.outs++
	f.gone = true
	f.SignIn(w, r, back)
}

type fakeMembers struct {
	role identity.Role
	left bool
}

func (f *fakeMembers) Member(_ context.Context, workspace, user string) (string, identity.Role, bool, error) {
	return "Priya", f.role, !f.left && workspace == "w1" && user == "u1", nil
}

var tools = []Tool{
	{Name: "get_issue", Title: "Get issue", Scopes: []identity.Scope{identity.IssuesRead}},
	{Name: "update_issue", Title: "Update issue", Scopes: []identity.Scope{identity.IssuesWrite}},
	{Name: "delete_issue", Title: "Delete issue", Scopes: []identity.Scope{identity.IssuesWrite}, Destructive: true},
}

func newWorld(t testing.TB, change ...func(*Config)) *world {
	t.Helper()
	file := filepath.Join(t.TempDir(), "data.db")
	db, err := embedded.OpenUnsynced(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w := &world{
		t: t, db: db, file: file, log: &bytes.Buffer{}, cookies: map[string]string{}, source: "192.0.2.7",
		login:   &fakeLogin{person: Person{Subject: "s1", WorkspaceID: "w1", WorkspaceName: "Acme", UserID: "u1", Name: "Priya"}},
		members: &fakeMembers{role: identity.Member},
		clock:   &fakeClock{at: time.Date(2025, 6, 22, 15, 30, 0, 0, time.UTC)},
	}
	logger := slog.New(slog.NewTextHandler(w.log, nil))
	before := slog.Default()
	slog.SetDefault(logger) // where the library logs to
	t.Cleanup(func() { slog.SetDefault(before) })
	var events atomic.Int64
	cfg := Config{
		Issuer: issuer, Resource: resource, Name: "AACWorkflow", Tools: tools, Tables: db, Members: w.members, Login: w.login, Log: db,
		Audit:  audit.Settings{Now: w.clock.now, NewID: func() string { return fmt.Sprintf("e%04d", events.Add(1)) }, Retention: audit.DefaultRetention},
		Logger: logger,
	}
	for _, c := range change {
		c(&cfg)
	}
	if w.Server, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	return w
}

// send makes a request as the browser, or any program, would.
func (w *world) send(method, target, kind, body string, headers ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequestWithContext(audit.WithOrigin(context.Background(), audit.Origin{CallID: "call-1", SourceIP: w.source}),
		method, target, strings.NewReader(body))
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for name, value := range w.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	out := httptest.NewRecorder()
	w.ServeHTTP(out, r)
	for _, c := range out.Result().Cookies() {
		w.cookies[c.Name] = c.Value
	}
	return out
}

const formType = "application/x-www-form-urlencoded"

func (w *world) form(path string, pairs ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	return w.send(http.MethodPost, path, formType, query(pairs...))
}

func query(pairs ...string) string {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v.Encode()
}

// client registers a client and returns its id.
func (w *world) client(redirects ...string) string {
	w.t.Helper()
	if len(redirects) == 0 {
		redirects = []string{callback}
	}
	body, _ := json.Marshal(map[string]any{"client_name": "Probe", "redirect_uris": redirects})
	out := w.send(http.MethodPost, RegisterPath, "application/json", string(body))
	if out.Code != http.StatusCreated {
		w.t.Fatalf("%d %s", out.Code, out.Body)
	}
	return decode[registration](w.t, out).ClientID
}

func decode[T any](t testing.TB, out *httptest.ResponseRecorder) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(out.Body.Bytes(), &v); err != nil {
		t.Fatalf("%d %q: %v", out.Code, out.Body, err)
	}
	return v
}

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// ask is what a client asks for; change overwrites parameters, an empty value takes one away.
func ask(client string, change ...string) string {
	v := url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {callback}, "state": {"st&te"}, "scope": {"issues:read issues:write"},
		"code_challenge": {challengeOf(verifier)}, "code_challenge_method": {"S256"}, "resource": {resource},
	}
	for i := 0; i < len(change); i += 2 {
		if change[i+1] == "" {
			v.Del(change[i])
		} else {
			v.Set(change[i], change[i+1])
		}
	}
	return AuthorizePath + "?" + v.Encode()
}

var flowField = regexp.MustCompile(`name="flow" value="([^"]+)"`)

// page asks for consent, and returns the page and its secret.
func (w *world) page(target string) (string, string) {
	w.t.Helper()
	out := w.send(http.MethodGet, target, "", "")
	found := flowField.FindStringSubmatch(out.Body.String())
	if out.Code != http.StatusOK || found == nil {
		w.t.Fatalf("no consent page: %d %s %s", out.Code, out.Header().Get("Location"), out.Body)
	}
	return html.UnescapeString(out.Body.String()), found[1]
}

// location returns where an answer leads, and its parameters.
func location(t testing.TB, out *httptest.ResponseRecorder) (string, url.Values) {
	t.Helper()
	if out.Code != http.StatusSeeOther {
		t.Fatalf("no redirect: %d %s", out.Code, out.Body)
	}
	where, raw, _ := strings.Cut(out.Header().Get("Location"), "?")
	v, err := url.ParseQuery(raw)
	if err != nil {
		t.Fatal(err)
	}
	return where, v
}

// code lets the client in and returns the code.
func (w *world) code(client string, scopes ...string) string {
	w.t.Helper()
	_, flow := w.page(ask(client))
	pairs := []string{"flow", flow, "decision", "allow"}
	for _, s := range scopes {
		pairs = append(pairs, "scope", s)
	}
	_, v := location(w.t, w.form(AuthorizePath, pairs...))
	if v.Get("code") == "" {
		w.t.Fatalf("no code: %v", v)
	}
	return v.Get("code")
}

// redeemWith sends a code; change as in ask.
func (w *world) redeemWith(client, code string, change ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	v := url.Values{
		"grant_type": {"authorization_code"}, "client_id": {client}, "code": {code}, "redirect_uri": {callback},
		"code_verifier": {verifier}, "resource": {resource},
	}
	for i := 0; i < len(change); i += 2 {
		if change[i+1] == "" {
			v.Del(change[i])
		} else {
			v.Set(change[i], change[i+1])
		}
	}
	return w.send(http.MethodPost, TokenPath, formType, v.Encode())
}

// signIn goes all the way.
func (w *world) signIn(client string, scopes ...string) tokens {
	w.t.Helper()
	if len(scopes) == 0 {
		scopes = []string{"issues:read", "issues:write"}
	}
	out := w.redeemWith(client, w.code(client, scopes...))
	if out.Code != http.StatusOK {
		w.t.Fatalf("%d %s", out.Code, out.Body)
	}
	return decode[tokens](w.t, out)
}

func (w *world) refreshWith(client, token string, more ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	return w.form(TokenPath, append([]string{"grant_type", "refresh_token", "client_id", client, "refresh_token", token}, more...)...)
}

// refused requires a protocol error.
func refused(t testing.TB, out *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	if got := decode[refusal](t, out); out.Code != status || got.Code != code || got.Text == "" {
		t.Errorf("%d %s, want %d %s", out.Code, out.Body, status, code)
	}
	if out.Header().Get("Cache-Control") != "no-store" {
		t.Error("the answer may be kept")
	}
}

// events returns the events of the workspace as "tool outcome reason detail", oldest first.
func (w *world) events() []string {
	w.t.Helper()
	page, err := audit.Query{Workspace: "w1", Limit: audit.MaxQueryLimit, Now: w.clock.now().Add(time.Second), Retention: audit.DefaultRetention}.Run(context.Background(), w.db)
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, e := range page.Events {
		if e.Recorder != audit.RecorderOAuth || e.Actor != "u1" || e.CallID != "call-1" || e.SourceIP == "" || !strings.HasPrefix(e.Target, "grant/") {
			w.t.Errorf("an event lacks something: %+v", e)
		}
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.Tool, e.Outcome, e.Reason, e.Detail)))
	}
	slices.Reverse(all)
	return all
}
