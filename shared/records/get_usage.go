package records

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/table"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// usageForm is the position of a usage row: its day, provider and model.
var usageForm = compiled(`^[0-9]{4}-[0-9]{2}-[0-9]{2}#[^#]*#.*$`)

// usageItems is how many rows one query of usage asks for.
const usageItems = 1000

// GetUsage implements tracker.Reader. It reads the whole window at every page, because the
// totals are those of the whole window.
func (r *reader) GetUsage(ctx context.Context, q tracker.UsageQuery) (tracker.Usage, error) {
	days := min(max(q.Days, 1), tracker.MaxDays)
	question := r.question("dashboard_usage_daily", days)
	c, err := openCursor(q.Cursor, question, usageForm)
	if err != nil {
		return tracker.Usage{}, err
	}
	end := r.call.Now().UTC()
	if q.Cursor != "" { // midnight must not move the window between pages
		if end, err = windowEnd(c.End, end); err != nil {
			return tracker.Usage{}, err
		}
	}
	u := tracker.Usage{StartDate: dayOf(end.AddDate(0, 0, 1-days)), EndDate: dayOf(end), TZ: "UTC"}
	rows, err := r.usageRows(ctx, u.StartDate, u.EndDate)
	if err != nil {
		return tracker.Usage{}, err
	}
	u.Totals = totals(rows)
	var next string
	u.Rows, next = usagePage(rows, c.At, pageLimit(q.Limit))
	u.NextCursor, err = nextCursor(cursor{Question: question, At: next, End: u.EndDate})
	return u, err
}

// windowEnd reads the last day of a window from a cursor. One that we have made is of today or
// of a day not long past; of tomorrow, if the clocks of two functions differ around midnight.
//   - fault.Invalid: invalid_cursor
func windowEnd(day tracker.Day, now time.Time) (time.Time, error) {
	end, err := time.Parse(time.DateOnly, string(day))
	if err != nil || end.After(now.AddDate(0, 0, 1)) || end.Before(now.AddDate(0, 0, -tracker.MaxDays)) {
		return time.Time{}, invalidCursor()
	}
	return end, nil
}

func dayOf(t time.Time) tracker.Day { return tracker.Day(t.Format(time.DateOnly)) }

// usageRows reads all rows of the window, in the order of the answer.
func (r *reader) usageRows(ctx context.Context, start, end tracker.Day) ([]tracker.UsageRow, error) {
	q := table.Query{
		Table: table.Data, PK: usagePK(r.workspace()), Limit: usageItems,
		From: string(start), To: string(end) + "$", // $ is behind #
	}
	var rows []tracker.UsageRow
	for {
		page, err := r.t.Query(ctx, q)
		if err != nil {
			return nil, engineError("read usage", err)
		}
		for _, it := range page.Items {
			row, err := decode[tracker.UsageRow](it)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row.Doc)
			q.After = it.SK
		}
		if !page.More {
			slices.SortFunc(rows, compareUsage)
			return rows, nil
		}
	}
}

// compareUsage orders by day, the last first, then by provider and model.
func compareUsage(a, b tracker.UsageRow) int {
	return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model))
}

// usagePage is the part of the rows behind a position, and the position where the next begins.
func usagePage(rows []tracker.UsageRow, after string, limit int) (page []tracker.UsageRow, next string) {
	if after != "" {
		last := parseUsageSK(after)
		rows = rows[firstBehind(rows, last):]
	}
	if len(rows) > limit {
		rows, next = rows[:limit], usageSK(rows[limit-1])
	}
	return append([]tracker.UsageRow{}, rows...), next
}

func firstBehind(rows []tracker.UsageRow, last tracker.UsageRow) int {
	i, found := slices.BinarySearchFunc(rows, last, compareUsage)
	if found {
		i++
	}
	return i
}

func parseUsageSK(sk string) tracker.UsageRow {
	part := strings.SplitN(sk, "#", 3)
	return tracker.UsageRow{Date: tracker.Day(part[0]), Provider: part[1], Model: part[2]}
}

func totals(rows []tracker.UsageRow) tracker.UsageTotals {
	var t tracker.UsageTotals
	for _, r := range rows {
		t.InputTokens += r.InputTokens
		t.OutputTokens += r.OutputTokens
		t.CacheReadTokens += r.CacheReadTokens
		t.CacheWriteTokens += r.CacheWriteTokens
		t.CostUSDTicks += r.CostUSDTicks
		t.UncostedInputTokens += r.UncostedInputTokens
		t.UncostedOutputTokens += r.UncostedOutputTokens
		t.UncostedCacheReadTokens += r.UncostedCacheReadTokens
		t.UncostedCacheWriteTokens += r.UncostedCacheWriteTokens
		t.TaskCount += r.TaskCount
	}
	t.CostUSD = usd(t.CostUSDTicks)
	return t
}

// usd writes ticks of 10⁻¹⁰ USD as an exact decimal, with two decimals at least.
func usd(ticks int64) string {
	const ticksPerUSD = 1e10
	sign := ""
	if ticks < 0 {
		sign, ticks = "-", -ticks
	}
	decimals := strings.TrimRight(fmt.Sprintf("%010d", ticks%ticksPerUSD), "0")
	return fmt.Sprintf("%s%d.%s", sign, ticks/ticksPerUSD, decimals+strings.Repeat("0", max(0, 2-len(decimals))))
}
