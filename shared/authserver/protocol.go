package authserver

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// protocol is what the library calls. Its methods decide; what they are handed has been through
// handOver and the library's own checks. What the library serves beyond this is not implemented
// here, and ServeHTTP does not lead to it.
type protocol struct {
	op.UnimplementedServer
	op.UnimplementedMetadataServer
	*Server
}

// newProtocol returns the library's handlers: the endpoints, and the metadata. CORS is not left to
// the library: it would let the pages of any site read /authorize with the cookies of the person.
func newProtocol(s *Server) (endpoints, metadata http.Handler) {
	p := protocol{Server: s}
	return op.RegisterServer(p, op.Endpoints{
		Authorization: op.NewEndpoint(AuthorizePath), Token: op.NewEndpoint(TokenPath),
		Revocation: op.NewEndpoint(RevokePath), JwksURI: op.NewEndpoint(KeysPath),
	}, op.WithServerCORSOptions(nil)), op.RegisterMetadataServer(p, op.WithServerCORSOptions(nil))
}

// visit is what the methods need to know of a request beside what the library hands them.
type visit struct {
	header http.Header // of the answer
	source string      // who sent it

	// Of a request for a code:
	query  url.Values
	person person
	role   identity.Role
	client client   // once it is known
	asked  *request // once it is in order
}

type visitKey struct{}

func visitOf(ctx context.Context) *visit { return ctx.Value(visitKey{}).(*visit) }

// Parameters that the library is shown. It takes names in any case, and so would read twice what
// was checked to be there once; whoever calls with others, such as client secrets, is not heard.
// Of a request for a code it is not shown what nobody but the client may know, for it logs where
// it redirects to.
var (
	authorizeFields = []string{"response_type", "client_id", "redirect_uri", "scope", "code_challenge", "code_challenge_method", "response_mode"}
	tokenFields     = []string{"grant_type", "client_id", "code", "redirect_uri", "code_verifier", "refresh_token", "scope", "resource"}
	revokeFields    = []string{"client_id", "token", "token_type_hint"}
)

// handOver has the library answer a request. It gets none of the request but what is named: no
// query, which it would take for a form, no header, which it would take client secrets from, and
// no parameter without a value (RFC 6749, section 3.1).
func handOver(to http.Handler, w http.ResponseWriter, r *http.Request, v *visit, form url.Values, names ...string) {
	shown := url.Values{}
	for _, name := range names {
		if values := slices.DeleteFunc(slices.Clone(form[name]), isEmpty); len(values) > 0 {
			shown[name] = values
		}
	}
	bare := &http.Request{Method: r.Method, URL: &url.URL{Path: r.URL.Path}, Header: http.Header{}, Body: http.NoBody, Form: shown, PostForm: shown}
	to.ServeHTTP(w, bare.WithContext(context.WithValue(r.Context(), visitKey{}, v)))
}

func isEmpty(value string) bool { return value == "" }

// document serves what is the same for all.
func (s *Server) document(from http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		keepNothing(w.Header()) // unless it says otherwise
		handOver(from, w, r, &visit{header: w.Header()}, nil)
	}
}

// machine serves an endpoint that programs send forms to.
func (s *Server) machine(endpoints http.Handler, names []string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		keepNothing(w.Header())
		v := &visit{header: w.Header(), source: sourceOfRequest(r)}
		form, err := readForm(w, r)
		if err == nil {
			err = check(form)
		}
		if wait := s.failures.spent(v.source); err == nil && wait > 0 {
			err = tooMany(wait)
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		fillIn(form)
		handOver(endpoints, w, r, v, form, names...)
	}
}

// Values that stand for others where the library is stricter or more talkative than it should be.
const (
	noRedirect   = "-"        // it requires redirect_uri with a code, which OAuth 2.1 dropped
	anotherGrant = "this one" // it repeats the grant type that it does not know
)

func fillIn(form url.Values) {
	if grant := form.Get("grant_type"); grant != "" && !slices.Contains([]oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken}, oidc.GrantType(grant)) {
		form.Set("grant_type", anotherGrant)
	}
	if form.Get("redirect_uri") == "" {
		form.Set("redirect_uri", noRedirect)
	}
}

