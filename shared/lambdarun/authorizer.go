package lambdarun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
)

// The authorizer answers API Gateway before any function runs:
//
//	who is it?    nobody: the error "Unauthorized", which becomes 401 with a challenge
//	may they?     known to lack a scope: Deny, which becomes 403 with a challenge
//	else          Allow on this one method, and the principal in the context
//
// It may only be stricter than the function behind it, never the other way round: what it
// cannot tell (an older protocol, an unknown tool) it allows, and tool.Bind decides. See
// operation.go for what it can tell.

// Verifier tells whose a token is. identity/token implements it; its Verify says what the
// principal holds when the error is not nil.
type Verifier interface {
	Verify(ctx context.Context, secret string) (identity.Principal, error)
}

// AuthorizerConfig is what the authorizer needs.
type AuthorizerConfig struct {
	Verifier Verifier
	// ScopesOf returns the scopes that a tool needs, and whether there is such a tool.
	ScopesOf func(tool string) ([]identity.Scope, bool)
	SignIn   signin.Config // for challenges
	Audit    audit.Settings
	Log      audit.Log // takes events of the recorder _authorizer only
	Logger   *slog.Logger
	// Anonymous counts a refusal that belongs to nobody; nil writes one log line for each.
	Anonymous func(context.Context, fault.Reason)
}

// errUnauthorized is what API Gateway turns into 401. The word is a contract, and wrapping it
// would break it. Source: Amazon API Gateway, "Output from an API Gateway Lambda authorizer".
var errUnauthorized = errors.New("Unauthorized")

// Authorizer is a REQUEST authorizer for API Gateway. Its result must not be cached.
func Authorizer(cfg AuthorizerConfig) Handler {
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		answer, err := caught(func() ([]byte, error) { return cfg.authorize(ctx, payload) })
		if err == nil || errors.Is(err, errUnauthorized) {
			return answer, err
		}
		cfg.Logger.ErrorContext(ctx, "authorizer failed", "error", err.Error())
		return nil, errors.New("internal error of the authorizer; see its log")
	}
}

func (cfg AuthorizerConfig) authorize(ctx context.Context, payload []byte) ([]byte, error) {
	var event events.APIGatewayCustomAuthorizerRequestTypeRequest
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, fmt.Errorf("decode the authorizer event: %w", err)
	}
	if event.MethodArn == "" {
		return nil, errors.New("the authorizer event names no method: declare the authorizer with FunctionPayloadType REQUEST")
	}
	op := cfg.operationOf(&event)
	secret, ok := bearerToken(&event)
	if !ok {
		return nil, cfg.refuseAnonymous(ctx, fault.New(fault.Unauthenticated, fault.TokenMalformed, "no bearer token"))
	}
	principal, err := cfg.Verifier.Verify(ctx, secret)
	if err != nil {
		return nil, cfg.refuse(ctx, &event, op, &principal, err)
	}
	if err := identity.Require(&principal); err != nil {
		return nil, errors.New("the verifier accepted a token without naming its owner")
	}
	if err := identity.Require(&principal, op.scopes...); err != nil {
		if err := cfg.record(ctx, &event, op, &principal, err); err != nil {
			return nil, err
		}
		return encode(cfg.deny(&event, op, &principal)), nil
	}
	return encode(policy("Allow", &event, &principal, contextOf(&principal))), nil
}

// bearerToken returns the token of the one Authorization header (RFC 6750, section 2.1). A
// token is looked for nowhere else: query strings and bodies end up in logs.
func bearerToken(e *events.APIGatewayCustomAuthorizerRequestTypeRequest) (string, bool) {
	header, ok := headerValue(e.Headers, e.MultiValueHeaders, "Authorization")
	if !ok {
		return "", false
	}
	scheme, token, ok := strings.Cut(strings.TrimSpace(header), " ")
	token = strings.TrimLeft(token, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" || strings.ContainsAny(token, " \t,") {
		return "", false
	}
	return token, true
}

