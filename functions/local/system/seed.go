package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/records"
)

// Files in the data directory. The lock on the first one makes sure that one process at a time
// touches either.
const (
	dataFile  = "tracker.db"
	tokenFile = "local.json"
)

// openData opens the data, loads what of the demo data is not there, and finds or issues the
// tokens. A start that was cut short is made up for by the next one.
func (s *System) openData(ctx context.Context, cfg Config) (err error) {
	s.WorkspaceID, s.TokenFile = demo.WorkspaceID(), filepath.Join(cfg.Data, tokenFile)
	if s.Tables, err = openTables(cfg); err != nil {
		return err
	}
	loaded, err := s.load(ctx, cfg)
	switch {
	case err != nil:
	case loaded:
		err = s.issueTokens(ctx, cfg)
	default:
		err = s.findTokens(ctx, cfg)
	}
	if err == nil {
		err = s.writeTokenFile()
	}
	if err != nil {
		return errors.Join(err, s.Tables.Close())
	}
	return nil
}

// openTables opens the data file, an empty one if a reset is asked for. What is thrown away is
// opened first: so nobody else is using it, and it is ours.
func openTables(cfg Config) (*embedded.DB, error) {
	path := filepath.Join(cfg.Data, dataFile)
	db, err := cfg.openTables(path)
	if err != nil || !cfg.Reset {
		return db, err
	}
	if err := errors.Join(os.Remove(path), db.Close()); err != nil {
		return nil, fmt.Errorf("throw the old data away: %w; remove the file yourself, or set DATA to another directory", err)
	}
	return cfg.openTables(path)
}

// load loads the workspaces that are not there, and tells whether there was one.
func (s *System) load(ctx context.Context, cfg Config) (loaded bool, err error) {
	for _, snapshot := range demo.Snapshots(cfg.Now()) {
		there, err := records.Exists(ctx, s.Tables, snapshot.Workspace.ID)
		if err != nil {
			return false, err
		}
		if there {
			continue
		}
		if err := records.Load(ctx, s.Tables, snapshot); err != nil {
			return false, fmt.Errorf("load the demo data of %s: %w", snapshot.Workspace.Name, err)
		}
		loaded = true
	}
	return loaded, nil
}

// Issued is a token with its secret, which is nowhere else but in local.json.
type Issued struct {
	demo.Grant
	Secret string
}

// issueTokens issues every token of the demo data.
func (s *System) issueTokens(ctx context.Context, cfg Config) error {
	s.Issued, s.Tokens = nil, map[string]string{}
	for _, g := range demo.Grants() {
		t, _, err := token.Issue(ctx, s.Tables, token.Grant{
			ID: uuid.Must(uuid.NewV7()).String(), WorkspaceID: string(g.WorkspaceID), UserID: string(g.UserID),
			Name: g.Name, Scopes: g.Scopes, Lifetime: token.MaxLifetime, At: cfg.Now(),
		})
		if err != nil {
			return fmt.Errorf("issue the token of %s: %w", g.Holder, err)
		}
		s.Issued = append(s.Issued, Issued{g, t.Secret()})
		if g.Key != "" {
			s.Tokens[g.Key] = t.Secret()
		}
	}
	return nil
}
