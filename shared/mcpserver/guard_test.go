package mcpserver

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/audit"
)

// Nobody gets past the door, whatever is asked for.
func TestNobody(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete, http.MethodPut, http.MethodOptions} {
		for _, path := range []string{"/mcp", "/tools/nope", "/tools/list_issues", "/elsewhere"} {
			s := newStage(t)
			s.principal = nil
			r := s.do(request(method, path, legacy.message("tools/call", `"name":"list_issues"`), "Origin", "https://evil.example"))
			if r.status != http.StatusUnauthorized || !strings.Contains(r.body, `"reason":"unauthenticated"`) || !json.Valid([]byte(r.body)) {
				t.Errorf("%s %s: %d %s", method, path, r.status, r.body)
			}
			if got := r.header.Get("WWW-Authenticate"); !strings.HasPrefix(got, "Bearer ") || strings.Contains(got, "error=") {
				t.Errorf("%s %s: challenge %q", method, path, got)
			}
			s.wantCalls(t)
			s.wantEvents(t)
		}
	}
}

func TestIncompletePrincipalIsNobody(t *testing.T) {
	s := newStage(t, allScopes...)
	s.principal.TokenID = ""
	s.callTool(legacy, "list_issues", `{}`).wantError(t, http.StatusUnauthorized, codeUnauthenticated, "unauthenticated")
	s.wantCalls(t)
}

func TestPostOnly(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut, http.MethodPatch, http.MethodOptions} {
		s := newStage(t, allScopes...)
		r := s.do(request(method, "/mcp", "", "Mcp-Session-Id", "x", "Last-Event-ID", "y"))
		r.wantError(t, http.StatusMethodNotAllowed, codeInvalidRequest, "invalid_request")
		if r.header.Get("Allow") != "POST" {
			t.Errorf("%s: Allow %q", method, r.header.Get("Allow"))
		}
	}
}

func TestHeadersThatAreRefused(t *testing.T) {
	tests := map[string]struct {
		headers      []string
		status, code int
		reason       string
	}{
		"no content type":      {[]string{"Content-Type", "-"}, 415, codeInvalidRequest, "invalid_request"},
		"text":                 {[]string{"Content-Type", "-", "Content-Type", "text/plain"}, 415, codeInvalidRequest, "invalid_request"},
		"two content types":    {[]string{"Content-Type", "application/json"}, 415, codeInvalidRequest, "invalid_request"},
		"another charset":      {[]string{"Content-Type", "-", "Content-Type", "application/json; charset=utf-16"}, 415, codeInvalidRequest, "invalid_request"},
		"compressed":           {[]string{"Content-Encoding", "gzip"}, 415, codeInvalidRequest, "invalid_request"},
		"only a stream":        {[]string{"Accept", "-", "Accept", "text/event-stream"}, 406, codeInvalidRequest, "invalid_request"},
		"only html":            {[]string{"Accept", "-", "Accept", "text/html"}, 406, codeInvalidRequest, "invalid_request"},
		"a page":               {[]string{"Origin", "https://evil.example"}, 403, codeForbidden, "origin_not_allowed"},
		"a page of no origin":  {[]string{"Origin", "null"}, 403, codeForbidden, "origin_not_allowed"},
		"a page and a friend":  {[]string{"Origin", "https://app.example.com", "Origin", "https://evil.example"}, 403, codeForbidden, "origin_not_allowed"},
		"a longer origin":      {[]string{"Origin", "https://app.example.com.evil.example"}, 403, codeForbidden, "origin_not_allowed"},
		"a port that is none":  {[]string{"Origin", "http://localhost:1.evil.example"}, 403, codeForbidden, "origin_not_allowed"},
		"another scheme":       {[]string{"Origin", "http://app.example.com"}, 403, codeForbidden, "origin_not_allowed"},
		"large headers":        {[]string{"X-Large", strings.Repeat("x", maxHeaders)}, 431, codeInvalidRequest, "invalid_request"},
		"unsupported version":  {[]string{"MCP-Protocol-Version", "2024-11-05"}, 400, codeUnsupportedVersion, "invalid_request"},
		"future version":       {[]string{"MCP-Protocol-Version", "2027-01-01"}, 400, codeUnsupportedVersion, "invalid_request"},
		"version in two words": {[]string{"MCP-Protocol-Version", "2025-11-25", "MCP-Protocol-Version", "2025-11-25"}, 400, codeHeaderMismatch, "invalid_request"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, allScopes...)
			s.post(unnamed.message("tools/list", ""), tt.headers...).wantError(t, tt.status, tt.code, tt.reason)
			s.wantEvents(t)
			s.post(unnamed.message("tools/call", `"name":"delete_issue"`), tt.headers...).wantError(t, tt.status, tt.code, tt.reason)
			s.wantEvents(t, "delete_issue denied "+tt.reason)
		})
	}
}

