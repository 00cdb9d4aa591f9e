package records

import (
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

func TestContract(t *testing.T) { trackertest.Run(t, openFixture) }

// TestContractOverDynamoDB runs the same suite over DynamoDB's HTTP API.
func TestContractOverDynamoDB(t *testing.T) {
	server := dynamotest.Start(t)
	trackertest.Run(t, func(t *testing.T) trackertest.Fixture { return dynamoFixture(t, server) })
}

func openFixture(t *testing.T) trackertest.Fixture { return fixtureOver(t, emptyTables(t)) }

func dynamoFixture(t *testing.T, server *dynamotest.Server) trackertest.Fixture {
	return fixtureOver(t, writer.Open(server.Conn(t)))
}

// fixtureOver loads the suite's world into empty tables.
func fixtureOver(t *testing.T, db table.Writer) trackertest.Fixture {
	loadWorld(t, db)
	clock, stores := trackertest.NewClock(), NewStores(db, nextID)
	return trackertest.Fixture{
		Clock: clock,
		Store: func(c trackertest.Caller) tracker.Store { return stores.Store(callOf(c, clock.Now)) },
		SetRole: func(t *testing.T, user tracker.ID, role identity.Role) {
			changeMember(t, db, user, func(m *Member) { m.Role = role })
		},
		Leave: func(t *testing.T, user tracker.ID) {
			changeMember(t, db, user, func(m *Member) { m.LeftAt = microsOf(clock.Now()) })
		},
	}
}

func changeMember(t *testing.T, w table.Writer, user tracker.ID, change func(*Member)) {
	t.Helper()
	key := directoryKey(trackertest.Home)
	dir, err := get[directoryRow](ctx, w, key)
	if err != nil {
		t.Fatal(err)
	}
	for i := range dir.Doc.Members {
		if dir.Doc.Members[i].UserID == user {
			change(&dir.Doc.Members[i])
		}
	}
	it, err := item(key, dir.Version+1, dir.Doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(ctx, []table.Op{table.Put(it, dir.unchanged())}); err != nil {
		t.Fatal(err)
	}
}
