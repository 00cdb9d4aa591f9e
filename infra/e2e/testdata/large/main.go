// Command large is a function whose answers are as large as the query says: ?bytes=N.
package main

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
)

func main() {
	lambdarun.ServeDiscovery(func(lambdarun.Program) http.Handler { return http.HandlerFunc(answer) })
}

func answer(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("bytes"))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	_, _ = w.Write([]byte(strings.Repeat("x", n)))
}
