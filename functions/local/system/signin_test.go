package system

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/aacworkflow/mcp-connector/functions/local/signintest"
	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/authserver"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity/subject"
)

const clientCallback = "http://127.0.0.1:7777/callback"

// signingIn is a client of the SDK whose person answers as p says. It keeps what it was asked for.
type signingIn struct {
	asked    []string // the scopes of each request for consent
	answered []string // what came back, without the secrets
}

func (c *signingIn) handler(t *testing.T, p signintest.Person, change func(*auth.AuthorizationCodeHandlerConfig)) auth.OAuthHandler {
	t.Helper()
	cfg := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: clientCallback,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "SDK client", RedirectURIs: []string{clientCallback}, GrantTypes: []string{"authorization_code", "refresh_token"},
		}},
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			u, err := url.Parse(args.URL)
			if err != nil {
				return nil, err
			}
			c.asked = append(c.asked, signintest.Scopes(u))
			to, err := p.Answer(ctx, args.URL)
			if err != nil {
				return nil, err
			}
			q := to.Query()
			c.answered = append(c.answered, q.Get("error"))
			if q.Has("error") {
				return nil, fmt.Errorf("the person said no: %s", q.Get("error"))
			}
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
	}
	if change != nil {
		change(cfg)
	}
	h, err := auth.NewAuthorizationCodeHandler(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// connect makes a session that knows nothing but the address.
func (w *world) connect(h auth.OAuthHandler) (*mcp.ClientSession, error) {
	return mcp.NewClient(&mcp.Implementation{Name: "tests", Version: "1.0"}, nil).
		Connect(w.t.Context(), &mcp.StreamableClientTransport{Endpoint: w.MCPURL(), OAuthHandler: h, MaxRetries: -1}, nil)
}

// TestSignInFromTheAddressAlone goes the whole way with the SDK's own client: discovery,
// registration, consent, tokens, a call, and one more consent for a tool that needs more.
func TestSignInFromTheAddressAlone(t *testing.T) {
	w, c := newWorld(t), &signingIn{}
	session, err := w.connect(c.handler(t, signintest.Person{Name: "Priya Raman"}, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil || len(listed.Tools) != 11 {
		t.Fatalf("%v, %v", listed, err)
	}
	call := func(tool string, arguments map[string]any) {
		t.Helper()
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil || result.IsError {
			t.Fatalf("%s: %+v, %v", tool, result, err)
		}
	}
	call("get_issue", map[string]any{"issue_id": "AAC-42"})
	call("create_issue", map[string]any{"title": "By a client that signed in"})
	if want := []string{"issues:read", "issues:read issues:write"}; !slices.Equal(c.asked, want) {
		t.Errorf("asked for %q, want %q", c.asked, want)
	}
	w.checkSignInEvents("Priya Raman")
}

// checkSignInEvents requires that each call by a signed-in client leads to its grant.
func (w *world) checkSignInEvents(holder string) {
	w.t.Helper()
	grants, calls := map[string]bool{}, 0
	for _, e := range w.events("editor") {
		switch {
		case e.Recorder == audit.RecorderOAuth:
			if e.Tool != "oauth.grant" || e.Outcome != fault.Success || e.Client.Name != "SDK client" || e.Target != "grant/"+e.TokenID {
				w.t.Errorf("%+v", e)
			}
			grants[e.TokenID] = true
		case e.Outcome == fault.Success:
			calls++
			if grant, _, _ := strings.Cut(e.TokenID, "."); !grants[grant] || e.Actor != string(grantOf(w.t, "editor").UserID) {
				w.t.Errorf("%s does not lead to a grant of %s: %+v", e.Tool, holder, e)
			}
		}
	}
	if len(grants) != 2 || calls != 2 {
		w.t.Errorf("saw %d grants and %d calls", len(grants), calls)
	}
}

// TestSignInWithADocument uses a client ID metadata document on this machine.
func TestSignInWithADocument(t *testing.T) {
	w, c := newWorld(t), &signingIn{}
	var id string
	documents := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(rw).Encode(map[string]any{
			"client_id": id, "client_name": "SDK client", "redirect_uris": []string{clientCallback}, "grant_types": []string{"authorization_code", "refresh_token"},
		})
	}))
	defer documents.Close()
	id = documents.URL + "/client.json"
	h := c.handler(t, signintest.Person{Name: "Elin Novak"}, func(cfg *auth.AuthorizationCodeHandlerConfig) {
		cfg.DynamicClientRegistrationConfig = nil
		cfg.PreregisteredClient = &oauthex.ClientCredentials{ClientID: id} // the SDK wants https of a document's address
	})
	session, err := w.connect(h)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_issues", Arguments: map[string]any{"limit": 1}}); err != nil {
		t.Error(err)
	}
}

