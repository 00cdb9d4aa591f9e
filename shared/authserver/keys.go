package authserver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// The signing keys lie in one row, so that every process signs with the same ones. They are ECDSA
// keys on P-256 (ES256). A key is shown for an hour before it signs, signs for a month, and is
// shown until the last token under it has expired. Whoever issues a token looks whether a new key
// is due; nothing runs by itself. To throw all keys away, delete the row.
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
	Private json.RawMessage `json:"private"` // a JWK
	Made    int64           `json:"made"`    // µs
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
func (s *Server) loadKeys(ctx context.Context) (keysRow, error) {
	for range commitTries {
		row, err := read[keysRow](ctx, s.Tables, keysKey())
		if err != nil || !row.Doc.due(s.now()) {
			return row.Doc, err
		}
		made, err := s.makeKey()
		if err != nil {
			return keysRow{}, err
		}
		next := row.Doc.next(made, s.now())
		op, err := row.put(next, time.Time{})
		if err != nil {
			return keysRow{}, err
		}
		if err = s.Tables.Commit(ctx, []table.Op{op}); !table.IsConflict(err) {
			return next, err
		}
	}
	return keysRow{}, fmt.Errorf("others keep changing the signing keys: try again")
}

func (s *Server) makeKey() (storedKey, error) {
	raw, err := ecdsa.GenerateKey(elliptic.P256(), s.Random)
	if err != nil {
		return storedKey{}, fmt.Errorf("make a signing key: %w", err)
	}
	key, err := jwk.Import(raw)
	if err != nil {
		return storedKey{}, fmt.Errorf("make a signing key: %w", err)
	}
	id, err := s.id()
	if err != nil {
		return storedKey{}, err
	}
	for name, value := range map[string]any{jwk.KeyIDKey: id, jwk.AlgorithmKey: jwa.ES256(), jwk.KeyUsageKey: "sig"} {
		if err := key.Set(name, value); err != nil {
			return storedKey{}, fmt.Errorf("make a signing key: %w", err)
		}
	}
	private, err := json.Marshal(key)
	return storedKey{Private: private, Made: micros(s.now())}, err
}

// signer returns the key to sign with.
func (s *Server) signer(ctx context.Context) (jwk.Key, error) {
	k, err := s.loadKeys(ctx)
	if err != nil {
		return nil, err
	}
	return parseKey(k.Keys[k.current(s.now())])
}

func parseKey(k storedKey) (jwk.Key, error) {
	key, err := jwk.ParseKey(k.Private)
	if err != nil {
		return nil, fmt.Errorf("a signing key cannot be read: delete its row, and all sign in again")
	}
	return key, nil
}

// publicKeys returns what verifies our tokens.
func (s *Server) publicKeys(ctx context.Context) (jwk.Set, error) {
	k, err := s.loadKeys(ctx)
	if err != nil {
		return nil, err
	}
	set := jwk.NewSet()
	for _, stored := range k.Keys {
		key, err := parseKey(stored)
		if err != nil {
			return nil, err
		}
		public, err := key.PublicKey()
		if err != nil {
			return nil, fmt.Errorf("take the public half of a key: %w", err)
		}
		if err := set.AddKey(public); err != nil {
			return nil, fmt.Errorf("collect the public keys: %w", err)
		}
	}
	return set, nil
}

// keys answers GET /jwks (RFC 7517).
func (s *Server) keys(w http.ResponseWriter, r *http.Request) {
	set, err := s.publicKeys(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writePublic(w, set)
}
