package authserver

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/identity"
)

func TestTheWholeWay(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	text, flow := w.page(ask(client))
	for _, want := range []string{"Probe asks to use AACWorkflow", "client.example.com", "Acme", "Priya", "Opens: Get issue.", "Can destroy: Delete issue.", "chose its name itself"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
	if strings.Count(text, " checked ") != 2 || strings.Contains(text, "comments:read") {
		t.Errorf("not the scopes that were asked for, all ticked:\n%s", text)
	}
	where, answer := location(t, w.form(AuthorizePath, "flow", flow, "decision", "allow", "scope", "issues:read"))
	if where != "https://client.example.com/callback" || answer.Get("keep") != "1" || answer.Get("state") != "st&te" || answer.Get("iss") != issuer {
		t.Errorf("%s %v", where, answer)
	}
	out := w.redeemWith(client, answer.Get("code"))
	got := decode[tokens](t, out)
	if out.Code != http.StatusOK || got.Type != "Bearer" || got.ExpiresIn != 600 || got.Scope != "issues:read" || !strings.HasPrefix(got.Refresh, refreshPrefix) {
		t.Errorf("%d %+v", out.Code, got)
	}
	if out.Header().Get("Cache-Control") != "no-store" {
		t.Error("tokens may be kept")
	}
	if diff := cmp.Diff([]string{"oauth.grant success"}, w.events()); diff != "" {
		t.Error(diff)
	}
}

// TestAnEmptyResourceIsNone sends one at each step, alone and beside another.
func TestAnEmptyResourceIsNone(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	const other = "https://other.example/mcp"
	for _, c := range []struct {
		resources []string
		fine      bool
	}{{[]string{""}, true}, {[]string{"", resource}, true}, {[]string{resource, ""}, true}, {[]string{"", other}, false}, {[]string{other, ""}, false}} {
		more := url.Values{"resource": c.resources}.Encode()
		shown := w.send(http.MethodGet, ask(client, "resource", "")+"&"+more, "", "").Code == http.StatusOK
		code := query("grant_type", "authorization_code", "client_id", client, "code", w.code(client, "issues:read"), "code_verifier", verifier)
		redeemed := w.send(http.MethodPost, TokenPath, formType, code+"&"+more).Code == http.StatusOK
		refresh := query("grant_type", "refresh_token", "client_id", client, "refresh_token", w.signIn(client).Refresh)
		refreshed := w.send(http.MethodPost, TokenPath, formType, refresh+"&"+more).Code == http.StatusOK
		if shown != c.fine || redeemed != c.fine || refreshed != c.fine {
			t.Errorf("%q: shown %v, redeemed %v, refreshed %v", c.resources, shown, redeemed, refreshed)
		}
	}
}

func TestAClientThatKeepsNoRefreshTokenGetsNone(t *testing.T) {
	w := newWorld(t)
	out := w.send(http.MethodPost, RegisterPath, "application/json",
		`{"client_name":"Probe","redirect_uris":["`+callback+`"],"grant_types":["authorization_code"]}`)
	if got := w.signIn(decode[registration](t, out).ClientID); got.Refresh != "" {
		t.Error("there is one")
	}
}

func TestWhoHasLeft(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	got := w.signIn(client)
	code := w.code(client, "issues:read")
	w.members.left = true
	refused(t, w.redeemWith(client, code), http.StatusBadRequest, invalidGrant)
	refused(t, w.refreshWith(client, got.Refresh), http.StatusBadRequest, invalidGrant)
	w.members.left = false // the grant does not come back with them
	refused(t, w.refreshWith(client, got.Refresh), http.StatusBadRequest, invalidGrant)
	if diff := cmp.Diff([]string{"oauth.grant success", "oauth.revoke success  member_left"}, w.events()); diff != "" {
		t.Error(diff)
	}
	w.members.left = true
	if out := w.send(http.MethodGet, ask(client), "", ""); out.Code != http.StatusForbidden {
		t.Errorf("%d", out.Code)
	}
}

func TestScopesOnOffer(t *testing.T) {
	all := "issues:read comments:read dashboard:read issues:write comments:write agents:write autopilot:run"
	for name, c := range map[string]struct {
		asked         string
		role          identity.Role
		shown, ticked string
	}{
		"none named":              {"", identity.Member, all, "issues:read comments:read dashboard:read"},
		"offline access alone":    {"offline_access", identity.Member, all, "issues:read comments:read dashboard:read"},
		"as asked":                {"issues:write offline_access issues:read", identity.Member, "issues:read issues:write", "issues:read issues:write"},
		"unknown ones fall away":  {"issues:read admin openid", identity.Member, "issues:read", "issues:read"},
		"audit of a member":       {"issues:read audit:read", identity.Member, "issues:read", "issues:read"},
		"audit of an owner":       {"issues:read audit:read", identity.Owner, "issues:read audit:read", "issues:read"},
		"audit of an admin":       {"audit:read", identity.Admin, "audit:read", ""},
		"audit not asked for":     {"issues:read", identity.Owner, "issues:read", "issues:read"},
		"an owner who names none": {"", identity.Owner, all, "issues:read comments:read dashboard:read"},
	} {
		shown, ticked := choose(identity.ParseScopes(c.asked), namesScopes(c.asked), c.role)
		if identity.Join(shown) != c.shown || identity.Join(ticked) != c.ticked {
			t.Errorf("%s: shown %q, ticked %q", name, identity.Join(shown), identity.Join(ticked))
		}
	}
}

func TestEveryScopeHasWords(t *testing.T) {
	for _, s := range identity.Scopes() {
		if scopeWords[s] == "" {
			t.Errorf("%s has none", s)
		}
	}
}

// TestAuditReadNeedsTheRole follows a role that is lost on the way.
func TestAuditReadNeedsTheRole(t *testing.T) {
	w := newWorld(t)
	w.members.role = identity.Owner
	client := w.client()
	_, flow := w.page(ask(client, "scope", "issues:read audit:read"))
	_, v := location(t, w.form(AuthorizePath, "flow", flow, "decision", "allow", "scope", "issues:read", "scope", "audit:read"))
	got := decode[tokens](t, w.redeemWith(client, v.Get("code")))
	if got.Scope != "issues:read audit:read" {
		t.Errorf("scope %q", got.Scope)
	}
	w.members.role = identity.Member
	if got = decode[tokens](t, w.refreshWith(client, got.Refresh)); got.Scope != "issues:read" {
		t.Errorf("scope %q after the role was lost", got.Scope)
	}
}

func TestNothingTicked(t *testing.T) {
	w := newWorld(t)
	_, flow := w.page(ask(w.client()))
	out := w.form(AuthorizePath, "flow", flow, "decision", "allow")
	if out.Code != http.StatusUnprocessableEntity || !strings.Contains(out.Body.String(), "Nothing is ticked") || !strings.Contains(out.Body.String(), `role="alert"`) {
		t.Errorf("%d %s", out.Code, out.Body)
	}
	if _, v := location(t, w.form(AuthorizePath, "flow", flow, "decision", "allow", "scope", "issues:read")); v.Get("code") == "" {
		t.Errorf("the page does not go on: %v", v)
	}
}

func TestScopesThatWereNotOffered(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	_, flow := w.page(ask(client, "scope", "issues:read"))
	_, v := location(t, w.form(AuthorizePath, "flow", flow, "decision", "allow", "scope", "issues:read", "scope", "issues:write", "scope", "audit:read"))
	if got := decode[tokens](t, w.redeemWith(client, v.Get("code"))); got.Scope != "issues:read" {
		t.Errorf("scope %q", got.Scope)
	}
}

func TestSayingNo(t *testing.T) {
	w := newWorld(t)
	_, flow := w.page(ask(w.client()))
	where, v := location(t, w.form(AuthorizePath, "flow", flow, "decision", "deny"))
	if where != "https://client.example.com/callback" || v.Get("error") != accessDenied || v.Get("state") != "st&te" || v.Get("iss") != issuer || v.Has("code") {
		t.Errorf("%s %v", where, v)
	}
	if len(w.events()) != 0 {
		t.Errorf("%v", w.events())
	}
}

// TestBackToAnApp sends the browser to the scheme of an app, and keeps what the address has.
func TestBackToAnApp(t *testing.T) {
	w := newWorld(t)
	for redirect, want := range map[string]string{
		"com.example.app:/cb": "com.example.app:/cb?", "cursor://x.example/cb?a=1": "cursor://x.example/cb?a=1&", "http://[::1]:8/cb": "http://[::1]:8/cb?",
	} {
		_, flow := w.page(ask(w.client(redirect), "redirect_uri", redirect))
		out := w.form(AuthorizePath, "flow", flow, "decision", "allow", "scope", "issues:read")
		if to := out.Header().Get("Location"); out.Code != http.StatusSeeOther || !strings.HasPrefix(to, want+"code=") {
			t.Errorf("%d to %s", out.Code, to)
		}
	}
	if text, _ := w.page(ask(w.client("cursor://x.example/cb"), "redirect_uri", "cursor://x.example/cb")); !strings.Contains(text, "the app on this computer that opens cursor links") {
		t.Error(text)
	}
}

// TestManyLetAClientInAtOnce holds that a client which many share is no bottleneck.
func TestManyLetAClientInAtOnce(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	var flows []string
	for range 6 {
		_, flow := w.page(ask(client))
		flows = append(flows, flow)
	}
	answers := make([]*httptest.ResponseRecorder, len(flows))
	var all sync.WaitGroup
	for i, flow := range flows {
		all.Go(func() { answers[i] = w.form(AuthorizePath, "flow", flow, "decision", "allow", "scope", "issues:read") })
	}
	all.Wait()
	for _, out := range answers {
		if _, v := location(t, out); !v.Has("code") {
			t.Errorf("%v", v)
		}
	}
}

func TestSomeoneElse(t *testing.T) {
	w := newWorld(t)
	target := ask(w.client())
	_, flow := w.page(target)
	w.form(AuthorizePath, "flow", flow, "decision", "switch")
	if w.login.outs != 1 || w.login.back != target {
		t.Errorf("back to %s, want %s", w.login.back, target)
	}
}

// TestSignInComesFirst holds that nobody's requests fetch and store nothing.
func TestSignInComesFirst(t *testing.T) {
	w := newWorld(t)
	w.login.gone = true
	target := ask("https://client.example.com/oauth/client.json")
	if out := w.send(http.MethodGet, target, "", ""); out.Code != http.StatusOK || w.login.back != target || len(out.Result().Cookies()) > 0 {
		t.Errorf("%d, back to %s", out.Code, w.login.back)
	}
	if len(w.documents.seen) > 0 {
		t.Error("a document was fetched")
	}
}

// TestSecretsAreNotKept looks for every secret in the file of the tables and in the log.
func TestSecretsAreNotKept(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	_, flow := w.page(ask(client))
	code := w.code(client, "issues:read")
	got := decode[tokens](t, w.redeemWith(client, code))
	next := decode[tokens](t, w.refreshWith(client, got.Refresh))
	w.redeemWith(client, code) // a reuse is recorded, too
	w.refreshWith(client, got.Refresh)
	file, err := os.ReadFile(w.file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(file), "OAUTH#GRANT#") {
		t.Fatal("this is not the file")
	}
	secrets := []string{flow, code, got.Refresh, next.Refresh, got.Access, next.Access, verifier, w.cookies["__Host-aac_browser"]}
	for i, secret := range secrets {
		if secret == "" || strings.Contains(string(file), secret) || strings.Contains(w.log.String(), secret) {
			t.Errorf("secret %d is kept, or was never there", i)
		}
	}
}

func TestMetadata(t *testing.T) {
	out := newWorld(t).send(http.MethodGet, MetadataPath, "", "")
	m := decode[map[string]any](t, out)
	for name, want := range map[string]any{
		"issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token", "jwks_uri": issuer + "/jwks",
		"registration_endpoint": issuer + "/register", "revocation_endpoint": issuer + "/revoke",
		"code_challenge_methods_supported": []any{"S256"}, "token_endpoint_auth_methods_supported": []any{"none"},
		"authorization_response_iss_parameter_supported": true, "client_id_metadata_document_supported": true,
		"grant_types_supported": []any{"authorization_code", "refresh_token"}, "response_types_supported": []any{"code"},
		"protected_resources": []any{resource},
	} {
		if diff := cmp.Diff(want, m[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if scopes := m["scopes_supported"].([]any); len(scopes) != len(identity.Scopes())-1 || slices.Contains(scopes, any("audit:read")) {
		t.Errorf("scopes %v", scopes)
	}
	if out.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Error("pages may not read it")
	}
}
