package lambdarun

// NamesWithoutTool are what the authorizer calls a request that names no tool.
var NamesWithoutTool = []string{namedMCP, namedTools, namedAudit, namedOther}
