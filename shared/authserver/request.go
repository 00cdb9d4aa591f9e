package authserver

import (
	"context"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/aacworkflow/mcp-connector/shared/authserver/page"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// The request for a code comes through a person's browser, so anybody can write it. The order in
// which it is read keeps it from sending the browser anywhere:
//
//  1. who the person is: before that, nothing is fetched and nothing is stored;
//  2. which client, and whether the redirect address is one of its own: what is wrong so far is
//     shown here, and the browser stays here;
//  3. all the rest: what is wrong now the client is told, at its redirect address. Since anybody
//     can be a client, the person decides whether to go there, unless it is their own machine.
//
// The first step is taken here; for the others the library calls VerifyAuthRequest and Authorize.
// What it answers is captured: it can only redirect or write JSON, and this is for a person.

// Limits of a request, in bytes.
const (
	maxQuery = 8 << 10
	maxState = 2 << 10
)

func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	if err := s.authorized(w, r); err != nil {
		s.showError(w, r, err)
	}
}

func (s *Server) authorized(w http.ResponseWriter, r *http.Request) error {
	if wait := s.asks.take(sourceOfRequest(r)); wait > 0 {
		return tooMany(wait)
	}
	q, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	back := AuthorizePath + "?" + q.Encode()
	who, ok, err := s.Login.Who(r)
	if err != nil {
		return err
	}
	if !ok {
		s.Login.SignIn(w, r, back)
		return nil
	}
	role, active, err := s.roleOf(r.Context(), personOf(who))
	if err != nil {
		return err
	}
	if !active {
		return errNotMember
	}
	c := &captured{header: http.Header{}}
	v := &visit{header: c.header, query: q, person: personOf(who), role: role}
	handOver(s.endpoints, c, r, v, q, authorizeFields...)
	if v.asked != nil {
		return s.ask(w, r, *v.asked, who, back)
	}
	s.tell(w, r, c, v)
	return nil
}

// parseQuery reads the parameters. Those that say where an answer may go must be there once, or
// two readers could take them differently.
func parseQuery(raw string) (url.Values, error) {
	values, err := url.ParseQuery(raw)
	if err != nil || len(raw) > maxQuery {
		return nil, refuse(oidc.ErrInvalidRequest(), "the address that your program opened is malformed or too long")
	}
	for _, name := range []string{"client_id", "redirect_uri"} {
		if len(values[name]) != 1 || values.Get(name) == "" {
			return nil, refuse(oidc.ErrInvalidRequest(), "the address that your program opened lacks "+name+", or has it twice")
		}
	}
	return values, nil
}

// errNotMember is shown to who has signed in but is no member, or not any more.
var errNotMember = op.NewStatusError(refuse(oidc.ErrAccessDenied(), "you are no member of this workspace, or not any more: ask its owner"), http.StatusForbidden)

// roleOf returns the person's role as it is now, and whether they are still a member.
func (s *Server) roleOf(ctx context.Context, p person) (role identity.Role, active bool, err error) {
	if _, role, active, err = s.Members.Member(ctx, p.WorkspaceID, p.UserID); err != nil {
		err = fmt.Errorf("read the member: %w", err)
	}
	return role, active, err
}

// checkRequest checks what the library does not know, or takes more lightly (RFC 6749, section
// 4.1.1; RFC 7636, section 4.3; RFC 8707, section 2).
func (s *Server) checkRequest(v *visit, r *oidc.AuthRequest) (request, error) {
	q := v.query
	req := request{Client: v.client, Redirect: r.RedirectURI, State: q.Get("state"), Challenge: r.CodeChallenge, Resource: s.Resource}
	if err := check(q); err != nil {
		return req, err
	}
	switch {
	case len(req.State) > maxState:
		return req, refuse(oidc.ErrInvalidRequest(), "state is too long: 2048 bytes at most")
	case q.Get("request") != "" || q.Get("request_uri") != "":
		return req, refuse(oidc.ErrRequestNotSupported(), "request objects are not served: send plain parameters")
	case r.ResponseMode != "" && r.ResponseMode != oidc.ResponseModeQuery:
		return req, refuse(oidc.ErrInvalidRequest(), "only response_mode=query is served")
	case r.CodeChallengeMethod != oidc.CodeChallengeMethodS256 || !isChallenge(req.Challenge):
		return req, refuse(oidc.ErrInvalidRequest(), "PKCE is required: send code_challenge and code_challenge_method=S256")
	}
	if err := s.checkResource(q["resource"]); err != nil {
		return req, err
	}
	asked := identity.ParseScopes(r.Scopes.String())
	req.Scopes, req.Ticked = choose(asked, namesScopes(q.Get("scope")), v.role)
	if len(req.Scopes) == 0 {
		return req, refuse(oidc.ErrInvalidScope(), "none of the scopes is there for this person: see scopes_supported")
	}
	return req, nil
}

// namesScopes tells whether the client says what it wants. To ask for offline access says nothing
// of it: who can keep refresh tokens gets one.
func namesScopes(list string) bool { return len(wordsOf(list)) > 0 }

func wordsOf(list string) []string {
	return slices.DeleteFunc(strings.Fields(list), func(w string) bool { return w == "offline_access" })
}

// checkResource holds a client that names a resource to ours. One that names none means it, for
// there is no other; an empty value names none (RFC 6749, section 3.1).
func (s *Server) checkResource(named []string) error {
	if slices.ContainsFunc(named, func(resource string) bool { return resource != "" && resource != s.Resource }) {
		return refuse(oidc.ErrInvalidTarget(), "tokens are issued for one resource only: send resource="+s.Resource)
	}
	return nil
}

// isChallenge tells whether the text is a SHA-256 in base64url.
func isChallenge(text string) bool {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(b) == 32
}

// answer adds what every answer to a client has: its state, and who answers (RFC 9207), so that a
// client of several servers cannot be mixed up.
func (s *Server) answer(state string, more url.Values) url.Values {
	more.Set("iss", s.Issuer)
	if state != "" {
		more.Set("state", state)
	}
	return more
}

// tell ends a request with the error that was answered to it. The client is told at its own
// address, which the browser goes to by itself only if that is the person's own machine.
func (s *Server) tell(w http.ResponseWriter, r *http.Request, c *captured, v *visit) {
	f, toClient := c.refusal()
	view := errorView{refusal: f}
	if toClient {
		redirect, state := v.query.Get("redirect_uri"), v.query.Get("state")
		if len(state) > maxState {
			state = ""
		}
		to := withAnswer(redirect, s.answer(state, url.Values{"error": {f.Code}, "error_description": {f.Text}}))
		if isLocalRedirect(redirect) {
			page.Protect(w.Header())
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
		c.status, view.Client, view.Place, view.To = http.StatusBadRequest, v.client.Name, place(redirect), template.URL(to)
	}
	if after := c.header.Get("Retry-After"); after != "" {
		w.Header().Set("Retry-After", after)
	}
	s.writeError(w, r, c.status, view)
}

// showError answers with a page of ours. The browser stays here.
func (s *Server) showError(w http.ResponseWriter, r *http.Request, err error) {
	c := &captured{header: http.Header{}}
	s.fail(c, r, err)
	s.tell(w, r, c, nil)
}
