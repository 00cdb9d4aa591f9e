// Command discovery is the Lambda function of what there is, and of where to sign in.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/rest"
	"net/http"
)

func main() { lambdarun.ServeDiscovery(tools) }

func tools(p lambdarun.Program) http.Handler {
	return rest.SignIn(p.SignIn, rest.Discovery(catalog.Entries, p.Version))
}
