package authserver

import (
	"context"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// serverMetadata is what clients learn of the server (RFC 8414, section 2). The library lacks the
// members of RFC 9207, section 3, and of RFC 9728, section 4.
type serverMetadata struct {
	oidc.DiscoveryConfiguration
	IssInAnswer        bool     `json:"authorization_response_iss_parameter_supported"`
	ProtectedResources []string `json:"protected_resources"`
}

// AuthorizationServerMetadata implements op.MetadataServer.
func (p protocol) AuthorizationServerMetadata(context.Context, *op.Request[op.MetadataRequest]) (*op.Response, error) {
	public := []oidc.AuthMethod{oidc.AuthMethodNone}
	return toKeep(serverMetadata{
		DiscoveryConfiguration: oidc.DiscoveryConfiguration{
			Issuer: p.Issuer, AuthorizationEndpoint: p.Issuer + AuthorizePath, TokenEndpoint: p.Issuer + TokenPath,
			RegistrationEndpoint: p.Issuer + RegisterPath, RevocationEndpoint: p.Issuer + RevokePath, JwksURI: p.Issuer + KeysPath,
			ScopesSupported:                        identity.Names(offered()),
			ResponseTypesSupported:                 []string{string(oidc.ResponseTypeCode)},
			ResponseModesSupported:                 []string{string(oidc.ResponseModeQuery)},
			GrantTypesSupported:                    []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken},
			TokenEndpointAuthMethodsSupported:      public,
			RevocationEndpointAuthMethodsSupported: public,
			CodeChallengeMethodsSupported:          []oidc.CodeChallengeMethod{oidc.CodeChallengeMethodS256},
			ClientIDMetadataDocumentSupported:      true,
		},
		IssInAnswer: true, ProtectedResources: []string{p.Resource},
	}), nil
}
