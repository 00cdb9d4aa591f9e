package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/aacworkflow/mcp-connector/functions/local/signintest"
	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/identity/subject"
)

// allScopes are those that a client may ask for.
const allScopes = "issues:read issues:write"

// checks run in this order: time only goes on.
var checks = []struct {
	name string
	run  func(context.Context, *world) error
}{
	{"a client that knows the address alone signs in, reads, and is asked again before it writes", addressAlone},
	{"a scope that was not granted is challenged", missingScope},
	{"a token for another resource, for none, or of another kind is refused", otherTokens},
	{"a person without a link is refused until there is one", noLink},
	{"a client that is not on the list is refused", otherClient},
	{"a refreshed token is taken", refreshed},
	{"a client that was removed gets no more tokens, and the one that it has can be ended", removedClient},
	{"a new key is taken with its first token, one that was withdrawn no more", rotation},
	{"the keys at hand do while Hydra is away, and no token outlives its time", awayAndExpired},
}

// addressAlone is the SDK's client, with all that it finds out by itself. Its client is registered
// beforehand: Hydra answers a dynamic registration with "jwks": {}, which SDK 1.8.0 cannot read.
func addressAlone(ctx context.Context, w *world) (err error) {
	c, err := w.hydra.register(ctx, w.system.MCPURL())
	if err != nil {
		return err
	}
	var asked []string
	h, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL:         callback,
		PreregisteredClient: &oauthex.ClientCredentials{ClientID: c.ID},
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			end, err := browse(ctx, args.URL)
			if err != nil {
				return nil, err
			}
			q := end.Query()
			asked = append(asked, signintest.Scopes(end))
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
	})
	if err != nil {
		return err
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1"}, nil).
		Connect(ctx, &mcp.StreamableClientTransport{Endpoint: w.system.MCPURL(), OAuthHandler: h, MaxRetries: -1}, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	for _, call := range []*mcp.CallToolParams{
		{Name: "get_issue", Arguments: map[string]any{"issue_id": "AAC-42"}},
		{Name: "create_issue", Arguments: map[string]any{"title": "Made through Hydra"}},
	} {
		result, err := session.CallTool(ctx, call)
		if err != nil || result.IsError {
			return fmt.Errorf("%s: %+v, %w", call.Name, result, err)
		}
	}
	if !slices.Equal(asked, []string{"issues:read", allScopes}) {
		return fmt.Errorf("granted %q, want first to read, then to write too", asked)
	}
	return nil
}

// show calls a tool with a token, and requires the status. It returns the challenge.
func (w *world) show(ctx context.Context, url, token, tool, arguments string, status int) (challenge string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/tools/"+tool, strings.NewReader(arguments))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if response.StatusCode != status {
		return "", fmt.Errorf("%s is answered %s, want %d: %s", tool, response.Status, status, body)
	}
	return response.Header.Get("WWW-Authenticate"), nil
}

// taken and refused show a token to the connector.
func (w *world) taken(ctx context.Context, token string) error {
	_, err := w.show(ctx, w.system.URL, token, "list_issues", `{"limit":1}`, http.StatusOK)
	return err
}

// refused requires why: the reason in the audit log if it is known whose the token is, else what
// the connector's log says.
func (w *world) refused(ctx context.Context, token, why string) error {
	w.log.took()
	challenge, err := w.show(ctx, w.system.URL, token, "list_issues", `{"limit":1}`, http.StatusUnauthorized)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(challenge, `Bearer resource_metadata="`+w.system.URL) {
		return fmt.Errorf("the challenge is %q", challenge)
	}
	said := w.log.took()
	if !strings.Contains(said, "anonymous request refused") {
		if said, err = w.lastDenial(ctx); err != nil {
			return err
		}
	}
	if !strings.Contains(said, why) {
		return fmt.Errorf("refused for another reason than %q: %s", why, said)
	}
	return nil
}

// lastDenial is the reason of the last call in the audit log that was denied.
func (w *world) lastDenial(ctx context.Context) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.system.URL+"/audit?limit=10&outcome=denied", nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+w.system.Tokens["owner"])
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var page struct {
		Events []audit.Event `json:"events"`
	}
	if err := json.NewDecoder(response.Body).Decode(&page); err != nil || len(page.Events) == 0 {
		return "", fmt.Errorf("nothing was denied: %s, %w", response.Status, err)
	}
	return string(page.Events[0].Reason), nil
}

// good is a token of a linked person for this connector, and the client that got it.
func (w *world) good(ctx context.Context, scope string) (client, tokens, error) {
	c, err := w.hydra.register(ctx, w.system.MCPURL())
	if err != nil {
		return c, tokens{}, err
	}
	t, err := w.hydra.signIn(ctx, c, priya, w.system.MCPURL(), scope)
	return c, t, err
}

func missingScope(ctx context.Context, w *world) error {
	_, t, err := w.good(ctx, "issues:read")
	if err != nil {
		return err
	}
	if err := w.taken(ctx, t.Access); err != nil {
		return err
	}
	challenge, err := w.show(ctx, w.system.URL, t.Access, "create_issue", `{"title":"Never made"}`, http.StatusForbidden)
	if err == nil && !strings.Contains(challenge, `error="insufficient_scope", scope="issues:write"`) {
		err = fmt.Errorf("the challenge is %q", challenge)
	}
	return err
}

