package lambdarun

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// HTTP hosts an http.Handler behind API Gateway. The handler finds the caller by
// identity.FromContext (nil: nobody) and the rest of what is known of the call by
// audit.OriginFrom. It does not see the Authorization header: nothing below it has any use for
// a token.
func HTTP(h http.Handler, logger *slog.Logger) Handler {
	f := httpFunction{adapter: httpadapter.New(introduced{h}), logger: logger}
	return f.invoke
}

type httpFunction struct {
	adapter *httpadapter.HandlerAdapter
	logger  *slog.Logger
}

func (f httpFunction) invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var event events.APIGatewayProxyRequest
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, fmt.Errorf("decode the API Gateway event: %w", err)
	}
	callID := event.RequestContext.RequestID
	if f := unreadable(&event); f != nil {
		return faultReply(f, callID), nil
	}
	event.Headers, event.MultiValueHeaders = withoutPrivate(event.Headers), withoutPrivate(event.MultiValueHeaders)
	reply, err := caught(func() ([]byte, error) {
		answer, err := f.adapter.ProxyWithContext(ctx, event)
		return encode(answer), err
	})
	internal := faultReply(fault.Of(nil), callID)
	if err != nil {
		f.logger.ErrorContext(ctx, "request failed", "call_id", callID, "error", err.Error())
		return internal, nil
	}
	return capped(reply, internal, f.logger, callID), nil
}

// unreadable refuses what the adapter could not make a request of; it would answer 504 and
// print the path. It reads the address as the adapter does.
func unreadable(event *events.APIGatewayProxyRequest) *fault.Fault {
	u, err := url.Parse("https://" + event.RequestContext.DomainName + "/" + strings.TrimPrefix(event.Path, "/"))
	if err != nil || u.Host != event.RequestContext.DomainName || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return fault.New(fault.Invalid, fault.InvalidRequest, "the address is malformed: correct its host and the percent escapes of its path")
	}
	if _, err := bodyOf(event); err != nil {
		return fault.New(fault.Invalid, fault.InvalidRequest, "the body is not valid base64: send it as it is")
	}
	if !isMethod(event.HTTPMethod) {
		return fault.New(fault.Invalid, fault.InvalidRequest, "the method is malformed: use GET or POST")
	}
	return nil
}

func isMethod(s string) bool {
	return s != "" && strings.Trim(strings.ToUpper(s), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// privateHeader tells whether a header is not for handlers. Those of the adapter would let a
// client write a request context of its own, were anyone to read it from there.
func privateHeader(name string) bool {
	name = strings.ToLower(name)
	return name == "authorization" || strings.HasPrefix(name, "x-golambdaproxy-")
}

func withoutPrivate[V any](headers map[string]V) map[string]V {
	if headers == nil {
		return nil // the adapter chooses its map by this
	}
	kept := make(map[string]V, len(headers))
	for name, value := range headers {
		if !privateHeader(name) {
			kept[name] = value
		}
	}
	return kept
}

// introduced tells the handler who calls, from the request context that API Gateway made.
type introduced struct{ http.Handler }

func (h introduced) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Without a request context, which ProxyWithContext always puts there, there is nobody.
	gateway, _ := core.GetAPIGatewayContextFromContext(r.Context())
	ctx := audit.WithOrigin(r.Context(), originOf(gateway.RequestID, gateway.Identity.SourceIP, nil, r.Header))
	if p := principalOf(gateway.Authorizer); p != nil {
		ctx = identity.NewContext(ctx, p)
	}
	once := &onceWriter{ResponseWriter: w}
	h.Handler.ServeHTTP(once, r.WithContext(ctx))
	if !once.wrote {
		w.WriteHeader(http.StatusOK) // as net/http does; the adapter fails without
	}
}

// onceWriter keeps the first status, as net/http does; the adapter's writer takes the last.
type onceWriter struct {
	http.ResponseWriter
	wrote bool
}

func (w *onceWriter) WriteHeader(status int) {
	if w.wrote || status < http.StatusOK { // an informational status is no answer
		return
	}
	w.wrote = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *onceWriter) Write(p []byte) (int, error) {
	w.wrote = true
	return w.ResponseWriter.Write(p)
}

// Flush does nothing: the answer leaves as one piece.
func (w *onceWriter) Flush() {}
