package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// accessKeys is the name of the keys with which Hydra signs access tokens.
const accessKeys = "hydra.jwt.access-token"

// startsWithin bounds the wait for Hydra, which makes two RSA keys first.
const startsWithin = time.Minute

// hydra is a running authorization server, and the two pages that it leaves to whoever runs it:
// they say who signs in and what they grant.
type hydra struct {
	URL   string // the issuer
	admin string
	pages *httptest.Server
	cmd   *exec.Cmd
}

// startHydra starts Hydra with its data in memory, on free ports of this machine.
func startHydra(ctx context.Context, program, dir string) (*hydra, error) {
	h := &hydra{}
	h.pages = httptest.NewServer(http.HandlerFunc(h.page))
	public, err := freePort()
	if err != nil {
		return nil, err
	}
	admin, err := freePort()
	if err != nil {
		return nil, err
	}
	h.URL, h.admin = "http://127.0.0.1:"+public, "http://127.0.0.1:"+admin+"/admin"
	// JSON is YAML.
	config, err := json.Marshal(map[string]any{
		"dsn": "memory",
		"serve": map[string]any{
			"public": map[string]any{"host": "127.0.0.1", "port": json.Number(public)},
			"admin":  map[string]any{"host": "127.0.0.1", "port": json.Number(admin)},
		},
		"urls": map[string]any{
			"self": map[string]any{"issuer": h.URL}, "login": h.pages.URL + "/login", "consent": h.pages.URL + "/consent",
		},
		"strategies": map[string]any{"access_token": "jwt"},
		"secrets":    map[string]any{"system": []string{"a secret of this test alone"}},
	})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "hydra.yml")
	log, err := os.Create(filepath.Join(dir, "hydra.log"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return nil, err
	}
	// --dev allows an issuer that is not https.
	h.cmd = exec.CommandContext(ctx, program, "serve", "all", "--dev", "--sqa-opt-out", "-c", file)
	h.cmd.Stdout, h.cmd.Stderr = log, log
	if err := h.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w; run make interop, which builds it", program, err)
	}
	if err := h.wait(ctx); err != nil {
		said, _ := os.ReadFile(log.Name())
		return nil, errors.Join(fmt.Errorf("%w\n%s", err, said), h.stop())
	}
	return h, nil
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// wait waits until the keys are published, which is after all else.
func (h *hydra) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startsWithin)
	defer cancel()
	for {
		err := h.call(ctx, http.MethodGet, h.URL+"/.well-known/jwks.json", nil, nil)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the authorization server did not start: %w", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// stop ends Hydra; the pages stay.
func (h *hydra) stop() error {
	if h.cmd.ProcessState != nil {
		return nil
	}
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	_ = h.cmd.Wait() // it was told to end, and says so
	return nil
}

// call sends JSON and reads JSON.
func (h *hydra) call(ctx context.Context, method, address string, body, into any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(content))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s: %s", method, r.URL.Path, response.Status, answer)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// client is one that is registered by an operator.
type client struct {
	ID        string   `json:"client_id,omitempty"`
	Name      string   `json:"client_name"`
	Redirects []string `json:"redirect_uris"`
	Grants    []string `json:"grant_types"`
	Scope     string   `json:"scope"`
	Method    string   `json:"token_endpoint_auth_method"`
	// Resources are what its tokens may be for. Hydra looks here when a token is refreshed.
	Resources []string `json:"audience"`
}

func (h *hydra) register(ctx context.Context, resource string) (c client, err error) {
	err = h.call(ctx, http.MethodPost, h.admin+"/clients", client{
		Name: "interop", Redirects: []string{callback}, Grants: []string{"authorization_code", "refresh_token"},
		Scope: "openid offline " + allScopes, Method: "none", Resources: []string{resource},
	}, &c)
	return c, err
}

func (h *hydra) remove(ctx context.Context, c client) error {
	return h.call(ctx, http.MethodDelete, h.admin+"/clients/"+c.ID, nil, nil)
}

// rotate makes a new key, with which Hydra signs from now on, and returns the ids of all that
// there were before.
func (h *hydra) rotate(ctx context.Context) (before []string, err error) {
	var set struct {
		Keys []struct {
			ID string `json:"kid"`
		} `json:"keys"`
	}
	if err := h.call(ctx, http.MethodGet, h.admin+"/keys/"+accessKeys, nil, &set); err != nil {
		return nil, err
	}
	for _, k := range set.Keys {
		before = append(before, k.ID)
	}
	return before, h.call(ctx, http.MethodPost, h.admin+"/keys/"+accessKeys, map[string]string{"alg": "RS256", "use": "sig", "kid": fmt.Sprint("rotated-", len(before))}, nil)
}

func (h *hydra) withdraw(ctx context.Context, keys []string) error {
	var all []error
	for _, id := range keys {
		all = append(all, h.call(ctx, http.MethodDelete, h.admin+"/keys/"+accessKeys+"/"+url.PathEscape(id), nil, nil))
	}
	return errors.Join(all...)
}

// page signs in and consents, as whoever the client's hint names. Hydra does not know RFC 8707:
// the audience is granted here, from the resource that the client asked for.
func (h *hydra) page(w http.ResponseWriter, r *http.Request) {
	var to struct {
		Redirect string `json:"redirect_to"`
	}
	kind := strings.TrimPrefix(r.URL.Path, "/")
	challenge := "?" + kind + "_challenge=" + url.QueryEscape(r.URL.Query().Get(kind+"_challenge"))
	requests := h.admin + "/oauth2/auth/requests/" + kind
	var asked struct {
		Scopes  []string `json:"requested_scope"`
		Address string   `json:"request_url"`
	}
	err := h.call(r.Context(), http.MethodGet, requests+challenge, nil, &asked)
	if err == nil {
		var query url.Values
		if u, parseErr := url.Parse(asked.Address); parseErr == nil {
			query = u.Query()
		}
		grant := map[string]any{"subject": query.Get("login_hint")}
		if grant["subject"] == "" {
			grant["subject"] = priya
		}
		if kind == "consent" {
			grant = map[string]any{"grant_scope": asked.Scopes, "grant_access_token_audience": query["resource"]}
		}
		err = h.call(r.Context(), http.MethodPut, requests+"/accept"+challenge, grant, &to)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	http.Redirect(w, r, to.Redirect, http.StatusSeeOther)
}
