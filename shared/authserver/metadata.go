package authserver

import (
	"encoding/json"
	"net/http"

	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// serverMetadata describes the server (RFC 8414, section 2; RFC 9207, section 3; RFC 9728,
// section 4; client ID metadata document, section 5).
type serverMetadata struct {
	Issuer                  string   `json:"issuer"`
	Authorize               string   `json:"authorization_endpoint"`
	Token                   string   `json:"token_endpoint"`
	Register                string   `json:"registration_endpoint"`
	Revoke                  string   `json:"revocation_endpoint"`
	Keys                    string   `json:"jwks_uri"`
	Scopes                  []string `json:"scopes_supported"`
	ResponseTypes           []string `json:"response_types_supported"`
	ResponseModes           []string `json:"response_modes_supported"`
	GrantTypes              []string `json:"grant_types_supported"`
	TokenAuth               []string `json:"token_endpoint_auth_methods_supported"`
	RevokeAuth              []string `json:"revocation_endpoint_auth_methods_supported"`
	Challenges              []string `json:"code_challenge_methods_supported"`
	IssInAnswer             bool     `json:"authorization_response_iss_parameter_supported"`
	MetadataDocumentAsID    bool     `json:"client_id_metadata_document_supported"`
	ProtectedResources      []string `json:"protected_resources"`
	RequestObjects          bool     `json:"request_parameter_supported"`
	RequestObjectsByAddress bool     `json:"request_uri_parameter_supported"`
}

func (s *Server) metadata(w http.ResponseWriter, _ *http.Request) {
	writePublic(w, serverMetadata{
		Issuer: s.Issuer, Authorize: s.Issuer + AuthorizePath, Token: s.Issuer + TokenPath, Register: s.Issuer + RegisterPath,
		Revoke: s.Issuer + RevokePath, Keys: s.Issuer + KeysPath,
		Scopes:        identity.Names(offered()),
		ResponseTypes: []string{"code"}, ResponseModes: []string{"query"},
		GrantTypes: []string{"authorization_code", "refresh_token"},
		TokenAuth:  []string{"none"}, RevokeAuth: []string{"none"}, Challenges: []string{"S256"},
		IssInAnswer: true, MetadataDocumentAsID: true, ProtectedResources: []string{s.Resource},
	})
}

// writePublic sends a document that is the same for all, and may be kept for five minutes.
func writePublic(w http.ResponseWriter, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		writeJSON(w, http.StatusInternalServerError, refusal{Code: serverError})
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(body) // who has left misses nothing
}
