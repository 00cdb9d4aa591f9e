package authserver

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/zitadel/oidc/v3/pkg/oidc"
)

// client is a program that asks for tokens, as far as it is known. All clients are public.
type client struct {
	ID string `json:"id"`
	// Name is what it calls itself. Nothing proves it.
	Name string `json:"name"`
	// Host is the host of its metadata document, which proves itself by being there; empty for a
	// client that registered itself.
	Host      string   `json:"host,omitempty"`
	Redirects []string `json:"redirect_uris"`
	// Refresh: it can keep refresh tokens.
	Refresh bool `json:"refresh"`
}

// Limits of what a client may say of itself.
const (
	maxRedirects   = 10
	maxClientName  = 60  // characters; more are cut
	maxClientID    = 512 // bytes
	maxDescription = 16 << 10
)

// metadata is what a client says of itself, in its document (client ID metadata document, section
// 4) or when it registers (RFC 7591, section 2). What is not here is not looked at: above all no
// logo is ever loaded.
type metadata struct {
	ClientID      string   `json:"client_id"`
	ClientSecret  string   `json:"client_secret"`
	Name          string   `json:"client_name"`
	Redirects     []string `json:"redirect_uris"`
	AuthMethod    string   `json:"token_endpoint_auth_method"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
}

func parseMetadata(body []byte) (metadata, error) {
	var m metadata
	if err := json.Unmarshal(body, &m); err != nil {
		return m, refuse(errInvalidMetadata(), "the client metadata are no JSON object of the known form")
	}
	return m, nil
}

// client checks the metadata, all but how the client authenticates.
func (m metadata) client(id string, appSchemes []string) (client, error) {
	if len(m.Redirects) == 0 || len(m.Redirects) > maxRedirects {
		return client{}, refuse(errInvalidRedirect(), "a client needs one to ten redirect addresses")
	}
	for _, uri := range m.Redirects {
		if err := checkRedirect(uri, appSchemes); err != nil {
			return client{}, err
		}
	}
	if len(m.GrantTypes) > 0 && !slices.Contains(m.GrantTypes, "authorization_code") {
		return client{}, refuse(errInvalidMetadata(), "only the grant type authorization_code is served, with refresh_token beside it")
	}
	if len(m.ResponseTypes) > 0 && !slices.Contains(m.ResponseTypes, "code") {
		return client{}, refuse(errInvalidMetadata(), "only the response type code is served")
	}
	return client{
		ID: id, Name: cleanName(m.Name), Redirects: m.Redirects,
		Refresh: len(m.GrantTypes) == 0 || slices.Contains(m.GrantTypes, "refresh_token"),
	}, nil
}

// cleanName makes a name fit to be shown: one line, no invisible characters, not too long.
func cleanName(name string) string {
	name = strings.Join(strings.FieldsFunc(name, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) }), " ")
	if runes := []rune(name); len(runes) > maxClientName {
		name = string(runes[:maxClientName]) + "…"
	}
	if name == "" {
		return "A program without a name"
	}
	return name
}

// errNoClient is shown to the person, for there is nowhere to send them back to.
var errNoClient = refuse(oidc.ErrInvalidClient(), "this program is not known here, or has not been used for too long: let it connect anew")

// findClient returns the client with this id. A refusal is to be shown to the person who asks.
func (s *Server) findClient(ctx context.Context, who person, id string) (client, error) {
	switch {
	case id == "" || len(id) > maxClientID:
		return client{}, errNoClient
	case isDocumentID(id):
		return s.documents.client(ctx, who, id, s.AppSchemes, s.Local)
	}
	row, err := s.registered(ctx, id)
	if err != nil {
		return client{}, err
	}
	return row.Doc.Client, nil
}

// isDocumentID tells a client id that is the address of a document from one that we gave.
func isDocumentID(id string) bool { return strings.Contains(id, "://") }

// redirectsFor returns the client's redirect addresses that allow this one. The address is checked
// once more: the row may be older than the rules. The library sees no others, because its own
// comparison of addresses on this machine passes over scheme, host, user name and fragment.
func (c client) redirectsFor(uri string, appSchemes []string) []string {
	if checkRedirect(uri, appSchemes) != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Redirects), func(registered string) bool { return !sameRedirect(registered, uri) })
}

// checkDocumentID tells whether the address may be a client id (client ID metadata document,
// section 3). The refusal is shown to the person.
func checkDocumentID(id string, local bool) (*url.URL, error) {
	bad := refuse(oidc.ErrInvalidClient(), "the id of this program is no address under which its description could be: let its makers know")
	u, err := parseURI(id)
	switch {
	case err != nil:
		return nil, bad
	case u.Scheme == "https" && u.Hostname() != "":
	case local && u.Scheme == "http" && isThisMachine(u.Hostname()):
	default:
		return nil, bad
	}
	if u.Path == "" || u.Path == "/" || slices.ContainsFunc(strings.Split(u.Path, "/"), isDotSegment) {
		return nil, bad
	}
	return u, nil
}

func isDotSegment(segment string) bool { return segment == "." || segment == ".." }
