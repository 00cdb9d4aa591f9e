package records

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// MaxUsageImport is how many rows one import takes: those that fit into one commit with the
// check of the workspace and the event.
const MaxUsageImport = table.MaxCommitOps - 2

// maxUsageNumber keeps the sums of a window within an int64, and every number exact in JSON.
const maxUsageNumber = 1<<53 - 1

// ImportedUsage says what an import did.
type ImportedUsage struct {
	Added, Changed, Unchanged int
}

// CheckUsage tells what is wrong with a row, for a person who corrects it. It does not repeat
// what the row says.
func CheckUsage(u tracker.UsageRow) error {
	var day tracker.Day
	switch {
	case day.UnmarshalText([]byte(u.Date)) != nil:
		return refuseField("date", "must be a day of the form YYYY-MM-DD")
	case !providerForm().MatchString(u.Provider) || !oneLine(u.Provider, 1, maxName):
		return refuseField("provider", "must be one line of 1 to 100 characters without #")
	case !oneLine(u.Model, 1, maxModel) || len(u.Model) > maxModel || !utf8.ValidString(u.Model):
		return refuseField("model", fmt.Sprintf("must be one line of 1 to %d bytes", maxModel))
	}
	for _, n := range []struct {
		field string
		value int64
	}{
		{"input_tokens", u.InputTokens}, {"output_tokens", u.OutputTokens},
		{"cache_read_tokens", u.CacheReadTokens}, {"cache_write_tokens", u.CacheWriteTokens},
		{"cost_usd_ticks", u.CostUSDTicks},
		{"uncosted_input_tokens", u.UncostedInputTokens}, {"uncosted_output_tokens", u.UncostedOutputTokens},
		{"uncosted_cache_read_tokens", u.UncostedCacheReadTokens}, {"uncosted_cache_write_tokens", u.UncostedCacheWriteTokens},
		{"task_count", u.TaskCount},
	} {
		if n.value < 0 || n.value > maxUsageNumber {
			return refuseField(n.field, "must be a whole number from 0 to 9007199254740991")
		}
	}
	return nil
}

// ImportUsage stores rows, each in place of the one of the same day, provider and model, so that
// repeating an import changes nothing. At most MaxUsageImport rows, none of them twice: a larger
// import is several acts.
//   - fault.Invalid: invalid_arguments
func (a *Admin) ImportUsage(ctx context.Context, call *audit.Call, rows []tracker.UsageRow) (ImportedUsage, error) {
	if len(rows) == 0 || len(rows) > MaxUsageImport {
		return ImportedUsage{}, fmt.Errorf("an import takes 1 to %d rows, not %d: split it", MaxUsageImport, len(rows))
	}
	for _, u := range rows {
		if err := CheckUsage(u); err != nil {
			return ImportedUsage{}, err
		}
	}
	s := a.store(call)
	call.Target("workspace", string(s.workspace()))
	out, err := act(ctx, s, nil, func() (out ImportedUsage, p *plan, err error) {
		d, _, err := s.readDirectory(ctx, nil)
		if err != nil {
			return out, nil, err
		}
		p = &plan{changed: []string{"usage"}}
		if out, err = s.planUsage(ctx, p, rows); err != nil || len(p.ops) == 0 {
			return out, nil, err
		}
		p.requireDirectory(d)
		return out, p, nil
	})
	return out, adminError(err)
}

// planUsage puts the rows into the plan that are not there already.
func (s *store) planUsage(ctx context.Context, p *plan, rows []tracker.UsageRow) (ImportedUsage, error) {
	var out ImportedUsage
	keys := make([]table.Key, len(rows))
	for i, u := range rows {
		keys[i] = usageKey(s.workspace(), u)
	}
	b, err := getBatch(ctx, s.t, keys...)
	if err != nil {
		return out, err
	}
	for i, u := range rows {
		old, err := pick[tracker.UsageRow](b, keys[i])
		switch {
		case err != nil:
			return out, err
		case !old.found():
			out.Added++
		case old.Doc == u:
			out.Unchanged++
			continue
		default:
			out.Changed++
		}
		p.put(keys[i], old.Version, u, nil)
	}
	return out, nil
}
