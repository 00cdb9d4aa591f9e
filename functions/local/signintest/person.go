// Package signintest is a person who signs in to the local system, for tests and for walks of
// clients: it opens the address that a client would open in a browser, says who it is, and
// answers the consent page.
//
// It is no browser: it reads the forms of our own pages, follows the redirects between them, and
// stops before the one that leads to the client. What a browser does with these pages is tested
// in infra/browser.
package signintest

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Person is who signs in, and how they answer.
type Person struct {
	Name string // as on the page "Who are you?"
	Deny bool   // choose Cancel
	// Without are the scopes that are unticked, With those that are ticked besides.
	Without, With []string
}

// Scopes returns the scopes that an address names, in the order of the alphabet: a client may ask
// for them in any order, and the Go SDK's does so differently from one run to the next.
func Scopes(address *url.URL) string {
	scopes := strings.Fields(address.Query().Get("scope"))
	slices.Sort(scopes)
	return strings.Join(scopes, " ")
}

// page is one of our pages, as far as it matters.
type page struct {
	at   *url.URL
	text string
}

// maxSteps bounds how often a person is sent on.
const maxSteps = 6

// Answer goes from the address to the end, and returns the address to which the client is sent:
// its redirect address with code, state and iss, or with an error. A page that has no form, such
// as one that tells of an error, is an error here, with its first sentence.
func (p Person) Answer(ctx context.Context, address string) (*url.URL, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	start, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	for range maxSteps {
		if err != nil {
			return nil, err
		}
		shown, to, sendErr := send(browser, r)
		switch {
		case sendErr != nil:
			return nil, sendErr
		case to != nil && (to.Host != start.Host || to.Scheme != start.Scheme):
			return to, nil
		case to != nil:
			r, err = http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
		default:
			r, err = p.fill(ctx, shown)
		}
	}
	return nil, errors.New("the sign-in goes round in circles")
}

// send returns a page, or the address to which one is sent on.
func send(browser *http.Client, r *http.Request) (page, *url.URL, error) {
	response, err := browser.Do(r)
	if err != nil {
		return page{}, nil, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusSeeOther {
		to, err := response.Location()
		return page{}, to, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return page{at: response.Request.URL, text: string(body)}, nil, err
}

var (
	form     = regexp.MustCompile(`<form method="post" action="([^"]*)">`)
	hidden   = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
	radio    = regexp.MustCompile(`<input type="radio" id="([^"]*)" name="who" value="([^"]*)"`)
	label    = regexp.MustCompile(`<label for="([^"]*)">([^<]*)</label>`)
	checkbox = regexp.MustCompile(`<input type="checkbox" id="[^"]*" name="scope" value="([^"]*)"( checked)?`)
	alert    = regexp.MustCompile(`role="alert">([^<]*)<`)
)

// fill answers the form of a page.
func (p Person) fill(ctx context.Context, shown page) (*http.Request, error) {
	action := form.FindStringSubmatch(shown.text)
	if action == nil {
		problem := "a page without a form"
		if found := alert.FindStringSubmatch(shown.text); found != nil {
			problem = html.UnescapeString(found[1])
		}
		return nil, fmt.Errorf("the sign-in ended: %s", problem)
	}
	values := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(shown.text, -1) {
		values.Set(field[1], html.UnescapeString(field[2]))
	}
	if choices := radio.FindAllStringSubmatch(shown.text, -1); choices != nil {
		id, err := p.choose(choices, label.FindAllStringSubmatch(shown.text, -1))
		if err != nil {
			return nil, err
		}
		values.Set("who", id)
	} else {
		p.decide(values, checkbox.FindAllStringSubmatch(shown.text, -1))
	}
	to := shown.at.ResolveReference(&url.URL{Path: html.UnescapeString(action[1])})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), strings.NewReader(values.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", shown.at.Scheme+"://"+shown.at.Host)
	return r, nil
}

// choose finds the person's own name among the choices.
func (p Person) choose(choices, labels [][]string) (string, error) {
	for _, l := range labels {
		if html.UnescapeString(l[2]) != p.Name {
			continue
		}
		for _, c := range choices {
			if c[1] == l[1] {
				return html.UnescapeString(c[2]), nil
			}
		}
	}
	return "", fmt.Errorf("%s is not among those who can sign in", p.Name)
}

// decide ticks, unticks, and chooses a button.
func (p Person) decide(values url.Values, boxes [][]string) {
	for _, box := range boxes {
		scope, ticked := html.UnescapeString(box[1]), box[2] != ""
		if (ticked || slices.Contains(p.With, scope)) && !slices.Contains(p.Without, scope) {
			values.Add("scope", scope)
		}
	}
	values.Set("decision", "allow")
	if p.Deny {
		values.Set("decision", "deny")
	}
}
