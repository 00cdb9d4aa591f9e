package audit

import (
	"context"
	"strings"
)

// Origin is how a call reached us, as far as the entry can tell: the members of Start that have
// nothing to do with who calls.
type Origin struct {
	CallID   string // the request id that the caller sees
	Client   Client // from the User-Agent header; an MCP client may say more of itself
	SourceIP string
	TraceID  string
}

type originKey struct{}

// WithOrigin carries the origin through code that is not ours. Only lambdarun calls it.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginFrom returns the origin; empty if the context has none.
func OriginFrom(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}

// ClientOf reads the first product of a User-Agent header (RFC 9110, section 10.1.5). What has
// no version is all name.
func ClientOf(userAgent string) Client {
	product, _, _ := strings.Cut(strings.TrimSpace(userAgent), " ")
	if name, version, ok := strings.Cut(product, "/"); ok && name != "" {
		return Client{Name: name, Version: version}
	}
	return Client{Name: product}
}

// TraceIDOf returns the id of the trace that a call belongs to: that of traceparent (W3C Trace
// Context, version 00), else the root of X-Amzn-Trace-Id, else nothing. The client's own id
// comes first, because API Gateway adds the other one to every request.
func TraceIDOf(traceparent, amznTraceID string) string {
	if parts := strings.Split(traceparent, "-"); len(parts) == 4 && parts[0] == "00" && isHex(parts[1], 32) {
		return parts[1]
	}
	for part := range strings.SplitSeq(amznTraceID, ";") {
		if root, ok := strings.CutPrefix(strings.TrimSpace(part), "Root="); ok {
			return root
		}
	}
	return ""
}

func isHex(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == "" && strings.Trim(s, "0") != ""
}
