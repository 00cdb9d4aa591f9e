package authserver

import (
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
)

// A client ID metadata document (draft-ietf-oauth-client-id-metadata-document) lies at the
// address that is the client's id. Whoever can put it there is the client, so that its host may
// be named to people.

// How long a document is taken as read, whatever its server says; and a failure to read one.
const (
	minDocumentAge = 5 * time.Minute
	maxDocumentAge = 24 * time.Hour
	failureAge     = 30 * time.Second
)

// maxDocument bounds a document, in bytes; maxDocuments how many are remembered; maxFetches how
// many are fetched at once, for all people together; for one person it is one, or a person who
// asks for documents that do not come would keep them all from others.
const (
	maxDocument  = 16 << 10
	maxDocuments = 256
	maxFetches   = 4
)

// documents fetches metadata documents and remembers them for a while.
type documents struct {
	http  *http.Client
	now   func() time.Time
	slots chan struct{}

	mu      sync.Mutex
	seen    map[string]document
	waiting map[person]bool // for a fetch
}

// document is what came of a fetch: a client, or why there is none.
type document struct {
	client client
	err    error
	until  time.Time
}

func newDocuments(c *http.Client, now func() time.Time) *documents {
	return &documents{http: c, now: now, slots: make(chan struct{}, maxFetches), seen: map[string]document{}, waiting: map[person]bool{}}
}

// client returns the client whose document lies at the address. A refusal is for the person who
// asks.
func (d *documents) client(ctx context.Context, who person, id string, appSchemes []string, local bool) (client, error) {
	u, err := checkDocumentID(id, local)
	if err != nil {
		return client{}, err
	}
	if known, ok := d.recall(id); ok {
		return known.client, known.err
	}
	if !d.begin(who) {
		return client{}, tooMany(fetchLife)
	}
	defer d.end(who)
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return client{}, tooMany(time.Second)
	}
	if known, ok := d.recall(id); ok { // another request fetched it meanwhile
		return known.client, known.err
	}
	found := document{until: d.now().Add(failureAge)}
	body, age, err := d.fetch(ctx, id)
	if err == nil {
		found.client, found.err = clientFrom(body, id, u.Host, appSchemes)
		found.until = d.now().Add(age)
	} else if ctx.Err() != nil {
		return client{}, tooMany(time.Second) // that says nothing of the document
	} else {
		found.err = refuse(oidc.ErrInvalidClient(), "the description of this program cannot be read at its address: try again later, or let its makers know")
	}
	d.remember(id, found)
	return found.client, found.err
}

// clientFrom reads a document.
func clientFrom(body []byte, id, host string, appSchemes []string) (client, error) {
	m, err := parseMetadata(body)
	if err == nil {
		err = m.checkDocument(id)
	}
	var c client
	if err == nil {
		c, err = m.client(id, appSchemes)
	}
	var f *oidc.Error
	if errors.As(err, &f) {
		return client{}, refuse(oidc.ErrInvalidClient(), "the description of this program is not in order ("+f.Description+"): let its makers know")
	}
	c.Host = host
	return c, err
}

// checkDocument checks what only a document must have.
func (m metadata) checkDocument(id string) error {
	switch {
	case m.ClientID != id:
		return refuse(oidc.ErrInvalidClient(), "its client_id is not its address")
	case m.ClientSecret != "":
		return refuse(oidc.ErrInvalidClient(), "it tells a secret")
	case m.AuthMethod != "" && m.AuthMethod != "none":
		return refuse(oidc.ErrInvalidClient(), "it asks for a way to authenticate other than none")
	}
	return nil
}

func (d *documents) recall(id string) (document, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, ok := d.seen[id]
	return known, ok && d.now().Before(known.until)
}

// begin notes that the person waits for a fetch, and returns false if they already did.
func (d *documents) begin(who person) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting[who] {
		return false
	}
	d.waiting[who] = true
	return true
}

func (d *documents) end(who person) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waiting, who)
}

func (d *documents) remember(id string, found document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.seen) >= maxDocuments {
		now := d.now()
		maps.DeleteFunc(d.seen, func(_ string, known document) bool { return !now.Before(known.until) })
	}
	for other := range d.seen { // any one: the order of a map is random
		if len(d.seen) < maxDocuments {
			break
		}
		delete(d.seen, other)
	}
	d.seen[id] = found
}

var errDocument = errors.New("this is no metadata document")

// fetch reads a document, and how long it may be kept. Its errors are not for strangers: they
// tell what can be reached from here.
func (d *documents) fetch(ctx context.Context, address string) ([]byte, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchLife)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "aacworkflow-authserver")
	response, err := d.http.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode != http.StatusOK || err != nil || (kind != "application/json" && !strings.HasSuffix(kind, "+json")) {
		return nil, 0, errDocument
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	if err != nil {
		return nil, 0, err
	}
	if len(body) > maxDocument {
		return nil, 0, errDocument
	}
	return body, ageOf(response.Header), nil
}

// ageOf reads max-age (RFC 9111, section 5.2.2), within our own bounds.
func ageOf(h http.Header) time.Duration {
	for part := range strings.SplitSeq(h.Get("Cache-Control"), ",") {
		if text, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(part)), "max-age="); ok {
			if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
				return min(max(time.Duration(seconds)*time.Second, minDocumentAge), maxDocumentAge)
			}
		}
	}
	return minDocumentAge
}
