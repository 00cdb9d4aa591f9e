package oauth_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/oauth"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/identity/subject"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

func TestVerifyAccepts(t *testing.T) {
	for _, s := range []signer{
		theRSA(t, "RS256", "k1"), theRSA(t, "PS256", "k1"), ecSigner(t, "k1"), edSigner(t, "k1"),
	} {
		w := newWorld(t, s.jwk())
		got, err := w.verifier().Verify(t.Context(), s.token(t, s.header(), fine()))
		want := identity.Principal{
			WorkspaceID: "w1", UserID: "u1", TokenID: "jti-1", Name: "Mira Okafor", Role: identity.Admin,
			Scopes: []identity.Scope{identity.IssuesRead, identity.IssuesWrite}, CanStepUp: true,
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", s.alg, err, diff)
		}
		if !w.closing {
			t.Error("the connection to the issuer is kept")
		}
	}
}

// A table of good tokens that differ in form.
func TestVerifyAcceptsForms(t *testing.T) {
	s := ecSigner(t, "k1")
	w := newWorld(t, s.jwk())
	v := w.verifier()
	for name, tt := range map[string]struct {
		header, claims object
		scopes, id     string
	}{
		"JWT":               {object{"typ": "JWT"}, nil, "issues:read issues:write", "jti-1"},
		"no type":           {object{"typ": nil}, nil, "issues:read issues:write", "jti-1"},
		"long type":         {object{"typ": "application/AT+JWT"}, nil, "issues:read issues:write", "jti-1"},
		"certificate hash":  {object{"x5t": "abc"}, nil, "issues:read issues:write", "jti-1"},
		"several audiences": {nil, object{"aud": []string{"https://other.example.com", audience}}, "issues:read issues:write", "jti-1"},
		"a list of scopes":  {nil, object{"scope": []string{"audit:read", "issues:read"}}, "issues:read audit:read", "jti-1"},
		"scp":               {nil, object{"scope": nil, "scp": "comments:read"}, "comments:read", "jti-1"},
		"a list in scp":     {nil, object{"scope": nil, "scp": []string{"comments:read", "root"}}, "comments:read", "jti-1"},
		"both":              {nil, object{"scp": "audit:read"}, "issues:read issues:write", "jti-1"},
		"no scope":          {nil, object{"scope": nil}, "", "jti-1"},
		"foreign scopes":    {nil, object{"scope": "Issues:read issues:readx x/issues:read issues:read,issues:write"}, "", "jti-1"},
		"access":            {nil, object{"token_use": "access"}, "issues:read issues:write", "jti-1"},
		"azp":               {nil, object{"client_id": nil, "azp": "c1"}, "issues:read issues:write", "jti-1"},
		"no client":         {nil, object{"client_id": nil}, "issues:read issues:write", "jti-1"},
		"no times but exp":  {nil, object{"iat": nil, "nbf": nil}, "issues:read issues:write", "jti-1"},
		"just expired":      {nil, object{"exp": start.Unix() - 59}, "issues:read issues:write", "jti-1"},
		"from a fast clock": {nil, object{"iat": start.Unix() + 60, "nbf": start.Unix() + 60}, "issues:read issues:write", "jti-1"},
		"no id":             {nil, object{"jti": nil}, "issues:read issues:write", "sha256-"},
		"a long id":         {nil, object{"jti": strings.Repeat("x", 65)}, "issues:read issues:write", "sha256-"},
		"an id with quotes": {nil, object{"jti": `"><script>`}, "issues:read issues:write", "sha256-"},
	} {
		header := s.header()
		if tt.header != nil {
			header = s.header(tt.header)
		}
		claims := fine()
		if tt.claims != nil {
			claims = fine(tt.claims)
		}
		p, err := v.Verify(t.Context(), s.token(t, header, claims))
		if err != nil {
			t.Errorf("%s: %v, because %v", name, err, errors.Unwrap(err))
			continue
		}
		if got := identity.Join(p.Scopes); got != tt.scopes || !strings.HasPrefix(p.TokenID, tt.id) || len(p.TokenID) > 64 {
			t.Errorf("%s: scopes %q of token %q", name, got, p.TokenID)
		}
	}
	if n := w.count(); n != 1 {
		t.Errorf("%d fetches", n)
	}
}

