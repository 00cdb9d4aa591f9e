package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What clients send all the time, a call of a tool and the list of tools, is answered without the
// SDK, which would read and write it several times over. The message has been read already, by
// rules stricter than the SDK's. What is not known for certain here is for the SDK to answer; the
// two answer alike (direct_test.go).

const metaLogLevel = "io.modelcontextprotocol/logLevel"

// direct answers a message that was admitted, and tells whether it has.
func (f *front) direct(w http.ResponseWriter, r *http.Request, x *exchange) bool {
	if x.extended || (x.modern && !x.msg.meta.plain()) {
		return false
	}
	switch {
	case x.msg.method == methodCall:
		f.call(w, r, x)
	case x.msg.method == "tools/list" && f.ext == nil:
		f.answer(w, x, listMembers(f.seen(x.principal)))
	default:
		return false
	}
	return true
}

// plain tells whether the SDK could object to nothing in _meta.
func (t *meta) plain() bool {
	return !t.logLevel && fits[mcp.ClientCapabilities](t.capabilities) && fits[mcp.Implementation](t.clientInfo)
}

// fits tells whether a value can be read as what the SDK reads it as.
func fits[T any](v jsontext.Value) bool {
	return len(v) == 0 || string(v) == "{}" || json.Unmarshal(v, new(T)) == nil
}

// call runs a call and writes what came of it.
func (f *front) call(w http.ResponseWriter, r *http.Request, x *exchange) {
	ctx := context.WithoutCancel(r.Context())
	d := f.tools[x.msg.toolName()]
	x.settled = true // tool.Bind records from here on
	out, refused := f.outcomeOf(ctx, x, d, f.invoke(ctx, x, d))
	if refused != nil {
		f.deny(w, r, x, refused)
		return
	}
	f.answer(w, x, out.members())
}

// answer writes a JSON-RPC result of these members and those that every result has.
func (f *front) answer(w http.ResponseWriter, x *exchange, members []byte) {
	b := make([]byte, 0, len(members)+512)
	b = append(append(append(b, `{"jsonrpc":"2.0","id":`...), x.msg.id...), `,"result":{`...)
	if x.modern {
		b = append(append(append(b, `"resultType":"complete","_meta":{"`+mcp.MetaKeyServerInfo+`":`...), f.serverInfo()...), `},`...)
	}
	write(w, http.StatusOK, append(append(b, members...), "}}"...))
}

// members are those of a tools/call result.
func (o outcome) members() []byte {
	b := make([]byte, 0, 2*len(o.text)+len(o.text)/4+64)
	b, _ = jsontext.AppendQuote(append(b, `"content":[{"type":"text","text":`...), o.text) // JSON, so UTF-8
	b = append(b, "}]"...)
	if o.isError {
		return append(b, `,"isError":true`...)
	}
	return append(append(b, `,"structuredContent":`...), o.text...)
}

// listMembers are those of a tools/list result.
func listMembers(tools []shown) []byte {
	head := `"ttlMs":` + strconv.Itoa(listTTL) + `,"cacheScope":"private","tools":[`
	size := len(head) + len(tools) + 1
	for _, t := range tools {
		size += len(t.json)
	}
	b := append(make([]byte, 0, size), head...)
	for i, t := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, t.json...)
	}
	return append(b, ']')
}
