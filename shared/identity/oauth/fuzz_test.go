package oauth_test

import (
	"encoding/json"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

func mustJSON(tb testing.TB, v any) []byte {
	tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// Whatever a caller sends, the verifier neither panics nor fails, and nobody gets in.
func FuzzVerify(f *testing.F) {
	s := ecSigner(f, "k1")
	w := newWorld(f, s.jwk())
	v := w.verifier()
	stranger := ecSigner(f, "k1")
	f.Add("")
	f.Add("..")
	f.Add(stranger.token(f, stranger.header(), fine()))
	f.Add(stranger.token(f, stranger.header(object{"alg": "none"}), fine()))
	f.Add(stranger.raw(f, `{"alg":"ES256","kid":"k1","b64":false,"crit":["b64"]}`, `{"iss":"`+issuerURL+`"}`))
	f.Fuzz(func(t *testing.T, text string) {
		p, err := v.Verify(t.Context(), text)
		if fault.KindOf(err) != fault.Unauthenticated || p.UserID != "" {
			t.Errorf("%v, %+v", err, p)
		}
	})
}

// Whatever an issuer signs, the verifier does not panic, and what it accepts is whole.
func FuzzClaims(f *testing.F) {
	s := edSigner(f, "k1")
	w := newWorld(f, s.jwk())
	v := w.verifier()
	f.Add(`{}`, string(mustJSON(f, fine())))
	f.Add(`{"typ":"JWT","x5c":[1]}`, string(mustJSON(f, fine(object{"scope": []any{1, nil}, "aud": []any{}}))))
	f.Add(`{}`, `{"iss":"https://login.example.com","sub":"s1","aud":null,"exp":1e999,"iat":-1,"jti":1}`)
	f.Fuzz(func(t *testing.T, header, claims string) {
		var h object
		if json.Unmarshal([]byte(header), &h) != nil {
			return
		}
		h = changed(s.header(), h, object{"alg": "EdDSA", "kid": "k1"})
		p, err := v.Verify(t.Context(), s.raw(t, string(mustJSON(t, h)), claims))
		if err == nil && (identity.Require(&p) != nil || p.WorkspaceID != "w1" || p.UserID != "u1") {
			t.Errorf("accepted %+v", p)
		}
		if err != nil && fault.KindOf(err) != fault.Unauthenticated {
			t.Errorf("failed: %v", err)
		}
	})
}
