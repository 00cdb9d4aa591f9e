package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"github.com/aacworkflow/mcp-connector/functions/local/system"
	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/authserver"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// site is what a client of the system has on the web: the page to which people come back, and, on
// another name of this machine, two pages of an attacker.
type site struct {
	sys    *system.System
	url    string // scheme, host and port
	server *http.Server
	client string // the id of the honest one
	ask    map[string]string

	mu   sync.Mutex
	came []string // what the people who came back brought, in order
}

// verifier is the client's (RFC 7636); challenge is its SHA-256 in base64url.
const (
	verifier  = "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv"
	challenge = "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM"
	state     = "s1"
	allScopes = "issues:read issues:write comments:read comments:write audit:read"
)

func openSite(sys *system.System) (*site, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &site{sys: sys, url: "http://" + listener.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", s.callback)
	mux.HandleFunc("GET /frame", s.frame)
	mux.HandleFunc("GET /forge", s.forge)
	mux.HandleFunc("POST /event", s.event)
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

func (s *site) close() { _ = s.server.Close() }

// callback redeems a code at once, as a client does.
func (s *site) callback(w http.ResponseWriter, r *http.Request) {
	brought := s.brought(r)
	s.mu.Lock()
	s.came = append(s.came, brought)
	s.mu.Unlock()
	show(w, `<title>Signed in</title><p>You can close this page.`)
}

func (s *site) brought(r *http.Request) string {
	q := r.URL.Query()
	switch {
	case r.Referer() != "":
		return "the address that they come from"
	case q.Get("state") != state || q.Get("iss") != s.sys.URL:
		return "state or iss of somebody else"
	case q.Has("error") && q.Has("code"):
		return "both an error and a code"
	case q.Has("error"):
		return q.Get("error")
	}
	scope, err := s.redeem(r.Context(), q.Get("code"))
	if err != nil {
		return err.Error()
	}
	return "a token for " + scope
}

// compare compares what came back: one yes, with what was left ticked; one no; one mistake. In a
// frame, and by an answer from another site, nobody was let in.
func (s *site) compare() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	want := []string{"a token for issues:read comments:read comments:write", "access_denied", "invalid_request"}
	if diff := cmp.Diff(want, s.came); diff != "" {
		return fmt.Errorf("people did not come back to the client with what they should (-want +got):\n%s", diff)
	}
	return nil
}

// frame is an attacker's page that shows ours.
func (s *site) frame(w http.ResponseWriter, _ *http.Request) {
	show(w, fmt.Sprintf(`<title>A game</title><iframe src="%s"></iframe>`, strings.ReplaceAll(s.ask["all"], "&", "&amp;")))
}

// forge is an attacker's page that answers ours, and even knows its secret.
func (s *site) forge(w http.ResponseWriter, r *http.Request) {
	show(w, fmt.Sprintf(`<title>A game</title><form method="post" action="%s"><input name="flow" value="%s">
		<input name="decision" value="allow"><input name="scope" value="issues:read"></form><script>onload = () => setTimeout(() => document.forms[0].submit())</script>`,
		s.sys.URL+authserver.AuthorizePath, r.FormValue("flow")))
}

func show(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, "<!DOCTYPE html>"+body)
}

// event records a call of an actor with a hostile name. No caller can have one: ids are ours. The
// page is not to rely on that.
func (s *site) event(w http.ResponseWriter, r *http.Request) {
	settings := audit.Settings{Now: time.Now, NewID: func() string { return ulid.Make().String() }, Retention: audit.DefaultRetention}
	call := settings.Begin(audit.Start{
		Principal: &identity.Principal{WorkspaceID: string(s.sys.WorkspaceID), UserID: hostile}, Tool: "list_issues", Recorder: "list_issues",
		Transport: audit.REST, Client: audit.Client{Name: hostile, Version: hostile}, SourceIP: hostile,
	})
	call.Target("issue", hostile)
	if err := call.Record(r.Context(), s.sys.Tables, nil); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// addresses registers two clients, one with an honest name and one without, and returns what they
// open in the browser.
func (s *site) addresses(ctx context.Context) (map[string]string, error) {
	back := s.url + "/callback"
	honest, err := s.register(ctx, "Walk", back)
	if err != nil {
		return nil, err
	}
	s.client = honest
	const away = "https://client.example/callback" // never reached
	stranger, err := s.register(ctx, hostile, away)
	if err != nil {
		return nil, err
	}
	s.ask = map[string]string{
		"all":          s.address(honest, back, allScopes, "S256"),
		"read":         s.address(honest, back, "issues:read", "S256"),
		"wrong":        s.address(honest, back, "issues:read", "plain"),
		"hostile":      s.address(stranger, away, "issues:read", "S256"),
		"hostileWrong": s.address(stranger, away, "issues:read", "plain"),
		"nobody":       s.address("nobody", back, "issues:read", "S256"),
	}
	return s.ask, nil
}

func (s *site) address(client, redirect, scope, method string) string {
	return s.sys.URL + authserver.AuthorizePath + "?" + url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {redirect}, "scope": {scope}, "state": {state},
		"code_challenge": {challenge}, "code_challenge_method": {method}, "resource": {s.sys.MCPURL()},
	}.Encode()
}

func (s *site) register(ctx context.Context, name, redirect string) (id string, err error) {
	body, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": []string{redirect}})
	if err != nil {
		return "", err
	}
	var got struct {
		ID string `json:"client_id"`
	}
	err = post(ctx, s.sys.URL+authserver.RegisterPath, "application/json", string(body), &got)
	return got.ID, err
}

// redeem returns the scopes of the token that a code is good for.
func (s *site) redeem(ctx context.Context, code string) (scope string, err error) {
	var got struct {
		Scope string `json:"scope"`
	}
	err = post(ctx, s.sys.URL+authserver.TokenPath, "application/x-www-form-urlencoded", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {s.client}, "code": {code}, "code_verifier": {verifier},
		"redirect_uri": {s.url + "/callback"}, "resource": {s.sys.MCPURL()},
	}.Encode(), &got)
	return got.Scope, err
}

func post(ctx context.Context, address, kind, body string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", kind)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s answered %s", r.URL.Path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}
