package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/authserver"
)

// order is how the focus goes through the consent page of an owner.
var order = []string{
	"scope-issues:read", "scope-comments:read", "scope-issues:write", "scope-comments:write", "scope-audit:read",
	"decision=allow", "decision=deny", "decision=switch",
}

// consent walks the page with Tab, unticks issues:write with Space, and lets the client in.
func (w *walker) consent(ctx context.Context) error {
	t, err := w.signIn(ctx, w.address(allScopes), 0) // Mira, an owner
	if err != nil {
		return err
	}
	if err := w.picture(ctx, t, "consent"); err != nil {
		return err
	}
	if err := readAloud(ctx, t); err != nil {
		return err
	}
	var focus []string
	for range order {
		if err := t.key(ctx, "Tab"); err != nil {
			return err
		}
		where, err := t.focused(ctx)
		if err != nil {
			return err
		}
		focus = append(focus, where)
		if where == "scope-issues:write" {
			if err := t.key(ctx, " "); err != nil {
				return err
			}
		}
	}
	if !slices.Equal(focus, order) {
		return fmt.Errorf("the focus goes %v, want %v", focus, order)
	}
	var ticked []string
	if err := t.read(ctx, `[...document.querySelectorAll("input:checked")].map(e => e.value)`, &ticked); err != nil {
		return err
	}
	if want := []string{"issues:read", "comments:read", "comments:write"}; !slices.Equal(ticked, want) {
		return fmt.Errorf("ticked is %v, want %v", ticked, want)
	}
	if err := t.read(ctx, `(document.querySelector("[value=allow]").focus(), true)`, new(bool)); err != nil {
		return err
	}
	if err := t.loaded(ctx, func() error { return t.key(ctx, "Enter") }); err != nil {
		return err
	}
	return errors.Join(w.redeem(ctx, "issues:read comments:read comments:write"), w.quiet(t))
}

// readAloud compares what a screen reader is told with what must be known before saying yes.
func readAloud(ctx context.Context, t *tab) error {
	nodes, err := t.accessible(ctx)
	if err != nil {
		return err
	}
	for _, want := range []node{
		{"RootWebArea", "Allow Walk?", ""},
		{"main", "", ""},
		{"heading", "Walk asks to use AACWorkflow in your name", ""},
		{"group", "It may do what is ticked:", ""},
		{"checkbox", "Read issues", "Opens: List issues, Get issue. Scope issues:read"},
		{"checkbox", "Create, change and delete issues", "Can destroy: Delete issue."},
		{"checkbox", "Write and delete comments", "Can destroy: Delete comment."},
		{"checkbox", "Read the audit log: what every member and program did", "Opens no tool."},
		{"button", "Allow", ""}, {"button", "Cancel", ""}, {"button", "I am someone else", ""},
	} {
		if !slices.ContainsFunc(nodes, func(n node) bool {
			return n.Role == want.Role && n.Name == want.Name || want.Name == "" && n.Role == want.Role
		}) {
			return fmt.Errorf("a screen reader is not told of the %s %q", want.Role, want.Name)
		}
		if want.Description != "" && !slices.ContainsFunc(nodes, func(n node) bool { return n.Name == want.Name && strings.Contains(n.Description, want.Description) }) {
			return fmt.Errorf("a screen reader is not told %q of %q", want.Description, want.Name)
		}
	}
	return nil
}

// redeem takes the code that came back and requires a token with just these scopes.
func (w *walker) redeem(ctx context.Context, scope string) error {
	q, err := w.answer(ctx)
	if err != nil {
		return err
	}
	if q.Get("state") != "s1" || q.Get("iss") != w.sys.URL {
		return fmt.Errorf("state or iss is not as it should be")
	}
	var got struct {
		Scope string `json:"scope"`
	}
	err = post(ctx, w.sys.URL+authserver.TokenPath, "application/x-www-form-urlencoded", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {w.client}, "code": {q.Get("code")}, "code_verifier": {verifier},
		"redirect_uri": {w.callback()}, "resource": {w.sys.MCPURL()},
	}.Encode(), &got)
	if err == nil && got.Scope != scope {
		err = fmt.Errorf("the token has the scopes %s, want %s", got.Scope, scope)
	}
	return err
}

