package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// member is one member of an object, as another reader of JSON sees it.
type member struct {
	name  string
	value json.RawMessage
}

// readMembers reads an object with encoding/json, keeping duplicates; nothing of envelope.go is
// used.
func readMembers(raw []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, errors.New("no object")
	}
	var all []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		all = append(all, member{name.(string), value})
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("trailing bytes")
	}
	return all, nil
}

// only returns the one member that a reader could take for name, which must be spelt exactly.
func only(all []member, name string) (json.RawMessage, error) {
	var found []member
	for _, m := range all {
		if strings.EqualFold(m.name, name) {
			found = append(found, m)
		}
	}
	switch {
	case len(found) == 0:
		return nil, nil
	case len(found) > 1 || found[0].name != name:
		return nil, fmt.Errorf("%s is ambiguous", name)
	}
	return found[0].value, nil
}

// strictCall is the one call that a body asks for, by the other reader; an error if there is a
// second reading.
func strictCall(body []byte) (name string, arguments []byte, err error) {
	top, err := readMembers(body)
	if err != nil {
		return "", nil, err
	}
	var method string
	rawMethod, err := only(top, "method")
	if err != nil || json.Unmarshal(rawMethod, &method) != nil || method != "tools/call" {
		return "", nil, fmt.Errorf("no call: %v", err)
	}
	rawParams, err := only(top, "params")
	if err != nil {
		return "", nil, err
	}
	params, err := readMembers(rawParams)
	if err != nil {
		return "", nil, err
	}
	rawName, err := only(params, "name")
	if err != nil || json.Unmarshal(rawName, &name) != nil {
		return "", nil, fmt.Errorf("no name: %v", err)
	}
	arguments, err = only(params, "arguments")
	return name, arguments, err
}

// checkExchange is what must hold of every request at all. It tells whether a tool was called.
func checkExchange(t *testing.T, s *stage, body []byte, headers ...string) bool {
	t.Helper()
	r := s.post(string(body), headers...)
	calls, events := s.invoker.took(), s.log.took()
	if len(calls)+len(events) > 1 {
		t.Fatalf("%d calls and %d events for one request: %q", len(calls), len(events), body)
	}
	switch {
	case r.status == http.StatusAccepted:
		if r.body != "" {
			t.Fatalf("a body with 202: %q", r.body)
		}
	case r.status >= http.StatusInternalServerError:
		t.Fatalf("internal failure: %d %s for %q\n%s", r.status, r.body, body, s.logged)
	case r.status >= http.StatusBadRequest || r.status == http.StatusOK:
		if out := r.rpc(t); r.status != http.StatusOK && out.Error == nil {
			t.Fatalf("%d without an error: %s", r.status, r.body)
		}
	default:
		t.Fatalf("status %d", r.status)
	}
	if s.logged.Len() > 0 {
		t.Fatalf("internal failure for %q: %s", body, s.logged)
	}
	if len(calls) == 0 {
		return false
	}
	name, arguments, err := strictCall(body)
	if err != nil || calls[0].name != name || !bytes.Equal(calls[0].req.Arguments, arguments) {
		t.Fatalf("ran %s(%s), but %q asks for %s(%s): %v", calls[0].name, calls[0].req.Arguments, body, name, arguments, err)
	}
	for i := 0; i < len(headers); i += 2 {
		if header, ok := decodeName(headers[i+1]); strings.EqualFold(headers[i], "Mcp-Name") && (!ok || header != name) {
			t.Fatalf("ran %s under the header %q", name, headers[i+1])
		}
	}
	return true
}

// FuzzEnvelope sends any body under any of the headers that matter: no panic, no refusal that
// is no JSON-RPC, no call but the one that the body says, no second event.
func FuzzEnvelope(f *testing.F) {
	for _, tt := range crooked {
		if len(tt.body) < 1000 {
			f.Add([]byte(tt.body), "2025-11-25", "", "")
			f.Add([]byte(tt.body), "", "tools/call", "list_issues")
		}
	}
	for _, e := range allEras {
		version := ""
		if len(e.headers) > 0 {
			version = e.headers[1]
		}
		f.Add([]byte(e.message("tools/call", `"name":"delete_issue","arguments":{"confirm":true,"confirm":"\ud800"}`)), version, "tools/call", "delete_issue")
		f.Add([]byte(e.message("tools/call", `"name":"nope"`)), version, "tools/call", "=?base64?bm9wZQ==?=")
		f.Add([]byte(e.message("tools/list", `"cursor":""`)), version, "tools/list", "")
		f.Add([]byte(e.message("initialize", `"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"x","version":"1"}`)), version, "", "")
		f.Add([]byte(e.message("logging/setLevel", `"level":"info"`)), version, "", "")
		f.Add([]byte(e.message("prompts/list", ``)), version, "prompts/list", "")
	}
	s := newStage(f, allScopes...)
	f.Fuzz(func(t *testing.T, body []byte, version, method, name string) {
		var headers []string
		for i, value := range []string{version, method, name} {
			if value != "" && !strings.ContainsFunc(value, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
				headers = append(headers, []string{"MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"}[i], value)
			}
		}
		checkExchange(t, s, body, headers...)
	})
}

