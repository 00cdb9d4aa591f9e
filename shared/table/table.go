// Package table says what the connector needs of a storage engine: ordered items in two
// tables, read by key or by range, and changed by all-or-nothing commits.
//
// It is not a general database interface, and it knows nothing of issues: records keeps the
// domain in it. The engines are embedded (one file, for local mode and tests) and
// dynamo/reader, dynamo/appender and dynamo/writer (DynamoDB). tabletest is the contract that
// every engine passes; what can be refused without storage is refused in check.go, alike for all.
package table

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Name tells the two tables apart. The zero value is Data.
type Name int

const (
	Data  Name = iota // the tracker: issues, comments, tokens, …
	Audit             // the audit log: append-only
)

// String returns the name used in settings and messages.
func (n Name) String() string { return [...]string{"data", "audit"}[n] }

// Index is a secondary ordering of a table's items. An item is in an index only while it has a
// key there, and is there as a whole. Primary is the table itself.
type Index string

const (
	Primary     Index = ""
	ByStatus    Index = "byStatus"    // data: issues of a workspace by status
	ByAssignee  Index = "byAssignee"  // data: issues of a workspace by assignee
	ByUpdated   Index = "byUpdated"   // data: all issues of a workspace
	ByWorkspace Index = "byWorkspace" // audit: all events of a workspace by day
)

// Indexes lists the secondary indexes of a table.
func Indexes(n Name) []Index {
	if n == Audit {
		return []Index{ByWorkspace}
	}
	return []Index{ByStatus, ByAssignee, ByUpdated}
}

// Limits of the engines. Source: DynamoDB service quotas.
const (
	MaxItemBytes    = 400 << 10 // keys and document together
	MaxCommitOps    = 100       // operations in one Commit
	MaxCommitBytes  = 4 << 20   // all operations of one Commit together
	MaxBatchGetKeys = 100       // keys in one BatchGet
	MaxKeyBytes     = 1024      // sort key; a partition key may have 2048
)

// Key is the address of one item.
type Key struct {
	Table  Name
	PK, SK string
}

// IndexKey is an item's place in a secondary index. Within one index partition no two items
// may have the same SK: paging continues after a sort key.
type IndexKey struct{ PK, SK string }

// Item is what a table holds.
type Item struct {
	Key
	// Doc is a JSON object. Engines may store its members natively, so numbers must fit an
	// int64 or a decimal of 38 digits (1.50 may come back as 1.5), and member order is not
	// kept. Names are not empty, at the top level not pk, sk, v, ttl nor ending in _pk or _sk
	// (those are the engine's), and it nests at most 31 levels.
	Doc json.RawMessage
	// Version is compared by IfVersion. It is the writer's to raise; 1 or more.
	Version int64
	// Index places the item in secondary indexes; nil for none.
	Index map[Index]IndexKey
	// ExpiresAt lets the engine remove the item some time (perhaps days) after it; zero means
	// never. Readers must compare it with the clock themselves. Whole seconds.
	ExpiresAt time.Time
}

// Query asks for a range of one partition, in sort-key order.
type Query struct {
	Table Name
	Index Index  // Primary, or the index whose keys PK, From, To and After speak of
	PK    string // exact
	From  string // first sort key, inclusive; empty: from the start
	To    string // last sort key, inclusive; empty: to the end
	// After continues behind this sort key in the direction of the query; empty: from the
	// start. It need not exist.
	After string
	Desc  bool
	Limit int // at most this many items, at least 1
}

// Page is the answer to a Query. It may hold fewer items than the limit although there are
// more (engines bound a page at about 1 MB); it is never empty when More is set.
type Page struct {
	Items []Item
	// More: continue with After set to the sort key (in that index) of the last item. When the
	// page is full, exactly if there is a next item; when it was cut short, the next page may
	// turn out empty.
	More bool
}

// Reader reads. All reads of Primary are strongly consistent; an index may lag by a moment.
// An engine that asks the caller to slow down fails with *Throttled; anything else that fails
// is a plain error.
type Reader interface {
	// Get returns the item, or false if there is none.
	Get(ctx context.Context, key Key) (Item, bool, error)
	// BatchGet returns the items that exist, in any order. At most MaxBatchGetKeys keys (else
	// *TooLarge), none twice. It is no snapshot: items are read one by one.
	BatchGet(ctx context.Context, keys []Key) ([]Item, error)
	Query(ctx context.Context, q Query) (Page, error)
}

