package token_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

func TestRevocationsAreOfOneMemberAndOfTokensInForce(t *testing.T) {
	ctx, w, now := context.Background(), openTable(t), start.Add(time.Hour)
	for i := range 130 { // more than one page of pointers
		g := grant(fmt.Sprintf("t%03d", i))
		if i%2 == 1 {
			g.UserID = "u2"
		}
		if i%10 == 0 {
			g.Lifetime = time.Minute // over by now
		}
		issue(t, w, g)
	}
	if _, err := token.Revoke(ctx, w, "w1", "t002", start); err != nil {
		t.Fatal(err)
	}
	ops, err := token.Revocations(ctx, w, "w1", "u1", now)
	if err != nil {
		t.Fatal(err)
	}
	if want := 65 - 13 - 1; len(ops) != want {
		t.Fatalf("%d operations, want %d", len(ops), want)
	}
	if err := w.Commit(ctx, ops); err != nil {
		t.Fatal(err)
	}
	records, err := token.List(ctx, w, "w1")
	if err != nil {
		t.Fatal(err)
	}
	usable := map[string]int{}
	for _, r := range records {
		if r.Usable(now) {
			usable[r.UserID]++
		}
		if r.ID == "t002" && !r.RevokedAt.Equal(start) {
			t.Errorf("the first revocation is forgotten: %v", r.RevokedAt)
		}
	}
	if usable["u1"] != 0 || usable["u2"] != 65 {
		t.Errorf("in force afterwards: %v", usable)
	}
	if err := w.Commit(ctx, ops); !table.IsConflict(err) {
		t.Errorf("the same operations again: %v, want a conflict", err)
	}
	if ops, err := token.Revocations(ctx, w, "w1", "u1", now); len(ops) != 0 || err != nil {
		t.Errorf("nothing is left to revoke: %d operations, %v", len(ops), err)
	}
}
