package system

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/authserver"
	"github.com/aacworkflow/mcp-connector/shared/catalog"
	"github.com/aacworkflow/mcp-connector/shared/gateway"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/identity/subject"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/records"
)

// The system is its own authorization server unless it is told of another, so that a client that
// knows only the address of /mcp finds out where to sign in. To the rest of the system it is an
// issuer like any other: its keys are fetched over HTTP, and who a token belongs to stands in the
// table.

// issuer returns the issuer whose tokens are taken: the one given, else the system itself. A
// system that other machines can reach has none of its own: whoever reaches it could sign in as
// anybody, and the traffic is not encrypted.
func (s *System) issuer(cfg Config) signin.Issuer {
	if cfg.Issuer.URL != "" || cfg.Expose {
		return cfg.Issuer
	}
	return signin.Issuer{URL: s.URL, KeysURL: s.URL + authserver.KeysPath, DenyList: true}
}

// Limits in local mode are wide: all that calls is on this machine, and test suites register a
// client for each of their cases.
var localLimits = authserver.Limits{
	RegistrationsPerSource: 1000, RegistrationsPerMinute: 300, RegistrationsPerDay: 5000, AsksPerMinute: 300, FailuresPerMinute: 300,
}

// oauthRoutes are the routes of the authorization server; none if another one is used.
func (s *System) oauthRoutes(cfg Config, settings audit.Settings) ([]gateway.Route, error) {
	if cfg.Issuer.URL != s.URL {
		return nil, nil
	}
	login, err := newLogin(s.URL, people(cfg.Now()), cfg.Now)
	if err != nil {
		return nil, err
	}
	server, err := authserver.New(authserver.Config{
		Issuer: s.URL, Resource: s.MCPURL(), Name: "AACWorkflow", Tools: toolsOf(catalog.Entries()), Tables: s.Tables,
		Members: records.Members(s.Tables), Login: login, Log: s.Tables, Audit: settings, Logger: cfg.Log, Local: true, Limits: localLimits,
		Revoked: func(ctx context.Context, jti string, until time.Time) error {
			return subject.Revoke(ctx, s.Tables, s.URL, jti, until)
		},
	})
	if err != nil {
		return nil, err
	}
	oauth, page := lambdarun.HTTP(server, cfg.Log), lambdarun.HTTP(login, cfg.Log)
	return []gateway.Route{
		{Method: http.MethodGet, Path: authserver.MetadataPath, Function: oauth, Public: true, AnyOrigin: true},
		{Method: http.MethodGet, Path: authserver.KeysPath, Function: oauth, Public: true, AnyOrigin: true},
		{Method: http.MethodGet, Path: authserver.AuthorizePath, Function: oauth, Public: true},
		{Method: http.MethodPost, Path: authserver.AuthorizePath, Function: oauth, Public: true},
		{Method: http.MethodPost, Path: authserver.TokenPath, Function: oauth, Public: true, AnyOrigin: true},
		{Method: http.MethodPost, Path: authserver.RegisterPath, Function: oauth, Public: true, AnyOrigin: true},
		{Method: http.MethodPost, Path: authserver.RevokePath, Function: oauth, Public: true, AnyOrigin: true},
		{Method: http.MethodPost, Path: signInPath, Function: page, Public: true},
	}, nil
}

// toolsOf says what the consent page tells of the tools.
func toolsOf(entries []catalog.Entry) []authserver.Tool {
	all := make([]authserver.Tool, len(entries))
	for i, e := range entries {
		all[i] = authserver.Tool{Name: e.Name, Title: e.Title, Scopes: e.Scopes, Destructive: e.Annotations.DestructiveHint}
	}
	return all
}

// people are the members of the demo workspaces. Whether they still are is asked of the table
// when they sign in.
func people(now time.Time) []choice {
	var all []choice
	for _, snapshot := range demo.Snapshots(now) {
		for _, m := range snapshot.Members {
			all = append(all, choice{Role: m.Role, Person: authserver.Person{
				Subject: string(m.UserID), WorkspaceID: string(snapshot.Workspace.ID), WorkspaceName: snapshot.Workspace.Name,
				UserID: string(m.UserID), Name: m.Name,
			}})
		}
	}
	return all
}

// prepareSignIn says in the table who acts for whom, for tokens of this issuer, and clears away
// what has expired of earlier sign-ins.
func (s *System) prepareSignIn(ctx context.Context, cfg Config) error {
	if cfg.Issuer.URL != s.URL {
		return nil
	}
	now := cfg.Now()
	if _, err := s.Tables.RemoveExpired(ctx, now); err != nil {
		return fmt.Errorf("clear away what has expired: %w", err)
	}
	for _, p := range people(now) {
		found, err := subject.Find(ctx, s.Tables, subject.Presented{Issuer: s.URL, Subject: p.Subject})
		if err == nil && (!found.Linked || found.Link.WorkspaceID != p.WorkspaceID || found.Link.UserID != p.UserID) {
			err = subject.Make(ctx, s.Tables, subject.Link{
				Issuer: s.URL, Subject: p.Subject, WorkspaceID: p.WorkspaceID, UserID: p.UserID, LinkedAt: now,
			})
		}
		if err != nil {
			return fmt.Errorf("link %s: %w", p.Name, err)
		}
	}
	return nil
}
