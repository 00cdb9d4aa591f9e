package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/tools/toolstest"
)

// TestNormal shows what the comparison passes over, and that it passes over nothing else.
func TestNormal(t *testing.T) {
	began := time.Date(2025, 6, 22, 0, 0, 0, 0, time.UTC)
	write := func(url, id, body string, header http.Header) string {
		n := normal{side: &side{url: url}, names: toolstest.NewNames(demo.Snapshots(began)), began: began}
		header = header.Clone()
		header.Set("X-Amzn-Requestid", id)
		return n.write(answer{200, header, body})
	}
	const (
		one   = "11111111-1111-4111-8111-111111111111"
		two   = "22222222-2222-4222-8222-222222222222"
		three = "33333333-3333-4333-8333-333333333333"
	)
	header := http.Header{"Www-Authenticate": {"Bearer x"}}
	base := write("http://a", one, `{"id":"`+two+`","again":"`+two+`","at":"2025-06-22T10:00:00Z","call_id":"`+one+`","url":"http://a/mcp"}`, header)
	if got := write("http://b", two, `{"id":"`+three+`","again":"`+three+`","at":"2025-06-22T11:11:11.5Z","call_id":"`+two+`","url":"http://b/mcp"}`, header); got != base {
		t.Errorf("other ids, times and addresses make a difference:\n%s\n%s", base, got)
	}
	for what, got := range map[string]string{
		"a past time":    write("http://a", one, `{"id":"`+two+`","again":"`+two+`","at":"2025-06-21T10:00:00Z","call_id":"`+one+`","url":"http://a/mcp"}`, header),
		"another id":     write("http://a", one, `{"id":"`+two+`","again":"`+three+`","at":"2025-06-22T10:00:00Z","call_id":"`+one+`","url":"http://a/mcp"}`, header),
		"a known id":     write("http://a", one, `{"id":"`+string(demo.FixedIssueID)+`","again":"`+two+`","at":"2025-06-22T10:00:00Z","call_id":"`+one+`","url":"http://a/mcp"}`, header),
		"another call":   write("http://a", one, `{"id":"`+two+`","again":"`+two+`","at":"2025-06-22T10:00:00Z","call_id":"`+three+`","url":"http://a/mcp"}`, header),
		"another member": write("http://a", one, `{"ID":"`+two+`","again":"`+two+`","at":"2025-06-22T10:00:00Z","call_id":"`+one+`","url":"http://a/mcp"}`, header),
		"another header": write("http://a", one, `{"id":"`+two+`","again":"`+two+`","at":"2025-06-22T10:00:00Z","call_id":"`+one+`","url":"http://a/mcp"}`, http.Header{}),
	} {
		if got == base {
			t.Errorf("%s makes no difference", what)
		}
	}
}
