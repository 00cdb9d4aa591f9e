package budget

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/reader"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// TestTripsAreCounted makes a request, then two side by side.
func TestTripsAreCounted(t *testing.T) {
	ws := newWorlds(t)
	w := &world{t: t, conn: ws.server.Conn(t), engine: ws.engine, meters: map[string]*meter{}}
	r := reader.Open(w.metered("f"))
	m := w.meters["f"]
	m.switchOn()
	get := func() {
		if _, _, err := r.Get(context.Background(), table.Key{PK: "p", SK: "s"}); err != nil {
			t.Error(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		get()
		var both sync.WaitGroup
		both.Go(get)
		both.Go(get)
		both.Wait()
		if took := time.Since(began); took != 2*roundTrip {
			t.Errorf("three requests took %v, want two round trips", took)
		}
	})
	taken, err := m.take()
	l := line{function: "f", requests: taken}
	if got := l.path(); got != "Get → Get + Get" || err != nil || !l.overTarget() {
		t.Errorf("counted %q, %v, over the target %v", got, err, l.overTarget())
	}
}

// TestNothingGoesUncounted sends what the budget does not know.
func TestNothingGoesUncounted(t *testing.T) {
	ws := newWorlds(t)
	w := &world{t: t, conn: ws.server.Conn(t), engine: ws.engine, meters: map[string]*meter{}}
	api, m := w.metered("f").API, w.meters["f"]
	m.switchOn()
	synctest.Test(t, func(t *testing.T) {
		if _, err := api.Scan(context.Background(), &dynamodb.ScanInput{TableName: &w.conn.Tables.Data}); err != nil {
			t.Error(err)
		}
	})
	if _, err := m.take(); err == nil || !strings.Contains(err.Error(), "Scan is not known to the budget") {
		t.Errorf("a scan was counted: %v", err)
	}
}
