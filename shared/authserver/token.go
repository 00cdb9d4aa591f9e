package authserver

import (
	"errors"
	"net/http"

	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// tokens is the answer to a client that gets tokens (RFC 6749, section 5.1).
type tokens struct {
	Access    string `json:"access_token"`
	Type      string `json:"token_type"`
	ExpiresIn int    `json:"expires_in"` // seconds
	Refresh   string `json:"refresh_token,omitempty"`
	Scope     string `json:"scope"`
}

func bearer(access, refresh string, scopes []identity.Scope) tokens {
	return tokens{Access: access, Type: "Bearer", ExpiresIn: int(accessLife.Seconds()), Refresh: refresh, Scope: identity.Join(scopes)}
}

// token answers POST /token.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	answer, err := s.exchange(w, r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, answer)
}

func (s *Server) exchange(w http.ResponseWriter, r *http.Request) (tokens, error) {
	form, err := readForm(w, r)
	if err != nil {
		return tokens{}, err
	}
	source := sourceOfRequest(r)
	if wait := s.failures.spent(source); wait > 0 {
		return tokens{}, tooMany(wait)
	}
	if err := requireClient(form); err != nil {
		return tokens{}, err
	}
	var answer tokens
	switch form.get("grant_type") {
	case "authorization_code":
		answer, err = s.redeem(r, form)
	case "refresh_token":
		answer, err = s.refresh(r, form)
	default:
		return tokens{}, refuse(unsupportedGrant, "only the grant types authorization_code and refresh_token are served")
	}
	if f := (*refusal)(nil); errors.As(err, &f) && f.Code == invalidGrant {
		s.failures.take(source)
	}
	return answer, err
}

// requireClient wants the client's id in the form. Clients that try a header first, with no
// secret, then come again with it.
func requireClient(form fields) error {
	if form.get("client_id") == "" {
		return refuse(invalidClient, "send client_id in the body: only public clients are served, and a header is not looked at")
	}
	return nil
}
