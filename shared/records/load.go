package records

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// Loading a workspace takes many commits. Its directory is written by the last of them, and
// nobody gets in without a directory, so a workspace half loaded is not there yet. Loading
// again first clears away what a load that broke off has left: the times in it, hence its keys,
// may be others.
//
// A loading row counts the attempts, and each commit of a load requires that its own is still
// the last one. Of two loads at the same time only the later can finish.

type loadingRow struct{}

// slugRow holds a slug for the workspace that has it.
type slugRow struct {
	WorkspaceID tracker.ID `json:"workspace_id"`
}

// loadBytes bounds a commit of a load: well under table.MaxCommitBytes, for engines count in
// their own way.
const loadBytes = table.MaxCommitBytes * 3 / 4

var errOvertaken = errors.New("another load of this workspace began meanwhile: let that one finish")

// Exists tells whether there is such a workspace, loaded to the end.
func Exists(ctx context.Context, t table.Reader, workspace tracker.ID) (bool, error) {
	dir, err := get[directoryRow](ctx, t, directoryKey(workspace))
	return dir.found(), err
}

// Load makes a new workspace. It fails without having changed anything if the snapshot does not
// fit together, or if the workspace or its slug exists already. If it breaks off later, nothing
// can be seen of the workspace, and Load can be called again.
func Load(ctx context.Context, w table.Writer, s Snapshot) error {
	if err := s.check(); err != nil {
		return err
	}
	items, err := s.items()
	if err != nil {
		return err
	}
	last, err := s.lastItems()
	if err != nil {
		return err
	}
	l := loader{w: w, workspace: s.Workspace.ID}
	if err := l.begin(ctx, s.Workspace.Slug); err != nil {
		return err
	}
	if err := l.clear(ctx); err != nil {
		return fmt.Errorf("clear away an earlier load: %w", err)
	}
	for _, it := range items {
		if err := l.add(ctx, table.Put(it, table.Guard{}), it.Size()); err != nil {
			return fmt.Errorf("load: %w", err)
		}
	}
	if err := l.flush(ctx); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	return l.end(ctx, last)
}

// loader makes the commits of one load.
type loader struct {
	w         table.Writer
	workspace tracker.ID
	attempt   int64
	ops       []table.Op
	bytes     int
}

// begin refuses what exists, and starts a new attempt.
func (l *loader) begin(ctx context.Context, slug string) error {
	b, err := getBatch(ctx, l.w, directoryKey(l.workspace), slugKey(slug), loadingKey(l.workspace))
	if err != nil {
		return err
	}
	if _, exists := b[directoryKey(l.workspace)]; exists {
		return errExists
	}
	if _, taken := b[slugKey(slug)]; taken {
		return errSlugTaken
	}
	before, err := pick[loadingRow](b, loadingKey(l.workspace))
	if err != nil {
		return err
	}
	l.attempt = before.Version + 1
	mark, err := item(loadingKey(l.workspace), l.attempt, loadingRow{}, nil)
	if err != nil {
		return err
	}
	err = l.w.Commit(ctx, []table.Op{table.Put(mark, before.unchanged())})
	return overtaken(err)
}

var (
	errExists    = errors.New("this workspace exists already: use it, or load under another id")
	errSlugTaken = errors.New("another workspace has this slug: choose another slug")
)

func overtaken(err error) error {
	if table.IsConflict(err) {
		return errOvertaken
	}
	return err
}

// add puts an operation into the commit at hand, or into the next if that is full.
func (l *loader) add(ctx context.Context, op table.Op, bytes int) error {
	if len(l.ops) > 0 && (len(l.ops) == table.MaxCommitOps-1 || l.bytes+bytes > loadBytes) {
		if err := l.flush(ctx); err != nil {
			return err
		}
	}
	l.ops = append(l.ops, op)
	l.bytes += bytes
	return nil
}

func (l *loader) flush(ctx context.Context) error {
	if len(l.ops) == 0 {
		return nil
	}
	ops := append(l.ops, table.Check(loadingKey(l.workspace), table.IfVersion(l.attempt)))
	l.ops, l.bytes = nil, 0
	return overtaken(l.w.Commit(ctx, ops))
}

// end makes the workspace visible.
func (l *loader) end(ctx context.Context, items []table.Item) error {
	ops := []table.Op{table.Delete(loadingKey(l.workspace), table.IfVersion(l.attempt))}
	for _, it := range items {
		ops = append(ops, table.Put(it, table.IfAbsent()))
	}
	err := l.w.Commit(ctx, ops)
	switch {
	case table.FailedAt(err, 0):
		return errOvertaken
	case table.FailedAt(err, 1):
		return errExists
	case table.FailedAt(err, 2):
		return errSlugTaken
	case err != nil:
		return fmt.Errorf("make the workspace visible: %w", err)
	}
	return nil
}

// lastItems are the directory and the slug, in the order that end relies on.
func (s Snapshot) lastItems() ([]table.Item, error) {
	dir, err := item(directoryKey(s.Workspace.ID), 1, directoryRow{
		Workspace: s.Workspace, Members: s.Members, Agents: s.Agents, Autopilots: s.Autopilots, Labels: s.Labels,
	}, nil)
	if err != nil {
		return nil, err
	}
	slug, err := item(slugKey(s.Workspace.Slug), 1, slugRow{s.Workspace.ID}, nil)
	return []table.Item{dir, slug}, err
}

// counterItem makes the next number of the workspace be n; n is above 1.
func counterItem(w tracker.ID, n int) table.Item {
	return table.Item{Key: counterKey(w), Doc: json.RawMessage("{}"), Version: int64(n - 1)}
}