func TestVerifyRefuses(t *testing.T) {
	s, stranger := theRSA(t, "RS256", "k1"), rsaSigner(t, "RS256", "k1")
	w := newWorld(t, s.jwk(), edSigner(t, "k2").jwk())
	v := w.verifier()
	good := s.token(t, s.header(), fine())
	parts := strings.Split(good, ".")
	modulus := []byte(s.jwk()["n"].(string))
	claims := func(changes object) string { return s.token(t, s.header(), fine(changes)) }
	headers := func(changes object) string { return s.token(t, s.header(changes), fine()) }
	for name, tt := range map[string]struct {
		token  string
		reason fault.Reason
	}{
		"nothing":                {"", fault.TokenMalformed},
		"a word":                 {"x", fault.TokenMalformed},
		"two parts":              {parts[0] + "." + parts[1], fault.TokenMalformed},
		"no signature":           {parts[0] + "." + parts[1] + ".", fault.TokenMalformed},
		"four parts":             {good + ".x", fault.TokenMalformed},
		"an encrypted one":       {"a.b.c.d.e", fault.TokenMalformed},
		"JSON form":              {`{"payload":"x","signatures":[]}`, fault.TokenMalformed},
		"padding":                {good + "=", fault.TokenMalformed},
		"a line end":             {parts[0] + "." + parts[1] + ".\n" + parts[2], fault.TokenMalformed},
		"another last bit":       {good[:len(good)-1] + "B", fault.TokenMalformed},
		"huge":                   {claims(object{"x": strings.Repeat("x", 8<<10)}), fault.TokenMalformed},
		"a huge header":          {headers(object{"x": strings.Repeat("x", 2<<10)}), fault.TokenMalformed},
		"none":                   {encode(t, s.header(object{"alg": "none"})) + "." + parts[1] + ".AAAA", fault.TokenMalformed},
		"none, unsigned":         {encode(t, s.header(object{"alg": "none"})) + "." + parts[1] + ".", fault.TokenMalformed},
		"None":                   {headers(object{"alg": "None"}), fault.TokenMalformed},
		"secret of the key":      {secret(t, modulus, s.header(object{"alg": "HS256"}), fine()), fault.TokenMalformed},
		"no algorithm":           {headers(object{"alg": nil}), fault.TokenMalformed},
		"no key id":              {headers(object{"kid": nil}), fault.TokenMalformed},
		"a long key id":          {headers(object{"kid": strings.Repeat("k", 257)}), fault.TokenMalformed},
		"key id of another kind": {headers(object{"kid": 1}), fault.TokenMalformed},
		"ID token type":          {headers(object{"typ": "id+jwt"}), fault.TokenMalformed},
		"logout token":           {headers(object{"typ": "logout+jwt"}), fault.TokenMalformed},
		"proof of possession":    {headers(object{"typ": "dpop+jwt"}), fault.TokenMalformed},
		"nested":                 {headers(object{"cty": "JWT"}), fault.TokenMalformed},
		"critical extension":     {headers(object{"crit": []string{"exp"}, "exp": 1}), fault.TokenMalformed},
		"unencoded payload":      {headers(object{"b64": false, "crit": []string{"b64"}}), fault.TokenMalformed},
		"two algorithms":         {s.raw(t, `{"alg":"none","kid":"k1","alg":"RS256"}`, `{}`), fault.TokenMalformed},
		"claims that are a list": {s.raw(t, `{"alg":"RS256","kid":"k1"}`, `[]`), fault.TokenMalformed},
		"claims that are none":   {s.raw(t, `{"alg":"RS256","kid":"k1"}`, good), fault.TokenMalformed},
		"two issuers":            {s.raw(t, `{"alg":"RS256","kid":"k1"}`, `{"iss":"https://evil.example","iss":"`+issuerURL+`"}`), fault.TokenMalformed},
		"scope of another kind":  {claims(object{"scope": 1}), fault.TokenMalformed},
		"scopes of another kind": {claims(object{"scope": []any{"issues:read", 1}}), fault.TokenMalformed},
		"client of another kind": {claims(object{"client_id": []string{"c1"}}), fault.TokenMalformed},
		"subject of another":     {claims(object{"sub": 1}), fault.TokenMalformed},
		"end of another kind":    {claims(object{"exp": "never"}), fault.TokenMalformed},

		"signed by a stranger":     {stranger.token(t, stranger.header(), fine()), fault.TokenUnknown},
		"another's signature":      {parts[0] + "." + parts[1] + "." + stranger.signature(t, parts[0]+"."+parts[1]), fault.TokenUnknown},
		"other claims":             {parts[0] + "." + encode(t, fine(object{"sub": "s2"})) + "." + parts[2], fault.TokenUnknown},
		"its own key":              {stranger.token(t, stranger.header(object{"jwk": stranger.jwk()}), fine()), fault.TokenUnknown},
		"address of its own key":   {stranger.token(t, stranger.header(object{"jku": "https://evil.example/keys"}), fine()), fault.TokenUnknown},
		"RSA as another RSA":       {headers(object{"alg": "PS256"}), fault.TokenUnknown},
		"RSA as EC":                {headers(object{"alg": "ES256"}), fault.TokenUnknown},
		"RSA as Ed25519":           {headers(object{"alg": "EdDSA"}), fault.TokenUnknown},
		"the key of another kind":  {headers(object{"kid": "k2"}), fault.TokenUnknown},
		"unknown key":              {headers(object{"kid": "k3"}), fault.TokenUnknown},
		"foreign issuer":           {claims(object{"iss": "https://evil.example"}), fault.TokenUnknown},
		"issuer with a slash":      {claims(object{"iss": issuerURL + "/"}), fault.TokenUnknown},
		"no issuer":                {claims(object{"iss": nil}), fault.TokenUnknown},
		"foreign audience":         {claims(object{"aud": "https://other.example.com/mcp"}), fault.TokenUnknown},
		"audience with a slash":    {claims(object{"aud": audience + "/"}), fault.TokenUnknown},
		"audience without path":    {claims(object{"aud": "https://mcp.example.com"}), fault.TokenUnknown},
		"audience in capitals":     {claims(object{"aud": strings.ToUpper(audience)}), fault.TokenUnknown},
		"no audience":              {claims(object{"aud": nil}), fault.TokenUnknown},
		"empty audience":           {claims(object{"aud": []string{}}), fault.TokenUnknown},
		"ID token":                 {claims(object{"aud": "c1", "token_use": "id"}), fault.TokenUnknown},
		"ID token for us":          {claims(object{"token_use": "id"}), fault.TokenUnknown},
		"nobody":                   {claims(object{"sub": nil}), fault.TokenUnknown},
		"the empty subject":        {claims(object{"sub": ""}), fault.TokenUnknown},
		"no end":                   {claims(object{"exp": nil}), fault.TokenUnknown},
		"somebody not linked":      {claims(object{"sub": "s2"}), fault.AccountNotLinked},
		"not linked, long expired": {claims(object{"sub": "s2", "exp": 1}), fault.AccountNotLinked},
	} {
		p, err := v.Verify(t.Context(), tt.token)
		if f := fault.Of(err); err == nil || f.Reason != tt.reason || f.Kind != fault.Unauthenticated {
			t.Errorf("%s: %v, because %v; want %s", name, err, errors.Unwrap(err), tt.reason)
			continue
		}
		if diff := cmp.Diff(identity.Principal{}, p); diff != "" {
			t.Errorf("%s is attributed to someone: %s", name, diff)
		}
		if cause := errors.Unwrap(err); cause == nil || strings.Contains(cause.Error(), "s2") || strings.Contains(cause.Error(), "evil") {
			t.Errorf("%s: the log would say %v", name, cause)
		}
	}
	if n := w.count(); n != 1 {
		t.Errorf("%d fetches for all that", n)
	}
}

