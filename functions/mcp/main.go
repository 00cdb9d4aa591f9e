// Command mcp is the Lambda function of /mcp, and of tool names that have no route.
package main

import (
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun/remote"
	"github.com/aacworkflow/mcp-connector/shared/mcpserver"
	"net/http"
)

func main() { lambdarun.ServeFront(catalog.All(), remote.Invoker, front) }

func front(p lambdarun.Program) http.Handler { // API Gateway checks the host
	return mcpserver.New(mcpserver.Config{Tools: catalog.All(), Invoker: p.Invoker, Audit: p.Audit, Log: p.Log, Logger: p.Logger, Version: p.Version, Hosts: []string{"*"}, Origins: p.Origins, SignIn: p.SignIn})
}
