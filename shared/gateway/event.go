package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"unicode/utf8"
)

// The events of payload version 1. Their shapes are those of aws-lambda-go's testdata
// (apigw-request.json, apigw-custom-auth-request-type-request.json); what a client did not
// send is null for a function, and an empty object for the authorizer.

// common is what both events hold.
type common struct {
	Resource       string              `json:"resource"`
	Path           string              `json:"path"`
	HTTPMethod     string              `json:"httpMethod"`
	Headers        map[string]string   `json:"headers"`
	MultiHeaders   map[string][]string `json:"multiValueHeaders"`
	Query          map[string]string   `json:"queryStringParameters"`
	MultiQuery     map[string][]string `json:"multiValueQueryStringParameters"`
	PathParameters map[string]string   `json:"pathParameters"`
	StageVariables map[string]string   `json:"stageVariables"`
	RequestContext requestContext      `json:"requestContext"`
}

type proxyEvent struct {
	common
	Body            *string `json:"body"`
	IsBase64Encoded bool    `json:"isBase64Encoded"`
}

type authorizerEvent struct {
	Type      string `json:"type"`
	MethodARN string `json:"methodArn"`
	common
}

type requestContext struct {
	ResourceID        string         `json:"resourceId"`
	Authorizer        map[string]any `json:"authorizer,omitempty"`
	ResourcePath      string         `json:"resourcePath"`
	HTTPMethod        string         `json:"httpMethod"`
	ExtendedRequestID string         `json:"extendedRequestId"`
	RequestTime       string         `json:"requestTime"`
	Path              string         `json:"path"`
	AccountID         string         `json:"accountId"`
	Protocol          string         `json:"protocol"`
	Stage             string         `json:"stage"`
	DomainPrefix      string         `json:"domainPrefix"`
	RequestTimeEpoch  int64          `json:"requestTimeEpoch"` // ms
	RequestID         string         `json:"requestId"`
	Identity          identity       `json:"identity"`
	DomainName        string         `json:"domainName"`
	APIID             string         `json:"apiId"`
}

// identity is what is known of the connection. The members that only IAM and Cognito fill are
// always null.
type identity struct {
	CognitoIdentityPoolID *string `json:"cognitoIdentityPoolId"`
	AccountID             *string `json:"accountId"`
	CognitoIdentityID     *string `json:"cognitoIdentityId"`
	Caller                *string `json:"caller"`
	SourceIP              string  `json:"sourceIp"`
	PrincipalOrgID        *string `json:"principalOrgId"`
	AccessKey             *string `json:"accessKey"`
	AuthenticationType    *string `json:"cognitoAuthenticationType"`
	Provider              *string `json:"cognitoAuthenticationProvider"`
	UserARN               *string `json:"userArn"`
	UserAgent             *string `json:"userAgent"`
	User                  *string `json:"user"`
}

func (g *gateway) common(x *exchange) common {
	return common{
		Resource: x.resource.path, Path: x.path, HTTPMethod: x.r.Method,
		Headers: x.headers.last, MultiHeaders: x.headers.all, Query: x.query.last, MultiQuery: x.query.all,
		PathParameters: x.values, RequestContext: g.context(x),
	}
}

func (g *gateway) context(x *exchange) requestContext {
	out := requestContext{
		ResourceID: fmt.Sprintf("%06x", crc32.ChecksumIEEE([]byte(x.resource.path))&0xffffff), ResourcePath: x.resource.path,
		HTTPMethod: x.r.Method, Path: x.path, Protocol: x.r.Proto, Stage: g.Stage, AccountID: g.AccountID, APIID: g.APIID,
		RequestID: x.id, ExtendedRequestID: x.id,
		RequestTime: x.at.UTC().Format("02/Jan/2006:15:04:05 -0700"), RequestTimeEpoch: x.at.UnixMilli(),
		// Behind a custom domain these are always equal to Host. Here Host is whatever the
		// client wrote, and a function that checks it must see that by either name.
		DomainName: x.r.Host, DomainPrefix: g.APIID,
		Identity: identity{SourceIP: sourceIP(x.r)},
	}
	if agent := x.headers.get("User-Agent"); agent != "" {
		out.Identity.UserAgent = &agent
	}
	return out
}

// functionEvent encodes the event for the route's function.
func (g *gateway) functionEvent(x *exchange, body []byte) ([]byte, error) {
	event := proxyEvent{common: g.common(x)}
	if x.claims != nil {
		event.RequestContext.Authorizer = map[string]any{"integrationLatency": g.Now().Sub(x.at).Milliseconds()}
		for name, value := range x.claims {
			event.RequestContext.Authorizer[name] = value
		}
	}
	if len(body) > 0 {
		var text string
		text, event.IsBase64Encoded = bodyText(body)
		event.Body = &text
	}
	return encode(event)
}

// bodyText is the body as an event holds it, and whether that is base64. The API declares no
// binary types, and the platform is known to put U+FFFD for what is no UTF-8 then. Here such a
// body arrives whole, so that a function refuses it and keeps no mangled text.
func bodyText(body []byte) (text string, isBase64 bool) {
	if utf8.Valid(body) {
		return string(body), false
	}
	return base64.StdEncoding.EncodeToString(body), true
}

// leastEncoded is a size, in bytes, that a body has in an event at least. A control character
// takes two bytes there, most of them six.
func leastEncoded(body []byte) int {
	n := len(body)
	for _, c := range body {
		switch {
		case c == '\t' || c == '\n' || c == '\r' || c == '\b' || c == '\f' || c == '"' || c == '\\':
			n++
		case c < ' ':
			n += 5
		}
	}
	return n
}

// authorizerEvent encodes the event for the authorizer. It never holds the body.
func (g *gateway) authorizerEvent(x *exchange) ([]byte, error) {
	event := authorizerEvent{Type: "REQUEST", MethodARN: g.methodARN(x), common: g.common(x)}
	event.StageVariables = map[string]string{}
	if event.PathParameters == nil {
		event.PathParameters = map[string]string{}
	}
	if event.Query == nil {
		event.Query, event.MultiQuery = map[string]string{}, map[string][]string{}
	}
	return encode(event)
}

// methodARN names the call in policies.
func (g *gateway) methodARN(x *exchange) string {
	return fmt.Sprintf("arn:aws:execute-api:%s:%s:%s/%s/%s%s", g.Region, g.AccountID, g.APIID, g.Stage, x.r.Method, x.path)
}

func encode(event any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // sizes count
	if err := enc.Encode(event); err != nil {
		return nil, fmt.Errorf("encode an event: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
