package fault

// Reason is the code of a failure: for programs, for models, and for the audit log.
type Reason string

const (
	ReasonInternal Reason = "internal"

	InvalidArguments     Reason = "invalid_arguments"        // member field names the argument
	UnknownReference     Reason = "unknown_reference"        // members field, choices
	AmbiguousReference   Reason = "ambiguous_reference"      // members field, choices
	InvalidCursor        Reason = "invalid_cursor"           // start again without it
	ConfirmMissing       Reason = "destructive_flag_missing" // a destructive call without confirm: true
	InvalidRequest       Reason = "invalid_request"          // not a well-formed call at all
	PayloadTooLarge      Reason = "payload_too_large"        // over the input limit
	TokenMissing         Reason = "unauthenticated"          // no principal
	TokenMalformed       Reason = "token_malformed"          // not a token of ours, or a mistyped one
	TokenUnknown         Reason = "token_unknown"            // well-formed, but nobody's
	TokenExpired         Reason = "token_expired"            //
	TokenRevoked         Reason = "token_revoked"            // revoked, or its owner has left
	AccountNotLinked     Reason = "account_not_linked"       // signed in with an issuer of ours, but a member of nothing
	InsufficientScope    Reason = "insufficient_scope"       // member scopes: all that the operation needs
	NotPermitted         Reason = "not_permitted"            // the caller's role or authorship does not allow it
	InvocationNotAllowed Reason = "invocation_not_allowed"   // a private agent that the caller may see, not start
	TargetNotFound       Reason = "not_found"                //
	UnknownTool          Reason = "unknown_tool"             //
	RevisionConflict     Reason = "revision_conflict"        // members expected_revision, actual_revision
	IdempotencyConflict  Reason = "idempotency_conflict"     // same key, other arguments
	LimitReached         Reason = "limit_reached"            // member limit
	TargetUnavailable    Reason = "target_unavailable"       // an archived agent
	AutopilotNotActive   Reason = "autopilot_not_active"     // member status
	ReasonRateLimited    Reason = "rate_limited"             // member retry_after_s
	Contention           Reason = "contention"               // others kept writing the same issue; member retry_after_s
	OriginNotAllowed     Reason = "origin_not_allowed"       // a browser page that is not on the allow-list
	HostNotAllowed       Reason = "host_not_allowed"         // a Host that is not on the allow-list
)

// reasonKinds says which kind each reason belongs to: one, always.
var reasonKinds = map[Reason]Kind{
	ReasonInternal:   Internal,
	InvalidArguments: Invalid, UnknownReference: Invalid, AmbiguousReference: Invalid, InvalidCursor: Invalid,
	ConfirmMissing: Invalid, InvalidRequest: Invalid, PayloadTooLarge: Invalid,
	TokenMissing: Unauthenticated, TokenMalformed: Unauthenticated, TokenUnknown: Unauthenticated,
	TokenExpired: Unauthenticated, TokenRevoked: Unauthenticated, AccountNotLinked: Unauthenticated,
	InsufficientScope: Forbidden, NotPermitted: Forbidden, InvocationNotAllowed: Forbidden,
	OriginNotAllowed: Forbidden, HostNotAllowed: Forbidden,
	TargetNotFound: NotFound, UnknownTool: NotFound,
	RevisionConflict: Conflict, IdempotencyConflict: Conflict, LimitReached: Conflict,
	TargetUnavailable: Conflict, AutopilotNotActive: Conflict,
	ReasonRateLimited: RateLimited, Contention: RateLimited,
}

// KindOfReason returns the kind a reason belongs to, and whether the reason is known.
func KindOfReason(r Reason) (Kind, bool) {
	k, ok := reasonKinds[r]
	return k, ok
}

// Reasons lists all reasons, in no order.
func Reasons() []Reason {
	all := make([]Reason, 0, len(reasonKinds))
	for r := range reasonKinds {
		all = append(all, r)
	}
	return all
}
