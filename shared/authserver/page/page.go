// Package page writes the pages that people see while they sign in: one layout, one style, and
// the headers that keep a page from being framed, kept, or made to load or send anything else.
//
// It knows nothing of OAuth. A page has no script, and loads nothing.
package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"
)

// Template is the body of a page in the layout.
type Template struct{ t *template.Template }

// Parse makes a Template of the body, in the language of html/template. It panics if that is
// malformed: bodies are part of the program.
func Parse(body string) Template {
	t := template.Must(template.New("layout").Parse(layout))
	return Template{template.Must(t.New("body").Parse(body))}
}

// Page is one page to write.
type Page struct {
	Status int
	Title  string // said first by a screen reader: what is to be done here
	Data   any    // of the Template
	// SendsTo are the sources (CSP3, "source lists") to which a form of the page may lead, besides
	// its own origin: browsers follow no other redirect from it.
	SendsTo []string
}

// Write answers with a page. The error is one of the template, and nothing has been written then.
func (t Template) Write(w http.ResponseWriter, p Page) error {
	var b bytes.Buffer
	if err := t.t.ExecuteTemplate(&b, "layout", p); err != nil {
		return err
	}
	h := w.Header()
	Protect(h)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy(p.SendsTo))
	w.WriteHeader(p.Status)
	_, _ = w.Write(b.Bytes()) // who has left misses nothing
	return nil
}

// Protect sets the headers that hold for a redirect as well as for a page. The referrer stays
// within the origin: without any, a browser would not tell where a form was sent from.
func Protect(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", policy(nil))
}

// SentFrom tells whether a form was sent from a page of this origin, as far as the browser says.
func SentFrom(r *http.Request, origin string) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origins := r.Header.Values("Origin")
	return len(origins) == 0 || (len(origins) == 1 && origins[0] == origin)
}

// policy lets a page have its own style and its own forms, and nothing else.
func policy(sendsTo []string) string {
	return "default-src 'none'; style-src '" + styleHash + "'; base-uri 'none'; frame-ancestors 'none'; form-action " +
		strings.Join(append([]string{"'self'"}, sendsTo...), " ")
}

var styleHash = func() string {
	sum := sha256.Sum256([]byte(style))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}()

const layout = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>{{.Title}}</title>
<style>` + style + `</style>
</head>
<body>
<main>
{{template "body" .Data}}
</main>
</body>
</html>
`