func TestSayingNoEndsIt(t *testing.T) {
	w, c := newWorld(t), &signingIn{}
	session, err := w.connect(c.handler(t, signintest.Person{Name: "Priya Raman", Deny: true}, nil))
	if err == nil {
		_ = session.Close()
		t.Error("there is a session")
	}
	if slices.ContainsFunc(c.answered, func(a string) bool { return a != "access_denied" }) || len(c.answered) == 0 {
		t.Errorf("%v", c.answered)
	}
}

// tokensOf signs a person in by hand and returns the answer of /token and the client's id.
func (w *world) tokensOf(p signintest.Person, scope string) (access, refresh, client string) {
	w.t.Helper()
	var registered struct {
		ID string `json:"client_id"`
	}
	w.send(http.MethodPost, authserver.RegisterPath, "", `{"client_name":"Probe","redirect_uris":["`+clientCallback+`"]}`).into(w.t, &registered)
	verifier := strings.Repeat("v", 43)
	to, err := p.Answer(w.t.Context(), w.URL+authserver.AuthorizePath+"?"+url.Values{
		"response_type": {"code"}, "client_id": {registered.ID}, "redirect_uri": {clientCallback}, "scope": {scope}, "resource": {w.MCPURL()},
		"code_challenge": {"7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM"}, "code_challenge_method": {"S256"},
	}.Encode())
	if err != nil {
		w.t.Fatal(err)
	}
	var got struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	a := w.token(url.Values{"grant_type": {"authorization_code"}, "client_id": {registered.ID}, "code": {to.Query().Get("code")}, "code_verifier": {verifier}})
	a.into(w.t, &got)
	if got.Access == "" {
		w.t.Fatalf("no token: %s, answer %s", a.body, to)
	}
	return got.Access, got.Refresh, registered.ID
}