// Every way to write two names, two params, two methods in one message: what runs is the only
// thing that the message says, and the SDK alone would have run the same.
func TestWhatRunsIsWhatIsSaid(t *testing.T) {
	s := newStage(t, allScopes...)
	bare := newBareSDK()
	ran, refused := 0, 0
	for _, body := range doubles() {
		if !checkExchange(t, s, []byte(body)) {
			refused++
			continue
		}
		ran++
		name, arguments, _ := strictCall([]byte(body))
		if got := bare.run(body); !slices.Equal(got, []string{name + string(arguments)}) {
			t.Errorf("the SDK alone ran %q for %s", got, body)
		}
	}
	if ran < 20 || refused < 500 {
		t.Errorf("%d ran and %d were refused: too few to tell anything", ran, refused)
	}
	t.Logf("%d ran, %d refused", ran, refused)
}

// doubles writes messages of up to two members where there should be one.
func doubles() []string {
	names := []string{`"name"`, `"Name"`, `"n\u0061me"`, `"NAME"`, `"\u006eame"`, `"name "`, `"name\u0000"`}
	tools := []string{`"list_issues"`, `"delete_issue"`, `"delete\u005fissue"`, `["delete_issue"]`, `null`}
	keys := func(base string) []string {
		quoted := []string{fmt.Sprintf("%q", base), fmt.Sprintf("%q", strings.ToUpper(base[:1])+base[1:])}
		return append(quoted, fmt.Sprintf(`"\u%04x%s"`, base[0], base[1:]))
	}
	var bodies []string
	add := func(method, params string) {
		bodies = append(bodies, `{"jsonrpc":"2.0","id":1,`+method+`,`+params+`}`)
	}
	const call = `"method":"tools/call"`
	for _, n1 := range names {
		for _, t1 := range tools {
			add(call, `"params":{`+n1+`:`+t1+`}`)
			for _, n2 := range names {
				for _, t2 := range tools {
					add(call, `"params":{`+n1+`:`+t1+`,"arguments":{},`+n2+`:`+t2+`}`)
				}
			}
		}
	}
	for _, k1 := range keys("params") {
		for _, k2 := range keys("params") {
			add(call, k1+`:{"name":"list_issues"},`+k2+`:{"name":"delete_issue"}`)
		}
		add(call, k1+`:{"name":"delete_issue","arguments":{"x":{"name":"list_issues"}}}`)
	}
	for _, k1 := range keys("method") {
		for _, k2 := range keys("method") {
			add(k1+`:"tools/list",`+k2+`:"tools/call"`, `"params":{"name":"delete_issue"}`)
		}
		add(k1+`:"tools/call"`, `"params":{"name":"delete_issue"}`)
	}
	for _, k1 := range keys("arguments") {
		for _, k2 := range keys("arguments") {
			add(call, `"params":{"name":"delete_issue",`+k1+`:{"confirm":false},`+k2+`:{"confirm":true}}`)
		}
		add(call, `"params":{"name":"delete_issue",`+k1+`:{"confirm":true,"confirm":false}}`)
	}
	return bodies
}

// bareSDK is the SDK's server without this package around it.
type bareSDK struct {
	http.Handler
	ran []string
}

func newBareSDK() *bareSDK {
	b := &bareSDK{}
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "0"}, nil)
	for _, d := range definitions() {
		server.AddTool(&mcp.Tool{Name: d.Name, InputSchema: anyObject}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			b.ran = append(b.ran, req.Params.Name+string(req.Params.Arguments))
			return &mcp.CallToolResult{}, nil
		})
	}
	b.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	return b
}

func (b *bareSDK) run(body string, headers ...string) []string {
	b.ran = nil
	b.ServeHTTP(httptest.NewRecorder(), request(http.MethodPost, "/mcp", body, headers...))
	return b.ran
}