// refuse answers a token that was not accepted, recording it where it belongs to someone.
func (cfg AuthorizerConfig) refuse(ctx context.Context, e *events.APIGatewayCustomAuthorizerRequestTypeRequest, op operation, p *identity.Principal, err error) error {
	f := fault.Of(err)
	attributable := identity.Require(p) == nil
	if attributable {
		if recErr := cfg.record(ctx, e, op, p, err); recErr != nil {
			return errors.Join(recErr, err) // the alarm AuditWriteAlarm looks at how the line begins
		}
	}
	switch {
	case f.Kind != fault.Unauthenticated:
		return fmt.Errorf("check the token: %w", err)
	case attributable:
		return errUnauthorized
	}
	return cfg.refuseAnonymous(ctx, f)
}

// refuseAnonymous counts. It writes no row: to fill a table must not be open to anybody. The
// cause is the verifier's word for those who set an issuer up; the client does not get it.
func (cfg AuthorizerConfig) refuseAnonymous(ctx context.Context, f *fault.Fault) error {
	if cfg.Anonymous != nil {
		cfg.Anonymous(ctx, f.Reason)
		return errUnauthorized
	}
	attrs := []any{"reason", string(f.Reason)}
	if cause := f.Unwrap(); cause != nil {
		attrs = append(attrs, "cause", cause.Error())
	}
	cfg.Logger.InfoContext(ctx, "anonymous request refused", attrs...)
	return errUnauthorized
}

// record writes the one event of a call that ends here.
func (cfg AuthorizerConfig) record(ctx context.Context, e *events.APIGatewayCustomAuthorizerRequestTypeRequest, op operation, p *identity.Principal, denial error) error {
	origin := originOf(e.RequestContext.RequestID, e.RequestContext.Identity.SourceIP, e.Headers, e.MultiValueHeaders)
	call := cfg.Audit.Begin(audit.Start{
		Principal: p, Tool: op.name, Recorder: audit.RecorderAuthorizer, Required: op.scopes, Transport: op.transport,
		CallID: origin.CallID, Client: origin.Client, SourceIP: origin.SourceIP, TraceID: origin.TraceID,
	})
	ctx, cancel := audit.Recording(ctx)
	defer cancel()
	return call.Record(ctx, cfg.Log, denial)
}

// The context of a Deny is the answer, for the gateway response ACCESS_DENIED: there is one for
// all routes, but /mcp answers in JSON-RPC. Values are put in as they are. Source: Amazon API
// Gateway, "Gateway responses", simple variable substitution.
const (
	keyChallenge = "wwwAuthenticate" // the whole header WWW-Authenticate
	keyBody      = "body"            // the whole body, JSON
)

// deny says which scopes the operation needs, all of them (RFC 6750, section 3.1).
func (cfg AuthorizerConfig) deny(e *events.APIGatewayCustomAuthorizerRequestTypeRequest, op operation, p *identity.Principal) events.APIGatewayCustomAuthorizerResponse {
	return policy("Deny", e, p, map[string]any{
		keyChallenge: cfg.SignIn.ScopeChallenge(op.scopes), keyBody: string(cfg.denial(op, e.RequestContext.RequestID)),
	})
}

// denial is what the function behind the route would answer, but for the id of a JSON-RPC
// request, which only the body tells.
func (cfg AuthorizerConfig) denial(op operation, callID string) []byte {
	f := cfg.SignIn.InsufficientScope(op.scopes)
	if op.transport == audit.MCP {
		return f.JSONRPC(nil, f.Kind.Status(), signin.AskForScope, callID)
	}
	f.Text = identity.MissingScope(op.scopes...).Text
	return f.PublicJSON(callID)
}

// maxResource bounds the resource of a policy, in characters. Source: Amazon API Gateway, "Output
// from an API Gateway Lambda authorizer".
const maxResource = 512

// resourceOf is the method as a policy may name it: of a long path, which is a caller's and no
// route of ours, the beginning. The policy is for this one request all the same.
func resourceOf(arn string) string {
	if len(arn) <= maxResource {
		return arn
	}
	return arn[:maxResource-1] + "*"
}

// policy decides about the method that was called and no other: the result of one call says
// nothing of the next.
func policy(effect string, e *events.APIGatewayCustomAuthorizerRequestTypeRequest, p *identity.Principal, context map[string]any) events.APIGatewayCustomAuthorizerResponse {
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: p.UserID,
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{
			Version: "2012-10-17",
			Statement: []events.IAMPolicyStatement{
				{Action: []string{"execute-api:Invoke"}, Effect: effect, Resource: []string{resourceOf(e.MethodArn)}},
			},
		},
		Context: context,
	}
}