// answer waits for the browser to come back to the client.
func (w *walker) answer(ctx context.Context) (url.Values, error) {
	select {
	case r := <-w.answers:
		if r.Header.Get("Referer") != "" {
			return nil, errors.New("the browser told the client where it comes from")
		}
		return r.URL.Query(), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("the browser did not come back to the client: %w", ctx.Err())
	}
}

// quiet requires that the browser found nothing wrong: no policy kept a page from its style or
// a form from its way.
func (w *walker) quiet(t *tab) error {
	if all := t.complaints(); len(all) > 0 {
		return fmt.Errorf("the browser complains: %s", strings.Join(all, "; "))
	}
	return nil
}

func (w *walker) deny(ctx context.Context) error {
	t, err := w.signIn(ctx, w.address("issues:read"), 2)
	if err != nil {
		return err
	}
	for range 3 { // the scope, Allow, Cancel
		if err := t.key(ctx, "Tab"); err != nil {
			return err
		}
	}
	if err := t.loaded(ctx, func() error { return t.key(ctx, "Enter") }); err != nil {
		return err
	}
	q, err := w.answer(ctx)
	if err == nil && (q.Get("error") != "access_denied" || q.Has("code")) {
		err = fmt.Errorf("the client reads %s", q.Get("error"))
	}
	return errors.Join(err, w.quiet(t))
}

// mistake signs in for a request that is wrong: the answer leads through the page of the sign-in
// to the client.
func (w *walker) mistake(ctx context.Context) error {
	t, err := w.signIn(ctx, w.address("issues:read", "code_challenge_method", "plain"), 0)
	if err != nil {
		return err
	}
	q, err := w.answer(ctx)
	if err == nil && (q.Get("error") != "invalid_request" || q.Get("iss") != w.sys.URL) {
		err = fmt.Errorf("the client reads %s", q.Get("error"))
	}
	return errors.Join(err, w.quiet(t))
}

// frame requires that a page of another site cannot show ours.
func (w *walker) frame(ctx context.Context) error {
	t, err := w.open(ctx)
	if err != nil {
		return err
	}
	if err := t.navigate(ctx, w.site+"/frame"); err != nil {
		return err
	}
	var tree struct {
		FrameTree struct {
			ChildFrames []struct {
				Frame struct{ URL string }
			}
		}
	}
	if err := t.call(ctx, "Page.getFrameTree", struct{}{}, &tree); err != nil {
		return err
	}
	if frames := tree.FrameTree.ChildFrames; len(frames) != 1 || !strings.HasPrefix(frames[0].Frame.URL, "chrome-error:") {
		return fmt.Errorf("the frame shows %+v", frames)
	}
	return nil
}

// forge answers a page that is open in this browser from another site, whose attacker even knows
// the secret of the page.
func (w *walker) forge(ctx context.Context) error {
	t, err := w.signIn(ctx, w.address("issues:read"), 0)
	if err != nil {
		return err
	}
	var flow string
	if err := t.read(ctx, `document.querySelector("[name=flow]").value`, &flow); err != nil {
		return err
	}
	// The attacker's page is at another name of this machine, which is another site.
	address := strings.Replace(w.site, "127.0.0.1", "localhost", 1) + "/forge?" + url.Values{"flow": {flow}}.Encode()
	from := w.position()
	if err := t.call(ctx, "Page.navigate", map[string]any{"url": address}, nil); err != nil {
		return err
	}
	for range 2 { // the attacker's page, then the answer
		if _, from, err = w.await(ctx, from, func(m message) bool { return m.Session == t.session && m.Method == "Page.loadEventFired" }); err != nil {
			return err
		}
	}
	var shown struct{ Place, Text string }
	if err := t.read(ctx, `({place: location.href, text: document.body.innerText})`, &shown); err != nil {
		return err
	}
	if !strings.HasPrefix(shown.Place, w.sys.URL+authserver.AuthorizePath) || !strings.Contains(shown.Text, "does not come from the page") {
		return fmt.Errorf("the browser is at another place than the refusal")
	}
	select {
	case <-w.answers:
		return errors.New("the client was let in")
	default:
		return nil
	}
}
