package records

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"regexp"
	"sync"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// cursor is what an opaque tracker.Cursor holds: base64url of its JSON. It says where a page
// ended and which question it belongs to, and gives no right: whoever makes one up gets what
// they may read anyway.
type cursor struct {
	Question string      `json:"q"`           // see question
	At       string      `json:"p"`           // the sort key of the last row looked at
	End      tracker.Day `json:"e,omitempty"` // usage: the last day of the window
}

// question is a digest of workspace, tool and all that decides which rows come in which order.
func (r *reader) question(tool string, filters ...any) string {
	b, err := json.Marshal(append([]any{r.workspace(), tool}, filters...))
	if err != nil {
		panic("records: a filter that JSON cannot hold: " + err.Error()) // filters are our own types
	}
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// nextCursor is the cursor that continues after a position; none if that is empty.
func nextCursor(c cursor) (tracker.Cursor, error) {
	if c.At == "" {
		return "", nil
	}
	text, err := c.encode()
	if err == nil && len(text) > tracker.MaxCursor {
		return "", errors.New("a cursor is over its limit: the names of providers and models are too long")
	}
	return text, err
}

// compiled compiles a form at its first use: no cold start pays for those that its tool does without.
func compiled(form string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(form) })
}

func (c cursor) encode() (tracker.Cursor, error) {
	b, err := encode(c)
	return tracker.Cursor(base64.RawURLEncoding.EncodeToString(b)), err
}

// openCursor takes a caller's cursor, "" being the start. The position must be of the form
// that the list has, so that nothing else of the caller's gets into a key.
//   - fault.Invalid: invalid_cursor
func openCursor(text tracker.Cursor, question string, form func() *regexp.Regexp) (cursor, error) {
	if text == "" {
		return cursor{}, nil
	}
	c, ok := decodeCursor(text)
	if !ok || c.Question != question || !form().MatchString(c.At) {
		return cursor{}, invalidCursor()
	}
	return c, nil
}

// decodeCursor accepts exactly what encode makes, not what merely means the same.
func decodeCursor(text tracker.Cursor) (cursor, bool) {
	if len(text) > tracker.MaxCursor {
		return cursor{}, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(string(text))
	if err != nil {
		return cursor{}, false
	}
	var c cursor
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return cursor{}, false
	}
	again, err := c.encode()
	return c, err == nil && again == text
}

func invalidCursor() *fault.Fault {
	return fault.New(fault.Invalid, fault.InvalidCursor,
		"this cursor does not continue this list: pass the next_cursor of the page before with the same "+
			"arguments, or start again without a cursor")
}

// pageLimit holds a page within its bounds, whoever asks.
func pageLimit(n int) int {
	if n < 1 {
		return tracker.MaxPage
	}
	return min(n, tracker.MaxPage)
}