// Guard is the condition under which an operation may happen.
type Guard struct {
	kind    guardKind
	version int64
}

type guardKind int

const (
	guardNone guardKind = iota
	guardAbsent
	guardPresent
	guardVersion
)

// IfAbsent holds if there is no item under the key.
func IfAbsent() Guard { return Guard{kind: guardAbsent} }

// IfPresent holds if there is an item under the key.
func IfPresent() Guard { return Guard{kind: guardPresent} }

// IfVersion holds if the item exists with exactly this version.
func IfVersion(v int64) Guard { return Guard{kind: guardVersion, version: v} }

// Match lets an engine take a guard apart: exactly one of the functions is called.
func Match[T any](g Guard, none, absent, present func() T, version func(int64) T) T {
	switch g.kind {
	case guardAbsent:
		return absent()
	case guardPresent:
		return present()
	case guardVersion:
		return version(g.version)
	default:
		return none()
	}
}

// Op is one operation of a Commit.
type Op struct {
	Kind  OpKind
	Item  Item // for Delete and Check only its Key counts
	Guard Guard
}

// OpKind says what an Op does.
type OpKind int

const (
	OpPut    OpKind = iota // write the whole item
	OpDelete               // remove it, if it is there
	OpCheck                // change nothing; only the guard counts
)

// Put writes the whole item if the guard holds.
func Put(item Item, g Guard) Op { return Op{Kind: OpPut, Item: item, Guard: g} }

// Delete removes the item if the guard holds; removing what is not there is no error.
func Delete(key Key, g Guard) Op { return Op{Kind: OpDelete, Item: Item{Key: key}, Guard: g} }

// Check only requires that the guard holds.
func Check(key Key, g Guard) Op { return Op{Kind: OpCheck, Item: Item{Key: key}, Guard: g} }

// Writer reads and changes.
type Writer interface {
	Reader
	// Commit applies all operations or none. No two may name the same key. If a guard does not
	// hold the error is a *Conflict that names it; if another commit was under way on one of
	// the items it is a *Conflict too. More than MaxCommitOps operations, MaxCommitBytes, or an
	// item over MaxItemBytes, is a *TooLarge. After a plain error (a time-out, a broken
	// connection) the commit may or may not have happened.
	Commit(ctx context.Context, ops []Op) error
	// Next raises the counter under the key by one and returns it; the first call returns 1.
	// A value is returned once, and lost if the caller does not use it. The counter is an item
	// whose Version is the last value, so Put can set it, and it starts with an empty Doc.
	Next(ctx context.Context, key Key) (int64, error)
}

// Log appends to the audit table, and can do nothing else.
type Log interface {
	// Append stores the item if its key is free, else fails with a *Conflict. The very same
	// item again is no conflict, so that it is safe to try again after a lost answer. An item
	// of another table than Audit is refused.
	Append(ctx context.Context, item Item) error
}

// Conflict says that a guard did not hold, or that another commit got in the way.
type Conflict struct {
	// Failed are the positions of the operations whose guard did not hold, ascending. Empty:
	// none is known to have failed, another commit was under way; trying again may help.
	Failed []int
}

func (c *Conflict) Error() string { return fmt.Sprintf("commit conflict at operations %v", c.Failed) }

// FailedAt tells whether err is a *Conflict whose operation at this position failed its guard.
func FailedAt(err error, position int) bool {
	var c *Conflict
	if !errors.As(err, &c) {
		return false
	}
	for _, f := range c.Failed {
		if f == position {
			return true
		}
	}
	return false
}

// IsConflict tells whether err is a *Conflict.
func IsConflict(err error) bool {
	var c *Conflict
	return errors.As(err, &c)
}

// TooLarge says that a commit or an item is over a limit. Nothing was written.
type TooLarge struct{ What string }

func (t *TooLarge) Error() string { return "too large: " + t.What }

// Throttled says that the engine asks for a pause. Nothing was written.
type Throttled struct{ RetryAfter time.Duration }

func (t *Throttled) Error() string { return fmt.Sprintf("throttled: retry after %s", t.RetryAfter) }
