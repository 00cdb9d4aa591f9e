package audit

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// A cursor says where a walk stands and which walk it belongs to. It carries no authority: the
// partitions that are read are named by the workspace of the principal, and the range by the
// filter of the request, so a forged cursor can only start the caller's own walk elsewhere.

// cursorDoc is what a cursor holds, as base64url of JSON.
type cursorDoc struct {
	Day   string `json:"d"`
	After string `json:"k,omitempty"`
	For   string `json:"f"` // digest of workspace and filter
}

// cursor writes a place down.
func (q Query) cursor(at place) string {
	doc, _ := json.Marshal(cursorDoc{Day: dayOf(at.day), After: at.after, For: q.digest()}) // strings always encode
	return base64.RawURLEncoding.EncodeToString(doc)
}

// place reads the query's cursor.
func (q Query) place() (place, error) {
	if q.Cursor == "" {
		return place{}, nil
	}
	bad := fault.New(fault.Invalid, fault.InvalidCursor,
		"this cursor does not belong to this request: repeat the filters it came with, or start again without it").With("field", "cursor")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(q.Cursor)
	if err != nil {
		return place{}, bad
	}
	var doc cursorDoc
	if err := json.Unmarshal(raw, &doc); err != nil || doc.For != q.digest() {
		return place{}, bad
	}
	day, err := time.Parse(time.DateOnly, doc.Day)
	if err != nil || doc.After != "" && !strings.HasPrefix(doc.After, doc.Day+"T") || len(doc.After) > table.MaxKeyBytes {
		return place{}, bad
	}
	return place{day: day, after: doc.After}, nil
}

// digest tells walks apart.
func (q Query) digest() string {
	f := q.Filter
	doc, _ := json.Marshal([]string{q.Workspace, f.Tool, string(f.Outcome), string(f.Reason), f.Actor,
		f.Since.UTC().Format(time.RFC3339Nano), f.Until.UTC().Format(time.RFC3339Nano)}) // strings always encode
	sum := sha256.Sum256(doc)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}
