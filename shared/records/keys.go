package records

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Layout of the data table. <w> is a workspace id, <n> an issue number of ten digits, <µs> a
// time of twenty digits.
//
//	pk                sk                    row
//	WS#<w>            DIR                   directoryRow: workspace, members, agents, autopilots, labels
//	WS#<w>            I#<n>                 issueRow, in byStatus, byAssignee, byUpdated unless deleted
//	WS#<w>            ID#<issue id>         pointerRow to the issue
//	WS#<w>            CID#<comment id>      pointerRow to the comment
//	WS#<w>            T#<task id>           Task
//	WS#<w>            AP#<autopilot id>     autopilotState
//	IB#<w>#<n>        BODY                  bodyRow: the description, if any
//	C#<w>#<n>         <µs>#<comment id>     commentRow
//	TH#<w>#<n>        <root comment id>     threadRow: what is live below a root comment that has replies
//	RUN#<w>#<ap id>   <µs>#<run id>         runRow
//	USE#<w>           <day>#<prov>#<model>  tracker.UsageRow
//	IDEM#<w>#<user>   <tool>#<key>          idempotencyRow, expires
//	SEQ#<w>           ISSUE                 counter of issue numbers
//	WS#<w>            LOAD                  loadingRow: only while the workspace is being loaded
//	SLUG#<slug>       WS                    slugRow: the workspace that has the slug
//
// Indexes: byStatus WS#<w>#S#<status>, byAssignee WS#<w>#A#<assignee id, or - for none>,
// byUpdated WS#<w>#U; sort key in each <updated µs>#<n>.

func data(pk, sk string) table.Key { return table.Key{Table: table.Data, PK: pk, SK: sk} }

func workspacePK(w tracker.ID) string { return "WS#" + string(w) }

func directoryKey(w tracker.ID) table.Key { return data(workspacePK(w), "DIR") }

const issuePrefix = "I#"

func issueSK(number int) string { return fmt.Sprintf("%s%010d", issuePrefix, number) }

// numberOf is the opposite of issueSK.
func numberOf(sk string) (number int, ok bool) {
	digits, ok := strings.CutPrefix(sk, issuePrefix)
	if !ok {
		return 0, false
	}
	number, err := strconv.Atoi(digits)
	return number, err == nil
}

func issueKey(w tracker.ID, number int) table.Key { return data(workspacePK(w), issueSK(number)) }

func issuePointerKey(w, id tracker.ID) table.Key { return data(workspacePK(w), "ID#"+string(id)) }

func commentPointerKey(w, id tracker.ID) table.Key { return data(workspacePK(w), "CID#"+string(id)) }

func taskKey(w, id tracker.ID) table.Key { return data(workspacePK(w), "T#"+string(id)) }

const autopilotPrefix = "AP#"

func autopilotKey(w, id tracker.ID) table.Key {
	return data(workspacePK(w), autopilotPrefix+string(id))
}

func bodyKey(w tracker.ID, number int) table.Key {
	return data(fmt.Sprintf("IB#%s#%010d", w, number), "BODY")
}

func commentsPK(w tracker.ID, number int) string { return fmt.Sprintf("C#%s#%010d", w, number) }

func commentKey(w tracker.ID, number int, at time.Time, id tracker.ID) table.Key {
	return data(commentsPK(w, number), timedSK(at, id))
}

func threadKey(w tracker.ID, number int, root tracker.ID) table.Key {
	return data(fmt.Sprintf("TH#%s#%010d", w, number), string(root))
}

func runKey(w, autopilot tracker.ID, at time.Time, id tracker.ID) table.Key {
	return data(runsPK(w, autopilot), timedSK(at, id))
}

func runsPK(w, autopilot tracker.ID) string { return "RUN#" + string(w) + "#" + string(autopilot) }

func usagePK(w tracker.ID) string { return "USE#" + string(w) }

func usageKey(w tracker.ID, r tracker.UsageRow) table.Key {
	return data(usagePK(w), usageSK(r))
}

// usageSK takes no # in a provider.
func usageSK(r tracker.UsageRow) string {
	return strings.Join([]string{string(r.Date), r.Provider, r.Model}, "#")
}

func idempotencyKey(w, user tracker.ID, tool, key string) table.Key {
	return data("IDEM#"+string(w)+"#"+string(user), tool+"#"+key)
}

func counterKey(w tracker.ID) table.Key { return data("SEQ#"+string(w), "ISSUE") }

func loadingKey(w tracker.ID) table.Key { return data(workspacePK(w), "LOAD") }

func slugKey(slug string) table.Key { return data("SLUG#"+slug, "WS") }

func timedSK(at time.Time, id tracker.ID) string { return timeSK(at) + "#" + string(id) }

// timeSK sorts as the time does, to the microsecond.
func timeSK(at time.Time) string { return fmt.Sprintf("%020d", at.UnixMicro()) }

const noAssignee = "-"

// issueIndex is where an issue stands in the lists; nil for a tombstone, which is in none.
func issueIndex(w tracker.ID, r issueRow) map[table.Index]table.IndexKey {
	if r.deleted() {
		return nil
	}
	assignee := string(r.AssigneeID)
	if assignee == "" {
		assignee = noAssignee
	}
	sk := updatedSK(r)
	return map[table.Index]table.IndexKey{
		table.ByStatus:   {PK: statusPK(w, r.Status), SK: sk},
		table.ByAssignee: {PK: assigneePK(w, assignee), SK: sk},
		table.ByUpdated:  {PK: updatedPK(w), SK: sk},
	}
}

// updatedSK sorts issues by their last change, then by number.
func updatedSK(r issueRow) string { return fmt.Sprintf("%020d#%010d", r.UpdatedAt, r.Number) }

func statusPK(w tracker.ID, s tracker.Status) string { return workspacePK(w) + "#S#" + string(s) }

func assigneePK(w tracker.ID, assignee string) string { return workspacePK(w) + "#A#" + assignee }

func updatedPK(w tracker.ID) string { return workspacePK(w) + "#U" }
