package records

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Membership tells who is a member of which workspace, for whoever checks a token.
type Membership struct{ t table.Reader }

// Members returns the Membership over a table.
func Members(t table.Reader) Membership { return Membership{t: t} }

// Member returns the member's name and role as they are now. active is false for one who is
// unknown or has left, and for every user of a workspace that is not there. It makes one
// request to the table.
//   - fault.RateLimited: rate_limited
func (m Membership) Member(ctx context.Context, workspaceID, userID string) (name string, role identity.Role, active bool, err error) {
	row, err := get[directoryRow](ctx, m.t, directoryKey(tracker.ID(workspaceID)))
	if err != nil {
		return "", "", false, err
	}
	d := directory{directoryRow: row.Doc}
	member, ok := d.memberByID(tracker.ID(userID))
	if !ok || member.left() {
		return "", "", false, nil
	}
	return member.Name, member.Role, true, nil
}
