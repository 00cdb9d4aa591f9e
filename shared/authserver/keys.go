package authserver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// The signing keys lie in one row, so that every process signs with the same ones. They are ECDSA
// keys on P-256 (ES256). A key is shown for an hour before it signs, signs for a month, and is
// shown until the last token under it has expired. Whoever issues a token looks whether a new key
// is due; nothing runs by itself. To throw all keys away, or if the row cannot be read, delete it:
// all sign in again.
//
// Who can read the table can sign: the row is as secret as the table.
const (
	keyLead = time.Hour           // between being shown and signing
	keyLife = 30 * 24 * time.Hour // between one key and the next
	keyTail = accessLife + time.Hour
)

// keysRow holds the keys, oldest first.
type keysRow struct {
	Keys []storedKey `json:"keys"`
}

type storedKey struct {
	Private jose.JSONWebKey `json:"private"`
	Made    int64           `json:"made"` // µs
}

// current returns the position of the key that signs: the newest that has been shown for long
// enough, else the oldest. There must be one.
func (k keysRow) current(now time.Time) int {
	for i := len(k.Keys) - 1; i > 0; i-- {
		if !now.Before(timeOf(k.Keys[i].Made).Add(keyLead)) {
			return i
		}
	}
	return 0
}

// due tells whether it is time for a new key.
func (k keysRow) due(now time.Time) bool {
	return len(k.Keys) == 0 || !now.Before(timeOf(k.Keys[len(k.Keys)-1].Made).Add(keyLife))
}

// next adds a key, and drops those that nothing in force was signed with.
func (k keysRow) next(made storedKey, now time.Time) keysRow {
	first := 0
	for i := 1; i < len(k.Keys); i++ {
		if !now.Before(timeOf(k.Keys[i].Made).Add(keyLead + keyTail)) {
			first = i
		}
	}
	return keysRow{append(append([]storedKey(nil), k.Keys[first:]...), made)}
}

// loadKeys returns the keys, making one if that is due.
func (s *Server) loadKeys(ctx context.Context) (keys keysRow, err error) {
	err = again(func() error {
		row, err := read[keysRow](ctx, s.Tables, keysKey())
		keys = row.Doc
		if err != nil || !keys.due(s.now()) {
			return err
		}
		made, err := s.makeKey()
		if err != nil {
			return err
		}
		keys = keys.next(made, s.now())
		op, err := row.put(keys, time.Time{})
		if err != nil {
			return err
		}
		return s.Tables.Commit(ctx, []table.Op{op})
	})
	return keys, err
}

func (s *Server) makeKey() (storedKey, error) {
	raw, err := ecdsa.GenerateKey(elliptic.P256(), s.Random)
	if err != nil {
		return storedKey{}, fmt.Errorf("make a signing key: %w", err)
	}
	id, err := s.id()
	if err != nil {
		return storedKey{}, err
	}
	key := jose.JSONWebKey{Key: raw, KeyID: id, Algorithm: string(jose.ES256), Use: oidc.KeyUseSignature}
	return storedKey{Private: key, Made: micros(s.now())}, nil
}

// signer returns the key to sign with.
func (s *Server) signer(ctx context.Context) (jose.JSONWebKey, error) {
	k, err := s.loadKeys(ctx)
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	return k.Keys[k.current(s.now())].Private, nil
}

// publicKeys returns what verifies our tokens (RFC 7517).
func (s *Server) publicKeys(ctx context.Context) (*jose.JSONWebKeySet, error) {
	k, err := s.loadKeys(ctx)
	set := &jose.JSONWebKeySet{}
	for _, stored := range k.Keys {
		set.Keys = append(set.Keys, stored.Private.Public())
	}
	return set, err
}
