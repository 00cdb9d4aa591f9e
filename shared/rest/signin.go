package rest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
)

// SignIn serves the documents in which clients read where to sign in, and hands on what is none
// of them. All of it is public, is the same for everyone, and may be read by every web page.
//
//	GET  /.well-known/oauth-protected-resource/mcp   RFC 9728; the same without /mcp
//	GET  /.well-known/oauth-authorization-server     RFC 8414; with a facade, else 404
//	GET  /.well-known/openid-configuration           the same document
//	GET  /.well-known/…                              404 in JSON: clients probe, and choke on pages
//	POST /register                                   RFC 7591; with a facade that has a client, else 404
//
// The documents are made of the config alone. A request has no say in them: who can choose the
// Host header of somebody else's request would else choose where they sign in.
func SignIn(c signin.Config, next http.Handler) http.Handler {
	documents := map[string]http.HandlerFunc{}
	for path, document := range map[string][]byte{
		signin.ResourcePath: c.ResourceDocument(), signin.ResourceRootPath: c.ResourceDocument(),
		signin.ServerPath: c.ServerDocument(), signin.OpenIDPath: c.ServerDocument(),
	} {
		if document != nil {
			documents[path] = func(w http.ResponseWriter, _ *http.Request) { writeDocument(w, document) }
		}
	}
	wellKnown := onlyGet(documents)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == signin.RegisterPath:
			w.Header().Set("Access-Control-Allow-Origin", "*")
			register(c, w, r)
		case strings.HasPrefix(r.URL.Path, "/.well-known/"):
			w.Header().Set("Access-Control-Allow-Origin", "*")
			wellKnown.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// maxAge is how long a document may be kept, by anybody, in seconds. It bounds how long a change
// of the issuer takes to arrive.
const maxAge = "300"

func writeDocument(w http.ResponseWriter, document []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "public, max-age="+maxAge)
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(document) // who has left misses nothing
}

// register answers as RFC 7591 says, not as the rest of the connector: OAuth clients read it.
func register(c signin.Config, w http.ResponseWriter, r *http.Request) {
	switch {
	case c.Facade.ClientID == "":
		writeFault(w, r, fault.New(fault.NotFound, fault.TargetNotFound, "no client can be registered here: enter a client id in your client"))
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		write(w, http.StatusMethodNotAllowed, registrationError(signin.ErrMetadata, "register with POST"))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, signin.MaxRegistration))
	if err != nil {
		write(w, http.StatusRequestEntityTooLarge, registrationError(signin.ErrMetadata, "send less"))
		return
	}
	answer, err := c.Register(body)
	switch {
	case errors.Is(err, signin.ErrRedirectURI):
		write(w, http.StatusBadRequest, registrationError(err, "a redirect address is not one of those of the client here: ask the operator to add it"))
	case err != nil:
		write(w, http.StatusBadRequest, registrationError(err, "send a JSON object with redirect_uris"))
	default:
		write(w, http.StatusCreated, answer)
	}
}

func registrationError(code error, description string) []byte {
	body, _ := json.Marshal(map[string]string{"error": code.Error(), "error_description": description}) // strings always encode
	return body
}
