// Command authorizer is the Lambda function that tells API Gateway who calls.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/reader"
	"github.com/aacworkflow/mcp-connector/shared/identity/oauth"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
)

func main() {
	lambdarun.ServeAuthorizer(reader.Open, catalog.ScopesOf, func(d lambdarun.Directory) (lambdarun.Verifier, error) {
		access, err := oauth.New(oauth.Config{Issuers: d.Issuers, Links: d.Tokens, Members: d.Members, Now: d.Now, Logger: d.Logger})
		return oauth.Bearer{Personal: &token.Verifier{Tokens: d.Tokens, Members: d.Members, Now: d.Now}, Access: access}, err
	})
}
