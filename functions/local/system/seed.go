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

// Files in the data directory. The data are prepared under another name and renamed when they
// are whole, so that a start that is cut short leaves nothing that looks like data.
const (
	dataFile     = "tracker.db"
	preparedFile = "tracker.db.new"
	tokenFile    = "local.json"
)

// openData opens the data, after making them if there are none or a reset is asked for, and
// finds or issues the tokens.
func (s *System) openData(ctx context.Context, cfg Config) error {
	path := filepath.Join(cfg.Data, dataFile)
	s.WorkspaceID, s.TokenFile = demo.WorkspaceID(), filepath.Join(cfg.Data, tokenFile)
	isNew, err := s.prepareIfNeeded(ctx, cfg, path)
	if err != nil {
		return err
	}
	if s.Tables, err = cfg.openTables(path); err != nil {
		return err
	}
	if !isNew {
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

// prepareIfNeeded makes new data and puts them in place.
func (s *System) prepareIfNeeded(ctx context.Context, cfg Config, path string) (bool, error) {
	switch _, err := os.Stat(path); {
	case errors.Is(err, os.ErrNotExist):
		return true, s.prepare(ctx, cfg, path)
	case err != nil:
		return false, fmt.Errorf("look for the data: %w; set DATA to a directory you may read", err)
	case !cfg.Reset:
		return false, nil
	}
	old, err := cfg.openTables(path) // refuses if somebody uses it
	if err != nil {
		return false, err
	}
	return true, errors.Join(s.prepare(ctx, cfg, path), old.Close())
}

// prepare makes the demo data and their tokens beside the path, then renames the file to it.
func (s *System) prepare(ctx context.Context, cfg Config, path string) error {
	prepared := filepath.Join(cfg.Data, preparedFile)
	left, err := cfg.openTables(prepared) // refuses if another start is under way
	if err != nil {
		return err
	}
	if err := errors.Join(os.Remove(prepared), left.Close()); err != nil {
		return fmt.Errorf("remove what an earlier start has left: %w", err)
	}
	db, err := cfg.openTables(prepared)
	if err != nil {
		return err
	}
	if err := errors.Join(s.load(ctx, cfg, db), db.Close()); err != nil {
		return err
	}
	if err := os.Rename(prepared, path); err != nil {
		return fmt.Errorf("put the new data in place: %w", err)
	}
	return nil
}

func (s *System) load(ctx context.Context, cfg Config, db *embedded.DB) error {
	for _, snapshot := range demo.Snapshots(cfg.Now()) {
		if err := records.Load(ctx, db, snapshot); err != nil {
			return fmt.Errorf("load the demo data of %s: %w", snapshot.Workspace.Name, err)
		}
	}
	return s.issueTokens(ctx, cfg, db)
}

// Issued is a token with its secret, which is nowhere else but in local.json.
type Issued struct {
	demo.Grant
	Secret string
}

// issueTokens issues every token of the demo data.
func (s *System) issueTokens(ctx context.Context, cfg Config, db *embedded.DB) error {
	s.Issued, s.Tokens = nil, map[string]string{}
	for _, g := range demo.Grants() {
		t, _, err := token.Issue(ctx, db, token.Grant{
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
