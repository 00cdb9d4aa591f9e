package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/tools/toolstest"
)

// What may differ between two systems: where they are, the ids that they make, and the times at
// which they do. All else is compared byte by byte, headers too.

var (
	timeInText     = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	ulidInText     = regexp.MustCompile(`"[0-9A-HJKMNP-TV-Z]{26}"`)
	traceInText    = regexp.MustCompile(`1-[0-9a-f]{8}-[0-9a-f]{24}`)
	durationInText = regexp.MustCompile(`"duration_ms":\d+`)
	digestInText   = regexp.MustCompile(`"arguments_digest":"[^"]+"`)
)

// unheeded are headers that the server of local mode sets by itself.
var unheeded = []string{"Date", "Content-Length"}

// normal writes an answer so that those of two systems can be compared. Times since began are
// those of this run.
type normal struct {
	side  *side
	names toolstest.Names
	began time.Time
	// ownIDs tells that arguments hold ids that the systems have made.
	ownIDs bool
}

func (n normal) write(a answer) string {
	var b strings.Builder
	fmt.Fprintln(&b, a.status)
	for _, name := range slices.Sorted(maps.Keys(a.header)) {
		if !slices.Contains(unheeded, name) {
			fmt.Fprintf(&b, "%s: %q\n", name, a.header[name])
		}
	}
	b.WriteString(a.body)
	text := strings.ReplaceAll(b.String(), n.side.url, "<url>")
	if id := a.header.Get("X-Amzn-Requestid"); id != "" {
		text = strings.ReplaceAll(text, id, "<call>")
	}
	text = traceInText.ReplaceAllString(text, "<trace>")
	text = durationInText.ReplaceAllString(text, `"duration_ms":<n>`)
	text = ulidInText.ReplaceAllString(text, `"<event>"`)
	if n.ownIDs {
		text = digestInText.ReplaceAllString(text, `"arguments_digest":"<digest>"`)
	}
	text = timeInText.ReplaceAllStringFunc(text, func(s string) string {
		if at, err := time.Parse(time.RFC3339Nano, s); err == nil && at.Before(n.began) {
			return s
		}
		return "<time>"
	})
	return n.names.Write(text)
}

// same compares what two systems answered.
func same(t *testing.T, what string, one, other string) {
	t.Helper()
	if one != other {
		split := func(s string) []string { return strings.Split(strings.ReplaceAll(s, ",", ",\n"), "\n") }
		t.Errorf("%s: the answers differ (-local mode +as deployed):\n%s", what, cmp.Diff(split(one), split(other)))
	}
}
