package records

import (
	"context"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// clear removes what an earlier load of the workspace has left. Whatever lies in a partition of
// its own (comments, runs, …) hangs on a row of the workspace's partition that was written
// before and goes after it, so that nothing is lost sight of.
func (l *loader) clear(ctx context.Context) error {
	roots, err := l.keys(ctx, workspacePK(l.workspace))
	if err != nil {
		return err
	}
	partitions := []string{usagePK(l.workspace), counterKey(l.workspace).PK}
	for _, key := range roots {
		partitions = append(partitions, l.hangingOn(key)...)
	}
	for _, pk := range partitions {
		keys, err := l.keys(ctx, pk)
		if err != nil {
			return err
		}
		if err := l.remove(ctx, keys); err != nil {
			return err
		}
	}
	if err := l.flush(ctx); err != nil {
		return err
	}
	if err := l.remove(ctx, roots); err != nil {
		return err
	}
	return l.flush(ctx)
}

// hangingOn lists the partitions that belong to one row of the workspace's partition.
func (l *loader) hangingOn(key table.Key) []string {
	if number, ok := numberOf(key.SK); ok {
		return []string{
			bodyKey(l.workspace, number).PK, commentsPK(l.workspace, number), threadKey(l.workspace, number, "").PK,
		}
	}
	if id, ok := strings.CutPrefix(key.SK, autopilotPrefix); ok {
		return []string{runsPK(l.workspace, tracker.ID(id))}
	}
	return nil
}

func (l *loader) remove(ctx context.Context, keys []table.Key) error {
	for _, key := range keys {
		if key == loadingKey(l.workspace) {
			continue
		}
		if err := l.add(ctx, table.Delete(key, table.Guard{}), 0); err != nil {
			return err
		}
	}
	return nil
}

// keys lists all keys of a partition.
func (l *loader) keys(ctx context.Context, pk string) ([]table.Key, error) {
	q := table.Query{Table: table.Data, PK: pk, Limit: usageItems}
	var keys []table.Key
	for {
		page, err := l.w.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, it := range page.Items {
			keys = append(keys, it.Key)
			q.After = it.SK
		}
		if !page.More {
			return keys, nil
		}
	}
}
