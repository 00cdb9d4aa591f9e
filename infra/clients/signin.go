package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Clients that know nothing but the address of /mcp. Each signs in, reads, is refused when it
// writes, signs in for more, and writes; but for the Inspector.

// steppedUp requires that the person was asked for what the first challenge names, then for what
// the second one names besides.
func (c *consents) steppedUp() error {
	if want := []string{"issues:read", "issues:read issues:write"}; !slices.Equal(c.asked, want) {
		return fmt.Errorf("asked the person for %q, want %q", c.asked, want)
	}
	return nil
}

// walkCallback is where clients in this program are sent. Nobody listens there.
const walkCallback = "http://127.0.0.1:7777/callback"

// walkGoSignIn is the Go SDK's client with its own support for OAuth.
func walkGoSignIn(ctx context.Context, l local, _ string) (outcome, error) {
	var c consents
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL: walkCallback,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "walk-go", RedirectURIs: []string{walkCallback}, GrantTypes: []string{"authorization_code", "refresh_token"},
		}},
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			to, err := c.answer(ctx, args.URL)
			if err != nil {
				return nil, err
			}
			q := to.Query()
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
	})
	if err != nil {
		return outcome{}, err
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "walk-go", Version: "1"}, nil).
		Connect(ctx, &mcp.StreamableClientTransport{Endpoint: l.MCPURL, OAuthHandler: handler, MaxRetries: -1}, nil)
	if err != nil {
		return outcome{}, err
	}
	w := &walker{local: l, session: session}
	if _, err := w.expect(ctx, "get_issue", "", args{"issue_id": knownIssue}); err != nil {
		return outcome{}, err
	}
	w.calls++ // the call that is refused, before the client asks for more
	if _, err := w.expect(ctx, "create_issue", "", args{"title": "Made after signing in again"}); err != nil {
		return outcome{}, err
	}
	return outcome{calls: w.calls, grants: c.times()}, errors.Join(c.steppedUp(), session.Close())
}

// walkTypeScriptSignIn is the TypeScript SDK's client with its OAuth provider.
func walkTypeScriptSignIn(ctx context.Context, l local, _ string) (outcome, error) {
	var c consents
	person := c.serve()
	defer person.Close()
	calls, err := runTypeScript(ctx, "signin.mjs", l.MCPURL, person.URL)
	if err != nil {
		return outcome{}, err
	}
	return outcome{calls: calls, grants: c.times()}, c.steppedUp()
}

// walkInspectorSignIn signs in with the command line of the MCP Inspector, which keeps its tokens
// from one run to the next. It asks for all scopes at once, and does not ask again for one that
// was unticked: it ends with an error then, and nothing is done.
func walkInspectorSignIn(ctx context.Context, l local, _ string) (made outcome, err error) {
	if err := installOthers(ctx); err != nil {
		return made, err
	}
	for _, untick := range []string{"", "issues:write"} {
		home, err := os.MkdirTemp("", "aac-inspector-")
		if err != nil {
			return made, err
		}
		defer os.RemoveAll(home)
		i := inspector{local: l, era: "modern", home: home, consents: &consents{untick: untick}}
		if err := i.list(ctx, allTools); err != nil {
			return made, err
		}
		if _, err := i.call(ctx, "get_issue", `{"issue_id":"`+knownIssue+`"}`); err != nil {
			return made, err
		}
		if _, err := i.call(ctx, "create_issue", `{"title":"Made with the Inspector, signed in"}`); (err == nil) != (untick == "") {
			return made, fmt.Errorf("writing, without %q: %w", untick, err)
		}
		made.calls += 2
		made.grants += i.consents.times()
	}
	if made.grants != 2 {
		return made, fmt.Errorf("the person was asked %d times, want once for each start", made.grants)
	}
	return made, nil
}

// walkRemote lets mcp-remote, which makes a remote server look like a program, sign in for a
// client that speaks to a program.
func walkRemote(ctx context.Context, l local, _ string) (_ outcome, err error) {
	if err := installOthers(ctx); err != nil {
		return outcome{}, err
	}
	home, err := os.MkdirTemp("", "aac-remote-")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(home)
	ctx, cancel := context.WithTimeout(ctx, programWithin)
	defer cancel()
	var c consents
	a := &attendant{consents: &c, ctx: ctx}
	cmd := other(ctx, home, "mcp-remote/dist/proxy.js", l.MCPURL)
	cmd.Stderr = a
	session, err := mcp.NewClient(&mcp.Implementation{Name: "walk-remote", Version: "1"}, nil).
		Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return outcome{}, fmt.Errorf("%w\n%s", errors.Join(err, c.failed()), a.output())
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	w := &walker{local: l, session: session}
	if _, err := w.expect(ctx, "get_issue", "", args{"issue_id": knownIssue}); err != nil {
		return outcome{}, fmt.Errorf("%w\n%s", err, a.output())
	}
	w.calls++ // the call that is refused, before the proxy asks for more
	if _, err := w.expect(ctx, "create_issue", "", args{"title": "Made through a proxy"}); err != nil {
		return outcome{}, fmt.Errorf("%w\n%s", err, a.output())
	}
	return outcome{calls: w.calls, grants: c.times()}, c.steppedUp()
}
