// Package gateway emulates the contract of an Amazon API Gateway REST API, so that the
// connector's functions run behind the same front door in local mode and in tests as they do
// when deployed: events of payload version 1, a REQUEST authorizer without result cache, IAM
// policies, gateway responses, limits.
//
// It is not a general web server or router, it has no caches, throttles or firewall, and it is
// never deployed. It speaks JSON bytes with the functions and knows none of their types.
//
// Where the platform is not documented it takes the stricter reading; so a body that is no UTF-8
// reaches the function whole, in base64. Two things differ for want of a way: net/http hands
// header names over in canonical form (over HTTP/2 they are made lower-case again, as the
// platform has them), and the stage is never part of the path, as behind a custom domain with an
// empty base path.
//
// Start with exchange.go, which holds the order of everything. responses.go is the table of
// gateway responses that the deployment template must agree with.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"
)

// Function is a Lambda function: an event in, an answer out. An error is a failed invocation;
// its text is what Lambda would report as errorMessage.
type Function interface {
	Invoke(ctx context.Context, payload []byte) ([]byte, error)
}

// Route is one method of one resource.
type Route struct {
	Method string
	// Path is the resource: /tools/{name}, where {name} stands for exactly one segment, and
	// {name+} at the end for one or more. A static segment wins over a variable.
	Path     string
	Function Function
	Public   bool // no authorizer
	// AnyOrigin lets web pages of every origin ask for the path: a preflight is answered with *
	// if all methods of the path say so.
	AnyOrigin bool
}

// API is what to serve.
type API struct {
	Routes     []Route
	Authorizer Function // called for each request of a route that is not public
	// PublicBaseURL is under which clients know the API, without a slash at the end. It goes
	// into the challenge of a 401 and into the X-Forwarded headers.
	PublicBaseURL string
	// ChallengeScope is what the challenge of a 401 asks for, space-separated; default:
	// issues:read.
	ChallengeScope string
	// CORSOrigins are the origins whose pages may call the API, scheme://host:* for any port.
	// None: no page may.
	CORSOrigins []string

	Stage     string // default: local
	Region    string // default: local-1
	AccountID string // default: 000000000000
	APIID     string // default: local

	RequestID func() string // a new id for each request
	Now       func() time.Time
	Log       *slog.Logger // one line per request; nil: none
}

// Limits of the platform. Source: "Amazon API Gateway quotas" and "Lambda quotas".
const (
	IntegrationTimeout = 29 * time.Second // for a function, and for the authorizer
	MaxBodyBytes       = 10 << 20         // of a request
	MaxHeaderBytes     = 10240            // of the request line and all headers
	MaxMethodARNBytes  = 1600
	MaxResourceBytes   = 512     // of a policy that the authorizer answers with
	MaxPayloadBytes    = 6 << 20 // of an event, and of a function's answer
)

type gateway struct {
	API
	resources []resource
	base      *url.URL
}

// New returns the front door. It fails if the API cannot be served as it is declared.
func New(api API) (http.Handler, error) {
	if api.RequestID == nil || api.Now == nil {
		return nil, errors.New("gateway: RequestID and Now are needed")
	}
	base, err := url.Parse(api.PublicBaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") || base.Path != "" {
		return nil, errors.New("gateway: PublicBaseURL must be like https://mcp.example.com, without a slash at the end")
	}
	resources, err := buildResources(api.Routes)
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	for _, r := range api.Routes {
		if !r.Public && api.Authorizer == nil {
			return nil, fmt.Errorf("gateway: %s %s is not public, but there is no authorizer", r.Method, r.Path)
		}
	}
	if api.Log == nil {
		api.Log = slog.New(slog.DiscardHandler)
	}
	orDefault(&api.ChallengeScope, baselineScope)
	orDefault(&api.Stage, "local")
	orDefault(&api.Region, "local-1")
	orDefault(&api.AccountID, "000000000000")
	orDefault(&api.APIID, "local")
	return &gateway{API: api, resources: resources, base: base}, nil
}

func orDefault(s *string, value string) {
	if *s == "" {
		*s = value
	}
}
