package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
)

// callback is where clients are sent. Nobody listens: whoever signs in stops before it.
const callback = "http://127.0.0.1:7777/callback"

// tokens are what a client gets.
type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	ID      string `json:"id_token"`
}

// browse goes where a browser would be sent, as far as the callback.
func browse(ctx context.Context, address string) (*url.URL, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	var end *url.URL
	browser := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if u := *r.URL; u.Scheme+"://"+u.Host+u.Path == callback {
			end = &u
			return http.ErrUseLastResponse
		}
		return nil
	}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := browser.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if end == nil {
		said, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10))
		return nil, fmt.Errorf("the sign-in ended at %s: %s %s", response.Request.URL.Path, response.Status, said)
	}
	if problem := end.Query().Get("error"); problem != "" {
		return nil, fmt.Errorf("the sign-in failed: %s: %s", problem, end.Query().Get("error_description"))
	}
	return end, nil
}

// signIn gets tokens for a person, with PKCE. An empty resource asks for none.
func (h *hydra) signIn(ctx context.Context, c client, who, resource, scope string) (t tokens, err error) {
	verifier := rand.Text() + rand.Text() // at least 43 characters: RFC 7636, section 4.1
	hash := sha256.Sum256([]byte(verifier))
	query := url.Values{
		"response_type": {"code"}, "client_id": {c.ID}, "redirect_uri": {callback}, "scope": {scope}, "state": {rand.Text()},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(hash[:])}, "code_challenge_method": {"S256"}, "login_hint": {who},
	}
	if resource != "" {
		query.Set("resource", resource)
	}
	end, err := browse(ctx, h.URL+"/oauth2/auth?"+query.Encode())
	if err != nil {
		return t, err
	}
	return h.token(ctx, url.Values{
		"grant_type": {"authorization_code"}, "client_id": {c.ID}, "code": {end.Query().Get("code")}, "redirect_uri": {callback}, "code_verifier": {verifier},
	})
}

func (h *hydra) refresh(ctx context.Context, c client, refresh string) (tokens, error) {
	return h.token(ctx, url.Values{"grant_type": {"refresh_token"}, "client_id": {c.ID}, "refresh_token": {refresh}})
}

// errRefused is that of Hydra when it gives no tokens.
var errRefused = errors.New("no tokens were given")

func (h *hydra) token(ctx context.Context, form url.Values) (t tokens, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL+"/oauth2/token", strings.NewReader(form.Encode()))
	if err != nil {
		return t, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return t, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10))
		return t, fmt.Errorf("%w: %s %s", errRefused, response.Status, said)
	}
	return t, json.NewDecoder(response.Body).Decode(&t)
}
