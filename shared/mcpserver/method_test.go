package mcpserver

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// Methods by era: what is answered with a result, and what does not exist.
func TestMethods(t *testing.T) {
	const initialize = `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}`
	tests := []struct {
		method, name, params string
		modern, legacy       bool
	}{
		{"server/discover", "", "", true, false},
		{"tools/list", "", "", true, true},
		{"tools/list", "", `"cursor":""`, true, true},
		{"initialize", "", initialize, false, true},
		{"ping", "", "", false, true},
		{"prompts/list", "", "", false, true},
		{"resources/list", "", "", false, true},
		{"resources/templates/list", "", "", false, true},
		{"logging/setLevel", "", `"level":"info"`, false, true},
		{"prompts/get", "x", `"name":"x"`, false, false},
		{"resources/read", "file:///etc/passwd", `"uri":"file:///etc/passwd"`, false, false},
		{"resources/subscribe", "", `"uri":"file:///etc/passwd"`, false, false},
		{"resources/unsubscribe", "", `"uri":"file:///etc/passwd"`, false, false},
		{"completion/complete", "", `"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":"b"}`, false, false},
		{"subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`, false, false},
		{"tasks/list", "", "", false, false},
		{"roots/list", "", "", false, false},
		{"sampling/createMessage", "", "", false, false},
		{"rpc.discover", "", "", false, false},
		{"Tools/List", "", "", false, false},
		{"tools/call ", "", `"name":"delete_issue"`, false, false},
		{"__proto__", "", "", false, false},
	}
	for _, tt := range tests {
		for _, e := range allEras {
			t.Run(e.name+"/"+tt.method, func(t *testing.T) {
				s := newStage(t, allScopes...)
				r := s.ask(e, tt.method, tt.name, tt.params)
				served := tt.legacy
				if e.modern {
					served = tt.modern
				}
				if served {
					if out := r.rpc(t); r.status != http.StatusOK || out.Error != nil || string(out.ID) != "7" {
						t.Errorf("%d %s", r.status, r.body)
					}
				} else {
					status := http.StatusOK
					if e.modern {
						status = http.StatusNotFound
					}
					if out := r.wantError(t, status, codeMethodNotFound, "invalid_request"); string(out.ID) != "7" {
						t.Errorf("id %s", out.ID)
					}
				}
				s.wantCalls(t)
				s.wantEvents(t)
			})
		}
	}
}

func TestBadParams(t *testing.T) {
	tests := []struct {
		method, params string
		legacyOnly     bool
	}{
		{"tools/list", `"cursor":"abc"`, false},
		{"tools/list", `"cursor":5`, false},
		{"tools/list", `"cursor":"EwAAAA=="`, false},
		{"prompts/list", `"cursor":"abc"`, true},
		{"initialize", ``, true},
		{"initialize", `"protocolVersion":5`, true},
		{"initialize", `"protocolVersion":"2025-11-25","capabilities":[]`, true},
		{"logging/setLevel", `"level":5`, true},
		{"logging/setLevel", ``, true},
	}
	for _, tt := range tests {
		for _, e := range []era{modern, legacy} {
			if e.modern && tt.legacyOnly {
				continue
			}
			t.Run(e.name+"/"+tt.method+" "+tt.params, func(t *testing.T) {
				s := newStage(t, allScopes...)
				status := http.StatusOK
				if e.modern {
					status = http.StatusBadRequest
				}
				s.ask(e, tt.method, "", tt.params).wantError(t, status, codeInvalidParams, "invalid_request")
				s.wantEvents(t)
			})
		}
	}
}

func TestNotifications(t *testing.T) {
	for _, e := range allEras {
		for _, method := range []string{"notifications/initialized", "notifications/cancelled", "notifications/roots/list_changed", "notifications/unheard_of"} {
			s := newStage(t, allScopes...)
			r := s.post(`{"jsonrpc":"2.0","method":"`+method+`","params":{}}`, e.headers...)
			if r.status != http.StatusAccepted || r.body != "" {
				t.Errorf("%s, %s: %d %s", e.name, method, r.status, r.body)
			}
			s.post(`{"jsonrpc":"2.0","id":7,"method":"`+method+`"}`, append(append([]string{}, legacy.headers...), "Mcp-Method", method)...).
				wantError(t, http.StatusBadRequest, codeInvalidRequest, "invalid_request")
		}
		s := newStage(t, allScopes...)
		s.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, append(append([]string{}, e.headers...), "Mcp-Method", "tools/call")...).
			wantError(t, http.StatusBadRequest, codeHeaderMismatch, "invalid_request")
		s.wantEvents(t, "_mcp denied invalid_request") // the header asks for a call
	}
}

