package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/functions/local/system"
	"github.com/aacworkflow/mcp-connector/shared/authserver"
)

// walker is one walk: a system, a client of it, and a browser between the two.
type walker struct {
	*browser
	sys     *system.System
	shots   string
	client  string // its id
	site    string // of the client: scheme, host and port
	answers chan *http.Request
}

// verifier is the client's (RFC 7636); challenge is its SHA-256 in base64url.
const (
	verifier  = "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv"
	challenge = "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM"
	allScopes = "issues:read issues:write comments:read comments:write audit:read"
)

func walk(ctx context.Context, b *browser, dir, shots string) (err error) {
	sys, err := system.Start(ctx, system.Config{Addr: "127.0.0.1:0", Data: filepath.Join(dir, "data")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sys.Close()) }()
	w := &walker{browser: b, sys: sys, shots: shots, answers: make(chan *http.Request, 1)}
	stop, err := w.serve()
	if err != nil {
		return err
	}
	defer stop()
	if err := w.register(ctx); err != nil {
		return fmt.Errorf("register: %w", err)
	}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"let a program in with the keyboard", w.consent},
		{"say no", w.deny},
		{"be sent back with an error", w.mistake},
		{"frame the page", w.frame},
		{"answer from another site", w.forge},
		{"watch the audit log", w.watchLog},
	} {
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Println("browser:", step.name)
	}
	return nil
}

// serve is the client's own site: where it is answered, and, on another name of this machine,
// two pages of an attacker.
func (w *walker) serve() (stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w.site = "http://" + listener.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", func(rw http.ResponseWriter, r *http.Request) {
		w.answers <- r
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprint(rw, "<!DOCTYPE html><title>Signed in</title><p>You can close this page.")
	})
	mux.HandleFunc("GET /frame", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(rw, `<!DOCTYPE html><title>A game</title><iframe src="%s"></iframe>`, strings.ReplaceAll(w.address(allScopes), "&", "&amp;"))
	})
	mux.HandleFunc("GET /forge", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(rw, `<!DOCTYPE html><title>A game</title><form method="post" action="%s"><input name="flow" value="%s">
			<input name="decision" value="allow"><input name="scope" value="issues:read"></form><script>onload = () => setTimeout(() => document.forms[0].submit())</script>`,
			w.sys.URL+authserver.AuthorizePath, r.URL.Query().Get("flow"))
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	return func() { _ = server.Close() }, nil
}

func (w *walker) callback() string { return w.site + "/callback" }

func (w *walker) register(ctx context.Context) error {
	body, err := json.Marshal(map[string]any{"client_name": "Walk", "redirect_uris": []string{w.callback()}})
	if err != nil {
		return err
	}
	var got struct {
		ID string `json:"client_id"`
	}
	err = post(ctx, w.sys.URL+authserver.RegisterPath, "application/json", string(body), &got)
	w.client = got.ID
	return err
}

func post(ctx context.Context, address, kind, body string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", kind)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s answered %s", r.URL.Path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// address is what the client opens in the browser. Pairs change parameters.
func (w *walker) address(scope string, change ...string) string {
	v := url.Values{
		"response_type": {"code"}, "client_id": {w.client}, "redirect_uri": {w.callback()}, "scope": {scope}, "state": {"s1"},
		"code_challenge": {challenge}, "code_challenge_method": {"S256"}, "resource": {w.sys.MCPURL()},
	}
	for i := 0; i < len(change); i += 2 {
		v.Set(change[i], change[i+1])
	}
	return w.sys.URL + authserver.AuthorizePath + "?" + v.Encode()
}

// signIn opens an address and says who it is: the position of the person among the choices.
func (w *walker) signIn(ctx context.Context, address string, position int) (*tab, error) {
	t, err := w.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.navigate(ctx, address); err != nil {
		return nil, err
	}
	if err := w.picture(ctx, t, "who"); err != nil {
		return nil, err
	}
	keys := append([]string{"Tab", " "}, slices.Repeat([]string{"ArrowDown"}, position)...)
	for _, key := range append(keys, "Tab") {
		if err := t.key(ctx, key); err != nil {
			return nil, err
		}
	}
	return t, t.loaded(ctx, func() error { return t.key(ctx, "Enter") })
}

// picture takes one, if pictures are wanted, in both schemes and on a small screen.
func (w *walker) picture(ctx context.Context, t *tab, name string) error {
	if w.shots == "" {
		return nil
	}
	if err := os.MkdirAll(w.shots, 0o700); err != nil {
		return err
	}
	for _, c := range []struct {
		suffix string
		width  int
		scheme string
	}{{"dark", 820, "dark"}, {"small", 390, "light"}, {"light", 820, "light"}} {
		if err := t.look(ctx, c.width, 1000, c.scheme); err != nil {
			return err
		}
		if err := t.shoot(ctx, filepath.Join(w.shots, name+"-"+c.suffix+".png")); err != nil {
			return err
		}
	}
	return nil
}
