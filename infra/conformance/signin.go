package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"strings"

	"github.com/aacworkflow/mcp-connector/functions/local/signintest"
	"github.com/aacworkflow/mcp-connector/functions/local/system"
	"github.com/aacworkflow/mcp-connector/infra/proc"
	"github.com/aacworkflow/mcp-connector/shared/authserver"
)

// The suite's scenarios for authorization servers: a client that the suite plays asks for a code,
// a person lets it in, and it redeems the code. The suite prints the address that the person
// would open.

// personName is who lets the suite in.
const personName = "Priya Raman"

// startSignIn starts the local system, which signs people in itself.
func startSignIn(ctx context.Context, dir string) (string, func() error, error) {
	s, err := system.Start(ctx, system.Config{Data: dir, Addr: "127.0.0.1:0"})
	if err != nil {
		return "", nil, err
	}
	return s.URL, s.Close, nil
}

// authorization runs the suite against an authorization server.
func authorization(ctx context.Context, issuer, revision, out string) ([]byte, error) {
	port, err := proc.FreePort()
	if err != nil {
		return nil, err
	}
	client, err := register(ctx, issuer, "http://127.0.0.1:"+port+"/callback")
	if err != nil {
		return nil, err
	}
	cmd := command(ctx, "authorization", "--url", issuer, "--client-id", client, "--resource", issuer+"/mcp", "-p", port,
		"--spec-version", revision, "--verbose", "-o", out)
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	said, answerErr := attend(ctx, output, issuer)
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return said, err
	}
	return said, answerErr
}

// register makes a client of the suite.
func register(ctx context.Context, issuer, redirect string) (id string, err error) {
	body := fmt.Sprintf(`{"client_name":"conformance","redirect_uris":[%q],"grant_types":["authorization_code","refresh_token"]}`, redirect)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, issuer+authserver.RegisterPath, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var registered struct {
		ID string `json:"client_id"`
	}
	if err := json.NewDecoder(response.Body).Decode(&registered); err != nil || registered.ID == "" {
		return "", fmt.Errorf("register the suite's client: status %d, %w", response.StatusCode, err)
	}
	return registered.ID, nil
}

// attend reads what the suite prints, and has the person answer at each address of the issuer's
// consent page, once.
func attend(ctx context.Context, output io.Reader, issuer string) (said []byte, err error) {
	asks := regexp.MustCompile(regexp.QuoteMeta(issuer+authserver.AuthorizePath) + `\?[^\s"]+`)
	answered := map[string]bool{}
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		said = append(append(said, lines.Bytes()...), '\n')
		address := asks.FindString(lines.Text())
		if address == "" || answered[address] {
			continue
		}
		answered[address] = true
		to, answerErr := signintest.Person{Name: personName}.Answer(ctx, address)
		if answerErr == nil {
			answerErr = visit(ctx, to)
		}
		err = errors.Join(err, answerErr)
	}
	return said, errors.Join(err, lines.Err())
}

// visit is the browser that follows a redirect to the client.
func visit(ctx context.Context, to *url.URL) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
