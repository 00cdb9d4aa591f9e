package table

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// The checks here are the part of the contract that needs no storage. Every engine makes them
// before it does anything, so that what one engine refuses all of them refuse. Their errors are
// a *TooLarge for a limit, else a plain error: the caller has a bug. None quotes a key, for keys
// hold what users wrote.

// CheckCommit tells whether an engine may try these operations.
func CheckCommit(ops []Op) error {
	if len(ops) == 0 {
		return errors.New("commit without operations: add one, or do not call Commit")
	}
	if len(ops) > MaxCommitOps {
		return &TooLarge{What: fmt.Sprintf("%d operations in one commit; the limit is %d", len(ops), MaxCommitOps)}
	}
	total := 0
	seen := make(map[Key]int, len(ops))
	for i, op := range ops {
		if err := checkOp(op); err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
		if first, dup := seen[op.Item.Key]; dup {
			return fmt.Errorf("operations %d and %d name the same key: merge them", first, i)
		}
		seen[op.Item.Key] = i
		if op.Kind == OpPut {
			total += op.Item.Size()
		}
	}
	if total > MaxCommitBytes {
		return &TooLarge{What: fmt.Sprintf("a commit of %d bytes; the limit is %d", total, MaxCommitBytes)}
	}
	return nil
}

func checkOp(op Op) error {
	switch op.Kind {
	case OpPut:
		return CheckItem(op.Item)
	case OpDelete:
		return CheckKey(op.Item.Key)
	case OpCheck:
		if op.Guard.kind == guardNone {
			return errors.New("a Check without a guard checks nothing: give it one")
		}
		return CheckKey(op.Item.Key)
	default:
		return fmt.Errorf("unknown kind of operation %d", op.Kind)
	}
}

// CheckItem tells whether an engine may store the item.
func CheckItem(it Item) error {
	if err := CheckKey(it.Key); err != nil {
		return err
	}
	if it.Version < 1 {
		return errors.New("the version of an item must be 1 or more")
	}
	for index, key := range it.Index {
		if index == Primary || !slices.Contains(Indexes(it.Table), index) {
			return fmt.Errorf("table %s has no index %q", it.Table, index)
		}
		if err := checkKeyPair(key.PK, key.SK); err != nil {
			return fmt.Errorf("index %s: %w", index, err)
		}
	}
	if n := it.Size(); n > MaxItemBytes {
		return &TooLarge{What: fmt.Sprintf("an item of %d bytes; the limit is %d", n, MaxItemBytes)}
	}
	return checkDoc(it.Doc)
}

// Size is the size of the item in bytes, as the limits count it: the keys, the document as it
// is written, and the names an engine adds. An engine that stores members natively may arrive
// at a slightly other number, and refuse an item just under the limit; that is a *TooLarge too.
func (it Item) Size() int {
	const names = len("pk") + len("sk") + len("v") + 8 + len("ttl") + 8
	n := names + len(it.PK) + len(it.SK) + len(it.Doc)
	for index, key := range it.Index {
		n += 2*len(index) + len("_pk") + len("_sk") + len(key.PK) + len(key.SK)
	}
	return n
}

// CheckKey tells whether an item may have this key.
func CheckKey(key Key) error {
	if key.Table != Data && key.Table != Audit {
		return fmt.Errorf("no such table: %d", int(key.Table))
	}
	return checkKeyPair(key.PK, key.SK)
}

// CheckKeys tells whether a BatchGet may ask for these keys.
func CheckKeys(keys []Key) error {
	if len(keys) > MaxBatchGetKeys {
		return &TooLarge{What: fmt.Sprintf("%d keys in one BatchGet; the limit is %d", len(keys), MaxBatchGetKeys)}
	}
	seen := make(map[Key]bool, len(keys))
	for i, key := range keys {
		if err := CheckKey(key); err != nil {
			return fmt.Errorf("key %d: %w", i, err)
		}
		if seen[key] {
			return fmt.Errorf("key %d is asked for twice", i)
		}
		seen[key] = true
	}
	return nil
}

// CheckQuery tells whether the query can be asked. A range that is empty (From behind To) can:
// its page is empty.
func CheckQuery(q Query) error {
	if q.Table != Data && q.Table != Audit {
		return fmt.Errorf("no such table: %d", int(q.Table))
	}
	if q.Index != Primary && !slices.Contains(Indexes(q.Table), q.Index) {
		return fmt.Errorf("table %s has no index %q", q.Table, q.Index)
	}
	if q.Limit < 1 {
		return errors.New("a query needs a limit of at least 1")
	}
	if err := checkKeyPart("partition key", q.PK, 2*MaxKeyBytes); err != nil {
		return err
	}
	for _, bound := range []string{q.From, q.To, q.After} {
		if bound == "" {
			continue
		}
		if err := checkKeyPart("bound of the sort key", bound, MaxKeyBytes); err != nil {
			return err
		}
	}
	return nil
}

func checkKeyPair(pk, sk string) error {
	if err := checkKeyPart("partition key", pk, 2*MaxKeyBytes); err != nil {
		return err
	}
	return checkKeyPart("sort key", sk, MaxKeyBytes)
}

func checkKeyPart(what, value string, limit int) error {
	switch {
	case value == "":
		return fmt.Errorf("the %s is empty", what)
	case len(value) > limit:
		return &TooLarge{What: fmt.Sprintf("a %s of %d bytes; the limit is %d", what, len(value), limit)}
	case !utf8.ValidString(value):
		return fmt.Errorf("the %s is not valid UTF-8", what)
	}
	return nil
}

// CheckAppend tells whether a Log may store the item.
func CheckAppend(it Item) error {
	if it.Table != Audit {
		return fmt.Errorf("a log appends to table %s only, not to table %s", Audit, it.Table)
	}
	return CheckItem(it)
}