// A well-signed token that may not be used any more is still somebody's.
func TestVerifyAttributes(t *testing.T) {
	s := ecSigner(t, "k1")
	w := newWorld(t, s.jwk())
	w.issuer.DenyList = true
	writer := w.links.(table.Writer)
	if err := subject.Revoke(t.Context(), writer, issuerURL, "jti-2", start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		claims  object
		members members
		reason  fault.Reason
	}{
		"expired":                {object{"exp": start.Unix() - 60}, members{"u1": identity.Owner}, fault.TokenExpired},
		"long expired":           {object{"exp": 1}, members{"u1": identity.Owner}, fault.TokenExpired},
		"not yet valid":          {object{"nbf": start.Unix() + 61}, members{"u1": identity.Owner}, fault.TokenUnknown},
		"issued in the future":   {object{"iat": start.Unix() + 61}, members{"u1": identity.Owner}, fault.TokenUnknown},
		"revoked":                {object{"jti": "jti-2"}, members{"u1": identity.Owner}, fault.TokenRevoked},
		"owner has left":         {object{"sub": "s1"}, members{}, fault.TokenRevoked},
		"no member table":        {object{"sub": "s1"}, members{"u1": "broken"}, fault.ReasonInternal},
		"another's id, accepted": {object{"jti": "jti-3"}, members{"u1": identity.Owner}, ""},
	} {
		w.members = tt.members
		p, err := w.verifier().Verify(t.Context(), s.token(t, s.header(), fine(tt.claims)))
		if tt.reason == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if f := fault.Of(err); err == nil || f.Reason != tt.reason {
			t.Errorf("%s: %v, want %s", name, err, tt.reason)
		}
		if p.WorkspaceID != "w1" || p.UserID != "u1" || p.TokenID == "" || len(p.Scopes) != 2 || p.Name != "" || p.Role != "" {
			t.Errorf("%s: attributed to %+v", name, p)
		}
	}
}

