package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// proxyTo passes requests on as they are: their signature covers the host.
func proxyTo(endpoint string) (http.Handler, error) {
	to, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
		// Read here: else a fast answer closes the body under the transport, which still looks at it.
		body, _ := io.ReadAll(r.In.Body) // what is too short is refused as that
		r.Out.Body = io.NopCloser(bytes.NewReader(body))
	}}, nil
}
