package audit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/audit"
)

func TestOriginInContext(t *testing.T) {
	if got := audit.OriginFrom(context.Background()); got != (audit.Origin{}) {
		t.Errorf("a bare context has the origin %+v", got)
	}
	want := audit.Origin{CallID: "c", SourceIP: "192.0.2.1", TraceID: "t", Client: audit.Client{Name: "n"}}
	if got := audit.OriginFrom(audit.WithOrigin(context.Background(), want)); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestClientOf(t *testing.T) {
	tests := map[string]audit.Client{
		"":                                 {},
		"curl/8.5.0":                       {Name: "curl", Version: "8.5.0"},
		"Mozilla/5.0 (X11; Linux) Gecko/1": {Name: "Mozilla", Version: "5.0"},
		"script":                           {Name: "script"},
		"/1":                               {Name: "/1"},
	}
	for in, want := range tests {
		if got := audit.ClientOf(in); got != want {
			t.Errorf("ClientOf(%q) = %+v, want %+v", in, got, want)
		}
	}
}

func TestTraceIDOf(t *testing.T) {
	id := strings.Repeat("0af7651916cd43dd", 2)
	const amzn = "Self=1-2-3;Root=1-67891233-abcdef012345678912345678;Sampled=1"
	tests := []struct{ traceparent, amzn, want string }{
		{"00-" + id + "-b7ad6b7169203331-01", amzn, id},
		{"", amzn, "1-67891233-abcdef012345678912345678"},
		{"00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01", amzn, "1-67891233-abcdef012345678912345678"},
		{"00-nonsense-b7ad6b7169203331-01", "", ""},
		{"ff-" + id + "-b7ad6b7169203331-01", "", ""},
		{"", "Sampled=1", ""},
	}
	for _, tt := range tests {
		if got := audit.TraceIDOf(tt.traceparent, tt.amzn); got != tt.want {
			t.Errorf("TraceIDOf(%q, %q) = %q, want %q", tt.traceparent, tt.amzn, got, tt.want)
		}
	}
}
