package tracker

// IssueQuery filters, orders and pages issues. All filters combine with and.
type IssueQuery struct {
	Statuses   List[Status]
	Priorities List[Priority]
	Assignee   AssigneeRef
	Unassigned bool
	Creator    AssigneeRef
	Labels     List[LabelRef] // any of them
	Parent     IssueRef
	Query      SearchText // each word in the title, or an identifier
	Sort       Sort       // "" is SortUpdated
	Direction  Direction  // "" is Descending
	Limit      int
	Cursor     Cursor
}

// IssuePage is a page of issues. It may be short, even empty, and yet have a next one.
type IssuePage struct {
	Issues     []Summary `json:"issues"`
	NextCursor Cursor    `json:"next_cursor,omitempty"`
}

// IssueDetail is an issue with what hangs on it.
type IssueDetail struct {
	Issue         Issue      `json:"issue"`
	SubIssueCount int        `json:"sub_issue_count"`
	OpenTasks     []OpenTask `json:"open_tasks"`
}

// CommentQuery filters and pages the comments of an issue.
type CommentQuery struct {
	Issue     IssueRef
	Thread    ID   // this comment and all below it; "" for all
	Since     Time // created at or after; zero for all
	Direction Direction
	Limit     int
	Cursor    Cursor
}

// CommentPage is a page of comments. It ends early at 200 KiB of content.
type CommentPage struct {
	Issue      Ref       `json:"issue"`
	Comments   []Comment `json:"comments"`
	NextCursor Cursor    `json:"next_cursor,omitempty"`
}

// UsageQuery asks for the last Days UTC days, today included.
type UsageQuery struct {
	Days   int
	Limit  int
	Cursor Cursor
}

// UsageRow is the use of one model on one day. Costs are in ticks of 10⁻¹⁰ USD; uncosted tokens
// belong to work without a price.
type UsageRow struct {
	Date     Day    `json:"date"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	UsageSums
}

// UsageSums are the numbers of a row, or of many.
type UsageSums struct {
	InputTokens              int64 `json:"input_tokens"`
	OutputTokens             int64 `json:"output_tokens"`
	CacheReadTokens          int64 `json:"cache_read_tokens"`
	CacheWriteTokens         int64 `json:"cache_write_tokens"`
	CostUSDTicks             int64 `json:"cost_usd_ticks"`
	UncostedInputTokens      int64 `json:"uncosted_input_tokens,omitempty"`
	UncostedOutputTokens     int64 `json:"uncosted_output_tokens,omitempty"`
	UncostedCacheReadTokens  int64 `json:"uncosted_cache_read_tokens,omitempty"`
	UncostedCacheWriteTokens int64 `json:"uncosted_cache_write_tokens,omitempty"`
	TaskCount                int64 `json:"task_count"`
}

// UsageTotals are the sums of a whole window.
type UsageTotals struct {
	UsageSums
	CostUSD string `json:"cost_usd"` // exact decimal
}

// Usage is a page of rows and the totals of the whole window.
type Usage struct {
	StartDate  Day         `json:"start_date"`
	EndDate    Day         `json:"end_date"`
	TZ         string      `json:"tz"` // always UTC
	Rows       []UsageRow  `json:"rows"`
	Totals     UsageTotals `json:"totals"`
	NextCursor Cursor      `json:"next_cursor,omitempty"`
}