func (w *world) token(form url.Values) answer {
	return w.send(http.MethodPost, authserver.TokenPath, "", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// TestWhatIsUntickedIsNotGranted calls with a token that a person has cut down.
func TestWhatIsUntickedIsNotGranted(t *testing.T) {
	w := newWorld(t)
	access, _, _ := w.tokensOf(signintest.Person{Name: "Priya Raman", Without: []string{"issues:write"}}, "issues:read issues:write")
	if a := w.rest("get_issue", access, `{"issue_id":"AAC-42"}`); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
	a := w.rest("delete_issue", access, `{"issue_id":"AAC-42","confirm":true}`)
	if a.status != http.StatusForbidden || !strings.Contains(a.header.Get("WWW-Authenticate"), `error="insufficient_scope", scope="issues:write"`) {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
}

// TestTokensOfPeopleOfAnotherWorkspace see theirs and nothing else.
func TestTokensOfPeopleOfAnotherWorkspace(t *testing.T) {
	w := newWorld(t)
	access, _, _ := w.tokensOf(signintest.Person{Name: "Ada Berg"}, "issues:read")
	if a := w.rest("get_issue", access, `{"issue_id":"NOR-1"}`); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := w.rest("get_issue", access, `{"issue_id":"550e8400-e29b-41d4-a716-446655440000"}`); a.status != http.StatusNotFound {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestRevokingStopsAtOnce holds that the access token goes with its grant, by request, by reuse,
// and with the member.
func TestRevokingStopsAtOnce(t *testing.T) {
	for name, end := range map[string]func(w *world, refresh, client string){
		"revoked": func(w *world, refresh, client string) {
			a := w.send(http.MethodPost, authserver.RevokePath, "", url.Values{"token": {refresh}, "client_id": {client}}.Encode(), "Content-Type", "application/x-www-form-urlencoded")
			if a.status != http.StatusOK {
				t.Errorf("%d %s", a.status, a.body)
			}
		},
		"refresh token used twice": func(w *world, refresh, client string) {
			form := url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {refresh}}
			if a := w.token(form); a.status != http.StatusOK {
				t.Errorf("%d %s", a.status, a.body)
			}
			if a := w.token(form); a.status != http.StatusBadRequest {
				t.Errorf("%d %s", a.status, a.body)
			}
		},
		"unlinked": func(w *world, _, _ string) {
			g := grantOf(t, "editor")
			if _, err := subject.Remove(t.Context(), w.Tables, string(g.WorkspaceID), w.URL, string(g.UserID), ""); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			access, refresh, client := w.tokensOf(signintest.Person{Name: "Priya Raman"}, "issues:read")
			if a := w.rest("list_issues", access, `{}`); a.status != http.StatusOK {
				t.Fatalf("%d %s", a.status, a.body)
			}
			end(w, refresh, client)
			if a := w.rest("list_issues", access, `{}`); a.status != http.StatusUnauthorized {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
}

// TestSignInSecretsAreInNoLog looks for what must be nowhere.
func TestSignInSecretsAreInNoLog(t *testing.T) {
	w := newWorld(t)
	access, refresh, client := w.tokensOf(signintest.Person{Name: "Priya Raman"}, "issues:read")
	w.token(url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {refresh}})
	w.token(url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {refresh}})
	events, err := json.Marshal(w.events("editor"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(events), "oauth.grant") || !strings.Contains(w.log.String(), authserver.TokenPath) {
		t.Fatal("nothing is recorded")
	}
	for _, secret := range []string{access, refresh, "code_challenge", "aac_code_", "aac_refresh_", "aac_person", strings.Repeat("v", 43)} {
		if strings.Contains(w.log.String(), secret) || strings.Contains(string(events), secret) {
			t.Errorf("%.12s… is in a log", secret)
		}
	}
}

// TestSayingWhoOneIs attacks the page on which one chooses.
func TestSayingWhoOneIs(t *testing.T) {
	w := newWorld(t)
	priya := string(grantOf(t, "editor").UserID)
	for name, c := range map[string]struct {
		back, who, origin string
		status            int
	}{
		"as it should be":  {"/authorize?x=1", priya, w.URL, http.StatusSeeOther},
		"nobody":           {"/authorize?x=1", "", w.URL, http.StatusUnprocessableEntity},
		"someone else":     {"/authorize?x=1", "someone", w.URL, http.StatusUnprocessableEntity},
		"another host":     {"https://evil.example/authorize", priya, w.URL, http.StatusForbidden},
		"without a scheme": {"//evil.example/authorize", priya, w.URL, http.StatusForbidden},
		"a backslash":      {`/\evil.example/authorize`, priya, w.URL, http.StatusForbidden},
		"another path":     {"/tools", priya, w.URL, http.StatusForbidden},
		"script":           {"javascript:alert(1)", priya, w.URL, http.StatusForbidden},
		"no way back":      {"", priya, w.URL, http.StatusForbidden},
		"another origin":   {"/authorize?x=1", priya, "http://127.0.0.1:1", http.StatusForbidden},
	} {
		a := w.post(signInPath, url.Values{"back": {c.back}, "who": {c.who}}, "Origin", c.origin)
		if a.status != c.status || (a.header.Get("Set-Cookie") != "") != (c.status == http.StatusSeeOther) {
			t.Errorf("%s: %d %v", name, a.status, a.header)
		}
		if a.header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: it can be framed", name)
		}
	}
}

// post sends a form and follows nothing.
func (w *world) post(path string, form url.Values, headers ...string) answer {
	w.t.Helper()
	r, err := http.NewRequest(http.MethodPost, w.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	return answer{response.StatusCode, nil, response.Header}
}

// TestCookiesOfOthers holds that a cookie proves something only if this process made it.
func TestCookiesOfOthers(t *testing.T) {
	now := time.Now()
	clock := func() time.Time { return now }
	one, err := newLogin("http://127.0.0.1:1", people(now), clock)
	if err != nil {
		t.Fatal(err)
	}
	other, err := newLogin("http://127.0.0.1:1", people(now), clock)
	if err != nil {
		t.Fatal(err)
	}
	who := func(l *login, value string) bool {
		r := httptest.NewRequest(http.MethodGet, "/authorize", nil)
		r.AddCookie(&http.Cookie{Name: personCookie, Value: value})
		_, ok, err := l.Who(r)
		return ok && err == nil
	}
	seal := func(l *login, id string, until time.Time) string {
		value, err := l.seal(signedIn{UserID: id, Until: until.UnixMicro()})
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	priya := string(grantOf(t, "editor").UserID)
	good := seal(one, priya, now.Add(time.Hour))
	if !who(one, good) {
		t.Error("our own is not taken")
	}
	for name, value := range map[string]string{
		"of another process": seal(other, priya, now.Add(time.Hour)), "expired": seal(one, priya, now), "of nobody": seal(one, "x", now.Add(time.Hour)),
		"changed": good[:len(good)-2] + "AA", "short": "AAAA", "empty": "", "no base64": "%",
	} {
		if who(one, value) {
			t.Errorf("%s: taken", name)
		}
	}
}
