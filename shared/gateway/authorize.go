package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// unauthorizedError is the text of the one error by which an authorizer asks for a 401. Lambda
// hands over nothing but the text of an error, so a wrapped one is another error.
const unauthorizedError = "Unauthorized"

// authorizerAnswer is what an authorizer returns.
type authorizerAnswer struct {
	PrincipalID string          `json:"principalId"`
	Policy      json.RawMessage `json:"policyDocument"`
	Context     map[string]any  `json:"context"`
}

// authorize asks the authorizer, every time, and puts what it says into the exchange. A
// request without a token does not come so far: the identity source is checked first.
func (g *gateway) authorize(x *exchange) *failure {
	if x.headers.get("Authorization") == "" {
		return unauthorized()
	}
	arn := g.methodARN(x)
	if len(arn) > MaxMethodARNBytes {
		return &failure{kind: Default4XX, status: http.StatusRequestURITooLong}
	}
	event, err := g.authorizerEvent(x)
	if err != nil {
		return authorizerFailed(AuthorizerFailure, err)
	}
	answer, err := invoke(g.Authorizer, event)
	if err != nil && err.Error() == unauthorizedError {
		return unauthorized()
	}
	if err != nil {
		return authorizerFailed(AuthorizerFailure, err)
	}
	claims, allowed, err := readAuthorizer(answer, arn)
	if err != nil {
		return authorizerFailed(AuthorizerConfigurationError, err)
	}
	x.claims = claims
	if !allowed {
		return &failure{kind: AccessDenied, status: http.StatusForbidden, claims: claims}
	}
	return nil
}

func unauthorized() *failure {
	return &failure{kind: Unauthorized, status: http.StatusUnauthorized}
}

func authorizerFailed(kind ResponseType, err error) *failure {
	return &failure{kind: kind, status: http.StatusInternalServerError, cause: fmt.Errorf("authorizer: %w", err)}
}

// readAuthorizer decides on the authorizer's answer. The claims are its context and the
// principal, all of them strings, as functions get them.
func readAuthorizer(answer []byte, arn string) (claims map[string]string, allowed bool, err error) {
	var a authorizerAnswer
	dec := json.NewDecoder(bytes.NewReader(answer))
	dec.UseNumber()
	if err := dec.Decode(&a); err != nil {
		return nil, false, fmt.Errorf("malformed answer: %w", err)
	}
	if a.PrincipalID == "" {
		return nil, false, errors.New("malformed answer: no principalId")
	}
	claims = map[string]string{}
	for name, value := range a.Context {
		text, ok := scalar(value)
		if !ok {
			return nil, false, fmt.Errorf("context value %q is no string, number or boolean", name)
		}
		claims[name] = text
	}
	claims["principalId"] = a.PrincipalID
	allowed, err = evaluatePolicy(a.Policy, arn)
	return claims, allowed, err
}
