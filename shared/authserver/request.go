package authserver

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

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

// Limits of a request, in bytes.
const (
	maxQuery = 8 << 10
	maxState = 2 << 10
)

func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	if wait := s.asks.take(sourceOfRequest(r)); wait > 0 {
		s.showError(w, r, tooMany(wait))
		return
	}
	q, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		s.showError(w, r, err)
		return
	}
	back := AuthorizePath + "?" + q.values.Encode()
	who, ok, err := s.Login.Who(r)
	if err != nil {
		s.showError(w, r, err)
		return
	}
	if !ok {
		s.Login.SignIn(w, r, back)
		return
	}
	c, redirect, err := s.clientOf(r.Context(), q)
	if err != nil {
		s.showError(w, r, err)
		return
	}
	role, err := s.roleOf(r.Context(), who)
	if err != nil {
		s.showError(w, r, err)
		return
	}
	req, err := s.parseRequest(q, c, redirect, role)
	if err != nil {
		s.tellClient(w, r, c, redirect, q.get("state"), err)
		return
	}
	if err := s.ask(w, r, req, who, back); err != nil {
		s.showError(w, r, err)
	}
}

// parseQuery reads the parameters. Those that say where an answer may go must be there once, or
// two readers could take them differently.
func parseQuery(raw string) (fields, error) {
	values, err := url.ParseQuery(raw)
	if err != nil || len(raw) > maxQuery {
		return fields{}, refuse(invalidRequest, "the address that your program opened is malformed or too long")
	}
	for _, name := range []string{"client_id", "redirect_uri"} {
		if len(values[name]) != 1 || values.Get(name) == "" {
			return fields{}, refuse(invalidRequest, "the address that your program opened lacks "+name+", or has it twice")
		}
	}
	return fields{values}, nil
}

// clientOf finds the client and holds it to its own redirect addresses.
func (s *Server) clientOf(ctx context.Context, q fields) (client, string, error) {
	c, err := s.findClient(ctx, q.get("client_id"))
	if err != nil {
		return client{}, "", err
	}
	redirect := q.get("redirect_uri")
	if !c.hasRedirect(redirect, s.AppSchemes) {
		return client{}, "", refuse(invalidRequest, "the program asks to be answered at an address that it has not registered: let it connect anew, or let its makers know")
	}
	return c, redirect, nil
}

// errNotMember is shown to who has signed in but is no member, or not any more.
var errNotMember = &refusal{Code: accessDenied, Text: "you are no member of this workspace, or not any more: ask its owner", status: http.StatusForbidden}

// roleOf returns the person's role as it is now.
func (s *Server) roleOf(ctx context.Context, p Person) (identity.Role, error) {
	_, role, active, err := s.Members.Member(ctx, p.WorkspaceID, p.UserID)
	if err != nil {
		return "", fmt.Errorf("read the member: %w", err)
	}
	if !active {
		return "", errNotMember
	}
	return role, nil
}

// parseRequest checks all that the client can be told about (RFC 6749, section 4.1.1; RFC 7636,
// section 4.3; RFC 8707, section 2).
func (s *Server) parseRequest(q fields, c client, redirect string, role identity.Role) (request, error) {
	req := request{Client: c, Redirect: redirect, State: q.get("state"), Challenge: q.get("code_challenge"), Resource: s.Resource}
	if err := q.check(); err != nil {
		return req, err
	}
	switch {
	case len(req.State) > maxState:
		return req, refuse(invalidRequest, "state is too long: 2048 bytes at most")
	case q.get("request") != "" || q.get("request_uri") != "":
		return req, refuse("request_not_supported", "request objects are not served: send plain parameters")
	case q.get("response_type") != "code":
		return req, refuse(unsupportedResponse, "only response_type=code is served")
	case q.get("response_mode") != "" && q.get("response_mode") != "query":
		return req, refuse(invalidRequest, "only response_mode=query is served")
	case q.get("code_challenge_method") != "S256" || !isChallenge(req.Challenge):
		return req, refuse(invalidRequest, "PKCE is required: send code_challenge and code_challenge_method=S256")
	}
	if misfit := s.checkResource(q); misfit != nil {
		return req, misfit
	}
	asked := identity.ParseScopes(q.get("scope"))
	req.Scopes, req.Ticked = choose(asked, namesScopes(q.get("scope")), role)
	if len(req.Scopes) == 0 {
		return req, refuse(invalidScope, "none of the scopes is there for this person: see scopes_supported")
	}
	return req, nil
}

// namesScopes tells whether the client says what it wants. To ask for offline access says nothing
// of it: who can keep refresh tokens gets one.
func namesScopes(list string) bool {
	words := slices.DeleteFunc(strings.Fields(list), func(w string) bool { return w == "offline_access" })
	return len(words) > 0
}

// checkResource holds a client that names a resource to ours. One that names none means it, for
// there is no other.
func (s *Server) checkResource(f fields) *refusal {
	for _, resource := range f.values["resource"] {
		if resource != s.Resource {
			return refuse(invalidTarget, "tokens are issued for one resource only: send resource="+s.Resource)
		}
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

// tellClient ends a request with an error for the client.
func (s *Server) tellClient(w http.ResponseWriter, r *http.Request, c client, redirect, state string, err error) {
	f := s.refusalOf(r, err)
	if len(state) > maxState {
		state = ""
	}
	to := withAnswer(redirect, s.answer(state, url.Values{"error": {f.Code}, "error_description": {f.Text}}))
	if isLocalRedirect(redirect) {
		page.Protect(w.Header())
		http.Redirect(w, r, to, http.StatusSeeOther)
		return
	}
	s.showWayBack(w, r, c, redirect, to, f)
}

// showError answers with a page of ours. The browser stays here.
func (s *Server) showError(w http.ResponseWriter, r *http.Request, err error) {
	f := s.refusalOf(r, err)
	s.writeError(w, r, f)
}
