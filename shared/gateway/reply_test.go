package gateway_test

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnswersOfFunctions(t *testing.T) {
	tests := []struct {
		name, answer string
		status       int // 502: malformed
		body         string
	}{
		{"plain", `{"statusCode":201,"body":"{\"a\":1}"}`, 201, `{"a":1}`},
		{"error status", `{"statusCode":599,"body":"x"}`, 599, `x`},
		{"number in a string", `{"statusCode":"404","body":"x"}`, 404, `x`},
		{"no body", `{"statusCode":200}`, 200, ``},
		{"null body", `{"statusCode":200,"body":null,"headers":null,"multiValueHeaders":null}`, 200, ``},
		{"base64 stays", `{"statusCode":200,"body":"AAEC","isBase64Encoded":true}`, 200, `AAEC`},
		{"nothing", ``, 502, ``},
		{"null", `null`, 502, ``},
		{"text", `"ok"`, 502, ``},
		{"list", `[]`, 502, ``},
		{"empty", `{}`, 502, ``},
		{"no status", `{"body":"x"}`, 502, ``},
		{"status null", `{"statusCode":null}`, 502, ``},
		{"status 0", `{"statusCode":0}`, 502, ``},
		{"status 100", `{"statusCode":100}`, 502, ``},
		{"status 600", `{"statusCode":600}`, 502, ``},
		{"status 200.5", `{"statusCode":200.5}`, 502, ``},
		{"status true", `{"statusCode":true}`, 502, ``},
		{"body object", `{"statusCode":200,"body":{"a":1}}`, 502, ``},
		{"unknown member", `{"statusCode":200,"cookies":[]}`, 502, ``},
		{"error object", `{"errorMessage":"x","errorType":"y"}`, 502, ``},
		{"header object", `{"statusCode":200,"headers":{"A":{}}}`, 502, ``},
		{"header null", `{"statusCode":200,"headers":{"A":null}}`, 502, ``},
		{"header list", `{"statusCode":200,"headers":{"A":["x"]}}`, 502, ``},
		{"headers list", `{"statusCode":200,"headers":["A"]}`, 502, ``},
		{"multi header text", `{"statusCode":200,"multiValueHeaders":{"A":"x"}}`, 502, ``},
		{"multi header object", `{"statusCode":200,"multiValueHeaders":{"A":[{}]}}`, 502, ``},
		{"two answers", `{"statusCode":200}{"statusCode":200}`, 502, ``},
	}
	for _, tt := range tests {
		res := do(serve(t, api(allow, answers(tt.answer))), request("POST", "/tools/x", ""))
		if tt.status == 502 {
			wantProblem(t, tt.name, res, 502, "internal")
			continue
		}
		if body, _ := io.ReadAll(res.Body); res.StatusCode != tt.status || string(body) != tt.body {
			t.Errorf("%s: %d %s, want %d %s", tt.name, res.StatusCode, body, tt.status, tt.body)
		}
		if got := res.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("%s: Content-Type %q", tt.name, got)
		}
	}
}

func TestHeadersOfFunctions(t *testing.T) {
	res := do(serve(t, api(allow, answers(`{"statusCode":401,
		"headers":{"content-type":"text/plain","X-N":1,"X-B":true,"X-Both":"a","X-Amzn-Requestid":"mine","Date":"never","Server":"me",
			"Connection":"close","Content-Length":"7","Transfer-Encoding":"chunked","Upgrade":"h2c","Cache-Control":"private"},
		"multiValueHeaders":{"WWW-Authenticate":["Bearer error=\"invalid_token\"","Basic"],"X-Both":["a","b"]},"body":"no"}`))),
		request("POST", "/tools/x", ""))
	want := http.Header{
		"Content-Type": {"text/plain"}, "X-N": {"1"}, "X-B": {"true"}, "X-Both": {"a", "b"}, "X-Amzn-Requestid": {"id-1"},
		"X-Amzn-Remapped-Www-Authenticate": {`Bearer error="invalid_token"`, "Basic"}, "X-Amzn-Remapped-Date": {"never"},
		"X-Amzn-Remapped-Server": {"me"}, "X-Amzn-Remapped-Connection": {"close"}, "X-Amzn-Remapped-Content-Length": {"7"},
		"Cache-Control": {"private"},
	}
	if diff := cmp.Diff(want, res.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestFailingFunctions(t *testing.T) {
	panics := function(func(context.Context, []byte) ([]byte, error) { panic("index out of range") })
	for name, fn := range map[string]function{
		"error": fails("disk full"), "Unauthorized means nothing here": fails("Unauthorized"), "panic": panics,
	} {
		res := do(serve(t, api(allow, fn)), request("POST", "/tools/x", ""))
		wantProblem(t, name, res, http.StatusBadGateway, "internal")
		if _, there := res.Header["Www-Authenticate"]; there {
			t.Errorf("%s: %v", name, res.Header)
		}
	}
}
