package token

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Layout in the data table:
//
//	pk               sk               row
//	TOK#<hash>       META             row: the token
//	WS#<workspace>   PAT#<token id>   pointer: its hash, to find it by id
//
// Neither row expires: a token that is past its time is still somebody's, and what was tried
// with it belongs into the audit log under that name.

// Record is what is known of an issued token. It does not hold the secret, nor its hash.
type Record struct {
	ID          string
	WorkspaceID string
	UserID      string
	Name        string // given by people, for people
	Prefix      string // the first PrefixLength characters of the secret
	Scopes      []identity.Scope
	CreatedAt   time.Time
	ExpiresAt   time.Time
	RevokedAt   time.Time // zero: not revoked
}

// Usable tells whether the token opens anything at this time, as far as the record says.
func (r Record) Usable(now time.Time) bool {
	return r.RevokedAt.IsZero() && now.Before(r.ExpiresAt)
}

// row is a Record in the table. Times are µs since 1970, UTC.
type row struct {
	ID          string           `json:"id"`
	WorkspaceID string           `json:"workspace_id"`
	UserID      string           `json:"user_id"`
	Name        string           `json:"name"`
	Prefix      string           `json:"token_prefix"`
	Scopes      []identity.Scope `json:"scopes"`
	CreatedAt   int64            `json:"created_at"`
	ExpiresAt   int64            `json:"expires_at"`
	RevokedAt   int64            `json:"revoked_at,omitempty"`
}

type pointer struct {
	Hash string `json:"hash"` // lower-case hexadecimal
}

const pointerPrefix = "PAT#"

func tokenKey(hash string) table.Key {
	return table.Key{Table: table.Data, PK: "TOK#" + hash, SK: "META"}
}

func workspacePK(workspaceID string) string { return "WS#" + workspaceID }

func pointerKey(workspaceID, tokenID string) table.Key {
	return table.Key{Table: table.Data, PK: workspacePK(workspaceID), SK: pointerPrefix + tokenID}
}

func (r Record) item(hash string, version int64) (table.Item, error) {
	doc, err := json.Marshal(row{
		ID: r.ID, WorkspaceID: r.WorkspaceID, UserID: r.UserID, Name: r.Name, Prefix: r.Prefix, Scopes: r.Scopes,
		CreatedAt: micros(r.CreatedAt), ExpiresAt: micros(r.ExpiresAt), RevokedAt: micros(r.RevokedAt),
	})
	if err != nil {
		return table.Item{}, fmt.Errorf("encode a token row: %w", err)
	}
	return table.Item{Key: tokenKey(hash), Doc: doc, Version: version}, nil
}

func (r Record) pointer(hash string) (table.Item, error) {
	doc, err := json.Marshal(pointer{hash})
	if err != nil {
		return table.Item{}, fmt.Errorf("encode the pointer to a token: %w", err)
	}
	return table.Item{Key: pointerKey(r.WorkspaceID, r.ID), Doc: doc, Version: 1}, nil
}

func decodeRecord(item table.Item) (Record, error) {
	var r row
	if err := json.Unmarshal(item.Doc, &r); err != nil {
		return Record{}, fmt.Errorf("decode a token row: %w", err)
	}
	return Record{
		ID: r.ID, WorkspaceID: r.WorkspaceID, UserID: r.UserID, Name: r.Name, Prefix: r.Prefix, Scopes: r.Scopes,
		CreatedAt: timeOf(r.CreatedAt), ExpiresAt: timeOf(r.ExpiresAt), RevokedAt: timeOf(r.RevokedAt),
	}, nil
}

func decodePointer(item table.Item) (string, error) {
	var p pointer
	if err := json.Unmarshal(item.Doc, &p); err != nil {
		return "", fmt.Errorf("decode the pointer to a token: %w", err)
	}
	return p.Hash, nil
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func timeOf(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