// Whichever of several headers is believed elsewhere, a call that one of them names is on record.
func TestClaimOfSeveralHeaders(t *testing.T) {
	for _, body := range []string{`x`, unnamed.message("tools/list", "")} {
		s := newStage(t, allScopes...)
		r := s.post(body, "Mcp-Method", "tools/list", "Mcp-Method", "tools/call", "Mcp-Name", "delete_issue", "Mcp-Name", "delete_issue")
		if r.status != http.StatusBadRequest {
			t.Errorf("%d %s", r.status, r.body)
		}
		s.wantEvents(t, "delete_issue denied invalid_request")
	}
}

// Of a name that is all control characters nothing is left.
func TestNamesOfNothing(t *testing.T) {
	s := newStage(t, allScopes...)
	s.ask(legacy, "tools/call", "", `"name":"\u202e\u0000","arguments":{}`)
	s.wantEvents(t, "_mcp denied unknown_tool")
	s.do(request(http.MethodPost, "/tools/%00", `{}`))
	s.wantEvents(t, "_mcp denied unknown_tool")
}

func TestHeadersThatPass(t *testing.T) {
	tests := map[string][]string{
		"JSON alone":           {"Accept", "-", "Accept", "application/json"},
		"anything":             {"Accept", "-", "Accept", "*/*"},
		"no Accept":            {"Accept", "-"},
		"Accept in two":        {"Accept", "-", "Accept", "text/event-stream", "Accept", "application/json;q=0.9"},
		"charset":              {"Content-Type", "-", "Content-Type", `application/json; charset="UTF-8"`},
		"identity":             {"Content-Encoding", "identity"},
		"a page that may":      {"Origin", "https://app.example.com"},
		"a page on any port":   {"Origin", "http://localhost:6274"},
		"a stale session":      {"Mcp-Session-Id", "1234"},
		"a stream that ended":  {"Last-Event-ID", "5"},
		"a name for no reason": {"Mcp-Name", "delete_issue"},
		"method":               {"Mcp-Method", "tools/list"},
		"empty version":        {"MCP-Protocol-Version", ""},
		"a trace":              {"traceparent", "00-xyz"},
	}
	for name, headers := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, allScopes...)
			r := s.post(unnamed.message("tools/list", ""), headers...)
			if r.status != http.StatusOK || r.rpc(t).Result == nil {
				t.Errorf("%d %s", r.status, r.body)
			}
			if r.header.Get("Mcp-Session-Id") != "" {
				t.Error("a session was begun")
			}
		})
	}
}

func TestUnsupportedVersionSaysWhich(t *testing.T) {
	s := newStage(t, allScopes...)
	out := s.post(unnamed.message("tools/list", ""), "MCP-Protocol-Version", "1999-01-01").rpc(t)
	data, _ := json.Marshal(out.Error.Data)
	for _, want := range []string{`"requested":"1999-01-01"`, `"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"]`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is not in %s", want, data)
		}
	}
	if string(out.ID) != "7" {
		t.Errorf("id %s", out.ID)
	}
}