func TestInitialize(t *testing.T) {
	for asked, want := range map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26",
		"2024-11-05": "2025-11-25", "2026-07-28": "2025-11-25", "1.0": "2025-11-25", "": "2025-11-25",
	} {
		s := newStage(t, allScopes...)
		r := s.ask(unnamed, "initialize", "", `"protocolVersion":"`+asked+`","capabilities":{},"clientInfo":{"name":"x","version":"1"}`)
		checkSelf(t, r, `"protocolVersion":"`+want+`"`, `"serverInfo":{"name":"aacworkflow","title":"AACWorkflow","version":"1.2.3"}`)
	}
}

func TestDiscover(t *testing.T) {
	s := newStage(t, allScopes...)
	checkSelf(t, s.ask(modern, "server/discover", "", ""),
		`"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"]`, `"resultType":"complete"`,
		`"ttlMs":300000`, `"cacheScope":"private"`, `"io.modelcontextprotocol/serverInfo":{"name":"aacworkflow","title":"AACWorkflow","version":"1.2.3"}`)
}

// checkSelf checks what the server says of itself: tools, and nothing that it does not do.
func checkSelf(t *testing.T, r reply, want ...string) {
	t.Helper()
	for _, part := range append(want, `"capabilities":{"tools":{}}`, `"instructions":"The issue tracker of one AACWorkflow workspace`) {
		if r.status != http.StatusOK || !strings.Contains(r.body, part) {
			t.Errorf("%d %s lacks %s", r.status, r.body, part)
		}
	}
	if len(instructions) > 2000 {
		t.Errorf("the instructions have %d bytes; clients cut them", len(instructions))
	}
}

