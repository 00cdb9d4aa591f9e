package authserver

import (
	"context"
	"encoding/hex"
	"mime"
	"net/http"
	"slices"
	"time"

	httphelper "github.com/zitadel/oidc/v3/pkg/http"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Dynamic client registration (RFC 7591). Anybody may register, so a registration says nothing of
// who the client is, and it is bounded: by source, and in all, so that the table cannot be filled.
// A client that no person lets in within a day is forgotten.

// clientRow is a client that registered itself.
type clientRow struct {
	Client client `json:"client"`
	Made   int64  `json:"made"`  // µs
	Until  int64  `json:"until"` // µs
}

// limitRow counts registrations in the running minute and day.
type limitRow struct {
	Minute   int64 `json:"minute"` // since 1970
	InMinute int   `json:"in_minute"`
	Day      int64 `json:"day"` // since 1970
	InDay    int   `json:"in_day"`
}

// registration is the answer (RFC 7591, section 3.2.1): what is in force, which may be other than
// what was asked for.
type registration struct {
	ClientID      string   `json:"client_id"`
	IssuedAt      int64    `json:"client_id_issued_at"`
	Name          string   `json:"client_name"`
	Redirects     []string `json:"redirect_uris"`
	AuthMethod    string   `json:"token_endpoint_auth_method"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	answer, err := s.registerClient(w, r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	keepNothing(w.Header())
	httphelper.MarshalJSONWithStatus(w, answer, http.StatusCreated)
}

func (s *Server) registerClient(w http.ResponseWriter, r *http.Request) (registration, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return registration{}, refuse(errInvalidMetadata(), "send JSON: Content-Type must be application/json")
	}
	body, err := readAll(w, r, maxDescription)
	if err != nil {
		return registration{}, err
	}
	m, err := parseMetadata(body)
	if err != nil {
		return registration{}, err
	}
	// Who asks for a secret gets none, and is told so: RFC 7591 lets us answer with what we serve.
	if !slices.Contains([]string{"", "none", "client_secret_post", "client_secret_basic"}, m.AuthMethod) {
		return registration{}, refuse(errInvalidMetadata(), "only public clients are served: set token_endpoint_auth_method to none")
	}
	id, err := s.id()
	if err != nil {
		return registration{}, err
	}
	c, err := m.client(id, s.AppSchemes)
	if err != nil {
		return registration{}, err
	}
	if wait := s.sources.take(sourceOfRequest(r)); wait > 0 {
		return registration{}, tooMany(wait)
	}
	at := s.now()
	if err := s.keepClient(r.Context(), c, at); err != nil {
		return registration{}, err
	}
	answer := registration{
		ClientID: id, IssuedAt: at.Unix(), Name: c.Name, Redirects: c.Redirects, AuthMethod: "none",
		GrantTypes: []string{"authorization_code"}, ResponseTypes: []string{"code"},
	}
	if c.Refresh {
		answer.GrantTypes = append(answer.GrantTypes, "refresh_token")
	}
	return answer, nil
}

// keepClient stores the client and counts it, in one commit.
func (s *Server) keepClient(ctx context.Context, c client, at time.Time) error {
	until := at.Add(unusedLife)
	return again(func() error {
		counted, err := read[limitRow](ctx, s.Tables, limitKey())
		if err != nil {
			return err
		}
		limit, wait := counted.Doc.next(at, s.Limits)
		if wait > 0 {
			return tooMany(wait)
		}
		count, err := counted.put(limit, time.Time{})
		if err != nil {
			return err
		}
		keep, err := put(clientKey(c.ID), clientRow{Client: c, Made: micros(at), Until: micros(until)}, 1, until, table.IfAbsent())
		if err != nil {
			return err
		}
		return s.Tables.Commit(ctx, []table.Op{count, keep})
	})
}

// next counts one more registration, or says how long to wait.
func (l limitRow) next(at time.Time, limits Limits) (limitRow, time.Duration) {
	minute, day := at.Unix()/60, at.Unix()/86400
	if l.Minute != minute {
		l.Minute, l.InMinute = minute, 0
	}
	if l.Day != day {
		l.Day, l.InDay = day, 0
	}
	if l.InDay >= limits.RegistrationsPerDay {
		return l, time.Unix((day+1)*86400, 0).Sub(at)
	}
	if l.InMinute >= limits.RegistrationsPerMinute {
		return l, time.Unix((minute+1)*60, 0).Sub(at)
	}
	l.InMinute++
	l.InDay++
	return l, 0
}

// registered returns a registered client that is still in force, or errNoClient.
func (s *Server) registered(ctx context.Context, id string) (kept[clientRow], error) {
	if _, err := hex.DecodeString(id); err != nil || len(id) != 2*idBytes {
		return kept[clientRow]{}, errNoClient
	}
	row, err := read[clientRow](ctx, s.Tables, clientKey(id))
	if err != nil {
		return row, err
	}
	if !row.found() || !s.now().Before(timeOf(row.Doc.Until)) {
		return row, errNoClient
	}
	return row, nil
}

// letInEvery is how often a client's life is made longer: once a day is enough, and many people
// may let the same client in at once.
const letInEvery = 24 * time.Hour

// letIn makes a registered client live on, because a person has let it in.
func (s *Server) letIn(ctx context.Context, id string) ([]table.Op, error) {
	if isDocumentID(id) {
		return nil, nil
	}
	row, err := s.registered(ctx, id)
	if err != nil {
		return nil, err
	}
	until := s.now().Add(clientLife)
	if until.Sub(timeOf(row.Doc.Until)) < letInEvery {
		return nil, nil
	}
	row.Doc.Until = micros(until)
	op, err := put(row.key, row.Doc, row.Version+1, until, table.IfPresent())
	return []table.Op{op}, err
}
