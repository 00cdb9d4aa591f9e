package records

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// row is a stored document of a known type. The zero row is one that is not there.
type row[T any] struct {
	Doc     T
	Version int64 // of the item; 0 if there is none
}

func (r row[T]) found() bool { return r.Version > 0 }

// unchanged is the guard that the row is still as it was read.
func (r row[T]) unchanged() table.Guard {
	if !r.found() {
		return table.IfAbsent()
	}
	return table.IfVersion(r.Version)
}

// get reads one row.
func get[T any](ctx context.Context, t table.Reader, key table.Key) (row[T], error) {
	it, ok, err := t.Get(ctx, key)
	if err != nil {
		return row[T]{}, engineError("read an item", err)
	}
	if !ok {
		return row[T]{}, nil
	}
	return decode[T](it)
}

// decode makes a row of an item. What cannot be decoded is our fault, although the words may be
// those that refuse an argument: hence no %w.
func decode[T any](it table.Item) (row[T], error) {
	r := row[T]{Version: it.Version}
	if err := json.Unmarshal(it.Doc, &r.Doc); err != nil {
		return row[T]{}, fmt.Errorf("decode an item as %T: %v", r.Doc, err)
	}
	return r, nil
}

// item makes an item of a document. version is 1 for a new one, else that of the row read plus 1.
func item(key table.Key, version int64, doc any, index map[table.Index]table.IndexKey) (table.Item, error) {
	b, err := encode(doc)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode an item from %T: %w", doc, err)
	}
	return table.Item{Key: key, Doc: b, Version: version, Index: index}, nil
}

// encode leaves <, > and & as they are: escaped they take six bytes each, and a thread full of
// them would not fit into the one commit that deletes it.
func encode(doc any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(doc)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// batch holds the items of one BatchGet; what does not exist is missing.
type batch map[table.Key]table.Item

// getBatch reads up to table.MaxBatchGetKeys items in one request. It is no snapshot.
func getBatch(ctx context.Context, t table.Reader, keys ...table.Key) (batch, error) {
	items, err := t.BatchGet(ctx, keys)
	if err != nil {
		return nil, engineError("read items", err)
	}
	b := make(batch, len(items))
	for _, it := range items {
		b[it.Key] = it
	}
	return b, nil
}

// pick decodes one item of a batch.
func pick[T any](b batch, key table.Key) (row[T], error) {
	it, ok := b[key]
	if !ok {
		return row[T]{}, nil
	}
	return decode[T](it)
}

// engineError turns the error of an engine into what a caller may see: an engine that asks for
// a pause is rate_limited; anything else stays plain, hence internal. *table.Conflict and
// *table.TooLarge stay in the chain, for callers that look for them first.
func engineError(doing string, err error) error {
	var throttled *table.Throttled
	if errors.As(err, &throttled) {
		f := fault.New(fault.RateLimited, fault.ReasonRateLimited,
			"the tracker is busy and nothing was done: wait as long as retry_after_s says, then try again").Because(err)
		f.RetryAfter = max(throttled.RetryAfter, time.Second)
		return f
	}
	return fmt.Errorf("%s: %w", doing, err)
}
