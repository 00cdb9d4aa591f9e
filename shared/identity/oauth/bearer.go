package oauth

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
)

// Bearer tells whose a bearer token is, whatever its kind: a personal token by its marker, and
// what is left by its signature.
type Bearer struct {
	Personal *token.Verifier
	Access   *Verifier
}

// Verify returns the member who calls with this token; see the two verifiers for the outcomes.
// Without an issuer all that is no personal token is malformed.
func (b Bearer) Verify(ctx context.Context, text string) (identity.Principal, error) {
	if token.Marked(text) || b.Access == nil || len(b.Access.issuers) == 0 {
		return b.Personal.Verify(ctx, text)
	}
	return b.Access.Verify(ctx, text)
}
