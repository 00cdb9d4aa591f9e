package authserver

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jwt"
)

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
		return k.KeyID
	}
	shown := func() int {
		set, err := w.publicKeys(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return len(set.Keys)
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
	for _, scope := range []string{"comments:read", "issues:read comments:read", "issues:read admin", "admin"} {
		refused(t, w.refreshWith(client, fewer.Refresh, "scope", scope), http.StatusBadRequest, invalidScope)
	}
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
	refused(t, w.form(RevokePath, "token", "x"), http.StatusBadRequest, invalidRequest)
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
	if diff := cmp.Diff([]string{".2 until 15:47", ".3 until 15:53"}, listed); diff != "" {
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
	w.clock.advance(accessUse - time.Second)
	refused(t, w.refreshWith(client, got.Refresh), http.StatusTooManyRequests, tryLater)
	w.clock.advance(time.Second)
	if out := w.refreshWith(client, got.Refresh); out.Code != http.StatusOK {
		t.Errorf("%d %s", out.Code, out.Body)
	}
}
