package gateway_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/gateway"
)

// capture returns the events that the authorizer and the function get for a request.
func capture(t *testing.T, change func(*gateway.API), method, target, body string, headers ...string) (authorizer, function map[string]any) {
	t.Helper()
	auth := &seen{answer: policy(`{"workspace":"w1","level":3,"admin":true}`, "Allow", "*")}
	fn := &seen{answer: answers(fine)}
	a := api(auth, fn)
	if change != nil {
		change(&a)
	}
	r := request(method, target, body)
	for i := 0; i < len(headers); i += 2 {
		r.Header[headers[i]] = append(r.Header[headers[i]], headers[i+1])
	}
	if res := do(serve(t, a), r); res.StatusCode != 200 || len(auth.events) != 1 || len(fn.events) != 1 {
		t.Fatalf("%d after %d and %d events", res.StatusCode, len(auth.events), len(fn.events))
	}
	return decode(t, auth.events[0]), decode(t, fn.events[0])
}

func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

const (
	wantCommon = `"resource":"/tools/{name}","path":"/tools/a%2Fb","httpMethod":"POST",
		"headers":{"Host":"example.com","Authorization":"Bearer secret","Content-Type":"application/json","X-Twice":"two","User-Agent":"test/1",
			"X-Forwarded-For":"203.0.113.9, 192.0.2.1","X-Forwarded-Proto":"https","X-Forwarded-Port":"443",
			"X-Amzn-Trace-Id":"Root=1-6858218d-1b2c3d4e5f60718293a4b5c6"},
		"multiValueHeaders":{"Host":["example.com"],"Authorization":["Bearer secret"],"Content-Type":["application/json"],"X-Twice":["one","two"],
			"User-Agent":["test/1"],"X-Forwarded-For":["203.0.113.9, 192.0.2.1"],"X-Forwarded-Proto":["https"],"X-Forwarded-Port":["443"],
			"X-Amzn-Trace-Id":["Root=1-6858218d-1b2c3d4e5f60718293a4b5c6"]},
		"queryStringParameters":{"q":"é b","flag":"","r":"2"},
		"multiValueQueryStringParameters":{"q":["a+","é b"],"flag":[""],"r":["2"]},
		"pathParameters":{"name":"a%2Fb"}`
	wantContext = `"resourceId":"c79c24","resourcePath":"/tools/{name}","httpMethod":"POST","extendedRequestId":"id-1",
		"requestTime":"22/Jun/2025:15:30:00 +0000","path":"/tools/a%2Fb","accountId":"000000000000","protocol":"HTTP/1.1","stage":"local",
		"domainPrefix":"local","requestTimeEpoch":1750606200000,"requestId":"id-1","domainName":"example.com","apiId":"local",
		"identity":{"sourceIp":"192.0.2.1","userAgent":"test/1","cognitoIdentityPoolId":null,"accountId":null,"cognitoIdentityId":null,
			"caller":null,"principalOrgId":null,"accessKey":null,"cognitoAuthenticationType":null,"cognitoAuthenticationProvider":null,
			"userArn":null,"user":null}`
)

func TestEvents(t *testing.T) {
	auth, fn := capture(t, nil, "POST", "/tools/a%2Fb?q=a%2B&q=%C3%A9+b&flag&r=2", `{"x":"<&>"}`,
		"Content-Type", "application/json", "X-Twice", "one", "X-Twice", "two", "User-Agent", "test/1",
		"X-Forwarded-For", "203.0.113.9", "X-Forwarded-Proto", "gopher", "X-Forwarded-Port", "1",
		"X-Amzn-Trace-Id", "Root=1-6858218d-1b2c3d4e5f60718293a4b5c6",
		"Connection", "keep-alive, Authorization", "Te", "trailers", "Keep-Alive", "1", "Upgrade", "h2c", "Transfer-Encoding", "chunked",
		"Proxy-Authorization", "x", "Expect", "100-continue")
	wantFn := decode(t, []byte(`{`+wantCommon+`,"stageVariables":null,"body":"{\"x\":\"<&>\"}","isBase64Encoded":false,"requestContext":{`+
		wantContext+`,"authorizer":{"principalId":"u1","integrationLatency":0,"workspace":"w1","level":"3","admin":"true"}}}`))
	if diff := cmp.Diff(wantFn, fn); diff != "" {
		t.Errorf("function event (-want +got):\n%s", diff)
	}
	wantAuth := decode(t, []byte(`{"type":"REQUEST","methodArn":"arn:aws:execute-api:local-1:000000000000:local/local/POST/tools/a%2Fb",`+
		wantCommon+`,"stageVariables":{},"requestContext":{`+wantContext+`}}`))
	if diff := cmp.Diff(wantAuth, auth); diff != "" {
		t.Errorf("authorizer event (-want +got):\n%s", diff)
	}
}

func TestWhatWasNotSent(t *testing.T) {
	auth, fn := capture(t, nil, "GET", "/tools", "")
	for _, name := range []string{"queryStringParameters", "multiValueQueryStringParameters", "pathParameters", "stageVariables"} {
		if value, there := fn[name]; !there || value != nil {
			t.Errorf("function: %s is %v, want null", name, value)
		}
		if value, ok := auth[name].(map[string]any); !ok || len(value) != 0 {
			t.Errorf("authorizer: %s is %v, want an empty object", name, auth[name])
		}
	}
	if body, there := fn["body"]; !there || body != nil {
		t.Errorf("body is %v, want null", body)
	}
	headers := fn["headers"].(map[string]any)
	if headers["X-Forwarded-For"] != "192.0.2.1" || headers["X-Amzn-Trace-Id"] != "Root=1-68582178-eb66c623572f8a2a5167ce01" {
		t.Errorf("headers: %v", headers)
	}
	if agent := fn["requestContext"].(map[string]any)["identity"].(map[string]any)["userAgent"]; agent != nil {
		t.Errorf("userAgent is %v, want null", agent)
	}
}

