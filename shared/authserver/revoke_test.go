package authserver

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity/oauth"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/identity/subject"
)

// RoundTrip lets the connector fetch the keys of this server.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	out := httptest.NewRecorder()
	w.ServeHTTP(out, httptest.NewRequest(r.Method, r.URL.Path, nil))
	return out.Result(), nil
}

// TestRevokedTokensStayRevoked ends a grant around the end of its access token, for which the
// connector's clock may differ from ours: whatever it still took before, it takes no more.
func TestRevokedTokensStayRevoked(t *testing.T) {
	for _, since := range []time.Duration{0, accessLife - time.Second, accessLife, accessLife + time.Second, accessUse - time.Second, accessUse, accessUse + time.Second} {
		w := newWorld(t)
		w.Revoked = func(ctx context.Context, jti string, until time.Time) error {
			return subject.Revoke(ctx, w.db, issuer, jti, until)
		}
		link := subject.Link{Issuer: issuer, Subject: "s1", WorkspaceID: "w1", UserID: "u1", LinkedAt: w.clock.now()}
		if err := subject.Make(t.Context(), w.db, link); err != nil {
			t.Fatal(err)
		}
		connector, err := oauth.New(oauth.Config{
			Issuers: []signin.Issuer{{URL: issuer, KeysURL: issuer + KeysPath, Audience: resource, DenyList: true}},
			Links:   w.db, Members: w.members, Now: w.clock.now, Logger: w.Logger, Transport: w,
		})
		if err != nil {
			t.Fatal(err)
		}
		reason := func(token string) fault.Reason {
			_, err := connector.Verify(t.Context(), token)
			if err == nil {
				return ""
			}
			return fault.Of(err).Reason
		}
		client := w.client()
		got := w.signIn(client)
		w.clock.advance(since)
		if taken := reason(got.Access) == ""; taken != (since < accessUse) {
			t.Errorf("after %s: taken %v; is clockSkew that of the connector?", since, taken)
		}
		if out := w.form(RevokePath, "client_id", client, "token", got.Refresh); out.Code != http.StatusOK {
			t.Fatalf("%d %s", out.Code, out.Body)
		}
		want := fault.TokenRevoked
		if since >= accessUse {
			want = fault.TokenExpired
		}
		if got := reason(got.Access); got != want {
			t.Errorf("revoked after %s: %q, want %q", since, got, want)
		}
	}
}
