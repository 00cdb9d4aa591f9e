package system

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/records"
)

// tokenDocument is local.json: what a walk or a test needs to call the system.
type tokenDocument struct {
	URL         string            `json:"url"`
	MCPURL      string            `json:"mcp_url"`
	WorkspaceID string            `json:"workspace_id"`
	Tokens      map[string]string `json:"tokens"`
}

// findTokens takes the tokens from local.json. If they are not all there and in force, new ones
// are issued: nobody can tell the old secrets.
func (s *System) findTokens(ctx context.Context, cfg Config) error {
	kept, err := readTokenFile(s.TokenFile)
	switch {
	case errors.Is(err, os.ErrNotExist):
		s.Replaced = s.TokenFile + " is gone"
	case err != nil:
		s.Replaced = s.TokenFile + " cannot be used"
	default:
		valid, err := s.valid(ctx, kept, cfg.Now)
		if err != nil {
			return err
		}
		if valid {
			s.Tokens = kept
			return nil
		}
		s.Replaced = s.TokenFile + " holds a token that is not in force"
	}
	return s.issueTokens(ctx, cfg)
}

func readTokenFile(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var doc tokenDocument
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, err
	}
	return doc.Tokens, nil
}

// valid tells whether each of the tokens that local.json must hold is the right member's and in
// force.
func (s *System) valid(ctx context.Context, tokens map[string]string, now func() time.Time) (bool, error) {
	v := token.Verifier{Tokens: s.Tables, Members: records.Members(s.Tables), Now: now}
	keyed := map[string]string{}
	for _, g := range demo.Grants() {
		if g.Key == "" {
			continue
		}
		p, err := v.Verify(ctx, tokens[g.Key])
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err != nil || p.UserID != string(g.UserID) || p.WorkspaceID != string(g.WorkspaceID) {
			return false, nil
		}
		keyed[g.Key] = tokens[g.Key]
	}
	return len(keyed) == len(tokens), nil
}

// writeTokenFile writes local.json at once and as a whole, for nobody else to read. It is
// written at every start, because the address may have changed.
func (s *System) writeTokenFile() error {
	b, err := json.MarshalIndent(tokenDocument{s.URL, s.MCPURL(), string(s.WorkspaceID), s.Tokens}, "", "  ")
	if err != nil {
		return err
	}
	if err := replaceFile(s.TokenFile, append(b, '\n')); err != nil {
		return fmt.Errorf("write the tokens: %w; set DATA to a directory you may write to", err)
	}
	return nil
}

// replaceFile puts a file with this content in place of the one at the path, mode 0600.
func replaceFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
