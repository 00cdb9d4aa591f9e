package records

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// maxKeptResult bounds the result that is kept under an idempotency key, in bytes.
const maxKeptResult = 16 << 10

// claim is the use a call makes of its idempotency key. A nil claim is a call without one. The
// key is the caller's, not the token's, and holds for one tool.
type claim struct {
	key    table.Key
	digest string
	row    row[idempotencyRow] // as last read
}

// claim returns what the call's key stands for; nil if the call has none.
func (s *store) claim() (*claim, error) {
	if s.call.IdempotencyKey == "" {
		return nil, nil
	}
	if s.call.Event.ArgumentsDigest == "" {
		return nil, errors.New("an idempotency key without a digest of the arguments: set the digest before the store is used")
	}
	return &claim{
		key:    idempotencyKey(s.workspace(), s.userID(), s.call.Event.Tool, s.call.IdempotencyKey),
		digest: s.call.Event.ArgumentsDigest,
	}, nil
}

// keys are the rows to read for the claim, next to whatever else the call reads first.
func (c *claim) keys() []table.Key {
	if c == nil {
		return nil
	}
	return []table.Key{c.key}
}

// replay decodes the kept result into result and tells whether there is one, given the rows that
// were read. It needs no look at the target, so it still answers once that is deleted.
//   - fault.Conflict: idempotency_conflict
func (s *store) replay(c *claim, rows batch, result any) (bool, error) {
	if c == nil {
		return false, nil
	}
	var err error
	if c.row, err = pick[idempotencyRow](rows, c.key); err != nil {
		return false, err
	}
	if !c.row.found() || c.row.Doc.ExpiresAt <= s.now() {
		return false, nil
	}
	if c.row.Doc.Digest != c.digest {
		return false, fault.New(fault.Conflict, fault.IdempotencyConflict,
			"idempotency_key: was used with other arguments in the last 24 hours; take a new key, or repeat the call exactly").
			With("field", "idempotency_key")
	}
	if err := json.Unmarshal(c.row.Doc.Result, result); err != nil {
		return false, fmt.Errorf("decode a kept result as %T: %w", result, err)
	}
	s.call.Event.Replayed = true
	return true, nil
}

// keep is the operation that keeps a result under the key: only if the key is still free, or
// still holds what has expired.
func (c *claim) keep(now time.Time, result any) (table.Op, error) {
	b, err := encode(result)
	if err != nil {
		return table.Op{}, fmt.Errorf("encode a result to keep: %w", err)
	}
	if len(b) > maxKeptResult {
		return table.Op{}, fmt.Errorf("a result of %d bytes is too large to keep; the limit is %d", len(b), maxKeptResult)
	}
	until := now.Add(IdempotencyFor)
	it, err := item(c.key, c.row.Version+1, idempotencyRow{Digest: c.digest, Result: b, ExpiresAt: microsOf(until)}, nil)
	it.ExpiresAt = until
	return table.Put(it, c.row.unchanged()), err
}
