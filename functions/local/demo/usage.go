package demo

import (
	"fmt"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// usageDays is how many days of usage there are, the anchor included.
const usageDays = 60

// model is what one model does on an ordinary working day at the start of the period, and what
// a token of it costs in ticks of 10⁻¹⁰ USD: 10,000 ticks are one USD per million tokens.
type model struct {
	provider, name                           string
	input, output, cacheRead, cacheWrite     int64 // tokens a day
	tasks                                    int64 // tasks a day
	inPrice, outPrice, readPrice, writePrice int64 // ticks a token; all 0: no price
}

var models = []model{
	{"anthropic", "claude-sonnet-4", 1_840_000, 236_000, 9_600_000, 610_000, 21, 30_000, 150_000, 3_000, 37_500},
	{"google", "gemini-2.5-flash", 2_450_000, 188_000, 1_100_000, 0, 17, 3_000, 25_000, 750, 0},
	{"ollama", "qwen2.5-coder", 760_000, 94_000, 0, 0, 8, 0, 0, 0, 0},
	{"openai", "gpt-4.1", 980_000, 121_000, 2_300_000, 0, 12, 20_000, 80_000, 5_000, 0},
}

func (m model) priced() bool { return m.inPrice != 0 }

// usage returns a row for each day and model, oldest day first.
func (g *generator) usage() []tracker.UsageRow {
	var rows []tracker.UsageRow
	for day := range usageDays {
		date := g.anchor.AddDate(0, 0, day-usageDays+1)
		for _, m := range models {
			rows = append(rows, g.usageOf(m, day, date))
		}
	}
	return rows
}

func (g *generator) usageOf(m model, day int, date time.Time) tracker.UsageRow {
	on := tracker.Day(date.Format(time.DateOnly))
	amount := func(what string, base int64) int64 {
		noise := int64(80 + g.choose(fmt.Sprintf("usage/%s/%s/%s/%s", on, m.provider, m.name, what), 41))
		return base * noise * growth(day) * weekday(date) / (100 * 1000 * 10)
	}
	row := tracker.UsageRow{Date: on, Provider: m.provider, Model: m.name}
	row.InputTokens, row.OutputTokens = amount("input", m.input), amount("output", m.output)
	row.CacheReadTokens, row.CacheWriteTokens = amount("cache_read", m.cacheRead), amount("cache_write", m.cacheWrite)
	row.TaskCount = amount("tasks", m.tasks)
	if m.priced() {
		row.CostUSDTicks = row.InputTokens*m.inPrice + row.OutputTokens*m.outPrice +
			row.CacheReadTokens*m.readPrice + row.CacheWriteTokens*m.writePrice
		return row
	}
	row.UncostedInputTokens, row.UncostedOutputTokens = row.InputTokens, row.OutputTokens
	row.UncostedCacheReadTokens, row.UncostedCacheWriteTokens = row.CacheReadTokens, row.CacheWriteTokens
	return row
}

// growth is how much is done on a day of the period, in thousandths: 1000 to 1500.
func growth(day int) int64 { return 1000 + int64(500*day/(usageDays-1)) }

// weekday is how much of a working day's work is done on a date, in tenths.
func weekday(date time.Time) int64 {
	if d := date.Weekday(); d == time.Saturday || d == time.Sunday {
		return 3
	}
	return 10
}
