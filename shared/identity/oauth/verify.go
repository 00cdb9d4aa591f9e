// Package oauth says whose an access token is that an authorization server of another make has
// signed: a JWT of a configured issuer, checked with that issuer's public keys.
//
// It makes no tokens, and a token alone opens nothing: which member of which workspace its
// bearer is stands in the tracker's data (identity/subject). What they may do is decided by
// identity.Require. It runs in the authorizer alone.
//
// Start with Verify, the order of everything. form.go is what is refused unseen, keys.go whose
// keys are trusted and for how long, claims.go what a token must say.
package oauth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/identity/subject"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Members tells what a user is in a workspace at this moment. A user who is not a member, or
// has left, is not active; that is no error.
type Members interface {
	Member(ctx context.Context, workspaceID, userID string) (name string, role identity.Role, active bool, err error)
}

// Config is what a Verifier is made of.
type Config struct {
	Issuers []signin.Issuer // with all that they have defaults for filled in; see signin.Config
	Links   table.Reader    // of the data table
	Members Members
	Now     func() time.Time
	Logger  *slog.Logger // told when keys cannot be fetched
	// Transport fetches keys; nil: the usual one. Connections are not kept.
	Transport http.RoundTripper
}

// Verifier tells whose an access token is. Of what it reads it keeps only the issuers' public
// keys; links, members and the deny list are read anew each time. Safe for concurrent use.
type Verifier struct {
	Config
	issuers map[string]issuer
}

type issuer struct {
	signin.Issuer
	keys *keySet
}

// New returns a Verifier. It sends nothing. It fails if an issuer is not one that can be
// trusted.
func New(c Config) (*Verifier, error) {
	if c.Links == nil || c.Members == nil || c.Now == nil || c.Logger == nil {
		return nil, errors.New("oauth: Links, Members, Now and Logger are needed")
	}
	v := &Verifier{Config: c, issuers: map[string]issuer{}}
	for _, i := range c.Issuers {
		if err := (signin.Config{Issuer: i}).Check(); err != nil {
			return nil, fmt.Errorf("oauth: %w", err)
		}
		if i.URL == "" || i.KeysURL == "" {
			return nil, errors.New("oauth: an issuer needs URL and KeysURL: take those of signin.Config.Issuers")
		}
		if _, twice := v.issuers[i.URL]; twice {
			return nil, errors.New("oauth: an issuer is configured twice")
		}
		v.issuers[i.URL] = issuer{i, newKeySet(i.KeysURL, c.Transport, c.Now, c.Logger)}
	}
	return v, nil
}

// Verify returns the member who calls with this access token. The outcomes are those of
// token.Verifier, and one more:
//
//   - nil: the principal may be trusted.
//   - unauthenticated, token_malformed or token_unknown: nobody's, the principal is empty. What
//     was wrong is the fault's cause, for the log.
//   - unauthenticated, account_not_linked: an issuer of ours vouches for the bearer, but they
//     are no member of any workspace that is known. The principal is empty.
//   - unauthenticated, token_expired, token_revoked (by someone, or because its owner has left
//     the workspace) or token_unknown (it is not valid yet): the principal says whose it was,
//     so that the denial can be recorded. Its name and role are empty, and it may do nothing.
//   - a plain error: the token could not be checked; nobody may act on it. If the principal
//     names a token, it is whose the attempt was.
func (v *Verifier) Verify(ctx context.Context, text string) (identity.Principal, error) {
	t, err := parse(text)
	if err != nil {
		return identity.Principal{}, malformed(err)
	}
	from, ok := v.issuers[t.issuer]
	if !ok {
		return identity.Principal{}, unknown("its issuer is not the one that is trusted here")
	}
	payload, err := from.open(ctx, t)
	if err != nil {
		return identity.Principal{}, err
	}
	c, err := readClaims(payload, t)
	if err != nil {
		return identity.Principal{}, malformed(err)
	}
	if err := c.check(from.Issuer); err != nil {
		return identity.Principal{}, unknown(err.Error())
	}
	return v.member(ctx, from, c)
}

// open checks the signature and returns what was signed.
func (i issuer) open(ctx context.Context, t form) ([]byte, error) {
	keys, err := i.keys.find(ctx, t.keyID)
	if err != nil {
		return nil, fmt.Errorf("the keys of the issuer are not known: %w", err)
	}
	for _, key := range keys {
		if payload, ok := t.verify(key); ok {
			return payload, nil
		}
	}
	if len(keys) == 0 {
		return nil, unknown("the issuer has no key with its key id")
	}
	return nil, unknown("its signature is not that of the issuer's key")
}

// member finds out whose the token is, and whether it may still be used.
func (v *Verifier) member(ctx context.Context, from issuer, c claims) (identity.Principal, error) {
	asked := subject.Presented{Issuer: from.URL, Subject: c.subject, ClientID: c.client}
	if from.DenyList {
		asked.TokenID = c.tokenID
	}
	found, err := subject.Find(ctx, v.Links, asked)
	if err != nil {
		return identity.Principal{}, err
	}
	if !found.Linked {
		return identity.Principal{}, denied(fault.AccountNotLinked,
			"you have signed in, but this account belongs to no workspace here: ask an administrator to link it").
			Because(fmt.Errorf("no member is linked to the subject with the id %s of %s", subject.ID(from.URL, c.subject), from.URL))
	}
	p := identity.Principal{
		WorkspaceID: found.Link.WorkspaceID, UserID: found.Link.UserID, TokenID: c.tokenID,
		Scopes: c.scopesOf(from.ScopePrefix), CanStepUp: true,
	}
	if found.Revoked {
		return p, denied(fault.TokenRevoked, "this token has been revoked: sign in again")
	}
	if err := c.checkTimes(v.Now()); err != nil {
		return p, err
	}
	name, role, active, err := v.Members.Member(ctx, p.WorkspaceID, p.UserID)
	if err != nil {
		return p, fmt.Errorf("read the owner of an access token: %w", err)
	}
	if !active {
		return p, denied(fault.TokenRevoked, "the owner of this token has left the workspace: sign in as a member")
	}
	p.Name, p.Role = name, role
	return p, nil
}

func denied(reason fault.Reason, text string) *fault.Fault {
	return fault.New(fault.Unauthenticated, reason, text)
}

func malformed(why error) error {
	return denied(fault.TokenMalformed, "this is not a valid access token: sign in again").Because(why)
}

func unknown(why string) error {
	return denied(fault.TokenUnknown, "this token is not for this server: sign in again").Because(errors.New(why))
}
