package mcpserver

import (
	"net/http"
	"strings"
	"testing"
)

// spoilt is a name that the log writes like delete_issue, though it is another one.
const spoilt = "delete_issue\ufffd"

// Each body asks for a deletion in some crooked way. None may run, and each is refused with a
// JSON-RPC error. Where the body still says that it is a call, that is on record.
var crooked = []struct {
	name, body string
	code       int
	id         string // expected in the answer
	tool       string // of the event: "": no call, "_mcp": not of one tool, "-": the same, and the message was read
}{
	// Not JSON.
	{"empty", ``, codeParse, "", ""},
	{"space", " \n", codeParse, "", ""},
	{"cut", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue"`, codeParse, "7", "delete_issue"},
	{"no JSON", `delete_issue`, codeParse, "", ""},
	{"byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue"}}`, codeParse, "", "delete_issue"},
	{"comment", `{"jsonrpc":"2.0","id":7,/**/"method":"tools/call","params":{"name":"delete_issue"}}`, codeParse, "7", ""},
	{"comma at the end", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue",}}`, codeParse, "7", "delete_issue"},
	{"single quotes", `{'jsonrpc':'2.0','id':7,'method':'tools/call','params':{'name':'delete_issue'}}`, codeParse, "", ""},
	{"trailing word", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue"}} x`, codeParse, "7", "delete_issue"},
	{"trailing message", `{"jsonrpc":"2.0","id":7,"method":"ping"}{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"delete_issue"}}`, codeParse, "7", "delete_issue"},
	{"trailing zero byte", `{"jsonrpc":"2.0","id":7,"method":"ping"}` + "\x00", codeParse, "7", ""},
	{"invalid UTF-8 in a name", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","x` + "\xff" + `":1}}`, codeParse, "7", "delete_issue"},
	{"invalid UTF-8 in a value", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue` + "\xff" + `"}}`, codeParse, "7", spoilt},
	{"invalid UTF-8 deep inside", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","x":[{"y":"` + "\xff" + `"}]}}`, codeParse, "7", "delete_issue"},
	{"lone surrogate in the name", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue\ud800"}}`, codeParse, "7", spoilt},
	{"lone surrogate in the method", `{"jsonrpc":"2.0","id":7,"method":"tools/call\udc00","params":{"name":"delete_issue"}}`, codeParse, "7", ""},
	{"lone surrogate in _meta", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","_meta":{"x":{"y":"\ud800"}}}}`, codeParse, "7", "delete_issue"},
	{"lone surrogate as id", `{"jsonrpc":"2.0","id":"\ud800","method":"tools/call","params":{"name":"delete_issue"}}`, codeParse, "", "delete_issue"},
	{"deeper than any parser goes", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","arguments":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}}`, codeInvalidRequest, "7", "delete_issue"},

	// Not one message.
	{"batch", `[{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue"}}]`, codeInvalidRequest, "", "delete_issue"},
	{"empty batch", `[]`, codeInvalidRequest, "", ""},
	{"batch after space", "\n\t [", codeInvalidRequest, "", ""},
	{"string", `"tools/call"`, codeInvalidRequest, "", ""},
	{"null", `null`, codeInvalidRequest, "", ""},
	{"number", `7`, codeInvalidRequest, "", ""},
	{"empty object", `{}`, codeInvalidRequest, "", ""},
	{"no version", `{"id":7,"method":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "7", "delete_issue"},
	{"other version", `{"jsonrpc":"1.0","id":7,"method":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "7", "delete_issue"},
	{"version as number", `{"jsonrpc":2.0,"id":7,"method":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "7", "delete_issue"},
	{"no method", `{"jsonrpc":"2.0","id":7,"params":{"name":"delete_issue"}}`, codeInvalidRequest, "7", ""},
	{"method null", `{"jsonrpc":"2.0","id":7,"method":null,"params":{"name":"delete_issue"}}`, codeInvalidRequest, "7", ""},
	{"empty method", `{"jsonrpc":"2.0","id":7,"method":"","params":{"name":"delete_issue"}}`, codeInvalidRequest, "7", ""},
	{"response", `{"jsonrpc":"2.0","id":7,"result":{}}`, codeInvalidRequest, "7", ""},
	{"error response", `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}}`, codeInvalidRequest, "7", ""},
	{"request and response", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue"},"result":{}}`, codeInvalidRequest, "7", "delete_issue"},

	// Ids.
	{"id null", `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "", "delete_issue"},
	{"id true", `{"jsonrpc":"2.0","id":true,"method":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "", "delete_issue"},
	{"id a fraction", `{"jsonrpc":"2.0","id":7.5,"method":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "", "delete_issue"},
	{"id with a point", `{"jsonrpc":"2.0","id":7.0,"method":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "", "delete_issue"},
	{"id with an exponent", `{"jsonrpc":"2.0","id":1e2,"method":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "", "delete_issue"},
	{"id no double keeps", `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "", "delete_issue"},
	{"id an object", `{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "", "delete_issue"},
	{"id too long", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", maxID) + `","method":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "", "delete_issue"},
	{"no id", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "", "delete_issue"},

	// Two readings.
	{"name twice", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_issues","name":"delete_issue"}}`, codeInvalidRequest, "7", "_mcp"},
	{"name in two cases", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","Name":"list_issues"}}`, codeInvalidRequest, "7", "_mcp"},
	{"name in the wrong case", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"NAME":"delete_issue"}}`, codeInvalidRequest, "7", "delete_issue"},
	{"name escaped and plain", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_issues","n\u0061me":"delete_issue"}}`, codeInvalidRequest, "7", "_mcp"},
	{"arguments twice", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","arguments":{},"arguments":{"confirm":true}}}`, codeInvalidRequest, "7", "delete_issue"},
	{"arguments with a long s", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","argument` + "\u017f" + `":{"confirm":true}}}`, codeInvalidRequest, "7", "delete_issue"},
	{"params twice", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_issues"},"params":{"name":"delete_issue"}}`, codeInvalidRequest, "7", "_mcp"},
	{"params in two cases", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_issues"},"Params":{"name":"delete_issue"}}`, codeInvalidRequest, "7", "_mcp"},
	{"method twice", `{"jsonrpc":"2.0","id":7,"method":"tools/list","method":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "7", "delete_issue"},
	{"method in two cases", `{"jsonrpc":"2.0","id":7,"method":"tools/list","METHOD":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "7", "delete_issue"},
	{"id twice", `{"jsonrpc":"2.0","id":7,"id":8,"method":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "7", "delete_issue"},
	{"jsonrpc in the wrong case", `{"JsonRpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue"}}`, codeInvalidRequest, "", "delete_issue"},
	{"_meta twice", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","_meta":{},"_meta":{}}}`, codeInvalidRequest, "7", "delete_issue"},
	{"_meta in two cases", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","_meta":{},"_META":{}}}`, codeInvalidRequest, "7", "delete_issue"},
	{"version twice in _meta", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, codeInvalidRequest, "7", "delete_issue"},
	{"version in the wrong case", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","_meta":{"io.modelcontextprotocol/ProtocolVersion":"2026-07-28"}}}`, codeInvalidRequest, "7", "delete_issue"},
	{"twice deep inside", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","_meta":{"x":[{"a":1,"b":{"c":1,"c":2}}]}}}`, codeInvalidRequest, "7", "delete_issue"},
	{"in two cases deep inside", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","_meta":{"x":[{"a":1,"b":{"c":1,"C":2}}]}}}`, codeInvalidRequest, "7", "delete_issue"},
	{"twice in a member of no meaning", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue"},"x":{"a":1,"a":2}}`, codeInvalidRequest, "7", "delete_issue"},

	// Too much.
	{"deep envelope", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}}`, codeInvalidRequest, "7", "delete_issue"},
	{"large envelope", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","x":"` + strings.Repeat("y", maxEnvelope) + `"}}`, codeInvalidRequest, "7", "delete_issue"},
	{"many members", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue"` + manyMembers(200) + `}}`, codeInvalidRequest, "7", "delete_issue"},
	{"many members deep inside", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","x":{"y":{"z":0` + manyMembers(200) + `}}}}`, codeInvalidRequest, "7", "delete_issue"},

	// A message, but no call.
	{"no params", `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, codeInvalidParams, "7", "-"},
	{"params null", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":null}`, codeInvalidParams, "7", "-"},
	{"params a list", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":["delete_issue"]}`, codeInvalidParams, "7", "-"},
	{"params a string", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":"delete_issue"}`, codeInvalidParams, "7", "-"},
	{"no name", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{}}}`, codeInvalidParams, "7", "-"},
	{"name null", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":null}}`, codeInvalidParams, "7", "-"},
	{"name a list", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":["delete_issue"]}}`, codeInvalidParams, "7", "-"},
	{"name empty", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":""}}`, codeInvalidParams, "7", "-"},
	{"arguments null", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","arguments":null}}`, codeInvalidParams, "7", "delete_issue"},
	{"arguments a list", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","arguments":[]}}`, codeInvalidParams, "7", "delete_issue"},
	{"arguments a string", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","arguments":"{}"}}`, codeInvalidParams, "7", "delete_issue"},
	{"arguments very deep", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","arguments":{"x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}}}`, codeInvalidParams, "7", "delete_issue"},
	{"_meta a list", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_issue","_meta":[]}}`, codeInvalidParams, "7", "delete_issue"},
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"m` + strings.Repeat("x", i) + `":0`)
	}
	return b.String()
}

func TestCrookedMessages(t *testing.T) {
	for _, e := range []era{legacy, older, unnamed} {
		for _, tt := range crooked {
			t.Run(e.name+"/"+tt.name, func(t *testing.T) {
				s := newStage(t, allScopes...)
				status := http.StatusBadRequest
				if tt.code == codeInvalidParams {
					status = http.StatusOK // a protocol error of the legacy kind
				}
				checkCrooked(t, s, s.post(tt.body, e.headers...), status, tt.code, tt.id, tt.tool)
			})
		}
	}
}

// With the modern version in the header the same bodies lack the rest of the modern protocol.
func TestCrookedModernMessages(t *testing.T) {
	for _, tt := range crooked {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, allScopes...)
			code, claimed := tt.code, tt.tool
			switch tt.tool {
			case "-":
				code = codeHeaderMismatch // no name that Mcp-Name could equal
			case "":
				claimed = "delete_issue" // so the header says
			case spoilt:
				claimed = "_mcp" // the header says otherwise
			}
			checkCrooked(t, s, s.post(tt.body, "MCP-Protocol-Version", modernVersion, "Mcp-Method", "tools/call", "Mcp-Name", "delete_issue"),
				http.StatusBadRequest, code, tt.id, claimed)
		})
	}
}

func checkCrooked(t *testing.T, s *stage, r reply, status, code int, id, tool string) {
	t.Helper()
	out := r.wantError(t, status, code, "invalid_request")
	if string(out.ID) != id {
		t.Errorf("id %s, want %s", out.ID, id)
	}
	s.wantCalls(t)
	switch tool {
	case "":
		s.wantEvents(t)
	case "-":
		s.wantEvents(t, "_mcp denied invalid_request")
	case spoilt:
		s.wantEvents(t, "delete_issue denied invalid_request")
	default:
		s.wantEvents(t, tool+" denied invalid_request")
	}
}

// What looks odd and is right all the same.
func TestStraightMessages(t *testing.T) {
	deep := strings.Repeat("[", 500) + strings.Repeat("]", 500)
	tests := map[string]struct{ body, id, arguments string }{
		"spaces":                {" { \"jsonrpc\" : \"2.0\" ,\r\n\t\"id\" : 7 , \"method\" : \"tools/call\" , \"params\" : { \"name\" : \"list_issues\" , \"arguments\" : { } } } \n", "7", "{ }"},
		"escapes":               {`{"jsonrp\u0063":"2.0","id":7,"m\u0065thod":"tools\/c\u0061ll","params":{"n\u0061me":"list\u005fissues"}}`, "7", ""},
		"id a string":           {`{"jsonrpc":"2.0","id":"ä\"","method":"tools/call","params":{"name":"list_issues"}}`, `"ä\""`, ""},
		"id empty":              {`{"jsonrpc":"2.0","id":"","method":"tools/call","params":{"name":"list_issues"}}`, `""`, ""},
		"id negative":           {`{"jsonrpc":"2.0","id":-5,"method":"tools/call","params":{"name":"list_issues"}}`, `-5`, ""},
		"id large":              {`{"jsonrpc":"2.0","id":9007199254740991,"method":"tools/call","params":{"name":"list_issues"}}`, `9007199254740991`, ""},
		"id last":               {`{"params":{"arguments":{"x":1},"name":"list_issues"},"method":"tools/call","jsonrpc":"2.0","id":7}`, "7", `{"x":1}`},
		"members of no meaning": {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_issues","task":{"ttl":1},"inputResponses":{"a":5},"requestState":7},"extra":[{}]}`, "7", ""},
		"duplicate arguments":   {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_issues","arguments":{"a":1,"a":2,"A":3}}}`, "7", `{"a":1,"a":2,"A":3}`},
		"surrogate inside":      {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_issues","arguments":{"a":"\ud800"}}}`, "7", `{"a":"\ud800"}`},
		"invalid UTF-8 inside":  {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_issues","arguments":{"a":"` + "\xff" + `"}}}`, "7", `{"a":"` + "\xff" + `"}`},
		"deep inside":           {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_issues","arguments":{"a":` + deep + `}}}`, "7", `{"a":` + deep + `}`},
		"an envelope inside":    {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_issues","arguments":{"name":"delete_issue","params":{"name":"delete_issue"}}}}`, "7", `{"name":"delete_issue","params":{"name":"delete_issue"}}`},
		"many arguments":        {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_issues","arguments":{"a":0` + manyMembers(300) + `}}}`, "7", `{"a":0` + manyMembers(300) + `}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, allScopes...)
			r := s.post(tt.body)
			out := r.rpc(t)
			if r.status != http.StatusOK || out.Result == nil || string(out.ID) != tt.id {
				t.Fatalf("%d %s, want id %s", r.status, r.body, tt.id)
			}
			if calls := s.wantCalls(t, "list_issues"); string(calls[0].req.Arguments) != tt.arguments {
				t.Errorf("arguments %q, want %q", calls[0].req.Arguments, tt.arguments)
			}
			s.wantEvents(t)
		})
	}
}

func TestNesting(t *testing.T) {
	for value, want := range map[string]int{``: 0, `5`: 0, `{}`: 1, `[{"a":[]}]`: 3, `"[[["`: 0, `{"\"[":"\\","b":["]"]}`: 2} {
		if got := nesting([]byte(value)); got != want {
			t.Errorf("nesting(%s) = %d, want %d", value, got, want)
		}
	}
}
