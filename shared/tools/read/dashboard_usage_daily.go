package read

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// The usage window and the rows on a page, unless the caller says otherwise.
const (
	usageDays   = 30
	rowsPerPage = 100
)

type dashboardUsageDailyIn struct {
	Days   tracker.Days   `json:"days,omitempty" jsonschema:"How many UTC days, today included; default 30."`
	Limit  tracker.Limit  `json:"limit,omitempty" jsonschema:"At most this many rows on the page; default 100."`
	Cursor tracker.Cursor `json:"cursor,omitempty" jsonschema:"next_cursor of the page before, with the same days."`
}

// DashboardUsageDaily reports what agents used, by day and model.
var DashboardUsageDaily = tool.Read(tool.Spec{
	Name: "dashboard_usage_daily", Title: "Daily usage", Scope: identity.DashboardRead,
	Doc: `Reports what the agents of your workspace used: tokens, cost and number of tasks, one row for each UTC day, provider and model, newest day first. Use it for questions about consumption and spending.

Returns start_date, end_date, rows, and totals of the whole window, whatever page you are on; so one call with limit 1 is enough for the totals. totals.cost_usd is an exact decimal in US dollars; cost_usd_ticks are units of 0.0000000001 dollars. The uncosted_ fields count tokens of models without a price: they are in no cost. If next_cursor is there, repeat the call with cursor set to it and the same days. Usage is not broken down by issue, agent or person.`,
}, dashboardUsageDaily)

func dashboardUsageDaily(ctx context.Context, r tracker.Reader, in dashboardUsageDailyIn) (tracker.Usage, error) {
	return r.GetUsage(ctx, tracker.UsageQuery{Days: in.Days.Or(usageDays), Limit: in.Limit.Or(rowsPerPage), Cursor: in.Cursor})
}
