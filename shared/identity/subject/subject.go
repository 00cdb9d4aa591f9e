// Package subject knows which member of which workspace a person of another issuer is: an
// access token says who signed in, and a link, made by an administrator or at the consent, says
// whom that makes them here. It also keeps the list of access tokens that were revoked before
// their time.
//
// It reads no token (identity/oauth does) and does not know whether a member still is one
// (records does). Start with Find, which is all that a request needs; link.go is how links come
// and go.
package subject

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Layout in the data table. <id> is ID(issuer, subject), <client> the hash of a client id.
//
//	pk               sk                     row
//	SUB#<id>         META                   the link, whatever the client
//	SUB#<id>         CLIENT#<client>        the link of one client, which wins
//	WS#<workspace>   SUB#<id>#<client or ->  pointer, to list the links of a workspace
//	REVOKED#<id>     META                   deny list; <id> is ID(issuer, token id); expires
//
// Keys hold hashes, for an issuer's subjects may be long, or mail addresses, and may hold any
// character.

// ID is the name under which a subject is kept: SHA-256 in lower-case hexadecimal. It stands in
// logs instead of the subject.
func ID(issuer, subject string) string { return hash(issuer, subject) }

func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p) // the length keeps ("a", "bc") from being ("ab", "c")
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Link says that a subject is a member.
type Link struct {
	Issuer      string // the claim iss
	Subject     string // the claim sub
	ClientID    string // the claim client_id or azp; empty: whatever the client
	WorkspaceID string
	UserID      string
	LinkedAt    time.Time
}

// Presented is what a verified token says of its bearer.
type Presented struct {
	Issuer, Subject, ClientID string
	// TokenID is looked up in the deny list; empty: it is not.
	TokenID string
}

// Found is what is known of a bearer.
type Found struct {
	Link    Link
	Linked  bool
	Revoked bool
}

// Find looks a bearer up: the link of the client if there is one, else that of the subject. It
// makes one strongly consistent request to the table and keeps nothing.
func Find(ctx context.Context, r table.Reader, p Presented) (Found, error) {
	id := ID(p.Issuer, p.Subject)
	keys := []table.Key{linkKey(id, "")}
	if p.ClientID != "" {
		keys = append(keys, linkKey(id, p.ClientID))
	}
	if p.TokenID != "" {
		keys = append(keys, revokedKey(p.Issuer, p.TokenID))
	}
	items, err := r.BatchGet(ctx, keys)
	if err != nil {
		return Found{}, fmt.Errorf("look up whose an access token is: %w", err)
	}
	byKey := make(map[table.Key]table.Item, len(items))
	for _, item := range items {
		byKey[item.Key] = item
	}
	var found Found
	for _, key := range keys {
		item, there := byKey[key]
		switch {
		case !there:
		case key == revokedKey(p.Issuer, p.TokenID):
			found.Revoked = true
		default: // the client's own link comes last
			if found.Link, err = decode(item); err != nil {
				return Found{}, err
			}
			found.Linked = true
		}
	}
	if found.Linked && (found.Link.Issuer != p.Issuer || found.Link.Subject != p.Subject) {
		return Found{}, fmt.Errorf("a link is kept under the key of another subject: restore the table")
	}
	return found, nil
}

func data(pk, sk string) table.Key { return table.Key{Table: table.Data, PK: pk, SK: sk} }

func linkKey(id, clientID string) table.Key {
	if clientID == "" {
		return data("SUB#"+id, "META")
	}
	return data("SUB#"+id, "CLIENT#"+hash(clientID))
}

const pointerPrefix = "SUB#"

func workspacePK(workspaceID string) string { return "WS#" + workspaceID }

func pointerKey(l Link) table.Key {
	client := "-"
	if l.ClientID != "" {
		client = hash(l.ClientID)
	}
	return data(workspacePK(l.WorkspaceID), pointerPrefix+ID(l.Issuer, l.Subject)+"#"+client)
}

func revokedKey(issuer, tokenID string) table.Key {
	return data("REVOKED#"+hash(issuer, tokenID), "META")
}

// row is a Link in the table. The time is µs since 1970, UTC.
type row struct {
	Issuer      string `json:"issuer"`
	Subject     string `json:"subject"`
	ClientID    string `json:"client_id"`
	WorkspaceID string `json:"workspace_id"`
	UserID      string `json:"user_id"`
	LinkedAt    int64  `json:"linked_at"`
}

func (l Link) item(version int64) (table.Item, error) {
	doc, err := json.Marshal(row{l.Issuer, l.Subject, l.ClientID, l.WorkspaceID, l.UserID, l.LinkedAt.UnixMicro()})
	if err != nil {
		return table.Item{}, fmt.Errorf("encode a link: %w", err)
	}
	return table.Item{Key: linkKey(ID(l.Issuer, l.Subject), l.ClientID), Doc: doc, Version: version}, nil
}

func decode(item table.Item) (Link, error) {
	var r row
	if err := json.Unmarshal(item.Doc, &r); err != nil {
		return Link{}, fmt.Errorf("decode a link: %w", err)
	}
	if r.WorkspaceID == "" || r.UserID == "" {
		return Link{}, fmt.Errorf("a link names no member: restore the table")
	}
	return Link{r.Issuer, r.Subject, r.ClientID, r.WorkspaceID, r.UserID, time.UnixMicro(r.LinkedAt).UTC()}, nil
}

// pointer says where the link is.
type pointer struct {
	PK string `json:"partition"`
	SK string `json:"place"`
}

func (l Link) pointer() (table.Item, error) {
	link := linkKey(ID(l.Issuer, l.Subject), l.ClientID)
	doc, err := json.Marshal(pointer{link.PK, link.SK})
	if err != nil {
		return table.Item{}, fmt.Errorf("encode the pointer to a link: %w", err)
	}
	return table.Item{Key: pointerKey(l), Doc: doc, Version: 1}, nil
}

func target(item table.Item) (table.Key, error) {
	var p pointer
	if err := json.Unmarshal(item.Doc, &p); err != nil {
		return table.Key{}, fmt.Errorf("decode the pointer to a link: %w", err)
	}
	return data(p.PK, p.SK), nil
}
