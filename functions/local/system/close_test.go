package system

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/embedded"
)

// TestCloseFinishesWhatHasBegun closes the system while a call is still being sent: the call
// is answered, new ones are not taken, and the data are let go.
func TestCloseFinishesWhatHasBegun(t *testing.T) {
	dir := t.TempDir()
	s, err := Start(t.Context(), Config{Addr: "127.0.0.1:0", Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	body, send := io.Pipe()
	begun := make(chan struct{})
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(begun) }})
	answered := make(chan error, 1)
	go func() { answered <- create(ctx, s, body) }()
	<-begun // it is past the authorizer, and waits for its body
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	for {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			break // nobody listens any more
		}
		_ = c.Close()
	}
	if _, err := io.WriteString(send, `{"title":"Just in time"}`); err != nil {
		t.Fatal(err)
	}
	_ = send.Close() // a pipe's end always closes
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	db, err := embedded.Open(dir + "/" + dataFile)
	if err != nil {
		t.Fatalf("the data are not let go: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// create makes an issue and waits with the body until the server asks for it.
func create(ctx context.Context, s *System, body io.Reader) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/tools/create_issue", body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+s.Tokens["editor"])
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Expect", "100-continue")
	transport := &http.Transport{ExpectContinueTimeout: readTimeout}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, answer)
	}
	return err
}