func otherTokens(ctx context.Context, w *world) error {
	c, t, err := w.good(ctx, "openid offline "+allScopes)
	if err != nil {
		return err
	}
	elsewhere, err := w.hydra.signIn(ctx, c, priya, "https://elsewhere.example/mcp", allScopes)
	if err != nil {
		return err
	}
	slash, err := w.hydra.signIn(ctx, c, priya, w.system.MCPURL()+"/", allScopes)
	if err != nil {
		return err
	}
	none, err := w.hydra.signIn(ctx, c, priya, "", allScopes)
	if err != nil {
		return err
	}
	changed := t.Access[:len(t.Access)-4] + "AAAA"
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT","kid":"none"}`)) + t.Access[strings.Index(t.Access, "."):]
	for token, why := range map[string]string{
		elsewhere.Access: "its audience is another one",
		slash.Access:     "its audience is another one",
		none.Access:      "its audience is another one", // Hydra says "aud": []
		t.ID:             "its audience is another one",
		t.Refresh:        "token_malformed",
		changed:          "its signature is not that of the issuer's key",
		unsigned:         "its algorithm is not accepted",
	} {
		if err := w.refused(ctx, token, why); err != nil {
			return err
		}
	}
	return w.taken(ctx, t.Access)
}

func noLink(ctx context.Context, w *world) error {
	c, err := w.hydra.register(ctx, w.system.MCPURL())
	if err != nil {
		return err
	}
	t, err := w.hydra.signIn(ctx, c, stranger, w.system.MCPURL(), "issues:read")
	if err != nil {
		return err
	}
	if err := w.refused(ctx, t.Access, "account_not_linked"); err != nil {
		return err
	}
	if err := w.link(ctx, stranger); err != nil {
		return err
	}
	return w.taken(ctx, t.Access)
}

// otherClient asks a second connector, which takes the tokens of one client alone.
func otherClient(ctx context.Context, w *world) (err error) {
	listed, t, err := w.good(ctx, "issues:read")
	if err != nil {
		return err
	}
	_, other, err := w.good(ctx, "issues:read")
	if err != nil {
		return err
	}
	strict := &world{hydra: w.hydra, dir: w.dir + "-strict"}
	if err := strict.start(ctx, signin.Issuer{URL: w.hydra.URL, Audience: w.system.MCPURL(), Clients: []string{listed.ID}}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, strict.system.Close()) }()
	if err := strict.taken(ctx, t.Access); err != nil {
		return err
	}
	return strict.refused(ctx, other.Access, "its client is not one of those allowed")
}

func refreshed(ctx context.Context, w *world) error {
	c, t, err := w.good(ctx, "offline issues:read")
	if err != nil {
		return err
	}
	next, err := w.hydra.refresh(ctx, c, t.Refresh)
	if err != nil {
		return err
	}
	if next.Access == t.Access {
		return errors.New("it is the same token")
	}
	return w.taken(ctx, next.Access)
}

// removedClient shows what a removal at Hydra does, and what it does not: a JWT is valid until it
// expires, or is on the connector's deny list.
func removedClient(ctx context.Context, w *world) error {
	c, t, err := w.good(ctx, "offline issues:read")
	if err != nil {
		return err
	}
	if err := w.hydra.remove(ctx, c); err != nil {
		return err
	}
	if _, err := w.hydra.refresh(ctx, c, t.Refresh); !errors.Is(err, errRefused) {
		return fmt.Errorf("refreshing: %w", err)
	}
	if err := w.taken(ctx, t.Access); err != nil {
		return err
	}
	var claims struct {
		ID string `json:"jti"`
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(t.Access, ".")[1])
	if err != nil {
		return err
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		return err
	}
	if err := subject.Revoke(ctx, w.system.Tables, w.hydra.URL, claims.ID, w.now().Add(time.Hour)); err != nil {
		return err
	}
	return w.refused(ctx, t.Access, "token_revoked")
}

// How the connector keeps keys; docs/oauth.md, "The issuer's keys".
const (
	betweenFetches = 30 * time.Second
	usedAsTheyAre  = 10 * time.Minute
)

func rotation(ctx context.Context, w *world) error {
	_, old, err := w.good(ctx, "issues:read")
	if err != nil {
		return err
	}
	if err := w.taken(ctx, old.Access); err != nil { // the keys are at hand now
		return err
	}
	before, err := w.hydra.rotate(ctx)
	if err != nil {
		return err
	}
	_, next, err := w.good(ctx, "issues:read")
	if err != nil {
		return err
	}
	if keyOf(next.Access) == keyOf(old.Access) {
		return errors.New("it still signs with the old key")
	}
	w.pass(betweenFetches)
	if err := errors.Join(w.taken(ctx, next.Access), w.taken(ctx, old.Access)); err != nil {
		return err
	}
	if err := w.hydra.withdraw(ctx, before); err != nil {
		return err
	}
	w.pass(usedAsTheyAre)
	return errors.Join(w.taken(ctx, next.Access), w.refused(ctx, old.Access, "the issuer has no key with its key id"))
}

// keyOf is the head of a token, which names its key.
func keyOf(token string) string {
	head, _, _ := strings.Cut(token, ".")
	return head
}

func awayAndExpired(ctx context.Context, w *world) error {
	_, t, err := w.good(ctx, "issues:read")
	if err != nil {
		return err
	}
	if err := errors.Join(w.taken(ctx, t.Access), w.hydra.stop()); err != nil {
		return err
	}
	w.pass(usedAsTheyAre)
	if err := w.taken(ctx, t.Access); err != nil {
		return err
	}
	w.pass(time.Hour) // Hydra's tokens are for an hour
	return w.refused(ctx, t.Access, "token_expired")
}