func TestSettingsInEvents(t *testing.T) {
	auth, fn := capture(t, func(a *gateway.API) {
		a.Stage, a.Region, a.AccountID, a.APIID = "v1", "eu-west-1", "123456789012", "s4x3opwd6i"
		a.PublicBaseURL = "http://127.0.0.1:3000"
	}, "POST", "/tools/x", "")
	if got := auth["methodArn"]; got != "arn:aws:execute-api:eu-west-1:123456789012:s4x3opwd6i/v1/POST/tools/x" {
		t.Errorf("methodArn %v", got)
	}
	headers := fn["headers"].(map[string]any)
	if headers["X-Forwarded-Proto"] != "http" || headers["X-Forwarded-Port"] != "3000" {
		t.Errorf("headers: %v", headers)
	}
}

func TestPublicRoutesHaveNoIdentity(t *testing.T) {
	auth, fn := &seen{answer: allow}, &seen{answer: answers(fine)}
	r := request("GET", "/health", "")
	r.Header.Set("X-GoLambdaProxy-ApiGw-Context", `{"authorizer":{"principalId":"u1"}}`)
	if res := do(serve(t, api(auth, fn)), r); res.StatusCode != 200 || len(auth.events) != 0 || len(fn.events) != 1 {
		t.Fatalf("%d after %d and %d events", res.StatusCode, len(auth.events), len(fn.events))
	}
	if a, there := decode(t, fn.events[0])["requestContext"].(map[string]any)["authorizer"]; there {
		t.Errorf("authorizer is %v", a)
	}
}

func TestHeaderNamesOverHTTP2AreLowerCase(t *testing.T) {
	fn := &seen{answer: answers(fine)}
	r := request("POST", "/tools/x", "{}")
	r.ProtoMajor = 2
	do(serve(t, api(allow, fn)), r)
	if len(fn.events) != 1 {
		t.Fatalf("%d events", len(fn.events))
	}
	headers := decode(t, fn.events[0])["headers"].(map[string]any)
	for name := range headers {
		if name != strings.ToLower(name) {
			t.Errorf("%s is not lower case", name)
		}
	}
	if headers["authorization"] != "Bearer secret" || headers["host"] != "example.com" {
		t.Errorf("headers: %v", headers)
	}
}

func TestHeaderNamesAsTheyAre(t *testing.T) {
	_, fn := capture(t, nil, "POST", "/tools/x", "", "mcp-Method", "tools/call", "x-forwarded-for", "203.0.113.9")
	headers := fn["headers"].(map[string]any)
	if headers["mcp-Method"] != "tools/call" || headers["X-Forwarded-For"] != "203.0.113.9, 192.0.2.1" || headers["x-forwarded-for"] != nil {
		t.Errorf("headers: %v", headers)
	}
}

func TestSourceIP(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:1234": "192.0.2.1", "[2001:db8::1]:1": "2001:db8::1", "[fe80::1%eth0]:1": "fe80::1",
		"[::ffff:192.0.2.7]:1": "192.0.2.7", "@": "", "": "",
	} {
		fn := &seen{answer: answers(fine)}
		r := httptest.NewRequest("GET", "/health", nil)
		r.RemoteAddr = remote
		r.Header.Set("X-Real-Ip", "203.0.113.9")
		r.Header.Set("Forwarded", "for=203.0.113.9")
		do(serve(t, api(allow, fn)), r)
		if len(fn.events) != 1 {
			t.Fatalf("%q: %d events", remote, len(fn.events))
		}
		if got := decode(t, fn.events[0])["requestContext"].(map[string]any)["identity"].(map[string]any)["sourceIp"]; got != want {
			t.Errorf("%q: source IP %v, want %q", remote, got, want)
		}
	}
}

func TestBodiesAreText(t *testing.T) {
	for body, want := range map[string]struct {
		text     string
		isBase64 bool
	}{
		"a\u00fcb\x00\u2028": {"a\u00fcb\x00\u2028", false},
		"a\xffb":             {base64.StdEncoding.EncodeToString([]byte("a\xffb")), true},
	} {
		_, fn := capture(t, nil, "POST", "/tools/x", body)
		if fn["body"] != want.text || fn["isBase64Encoded"] != want.isBase64 {
			t.Errorf("%q arrives as %q, base64 %v", body, fn["body"], fn["isBase64Encoded"])
		}
	}
}

func TestQueries(t *testing.T) {
	for query, want := range map[string]string{ // empty: refused
		"a=1&&b": `{"a":["1"],"b":[""]}`, "a=1;b=2": `{"a":["1"],"b":["2"]}`, "a=b=c": `{"a":["b=c"]}`, "%7C=%7B": `{"|":["{"]}`,
		"=x": `{"":["x"]}`, "a=1&A=2": `{"A":["2"],"a":["1"]}`, "a=%": "", "%zz": "", "a|b": "", "a={x}": "",
	} {
		fn := &seen{answer: answers(fine)}
		r := request("GET", "/health", "")
		r.URL.RawQuery = query
		res := do(serve(t, api(allow, fn)), r)
		if want == "" {
			wantProblem(t, query, res, 400, "invalid_request")
			continue
		}
		if len(fn.events) != 1 {
			t.Errorf("%s: %d", query, res.StatusCode)
			continue
		}
		if got, _ := json.Marshal(decode(t, fn.events[0])["multiValueQueryStringParameters"]); string(got) != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
