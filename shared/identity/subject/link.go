package subject

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// maxPart is how long an issuer, a subject or a client id may be, in bytes. OpenID Connect
// allows 255 for a subject, client ids may be addresses of documents.
const maxPart = 2048

// Make makes the subject act as the member, in place of an earlier link of the same subject and
// client. The further operations (the audit event of the act) are in the same commit. That the
// user is a member of the workspace is for the caller to know.
//
// A link that is not allowed is an invalid fault with the member field. If a guard fails the
// error wraps a *table.Conflict, in which the further operations count from 0; trying again is
// safe.
func Make(ctx context.Context, w table.Writer, l Link, with ...table.Op) error {
	if err := l.check(); err != nil {
		return err
	}
	l.LinkedAt = l.LinkedAt.UTC().Truncate(time.Microsecond)
	present, old, err := l.present(ctx, w)
	if err != nil {
		return err
	}
	item, err := l.item(present.Version + 1)
	if err != nil {
		return err
	}
	pointing, err := l.pointer()
	if err != nil {
		return err
	}
	ops := append(slices.Clone(with), table.Put(item, guardOf(present)), table.Put(pointing, table.Guard{}))
	if present.Version > 0 && pointerKey(old) != pointing.Key {
		ops = append(ops, table.Delete(pointerKey(old), table.Guard{}))
	}
	if err := w.Commit(ctx, ops); err != nil {
		return fmt.Errorf("store a link: %w", err)
	}
	return nil
}

func guardOf(present table.Item) table.Guard {
	if present.Version == 0 {
		return table.IfAbsent()
	}
	return table.IfVersion(present.Version)
}

// present returns what is stored for the same subject and client; a zero Item if nothing is.
func (l Link) present(ctx context.Context, r table.Reader) (table.Item, Link, error) {
	item, found, err := r.Get(ctx, linkKey(ID(l.Issuer, l.Subject), l.ClientID))
	if err != nil || !found {
		return table.Item{}, Link{}, wrap("read a link", err)
	}
	old, err := decode(item)
	return item, old, err
}

// Remove ends the link of a subject, or of one client of it, at once; what other clients of the
// subject may do is not changed. It returns what was removed. The further operations are in the
// same commit. No such link in the workspace is a not-found fault.
func Remove(ctx context.Context, w table.Writer, workspaceID, issuer, subject, clientID string, with ...table.Op) (Link, error) {
	item, old, err := Link{Issuer: issuer, Subject: subject, ClientID: clientID}.present(ctx, w)
	if err != nil {
		return Link{}, err
	}
	if item.Version == 0 || old.WorkspaceID != workspaceID {
		return Link{}, fault.New(fault.NotFound, fault.TargetNotFound, "the workspace has no such link: list its links")
	}
	ops := append(slices.Clone(with), table.Delete(item.Key, table.IfVersion(item.Version)), table.Delete(pointerKey(old), table.Guard{}))
	if err := w.Commit(ctx, ops); err != nil {
		return Link{}, fmt.Errorf("remove a link: %w", err)
	}
	return old, nil
}

// List returns the links of a workspace, oldest first.
func List(ctx context.Context, r table.Reader, workspaceID string) ([]Link, error) {
	var links []Link
	q := table.Query{
		Table: table.Data, PK: workspacePK(workspaceID),
		From: pointerPrefix, To: pointerPrefix + "\U0010ffff", Limit: table.MaxBatchGetKeys,
	}
	for {
		page, err := r.Query(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("list links: %w", err)
		}
		if links, err = appendLinks(ctx, r, links, page.Items); err != nil {
			return nil, err
		}
		if !page.More {
			break
		}
		q.After = page.Items[len(page.Items)-1].SK
	}
	slices.SortFunc(links, func(a, b Link) int {
		return cmp.Or(a.LinkedAt.Compare(b.LinkedAt), cmp.Compare(a.Issuer, b.Issuer), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.ClientID, b.ClientID))
	})
	return links, nil
}

// appendLinks reads what the pointers of one page name.
func appendLinks(ctx context.Context, r table.Reader, links []Link, pointers []table.Item) ([]Link, error) {
	keys := make([]table.Key, 0, len(pointers))
	for _, item := range pointers {
		key, err := target(item)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return links, nil
	}
	items, err := r.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read links: %w", err)
	}
	for _, item := range items {
		l, err := decode(item)
		if err != nil {
			return nil, err
		}
		links = append(links, l)
	}
	return links, nil
}

// Revoke puts an access token on the deny list, for issuers whose tokens are looked up there.
// The token's id is that of the audit log: its jti, or what stands there for it. until is when
// the token expires by itself; the entry goes some time after.
func Revoke(ctx context.Context, w table.Writer, issuer, tokenID string, until time.Time, with ...table.Op) error {
	if issuer == "" || tokenID == "" || until.IsZero() {
		return refuse("token_id", "to revoke an access token name its issuer, its id in the audit log, and when it expires")
	}
	ops := append(slices.Clone(with), table.Put(table.Item{
		Key: revokedKey(issuer, tokenID), Doc: json.RawMessage(`{}`), Version: 1, ExpiresAt: until.Add(keepFor).Truncate(time.Second),
	}, table.Guard{}))
	return wrap("put a token on the deny list", w.Commit(ctx, ops))
}

// keepFor is how much longer than its token an entry of the deny list is kept: clocks differ.
const keepFor = time.Hour

func (l Link) check() error {
	for _, part := range []struct{ field, value string }{{"issuer", l.Issuer}, {"subject", l.Subject}, {"client_id", l.ClientID}} {
		empty := part.value == "" && part.field != "client_id"
		if empty || len(part.value) > maxPart || !utf8.ValidString(part.value) || strings.ContainsRune(part.value, 0) {
			return refuse(part.field, fmt.Sprintf("a link needs the issuer and the subject as tokens write them, each at most %d bytes", maxPart))
		}
	}
	if l.WorkspaceID == "" || l.UserID == "" || l.LinkedAt.IsZero() {
		return fmt.Errorf("a link needs a workspace, a user and the time")
	}
	return nil
}

func refuse(field, text string) error {
	return fault.New(fault.Invalid, fault.InvalidArguments, text).With("field", field)
}

func wrap(what string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return err
}