func TestTheDenyListIsAskedOnlyIfItIsSetUp(t *testing.T) {
	s := ecSigner(t, "k1")
	w := newWorld(t, s.jwk())
	if err := subject.Revoke(t.Context(), w.links.(table.Writer), issuerURL, "jti-1", start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.verifier().Verify(t.Context(), s.token(t, s.header(), fine())); err != nil {
		t.Errorf("without: %v", err)
	}
	w.issuer.DenyList = true
	if _, err := w.verifier().Verify(t.Context(), s.token(t, s.header(), fine())); fault.Of(err).Reason != fault.TokenRevoked {
		t.Errorf("with: %v", err)
	}
}

// Which workspace, and in which role, is never the token's to say.
func TestMembershipIsTheTrackers(t *testing.T) {
	s := ecSigner(t, "k1")
	w := newWorld(t, s.jwk())
	v := w.verifier()
	boast := s.token(t, s.header(), fine(object{"workspace_id": "w2", "user_id": "u2", "role": "owner", "cognito:groups": []string{"owner"}}))
	for _, role := range []identity.Role{identity.Member, identity.Owner} {
		w.members["u1"] = role
		p, err := v.Verify(t.Context(), boast)
		if err != nil || p.WorkspaceID != "w1" || p.UserID != "u1" || p.Role != role {
			t.Errorf("%v: %+v", err, p)
		}
	}
	if _, err := subject.Remove(t.Context(), w.links.(table.Writer), "w1", issuerURL, "s1", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(t.Context(), boast); fault.Of(err).Reason != fault.AccountNotLinked {
		t.Errorf("after the link is gone: %v", err)
	}
}

// Cognito leaves the audience out of access tokens.
func TestCognito(t *testing.T) {
	const prefix = "https://mcp.example.com/mcp/"
	s := ecSigner(t, "k1")
	w := newWorld(t, s.jwk())
	w.issuer.ScopePrefix, w.issuer.Clients = prefix, []string{"c0", "c1"}
	ours := object{"aud": nil, "token_use": "access", "scope": "openid " + prefix + "issues:read " + prefix + "root comments:read"}
	with := func(changes object) object { return changed(fine(ours), changes) }
	v := w.verifier()
	for name, tt := range map[string]struct {
		claims object
		scopes string // empty: refused
	}{
		"ours":                   {with(nil), "issues:read"},
		"with its audience":      {with(object{"aud": audience}), "issues:read"},
		"another's audience":     {with(object{"aud": "https://other.example.com"}), ""},
		"another client":         {with(object{"client_id": "c2"}), ""},
		"another with audience":  {with(object{"client_id": "c2", "aud": audience}), ""},
		"no client":              {with(object{"client_id": nil}), ""},
		"another server's scope": {with(object{"scope": "https://other.example.com/issues:read issues:read"}), ""},
		"no scope":               {with(object{"scope": nil}), ""},
		"ID token":               {with(object{"token_use": "id"}), ""},
	} {
		p, err := v.Verify(t.Context(), s.token(t, s.header(), tt.claims))
		if (err == nil) != (tt.scopes != "") || identity.Join(p.Scopes) != tt.scopes {
			t.Errorf("%s: %v, scopes %q", name, err, identity.Join(p.Scopes))
		}
		if err != nil && fault.Of(err).Reason != fault.TokenUnknown {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(*signin.Issuer){
		"no prefix":  func(i *signin.Issuer) { i.ScopePrefix = "" },
		"no clients": func(i *signin.Issuer) { i.Clients = nil },
	} {
		w.issuer.ScopePrefix, w.issuer.Clients = prefix, []string{"c1"}
		change(&w.issuer)
		if _, err := w.verifier().Verify(t.Context(), s.token(t, s.header(), with(nil))); fault.Of(err).Reason != fault.TokenUnknown {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The tables are read for every request; when they cannot be, nobody gets in.
func TestLinksThatCannotBeRead(t *testing.T) {
	s := ecSigner(t, "k1")
	w := newWorld(t, s.jwk())
	w.links = broken{}
	p, err := w.verifier().Verify(t.Context(), s.token(t, s.header(), fine()))
	if err == nil || fault.KindOf(err) != fault.Internal || p.UserID != "" {
		t.Errorf("%v, %+v", err, p)
	}
}

type broken struct{ table.Reader }

func (broken) BatchGet(context.Context, []table.Key) ([]table.Item, error) {
	return nil, errors.New("no table")
}

func TestBearer(t *testing.T) {
	s := ecSigner(t, "k1")
	w := newWorld(t, s.jwk())
	personal := &token.Verifier{Tokens: w.links, Members: w.members, Now: func() time.Time { return w.at }}
	tok, _, err := token.Issue(t.Context(), w.links.(table.Writer), token.Grant{
		ID: "t1", WorkspaceID: "w1", UserID: "u1", Name: "laptop", At: start, Scopes: []identity.Scope{identity.IssuesRead},
	})
	if err != nil {
		t.Fatal(err)
	}
	access := s.token(t, s.header(), fine())
	both := oauth.Bearer{Personal: personal, Access: w.verifier()}
	for text, want := range map[string]identity.Principal{
		tok.Secret(): {TokenID: "t1"}, access: {TokenID: "jti-1", CanStepUp: true},
	} {
		if p, err := both.Verify(t.Context(), text); err != nil || p.TokenID != want.TokenID || p.CanStepUp != want.CanStepUp {
			t.Errorf("%v: %+v", err, p)
		}
	}
	if _, err := both.Verify(t.Context(), tok.Secret()+"."+access); fault.Of(err).Reason != fault.TokenMalformed {
		t.Errorf("one in the other: %v", err)
	}
	none, err := oauth.New(oauth.Config{Links: w.links, Members: w.members, Now: time.Now, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []oauth.Bearer{{Personal: personal}, {Personal: personal, Access: none}} {
		if _, err := b.Verify(t.Context(), access); fault.Of(err).Reason != fault.TokenMalformed {
			t.Errorf("without an issuer: %v", err)
		}
		if _, err := b.Verify(t.Context(), tok.Secret()); err != nil {
			t.Errorf("without an issuer: %v", err)
		}
	}
}

func TestNew(t *testing.T) {
	fine := signin.Issuer{URL: issuerURL, KeysURL: keysURL, Audience: audience}
	with := func(change func(*signin.Issuer)) []signin.Issuer { i := fine; change(&i); return []signin.Issuer{i} }
	for name, issuers := range map[string][]signin.Issuer{
		"keys over http":     with(func(i *signin.Issuer) { i.KeysURL = "http://login.example.com/keys" }),
		"keys in a file":     with(func(i *signin.Issuer) { i.KeysURL = "file:///keys" }),
		"no keys":            with(func(i *signin.Issuer) { i.KeysURL = "" }),
		"no issuer":          with(func(i *signin.Issuer) { i.URL = "" }),
		"nothing but a list": {{}},
		"no audience":        with(func(i *signin.Issuer) { i.Audience = "" }),
		"twice":              {fine, fine},
	} {
		if _, err := oauth.New(oauth.Config{Issuers: issuers, Links: broken{}, Members: members{}, Now: time.Now, Logger: quiet}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := oauth.New(oauth.Config{Issuers: []signin.Issuer{fine}}); err == nil {
		t.Error("accepted without anything to work with")
	}
	loopback := with(func(i *signin.Issuer) { i.URL, i.KeysURL = "http://127.0.0.1:9000", "http://127.0.0.1:9000/keys" })
	if _, err := oauth.New(oauth.Config{Issuers: append(loopback, fine), Links: broken{}, Members: members{}, Now: time.Now, Logger: quiet}); err != nil {
		t.Error(err)
	}
}
