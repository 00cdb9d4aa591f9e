// Command authorizer is the Lambda function that tells API Gateway who calls.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/reader"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
)

func main() {
	lambdarun.ServeAuthorizer(reader.Open, catalog.ScopesOf, func(d lambdarun.Directory) lambdarun.Verifier {
		return &token.Verifier{Tokens: d.Tokens, Members: d.Members, Now: d.Now}
	})
}
