package audit

import (
	"time"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Layout of the audit table.
//
//	pk T#<recorder>#<workspace>#<day>   sk <time, µs>#<event id>
//	byWorkspace: pk W#<workspace>#<day>, same sk
//
// The recorder leads the key, so that each function's role can be held to its own events.

// Key is where the event lies in the table.
func (e Event) Key() table.Key { return keyOf(e) }

func keyOf(e Event) table.Key {
	return table.Key{Table: table.Audit, PK: "T#" + e.Recorder + "#" + e.WorkspaceID + "#" + dayOf(e.Timestamp), SK: sortKey(e.Timestamp, e.EventID)}
}

func indexOf(e Event) map[table.Index]table.IndexKey {
	return map[table.Index]table.IndexKey{
		table.ByWorkspace: {PK: workspaceDay(e.WorkspaceID, dayOf(e.Timestamp)), SK: sortKey(e.Timestamp, e.EventID)},
	}
}

func workspaceDay(workspace, day string) string { return "W#" + workspace + "#" + day }

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func sortKey(t time.Time, id string) string { return timeKey(t) + "#" + id }

// timeKey sorts as the time does, to the microsecond.
func timeKey(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }
