package authserver

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jwt"

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

// TestAccessToken reads the token as a resource server would.
func TestAccessToken(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	got := w.signIn(client)
	set, err := jwk.Parse(w.send(http.MethodGet, KeysPath, "", "").Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Parse([]byte(got.Access), jwt.WithKeySet(set), jwt.WithIssuer(issuer), jwt.WithAudience(resource), jwt.WithSubject("s1"),
		jwt.WithClock(jwt.ClockFunc(w.clock.now)))
	if err != nil {
		t.Fatal(err)
	}
	var scope, clientID string
	if err := token.Get("scope", &scope); err != nil || scope != "issues:read issues:write" {
		t.Errorf("scope %q, %v", scope, err)
	}
	if err := token.Get("client_id", &clientID); err != nil || clientID != client {
		t.Errorf("client_id %q, %v", clientID, err)
	}
	expires, _ := token.Expiration()
	id, _ := token.JwtID()
	if !expires.Equal(w.clock.now().Add(accessLife)) || !strings.HasSuffix(id, ".1") {
		t.Errorf("exp %s, jti %s", expires, id)
	}
	message, err := jws.Parse([]byte(got.Access))
	if err != nil {
		t.Fatal(err)
	}
	header := message.Signatures()[0].ProtectedHeaders()
	kind, _ := header.Type()
	algorithm, _ := header.Algorithm()
	if kid, ok := header.KeyID(); kind != "at+jwt" || algorithm.String() != "ES256" || !ok || kid == "" {
		t.Errorf("typ %s, alg %s, kid %q", kind, algorithm, kid)
	}
}

func TestKeysHoldNothingPrivate(t *testing.T) {
	w := newWorld(t)
	w.signIn(w.client())
	out := w.send(http.MethodGet, KeysPath, "", "")
	keys := decode[struct{ Keys []map[string]any }](t, out).Keys
	if len(keys) != 1 || keys[0]["alg"] != "ES256" || keys[0]["use"] != "sig" || keys[0]["kid"] == "" {
		t.Fatalf("%v", keys)
	}
	if _, private := keys[0]["d"]; private {
		t.Error("the private half is there")
	}
}

func TestKeysRotate(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	kid := func() string {
		k, err := w.signer(ctx)
		if err != nil {
			t.Fatal(err)
		}
		id, _ := k.KeyID()
		return id
	}
	shown := func() int {
		set, err := w.publicKeys(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return set.Len()
	}
	first := kid()
	w.clock.advance(keyLife)
	if kid() != first || shown() != 2 {
		t.Error("a new key must be shown before it signs")
	}
	w.clock.advance(keyLead)
	second := kid()
	if second == first || shown() != 2 {
		t.Error("the new key must sign now, and the old one still be shown")
	}
	w.clock.advance(keyLife)
	if kid() != second || shown() != 2 {
		t.Errorf("the first key must be gone when the third comes: %d are shown", shown())
	}
}

func TestRefreshGivesTheNext(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	got := w.signIn(client)
	for range 3 {
		out := w.refreshWith(client, got.Refresh, "resource", resource)
		next := decode[tokens](t, out)
		if out.Code != http.StatusOK || next.Refresh == got.Refresh || next.Access == got.Access || next.Scope != got.Scope {
			t.Fatalf("%d %+v", out.Code, next)
		}
		got = next
		w.clock.advance(time.Hour)
	}
	fewer := decode[tokens](t, w.refreshWith(client, got.Refresh, "scope", "issues:read"))
	if fewer.Scope != "issues:read" {
		t.Errorf("scope %q", fewer.Scope)
	}
	refused(t, w.refreshWith(client, fewer.Refresh, "scope", "comments:read"), http.StatusBadRequest, invalidScope)
	if all := decode[tokens](t, w.refreshWith(client, fewer.Refresh)); all.Scope != got.Scope {
		t.Errorf("the grant shrank to %q", all.Scope)
	}
}

func TestRefreshEnds(t *testing.T) {
	for name, c := range map[string]struct {
		every, most time.Duration
	}{"unused": {idleLife, 0}, "at last": {20 * 24 * time.Hour, grantLife}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			client := w.client()
			got := w.signIn(client)
			for past := c.every; past < c.most; past += c.every {
				w.clock.advance(c.every)
				got = decode[tokens](t, w.refreshWith(client, got.Refresh))
			}
			w.clock.advance(c.every)
			refused(t, w.refreshWith(client, got.Refresh), http.StatusBadRequest, invalidGrant)
		})
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

func TestRevoke(t *testing.T) {
	for name, which := range map[string]func(tokens) string{
		"the refresh token": func(g tokens) string { return g.Refresh },
		"the access token":  func(g tokens) string { return g.Access },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			client := w.client()
			got := w.signIn(client)
			refused(t, w.form(RevokePath, "client_id", w.client(), "token", which(got)), http.StatusBadRequest, invalidGrant)
			for range 2 {
				if out := w.form(RevokePath, "client_id", client, "token", which(got), "token_type_hint", "nonsense"); out.Code != http.StatusOK {
					t.Errorf("%d %s", out.Code, out.Body)
				}
			}
			refused(t, w.refreshWith(client, got.Refresh), http.StatusBadRequest, invalidGrant)
			if diff := cmp.Diff([]string{"oauth.grant success", "oauth.revoke success  revoked_by_client"}, w.events()); diff != "" {
				t.Error(diff)
			}
		})
	}
	w := newWorld(t)
	for _, token := range []string{"nonsense", "a.b.c", refreshPrefix + "x"} {
		if out := w.form(RevokePath, "client_id", "x", "token", token); out.Code != http.StatusOK {
			t.Errorf("%s: %d", token, out.Code)
		}
	}
	refused(t, w.form(RevokePath, "client_id", "x"), http.StatusBadRequest, invalidRequest)
	refused(t, w.form(RevokePath, "token", "x"), http.StatusBadRequest, invalidClient)
}

// TestRevokedTokensAreListed holds that the list is told of every access token that is alive.
func TestRevokedTokensAreListed(t *testing.T) {
	var listed []string
	w := newWorld(t, func(c *Config) {
		c.Revoked = func(_ context.Context, jti string, until time.Time) error {
			listed = append(listed, fmt.Sprintf("%s until %s", jti[strings.Index(jti, "."):], until.Format("15:04")))
			return nil
		}
	})
	client := w.client()
	got := w.signIn(client)
	for range 2 {
		w.clock.advance(6 * time.Minute)
		got = decode[tokens](t, w.refreshWith(client, got.Refresh))
	}
	w.form(RevokePath, "client_id", client, "token", got.Refresh)
	if diff := cmp.Diff([]string{".2 until 15:46", ".3 until 15:52"}, listed); diff != "" {
		t.Error(diff)
	}
}

func TestTooManyAccessTokensAtOnce(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	got := w.signIn(client)
	for range maxRecent - 1 {
		got = decode[tokens](t, w.refreshWith(client, got.Refresh))
	}
	refused(t, w.refreshWith(client, got.Refresh), http.StatusTooManyRequests, tryLater)
	w.clock.advance(accessLife)
	if out := w.refreshWith(client, got.Refresh); out.Code != http.StatusOK {
		t.Errorf("%d %s", out.Code, out.Body)
	}
}
