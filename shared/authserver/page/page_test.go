package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/authserver/page"
)

func write(t *testing.T, body string, p page.Page) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	if err := page.Parse(body).Write(w, p); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestHeaders(t *testing.T) {
	w := write(t, `<h1>Hello</h1>`, page.Page{Status: http.StatusOK, Title: "T", SendsTo: []string{"https:"}})
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "same-origin", "Content-Type": "text/html; charset=utf-8",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	policy := w.Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self' https:"} {
		if !strings.Contains(policy, want) {
			t.Errorf("no %s in %s", want, policy)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src") {
		t.Errorf("the policy allows more than it should: %s", policy)
	}
}

// TestStyleIsAllowed holds that the style on the page is the one whose hash is in the policy.
func TestStyleIsAllowed(t *testing.T) {
	w := write(t, `x`, page.Page{Status: http.StatusOK, Title: "T"})
	_, rest, _ := strings.Cut(w.Body.String(), "<style>")
	css, _, found := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(css))
	if hash := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !found || !strings.Contains(w.Header().Get("Content-Security-Policy"), hash) {
		t.Errorf("%s is not in the policy", hash)
	}
}

func TestWhatClientsSayIsText(t *testing.T) {
	w := write(t, `<p>{{.}}</p><a href="{{.}}">x</a>`, page.Page{Status: http.StatusOK, Title: "<b>", Data: `"><script>alert(1)</script>`})
	if got := w.Body.String(); strings.Contains(got, "<script>") || strings.Contains(got, "<title><b>") {
		t.Errorf("markup came through: %s", got)
	}
}

func TestAFailedTemplateWritesNothing(t *testing.T) {
	w := httptest.NewRecorder()
	if err := page.Parse(`{{.Missing.Member}}`).Write(w, page.Page{Status: http.StatusOK, Data: struct{}{}}); err == nil {
		t.Error("no error")
	}
	if w.Body.Len() > 0 || len(w.Header()) > 0 {
		t.Errorf("wrote %v %s", w.Header(), w.Body)
	}
}
