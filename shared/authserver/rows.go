package authserver

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Layout in the data table, sort key META throughout:
//
//	OAUTH#KEYS             the signing keys
//	OAUTH#LIMIT            how many registrations there were lately
//	OAUTH#CLIENT#<id>      a client that registered itself
//	OAUTH#FLOW#<hash>      a consent page that waits for its answer
//	OAUTH#CODE#<hash>      a code, used or not
//	OAUTH#GRANT#<id>       what a person has allowed a client
//	OAUTH#REFRESH#<hash>   a refresh token, used or not
//
// Codes, refresh tokens and the ids of consent pages are 256 random bits and are not kept: their
// SHA-256 is. Every row but the first two expires; who reads one compares with the clock, for an
// engine may be days late.

// request is what a client asks for, checked.
type request struct {
	Client    client           `json:"client"`
	Redirect  string           `json:"redirect_uri"`
	State     string           `json:"state,omitempty"`
	Challenge string           `json:"code_challenge"`
	Resource  string           `json:"resource"`
	Scopes    []identity.Scope `json:"scopes"`           // that are offered; never empty
	Ticked    []identity.Scope `json:"ticked,omitempty"` // of these, those that are ticked at first
}

// flowRow is a consent page.
type flowRow struct {
	Request request `json:"request"`
	Person  person  `json:"person"`
	Browser string  `json:"browser"` // hash of the cookie of the browser that it was shown in
	Back    string  `json:"back"`    // where the page was asked for
	Until   int64   `json:"until"`   // µs
}

// person is a Person in a row.
type person struct {
	Subject     string `json:"subject"`
	WorkspaceID string `json:"workspace_id"`
	UserID      string `json:"user_id"`
}

func personOf(p Person) person { return person{p.Subject, p.WorkspaceID, p.UserID} }

// codeRow is a code. Once it is used it stays, so that a second use is noticed.
type codeRow struct {
	Request request          `json:"request"`
	Person  person           `json:"person"`
	Scopes  []identity.Scope `json:"scopes"` // that were granted
	GrantID string           `json:"grant_id"`
	Until   int64            `json:"until"` // µs
	Used    bool             `json:"used,omitempty"`
}

// grantRow is what a person has allowed a client: the family of its refresh tokens.
type grantRow struct {
	ID         string           `json:"id"`
	ClientID   string           `json:"client_id"`
	ClientName string           `json:"client_name"`
	Person     person           `json:"person"`
	Scopes     []identity.Scope `json:"scopes"`
	Resource   string           `json:"resource"`
	Made       int64            `json:"made"`     // µs
	Until      int64            `json:"until"`    // µs
	Issued     int              `json:"issued"`   // how many access tokens
	Recent     []int64          `json:"recent"`   // µs; when those were issued that may be alive, the last ones
	Ended      int64            `json:"ended_at"` // µs; 0: it has not been revoked
	Why        string           `json:"why,omitempty"`
}

// refreshRow is a refresh token.
type refreshRow struct {
	GrantID string `json:"grant_id"`
	Until   int64  `json:"until"`           // µs
	Spent   int64  `json:"spent,omitempty"` // µs; 0: it has not been used
}

// kept is a row as it was read.
type kept[T any] struct {
	Doc     T
	Version int64 // 0: there is none
	key     table.Key
}

func (k kept[T]) found() bool { return k.Version > 0 }

// put writes the row anew if nobody else has meanwhile.
func (k kept[T]) put(doc T, expires time.Time) (table.Op, error) {
	if !k.found() {
		return put(k.key, doc, 1, expires, table.IfAbsent())
	}
	return put(k.key, doc, k.Version+1, expires, table.IfVersion(k.Version))
}

func put[T any](key table.Key, doc T, version int64, expires time.Time, guard table.Guard) (table.Op, error) {
	body, err := json.Marshal(doc)
	if err != nil {
		return table.Op{}, fmt.Errorf("encode a row: %w", err)
	}
	if !expires.IsZero() {
		expires = expires.UTC().Truncate(time.Second).Add(time.Second)
	}
	return table.Put(table.Item{Key: key, Doc: body, Version: version, ExpiresAt: expires}, guard), nil
}

func read[T any](ctx context.Context, r table.Reader, key table.Key) (kept[T], error) {
	k := kept[T]{key: key}
	item, found, err := r.Get(ctx, key)
	if err != nil {
		return k, fmt.Errorf("read a row: %w", err)
	}
	if !found {
		return k, nil
	}
	if err := json.Unmarshal(item.Doc, &k.Doc); err != nil {
		return k, fmt.Errorf("decode a row: %w", err)
	}
	k.Version = item.Version
	return k, nil
}

// again tries what others may get in the way of: whoever conflicts looks anew.
func again(try func() error) error {
	for range 5 {
		if err := try(); !table.IsConflict(err) {
			return err
		}
	}
	return tooMany(time.Second)
}

func keyOf(pk string) table.Key { return table.Key{Table: table.Data, PK: "OAUTH#" + pk, SK: "META"} }

func keysKey() table.Key                 { return keyOf("KEYS") }
func limitKey() table.Key                { return keyOf("LIMIT") }
func clientKey(id string) table.Key      { return keyOf("CLIENT#" + id) }
func flowKey(secret string) table.Key    { return keyOf("FLOW#" + hash(secret)) }
func codeKey(secret string) table.Key    { return keyOf("CODE#" + hash(secret)) }
func grantKey(id string) table.Key       { return keyOf("GRANT#" + id) }
func refreshKey(secret string) table.Key { return keyOf("REFRESH#" + hash(secret)) }

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Beginnings of secrets, for those who look for secrets that got lost.
const (
	codePrefix    = "aac_code_"
	refreshPrefix = "aac_refresh_"
)

// secret returns 256 random bits behind a prefix.
func (s *Server) secret(prefix string) (string, error) {
	var b [32]byte
	if _, err := io.ReadFull(s.Random, b[:]); err != nil {
		return "", fmt.Errorf("draw a secret: %w", err)
	}
	return prefix + base64.RawURLEncoding.EncodeToString(b[:]), nil
}

const idBytes = 16

// id returns 128 random bits.
func (s *Server) id() (string, error) {
	var b [idBytes]byte
	if _, err := io.ReadFull(s.Random, b[:]); err != nil {
		return "", fmt.Errorf("draw an id: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

func micros(t time.Time) int64 { return t.UnixMicro() }

func timeOf(us int64) time.Time { return time.UnixMicro(us).UTC() }
