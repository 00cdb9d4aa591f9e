package fault

// Kind is a kind of failure. The zero value is Internal, so that forgetting is safe.
type Kind int

const (
	Internal        Kind = iota // our fault; the words stay in the log
	Invalid                     // the request is wrong and will stay wrong
	Unauthenticated             // who are you?
	Forbidden                   // you may not
	NotFound                    // what the main argument names is not there
	Conflict                    // right request, wrong moment or state
	RateLimited                 // too fast; wait RetryAfter
	numKinds
)

// Outcome is how a call ended, in the audit log.
type Outcome string

const (
	Success Outcome = "success"
	Denied  Outcome = "denied"
	Failed  Outcome = "error"
)

// Row is what a kind means to each reader of failures.
type Row struct {
	Name    string  // the word on the wire between our functions, in logs and docs
	Status  int     // HTTP status (RFC 9110, RFC 6585)
	Outcome Outcome // in the audit log
	Meaning string  // for docs/errors.md
}

var rows = [numKinds]Row{
	Internal:        {"internal", 500, Failed, "The connector failed. Nothing was changed unless the audit log says so."},
	Invalid:         {"invalid", 400, Denied, "The request is wrong and will stay wrong. Correct it."},
	Unauthenticated: {"unauthenticated", 401, Denied, "No token, or one that is malformed, expired or revoked. Sign in again."},
	Forbidden:       {"forbidden", 403, Denied, "The token lacks a scope, or its owner a right. Ask for the scope, or ask an administrator."},
	NotFound:        {"not_found", 404, Denied, "What the call is about does not exist in the workspace of the token."},
	Conflict:        {"conflict", 409, Denied, "The request does not fit the present state. Read again, then decide."},
	RateLimited:     {"rate_limited", 429, Denied, "Too many calls, or too many at once on one issue. Wait as Retry-After says."},
}

// Row returns what the kind means. A kind outside the table is Internal.
func (k Kind) Row() Row {
	if k < 0 || k >= numKinds {
		k = Internal
	}
	return rows[k]
}

// String returns the kind's word.
func (k Kind) String() string { return k.Row().Name }

// Status returns the HTTP status.
func (k Kind) Status() int { return k.Row().Status }

// Kinds lists all kinds.
func Kinds() []Kind {
	all := make([]Kind, numKinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// KindNamed returns the kind with this word, Internal if there is none.
func KindNamed(word string) Kind {
	for _, k := range Kinds() {
		if k.String() == word {
			return k
		}
	}
	return Internal
}