func TestHosts(t *testing.T) {
	for host, ok := range map[string]bool{
		"mcp.example.com": true, "MCP.example.com": true, "127.0.0.1:3000": true, "127.0.0.1": true,
		"mcp.example.com:8080": false, "evil.example": false, "127.0.0.1.evil.example": false, "127.0.0.1:80.evil.example": false, "": false,
	} {
		s := newStage(t, allScopes...)
		r := request(http.MethodPost, "/mcp", unnamed.message("ping", ""))
		r.Host = host
		got := s.do(r)
		if ok != (got.status == http.StatusOK) {
			t.Errorf("host %q: %d %s", host, got.status, got.body)
		}
		if !ok {
			got.wantError(t, http.StatusForbidden, codeForbidden, "host_not_allowed")
		}
	}
}

func TestLargeBody(t *testing.T) {
	body := func(size int) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_issues","arguments":{"x":"` + strings.Repeat("y", size) + `"}}}`
	}
	s := newStage(t, allScopes...)
	s.post(body(maxBody)).wantError(t, http.StatusRequestEntityTooLarge, codeInvalidRequest, "payload_too_large")
	r := request(http.MethodPost, "/mcp", body(maxBody))
	r.ContentLength = -1 // chunked
	s.do(r).wantError(t, http.StatusRequestEntityTooLarge, codeInvalidRequest, "payload_too_large")
	s.post(body(maxRead)).wantError(t, http.StatusRequestEntityTooLarge, codeInvalidRequest, "payload_too_large")
	s.wantCalls(t)
	s.wantEvents(t, "list_issues denied payload_too_large", "list_issues denied payload_too_large", "list_issues denied payload_too_large")
	s.post(body(maxBody - 200))
	s.wantCalls(t, "list_issues") // its size is for the tool to refuse
}

// A header that says something else than the body is refused in every version.
func TestHeadersAgreeWithBody(t *testing.T) {
	encoded := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
	tests := map[string]struct {
		headers []string
		refused bool
	}{
		"right":             {[]string{"Mcp-Method", "tools/call", "Mcp-Name", "delete_issue"}, false},
		"right, in base64":  {[]string{"Mcp-Method", "tools/call", "Mcp-Name", encoded("delete_issue")}, false},
		"other name":        {[]string{"Mcp-Method", "tools/call", "Mcp-Name", "list_issues"}, true},
		"other, in base64":  {[]string{"Mcp-Method", "tools/call", "Mcp-Name", encoded("list_issues")}, true},
		"no base64":         {[]string{"Mcp-Method", "tools/call", "Mcp-Name", "=?base64?%%?="}, true},
		"name in case":      {[]string{"Mcp-Method", "tools/call", "Mcp-Name", "Delete_Issue"}, true},
		"empty name":        {[]string{"Mcp-Method", "tools/call", "Mcp-Name", ""}, true},
		"two names":         {[]string{"Mcp-Method", "tools/call", "Mcp-Name", "delete_issue", "Mcp-Name", "list_issues"}, true},
		"the same twice":    {[]string{"Mcp-Method", "tools/call", "Mcp-Name", "delete_issue", "Mcp-Name", "delete_issue"}, true},
		"other method":      {[]string{"Mcp-Method", "tools/list", "Mcp-Name", "delete_issue"}, true},
		"method in case":    {[]string{"Mcp-Method", "Tools/call", "Mcp-Name", "delete_issue"}, true},
		"two methods":       {[]string{"Mcp-Method", "tools/call", "Mcp-Method", "tools/list", "Mcp-Name", "delete_issue"}, true},
		"names in one line": {[]string{"Mcp-Method", "tools/call", "Mcp-Name", "delete_issue, list_issues"}, true},
	}
	for name, tt := range tests {
		for _, e := range allEras {
			t.Run(e.name+"/"+name, func(t *testing.T) {
				s := newStage(t, allScopes...)
				r := s.post(e.message("tools/call", `"name":"delete_issue","arguments":{}`), append(append([]string{}, e.headers...), tt.headers...)...)
				if !tt.refused {
					r.result(t)
					s.wantCalls(t, "delete_issue")
					s.wantEvents(t)
					return
				}
				r.wantError(t, http.StatusBadRequest, codeHeaderMismatch, "invalid_request")
				s.wantCalls(t)
				if e := s.wantEvents(t, "delete_issue denied invalid_request"); len(e) == 1 && e[0].ScopesRequired[0] != "issues:write" {
					t.Errorf("scopes %v", e[0].ScopesRequired)
				}
			})
		}
	}
}