// wireListed is a tool as a client reads it; pointers show what is absent.
type wireListed struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Annotations struct {
		Title           string `json:"title"`
		ReadOnlyHint    *bool  `json:"readOnlyHint"`
		DestructiveHint *bool  `json:"destructiveHint"`
		IdempotentHint  *bool  `json:"idempotentHint"`
		OpenWorldHint   *bool  `json:"openWorldHint"`
	} `json:"annotations"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Meta         map[string]any  `json:"_meta"`
}

func (s *stage) list(t *testing.T, e era) []wireListed {
	t.Helper()
	r := s.ask(e, "tools/list", "", "")
	var res struct {
		Tools      []wireListed `json:"tools"`
		NextCursor *string      `json:"nextCursor"`
		TTLMs      *int         `json:"ttlMs"`
		CacheScope string       `json:"cacheScope"`
		ResultType string       `json:"resultType"`
	}
	if err := json.Unmarshal(r.rpc(t).Result, &res); err != nil {
		t.Fatalf("%v: %d %s", err, r.status, r.body)
	}
	if res.NextCursor != nil || res.TTLMs == nil || *res.TTLMs <= 0 || res.CacheScope != "private" || e.modern != (res.ResultType == "complete") {
		t.Errorf("%+v", res)
	}
	if res.Tools == nil {
		t.Error("tools is null")
	}
	return res.Tools
}

// tools/list shows for each tool what GET /tools shows, in the same order.
func TestListIsTheCatalogue(t *testing.T) {
	for _, e := range allEras {
		s := newStage(t, allScopes...)
		tools := s.list(t, e)
		if len(tools) != len(definitions()) {
			t.Fatalf("%d tools", len(tools))
		}
		for i, d := range definitions() {
			got, entry := tools[i], catalog.EntryOf(d)
			if got.Name != entry.Name || got.Title != entry.Title || got.Annotations.Title != entry.Title || got.Description != entry.Description || got.Title == "" {
				t.Errorf("%+v differs from %+v", got, entry)
			}
			for _, hint := range []struct {
				got  *bool
				want bool
			}{
				{got.Annotations.ReadOnlyHint, entry.Annotations.ReadOnlyHint}, {got.Annotations.DestructiveHint, entry.Annotations.DestructiveHint},
				{got.Annotations.IdempotentHint, entry.Annotations.IdempotentHint}, {got.Annotations.OpenWorldHint, entry.Annotations.OpenWorldHint},
			} {
				if hint.got == nil || *hint.got != hint.want {
					t.Errorf("%s: hints %+v, want %+v", d.Name, got.Annotations, entry.Annotations)
				}
			}
			sameJSON(t, d.Name, got.InputSchema, entry.InputSchema)
			sameJSON(t, d.Name, got.OutputSchema, entry.OutputSchema)
			want := map[string]any{"securitySchemes": []any{map[string]any{"type": "oauth2", "scopes": []any{string(d.Scope)}}}, "aacworkflow/granted": true}
			if d.Effect == tool.Destroys {
				want["anthropic/requiresUserInteraction"], want["cursor/requiresConfirmation"] = true, true
			}
			if diff := cmp.Diff(want, got.Meta); diff != "" {
				t.Errorf("%s: _meta (-want +got):\n%s", d.Name, diff)
			}
		}
	}
}

func sameJSON(t *testing.T, what string, a, b json.RawMessage) {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil || x == nil {
		t.Fatalf("%s: no JSON: %s, %s", what, a, b)
	}
	if diff := cmp.Diff(x, y); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// A token that cannot get more scopes sees what it may call; what it sees is what it may call.
// One that can sees all.
func TestListFollowsScopes(t *testing.T) {
	s := newStage(t)
	var scopes []identity.Scope
	for _, scope := range allScopes {
		if scope != identity.AuditRead { // of no tool
			scopes = append(scopes, scope)
		}
	}
	subsets := 0
	for bits := range 1 << len(scopes) {
		s.principal.Scopes, s.principal.CanStepUp = nil, false
		for i, scope := range scopes {
			if bits&(1<<i) != 0 {
				s.principal.Scopes = append(s.principal.Scopes, scope)
			}
		}
		subsets++
		seen := map[string]bool{}
		for _, l := range s.list(t, legacy) {
			seen[l.Name] = true
		}
		for _, d := range definitions() {
			r := s.callTool(legacy, d.Name, `{}`)
			if allowed := r.status == http.StatusOK; allowed != seen[d.Name] || (!allowed && r.status != http.StatusForbidden) {
				t.Errorf("%v: %s listed %v, call %d", s.principal.Scopes, d.Name, seen[d.Name], r.status)
			}
		}
		s.principal.CanStepUp = true
		all := s.list(t, modern)
		if len(all) != len(definitions()) {
			t.Errorf("%v: who can step up sees %d tools", s.principal.Scopes, len(all))
		}
		for _, l := range all {
			if l.Meta["aacworkflow/granted"] != seen[l.Name] {
				t.Errorf("%v: %s is said to be granted: %v", s.principal.Scopes, l.Name, l.Meta["aacworkflow/granted"])
			}
		}
	}
	if subsets != 128 {
		t.Errorf("looked at %d subsets", subsets)
	}
}

// A client asks the authorization server for scopes by the names that it knows.
func TestScopesAsTheIssuerHasThem(t *testing.T) {
	s := newStage(t)
	s.principal.CanStepUp = true
	s.restart(func(c *Config) { c.SignIn.Issuer.ScopePrefix = "https://mcp.example.com/mcp/" })
	for _, l := range s.list(t, modern) {
		d, _ := definition(l.Name)
		want := []any{map[string]any{"type": "oauth2", "scopes": []any{"https://mcp.example.com/mcp/" + string(d.Scope)}}}
		if diff := cmp.Diff(want, l.Meta["securitySchemes"]); diff != "" {
			t.Errorf("%s: %s", l.Name, diff)
		}
	}
	r := s.callTool(legacy, "delete_issue", `{}`)
	data := r.wantError(t, http.StatusForbidden, codeForbidden, "insufficient_scope").Error.Data
	if data["scope"] != "https://mcp.example.com/mcp/issues:write" || cmp.Diff([]any{"issues:write"}, data["scopes"]) != "" {
		t.Errorf("data %v", data)
	}
	want := `Bearer error="insufficient_scope", scope="https://mcp.example.com/mcp/issues:write", resource_metadata="` + metadataURL +
		`", error_description="this call needs a scope that the token lacks"`
	if got := r.header.Get("WWW-Authenticate"); got != want {
		t.Errorf("challenge %s", got)
	}
}
