// Command discovery is the Lambda function of GET /tools and GET /health.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/rest"
	"net/http"
)

func main() { lambdarun.ServeDiscovery(tools) }

func tools(p lambdarun.Program) http.Handler { return rest.Discovery(catalog.Entries, p.Version) }