func TestVersionAgreesWithBody(t *testing.T) {
	tests := map[string]struct {
		version, header string // "-": none
		code            int
	}{
		"header missing":       {`"2026-07-28"`, "-", codeHeaderMismatch},
		"header legacy":        {`"2026-07-28"`, "2025-11-25", codeHeaderMismatch},
		"body legacy":          {`"2025-11-25"`, "2026-07-28", codeHeaderMismatch},
		"both unknown":         {`"2027-01-01"`, "2027-01-01", codeUnsupportedVersion},
		"body missing":         {"-", "2026-07-28", codeInvalidParams},
		"no string":            {`5`, "2026-07-28", codeInvalidParams},
		"null":                 {`null`, "2026-07-28", codeInvalidParams},
		"space in header":      {`"2026-07-28"`, "2026-07-28 x", codeHeaderMismatch},
		"longer than a prefix": {`"2026-07-28-x"`, "2026-07-28-x", codeUnsupportedVersion},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, allScopes...)
			metadata := `"io.modelcontextprotocol/clientCapabilities":{}`
			if tt.version != "-" {
				metadata += `,"io.modelcontextprotocol/protocolVersion":` + tt.version
			}
			headers := []string{"Mcp-Method", "tools/call", "Mcp-Name", "list_issues"}
			if tt.header != "-" {
				headers = append(headers, "MCP-Protocol-Version", tt.header)
			}
			r := s.post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_issues","_meta":{`+metadata+`}}}`, headers...)
			r.wantError(t, http.StatusBadRequest, tt.code, "invalid_request")
			s.wantCalls(t)
			s.wantEvents(t, "list_issues denied invalid_request")
		})
	}
}

func TestModernNeedsItsHeadersAndMeta(t *testing.T) {
	full := []string{"MCP-Protocol-Version", modernVersion, "Mcp-Method", "tools/call", "Mcp-Name", "list_issues"}
	body := func(capabilities, info string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_issues","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"` +
			capabilities + info + `}}}`
	}
	const capabilities = `,"io.modelcontextprotocol/clientCapabilities":{}`
	tests := map[string]struct {
		body    string
		headers []string
		code    int
	}{
		"no method":               {body(capabilities, ""), append(append([]string{}, full...), "Mcp-Method", "-"), codeHeaderMismatch},
		"no name":                 {body(capabilities, ""), append(append([]string{}, full...), "Mcp-Name", "-"), codeHeaderMismatch},
		"no capabilities":         {body("", ""), full, codeInvalidParams},
		"capabilities as list":    {body(`,"io.modelcontextprotocol/clientCapabilities":[]`, ""), full, codeInvalidParams},
		"capabilities wrong":      {body(`,"io.modelcontextprotocol/clientCapabilities":{"roots":5}`, ""), full, codeInvalidParams},
		"client info as a string": {body(capabilities, `,"io.modelcontextprotocol/clientInfo":"x"`), full, codeInvalidParams},
		"client info wrong":       {body(capabilities, `,"io.modelcontextprotocol/clientInfo":{"name":5}`), full, codeInvalidParams},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, allScopes...)
			s.post(tt.body, tt.headers...).wantError(t, http.StatusBadRequest, tt.code, "invalid_request")
			s.wantCalls(t)
			s.wantEvents(t, "list_issues denied invalid_request")
		})
	}
	s := newStage(t, allScopes...)
	s.post(body(capabilities, ""), full...).result(t)
	if calls := s.wantCalls(t, "list_issues"); calls[0].req.Client != (audit.Client{Name: "curl", Version: "8"}) {
		t.Errorf("client %v, want that of the User-Agent", calls[0].req.Client)
	}
}

