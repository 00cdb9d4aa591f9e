package budget

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/identity/subject"
)

// authority is an identity provider, reached without a network: its keys are no request of AWS.
type authority struct{ key *ecdsa.PrivateKey }

// trusted is what the connector knows of it, all filled in.
var trusted = signin.Config{
	BaseURL: "https://mcp.example.com", Issuer: signin.Issuer{URL: "https://login.example.com", DenyList: true},
}.Issuers()

func newAuthority() (authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return authority{key}, err
}

// RoundTrip answers with the set of keys.
func (a authority) RoundTrip(r *http.Request) (*http.Response, error) {
	point, err := a.key.PublicKey.Bytes()
	if err != nil {
		return nil, err
	}
	x, y := point[1:33], point[33:]
	body := fmt.Sprintf(`{"keys":[{"kty":"EC","crv":"P-256","kid":"k","alg":"ES256","use":"sig","x":%q,"y":%q}]}`, base64url(x), base64url(y))
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body)),
	}, nil
}

func base64url(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// sign makes an access token for a subject.
func (a authority) sign(of string) (string, error) {
	claims, err := json.Marshal(map[string]any{
		"iss": trusted[0].URL, "sub": of, "aud": trusted[0].Audience, "client_id": "c", "jti": "j", "scope": "issues:read",
		"iat": start.Unix(), "exp": start.Add(time.Hour).Unix(),
	})
	if err != nil {
		return "", err
	}
	signed := base64url([]byte(`{"alg":"ES256","kid":"k","typ":"at+jwt"}`)) + "." + base64url(claims)
	digest := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, a.key, digest[:])
	return signed + "." + base64url(append(halfOf(r), halfOf(s)...)), err
}

func halfOf(n *big.Int) []byte { return n.FillBytes(make([]byte, 32)) }

// accessToken is one of Priya's, if she is linked to the account that it is for.
func (w *world) accessToken(linked bool) string {
	w.t.Helper()
	secret, err := w.authority.sign("s")
	if err != nil {
		w.t.Fatal(err)
	}
	if linked {
		p := grantOf(w.t, "Priya")
		err := subject.Make(w.t.Context(), writer.Open(w.conn), subject.Link{
			Issuer: trusted[0].URL, Subject: "s", WorkspaceID: string(p.WorkspaceID), UserID: string(p.UserID), LinkedAt: start,
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return secret
}
