package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// Discovery serves GET /tools, which tells a member what each tool is and whether their token
// may call it, and GET /health, which is public. Neither is a call of a tool, and neither is
// recorded, as MCP's tools/list is not.
//
// The entries are asked for at the first GET /tools. Version is the connector's.
func Discovery(entries func() []catalog.Entry, version string) http.Handler {
	d := discovery{tools: sync.OnceValues(func() ([]listedTool, error) { return encodeTools(entries()) })}
	health, _ := json.Marshal(map[string]string{"status": "ok", "version": version}) // strings always encode
	return onlyGet(map[string]http.HandlerFunc{
		"/tools":  d.list,
		"/health": func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, health) },
	})
}

type discovery struct {
	tools func() ([]listedTool, error)
}

// listedTool is a tool's entry, encoded once for each answer to whether it is granted.
type listedTool struct {
	scopes          []identity.Scope
	granted, denied []byte
}

func encodeTools(entries []catalog.Entry) ([]listedTool, error) {
	tools := make([]listedTool, len(entries))
	for i, e := range entries {
		t := listedTool{scopes: e.Scopes}
		var err error
		if t.granted, err = encodeTool(e, true); err != nil {
			return nil, err
		}
		if t.denied, err = encodeTool(e, false); err != nil {
			return nil, err
		}
		tools[i] = t
	}
	return tools, nil
}

func encodeTool(e catalog.Entry, granted bool) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		catalog.Entry
		Granted bool `json:"granted"`
	}{e, granted})
	return bytes.TrimSpace(b.Bytes()), err
}

// list shows all tools to every member: which there are is no secret, and a client that sees a
// scope it lacks can ask for it.
func (d discovery) list(w http.ResponseWriter, r *http.Request) {
	p := identity.FromContext(r.Context())
	if err := identity.Require(p); err != nil {
		writeFault(w, r, fault.Of(err))
		return
	}
	tools, err := d.tools()
	if err != nil {
		writeFault(w, r, fault.Of(err))
		return
	}
	elements := make([][]byte, len(tools))
	for i, t := range tools {
		elements[i] = t.denied
		if identity.Require(p, t.scopes...) == nil {
			elements[i] = t.granted
		}
	}
	write(w, http.StatusOK, list("tools", elements))
}
