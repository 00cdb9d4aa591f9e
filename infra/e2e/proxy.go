package main

import (
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
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host }}, nil
}