func TestUnknownToolOverREST(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		s := newStage(t, allScopes...)
		r := s.do(request(method, "/tools/drop%20tables", `{"x":1}`))
		if want := `{"error":"there is no such tool: GET /tools shows those there are","reason":"unknown_tool","call_id":"call-1"}`; r.status != http.StatusNotFound || r.body != want {
			t.Errorf("%s: %d %s", method, r.status, r.body)
		}
		if e := s.wantEvents(t, "drop tables denied unknown_tool"); len(e) == 1 && (e[0].Transport != audit.REST || e[0].Recorder != audit.RecorderMCP) {
			t.Errorf("event %+v", e[0])
		}
		s.wantCalls(t)
	}
}

func TestOtherAddresses(t *testing.T) {
	tests := []struct {
		method, path string
		status       int
		events       []string
	}{
		{http.MethodGet, "/tools/list_issues", http.StatusMethodNotAllowed, nil},
		{http.MethodPost, "/tools/list_issues", http.StatusInternalServerError, []string{"list_issues error internal"}},
		{http.MethodPost, "/tools/%6Cist_issues", http.StatusNotFound, []string{"%6Cist_issues denied unknown_tool"}},
		{http.MethodPost, "/tools/", http.StatusNotFound, nil},
		{http.MethodPost, "/mcp/", http.StatusNotFound, nil},
		{http.MethodPost, "//mcp", http.StatusNotFound, nil},
		{http.MethodPost, "/MCP", http.StatusNotFound, nil},
	}
	for _, tt := range tests {
		s := newStage(t, allScopes...)
		r := s.do(request(tt.method, tt.path, `{}`))
		if r.status != tt.status || !json.Valid([]byte(r.body)) || !strings.Contains(r.body, `"call_id":"call-1"`) {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, r.status, r.body)
		}
		s.wantCalls(t)
		s.wantEvents(t, tt.events...)
	}
}

// A page that is allowed reads every answer, and the challenge in it; any other page reads none.
func TestPagesThatMayRead(t *testing.T) {
	for name, tt := range map[string]struct {
		origins []string
		want    string
	}{
		"ours":           {[]string{"https://app.example.com"}, "https://app.example.com"},
		"this machine":   {[]string{"http://localhost:6274"}, "http://localhost:6274"},
		"another":        {[]string{"https://evil.example"}, ""},
		"none":           {[]string{"null"}, ""},
		"ours and other": {[]string{"https://app.example.com", "https://evil.example"}, ""},
		"no page":        {nil, ""},
	} {
		var headers []string
		for _, o := range tt.origins {
			headers = append(headers, "Origin", o)
		}
		nobody, someone := newStage(t), newStage(t)
		nobody.principal = nil
		for what, r := range map[string]reply{
			"401":    nobody.post(legacy.message("tools/list", ""), headers...),
			"403":    someone.post(legacy.message("tools/call", `"name":"delete_issue"`), headers...),
			"answer": someone.post(legacy.message("tools/list", ""), headers...),
			"405":    someone.do(request(http.MethodGet, "/mcp", "", headers...)),
		} {
			exposed := ""
			if tt.want != "" {
				exposed = "WWW-Authenticate"
			}
			if got := r.header.Get("Access-Control-Allow-Origin"); got != tt.want || r.header.Get("Access-Control-Expose-Headers") != exposed {
				t.Errorf("%s, %s: allowed %q, exposed %q", name, what, got, r.header.Get("Access-Control-Expose-Headers"))
			}
			if r.header.Get("Vary") != "Origin" || r.header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s, %s: %v", name, what, r.header)
			}
		}
	}
	closed := newStage(t)
	closed.restart(func(c *Config) { c.Origins = nil })
	if r := closed.post(legacy.message("tools/list", ""), "Origin", "https://app.example.com"); r.status != http.StatusForbidden || r.header.Get("Vary") != "" || r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("with no page allowed: %d %v", r.status, r.header)
	}
}
