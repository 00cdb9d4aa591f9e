package authserver

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// What an event is about, in its member tool. The grant is the target, and its id the token id.
const (
	grantAct   = "oauth.grant"   // a code was redeemed: tokens exist
	refreshAct = "oauth.refresh" // only when it was denied as a reuse
	revokeAct  = "oauth.revoke"  // a grant ended before its time
)

// Why a grant ended, as its detail in the log.
const (
	byClient      = "revoked_by_client"
	codeReused    = "code_reused"
	refreshReused = "refresh_token_reused"
	wrongHands    = "refresh_token_of_another_client"
	memberLeft    = "member_left"
)

// begin opens the record of an act on a grant.
func (s *Server) begin(ctx context.Context, act string, g grantRow) *audit.Call {
	origin := audit.OriginFrom(ctx)
	call := s.Audit.Begin(audit.Start{
		Principal: &identity.Principal{
			WorkspaceID: g.Person.WorkspaceID, UserID: g.Person.UserID, TokenID: g.ID, Scopes: g.Scopes,
		},
		Tool: act, Recorder: audit.RecorderOAuth, Transport: audit.REST,
		CallID: origin.CallID, Client: audit.Client{Name: g.ClientName}, SourceIP: origin.SourceIP, TraceID: origin.TraceID,
	})
	call.Target("grant", g.ID)
	return call
}

// recordDenial writes the event of a refused use of a grant. The refusal stands whether or not it
// can be recorded; that it could not is in the log of the program.
func (s *Server) recordDenial(ctx context.Context, act string, g grantRow, why string) {
	call := s.begin(ctx, act, g)
	recording, cancel := audit.Recording(ctx)
	defer cancel()
	denial := fault.New(fault.Unauthenticated, fault.TokenRevoked, "this token was used before").Noting(fault.Detail(why))
	if err := call.Record(recording, s.Log, denial); err != nil {
		s.logFailure(ctx, err)
	}
}
