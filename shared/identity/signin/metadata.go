package signin

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// resource is protected resource metadata (RFC 9728, section 2).
type resource struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers,omitempty"`
	ScopesSupported      []string `json:"scopes_supported"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	Name                 string   `json:"resource_name"`
	Documentation        string   `json:"resource_documentation,omitempty"`
}

// ResourceDocument is the metadata of /mcp; nil if its address is not known. Without an issuer
// it names no authorization server.
func (c Config) ResourceDocument() []byte {
	if c.BaseURL == "" {
		return nil
	}
	var servers []string
	switch {
	case c.HasFacade():
		servers = []string{c.BaseURL}
	case c.Issuer.URL != "":
		servers = []string{c.Issuer.URL}
	}
	return encode(resource{
		Resource: c.Resource(), AuthorizationServers: servers, ScopesSupported: c.Scopes(offered()),
		BearerMethods: []string{"header"}, Name: "AACWorkflow", Documentation: c.Documentation,
	})
}

// server is authorization server metadata (RFC 8414, section 2), with the members that OpenID
// Connect Discovery requires.
type server struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	RevocationEndpoint    string   `json:"revocation_endpoint"`
	RegistrationEndpoint  string   `json:"registration_endpoint,omitempty"`
	KeysURL               string   `json:"jwks_uri"`
	ScopesSupported       []string `json:"scopes_supported"`
	ResponseTypes         []string `json:"response_types_supported"`
	ResponseModes         []string `json:"response_modes_supported"`
	GrantTypes            []string `json:"grant_types_supported"`
	TokenAuthMethods      []string `json:"token_endpoint_auth_methods_supported"`
	RevocationAuthMethods []string `json:"revocation_endpoint_auth_methods_supported"`
	CodeChallengeMethods  []string `json:"code_challenge_methods_supported"`
	SubjectTypes          []string `json:"subject_types_supported"`
	IDTokenAlgorithms     []string `json:"id_token_signing_alg_values_supported"`
	ServiceDocumentation  string   `json:"service_documentation,omitempty"`
}

// ServerDocument is the facade's metadata; nil without a facade. Its issuer is our address, as
// RFC 8414 wants it of a document that is served there; the claim iss of a token stays
// Cognito's. Endpoints: Amazon Cognito, "user pool endpoints".
func (c Config) ServerDocument() []byte {
	if !c.HasFacade() {
		return nil
	}
	issuer := c.Issuers()[0]
	registration := ""
	if c.Facade.ClientID != "" {
		registration = c.BaseURL + RegisterPath
	}
	return encode(server{
		Issuer:                c.BaseURL,
		AuthorizationEndpoint: c.Facade.LoginURL + "/oauth2/authorize",
		TokenEndpoint:         c.Facade.LoginURL + "/oauth2/token",
		RevocationEndpoint:    c.Facade.LoginURL + "/oauth2/revoke",
		RegistrationEndpoint:  registration,
		KeysURL:               issuer.KeysURL,
		ScopesSupported:       c.Scopes(offered()),
		ResponseTypes:         []string{"code"},
		ResponseModes:         []string{"query"},
		GrantTypes:            []string{"authorization_code", "refresh_token"},
		TokenAuthMethods:      []string{"none", "client_secret_basic", "client_secret_post"},
		RevocationAuthMethods: []string{"none", "client_secret_basic", "client_secret_post"},
		CodeChallengeMethods:  []string{"S256"},
		SubjectTypes:          []string{"public"},
		IDTokenAlgorithms:     []string{"RS256"},
		ServiceDocumentation:  c.Documentation,
	})
}

// registration is an answer to dynamic client registration (RFC 7591, section 3.2.1).
type registration struct {
	ClientID      string   `json:"client_id"`
	RedirectURIs  []string `json:"redirect_uris"`
	AuthMethod    string   `json:"token_endpoint_auth_method"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
	Scope         string   `json:"scope"`
}

// Refusals of a registration, in the words of RFC 7591, section 3.2.2.
var (
	ErrRedirectURI = errors.New("invalid_redirect_uri")
	ErrMetadata    = errors.New("invalid_client_metadata")
)

// MaxRegistration is how long a request for registration may be, in bytes.
const MaxRegistration = 16 << 10

// Register answers a client that asks to be registered with the one that is: nothing is kept of
// it, and its wishes do not count, but for the redirect addresses, which must be among those of
// the client. The error is one of the refusals above.
func (c Config) Register(request []byte) ([]byte, error) {
	var wish struct {
		RedirectURIs []string `json:"redirect_uris"`
	}
	if len(request) > MaxRegistration || json.Unmarshal(request, &wish) != nil {
		return nil, ErrMetadata
	}
	if len(wish.RedirectURIs) == 0 {
		return nil, ErrRedirectURI
	}
	for _, uri := range wish.RedirectURIs {
		if !slices.Contains(c.Facade.Callbacks, uri) {
			return nil, ErrRedirectURI
		}
	}
	return encode(registration{
		ClientID: c.Facade.ClientID, RedirectURIs: wish.RedirectURIs, AuthMethod: "none",
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		Scope: strings.Join(c.Scopes(offered()), " "),
	}), nil
}

// encode writes one of the documents above, which always encode.
func encode(document any) []byte {
	out, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return out
}
