// Package rest is the plain HTTP side of the connector beside the tools: what there is
// (GET /tools, GET /health), where to sign in and what happened (GET /audit). Its handlers find the caller with
// identity.FromContext and how the call came with audit.OriginFrom.
//
// It runs no tool: POST /tools/{name} is lambdarun.Tool. Open audit.go first; discovery.go is
// the list of tools, signin.go where clients find the way to a token.
package rest

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// write sends a JSON answer. Answers differ by caller and by moment, so none may be kept.
func write(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // who has left misses nothing
}

func writeFault(w http.ResponseWriter, r *http.Request, f *fault.Fault) {
	if seconds := f.RetryAfterSeconds(); seconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	write(w, f.Kind.Status(), f.PublicJSON(audit.OriginFrom(r.Context()).CallID))
}

// onlyGet lets GET pass to the paths that are served, and tells all else in JSON why not.
func onlyGet(paths map[string]http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve, ok := paths[r.URL.Path]
		switch {
		case !ok:
			writeFault(w, r, fault.New(fault.NotFound, fault.TargetNotFound, "there is nothing under this path: see GET /tools for what there is"))
		case r.Method != http.MethodGet:
			w.Header().Set("Allow", http.MethodGet)
			f := fault.New(fault.Invalid, fault.InvalidRequest, "this path is only for reading: use GET")
			write(w, http.StatusMethodNotAllowed, f.PublicJSON(audit.OriginFrom(r.Context()).CallID))
		default:
			serve(w, r)
		}
	})
}

// list joins encoded elements into {"name": [...]}.
func list(name string, elements [][]byte) []byte {
	body := append([]byte(`{"`+name+`":[`), bytes.Join(elements, []byte{','})...)
	return append(body, "]}"...)
}