// told returns what the library may answer for an error. A code or token that was wrong is counted.
func (p protocol) told(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if e := (*oidc.Error)(nil); errors.As(err, &e) && e.ErrorType == oidc.InvalidGrant {
		p.failures.take(visitOf(ctx).source)
	}
	return p.public(ctx, visitOf(ctx).header, err)
}

// VerifyAuthRequest implements op.Server: it finds the client. An error is shown to the person.
func (p protocol) VerifyAuthRequest(ctx context.Context, r *op.Request[oidc.AuthRequest]) (*op.ClientRequest[oidc.AuthRequest], error) {
	v := visitOf(ctx)
	c, err := p.findClient(ctx, v.person, r.Data.ClientID)
	if err != nil {
		return nil, p.told(ctx, err)
	}
	v.client = c
	if len(r.Data.Scopes) == 0 {
		r.Data.Scopes = identity.Names(offered()) // the library wants some; choose knows better
	}
	return &op.ClientRequest[oidc.AuthRequest]{Request: r, Client: asker{c, c.redirectsFor(r.Data.RedirectURI, p.AppSchemes)}}, nil
}

// Authorize implements op.Server: it notes what is asked for. An error is for the client, unless
// it has a status.
func (p protocol) Authorize(ctx context.Context, r *op.ClientRequest[oidc.AuthRequest]) (*op.Redirect, error) {
	v := visitOf(ctx)
	req, err := p.checkRequest(v, r.Data)
	if err != nil {
		return nil, p.told(ctx, err)
	}
	v.asked = &req
	return op.NewRedirect(""), nil // goes nowhere: the caller asks the person
}

// VerifyClient implements op.Server. All clients are public and prove nothing; whether a code or a
// token is theirs is found with that. So none is looked up, and no document fetched.
func (p protocol) VerifyClient(_ context.Context, r *op.Request[op.ClientCredentials]) (op.Client, error) {
	return asker{client: client{ID: r.Data.ClientID}}, nil
}

// CodeExchange implements op.Server.
func (p protocol) CodeExchange(ctx context.Context, r *op.ClientRequest[oidc.AccessTokenRequest]) (*op.Response, error) {
	return p.tokens(ctx, func() (*oidc.AccessTokenResponse, error) { return p.redeem(ctx, r) })
}

// RefreshToken implements op.Server.
func (p protocol) RefreshToken(ctx context.Context, r *op.ClientRequest[oidc.RefreshTokenRequest]) (*op.Response, error) {
	return p.tokens(ctx, func() (*oidc.AccessTokenResponse, error) { return p.refresh(ctx, r) })
}

// tokens answers with what comes of a try.
func (p protocol) tokens(ctx context.Context, try func() (*oidc.AccessTokenResponse, error)) (*op.Response, error) {
	var tokens *oidc.AccessTokenResponse
	err := again(func() (err error) {
		tokens, err = try()
		return err
	})
	return op.NewResponse(tokens), p.told(ctx, err)
}

// Revocation implements op.Server (RFC 7009).
func (p protocol) Revocation(ctx context.Context, r *op.ClientRequest[oidc.RevocationRequest]) (*op.Response, error) {
	known, err := p.revoke(ctx, r.Data.Token, r.Client.GetID())
	if err == nil && !known {
		p.failures.take(visitOf(ctx).source)
	}
	return op.NewResponse(nil), p.told(ctx, err)
}

// Keys implements op.Server (RFC 7517).
func (p protocol) Keys(ctx context.Context, _ *op.Request[struct{}]) (*op.Response, error) {
	keys, err := p.publicKeys(ctx)
	return toKeep(keys), p.told(ctx, err)
}

// toKeep answers with a document that may be kept for five minutes.
func toKeep(v any) *op.Response {
	return &op.Response{Header: http.Header{"Cache-Control": {"public, max-age=300"}, "Pragma": nil}, Data: v}
}
