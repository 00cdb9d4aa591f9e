package auditpage

import (
	"fmt"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// The chart: a bar for each part of the time asked for, its height the number of calls, stacked
// by outcome. It is a picture of the table beside it, and has the same words for those who do
// not see it.

const (
	bars                    = 24
	chartWidth, chartHeight = 720, 120 // without labels
	labelHeight             = 18
	barGap                  = 4
)

// buckets counts the calls of each part of [since, until).
func (r Report) buckets(since, until time.Time) [bars]tally {
	var counts [bars]tally
	for i := range counts {
		counts[i] = tally{}
	}
	span := until.Sub(since)
	for _, e := range r.Events {
		if at := e.Timestamp.Sub(since); at >= 0 && at < span {
			counts[int(at*bars/span)][e.Outcome]++
		}
	}
	return counts
}

// span is the time that the chart is about: what was asked for, or what there is of it.
func (r Report) span() (since, until time.Time) {
	since, until = r.Filter.Since, r.Filter.Until
	if until.IsZero() || until.After(r.Now) {
		until = r.Now.Add(time.Second) // what is recorded in this very moment
	}
	if r.More && len(r.Events) > 0 {
		since = r.Events[len(r.Events)-1].Timestamp
	}
	if !since.Before(until) {
		since = until.Add(-time.Hour)
	}
	return since, until
}

func (r Report) chart() node {
	since, until := r.span()
	counts := r.buckets(since, until)
	most := 1
	for _, c := range counts {
		most = max(most, c.total())
	}
	parts := []part{
		at("viewBox", fmt.Sprintf("0 0 %d %d", chartWidth, chartHeight+labelHeight)), at("role", "img"), class("aac-chart"),
		at("aria-label", r.chartWords(since, until, most)),
		el("line", class("aac-axis"), at("x1", "0"), at("x2", fmt.Sprint(chartWidth)), at("y1", fmt.Sprint(chartHeight)), at("y2", fmt.Sprint(chartHeight))),
	}
	step := until.Sub(since) / bars
	for i, c := range counts {
		if c.total() > 0 {
			parts = append(parts, bar(i, c, most, since.Add(time.Duration(i)*step), since.Add(time.Duration(i+1)*step)))
		}
	}
	label := func(x int, anchor string, at1 time.Time) node {
		return el("text", class("aac-label"), at("x", fmt.Sprint(x)), at("y", fmt.Sprint(chartHeight+labelHeight-4)), at("text-anchor", anchor), text(clock(at1)))
	}
	return el("svg", append(parts, label(0, "start", since), label(chartWidth, "end", until))...)
}

// bar is one stack, with its numbers for the pointer.
func bar(i int, c tally, most int, from, to time.Time) node {
	const width = chartWidth / bars
	parts := []part{el("title", text(clock(from)+" to "+clock(to)+": "+c.words()))}
	y := chartHeight
	for _, outcome := range Outcomes {
		n := c[outcome]
		if n == 0 {
			continue
		}
		height := max(2, n*chartHeight/most) // a single call is seen beside a thousand
		y -= height
		parts = append(parts, el("rect", class("aac-"+string(outcome)), at("x", fmt.Sprint(i*width+barGap/2)), at("y", fmt.Sprint(max(0, y))),
			at("width", fmt.Sprint(width-barGap)), at("height", fmt.Sprint(min(height, y+height)))))
	}
	return el("g", parts...)
}

func (t tally) words() string {
	var words []string
	for _, o := range Outcomes {
		words = append(words, fmt.Sprintf("%d %s", t[o], outcomeWord(o)))
	}
	return strings.Join(words, ", ")
}

func (r Report) chartWords(since, until time.Time, most int) string {
	return fmt.Sprintf("Calls from %s to %s UTC, by outcome: %s. At most %d in one of %d equal parts of that time.",
		clock(since), clock(until), r.outcomes().words(), most, bars)
}

func outcomeWord(o fault.Outcome) string {
	switch o {
	case fault.Success:
		return "succeeded"
	case fault.Denied:
		return "denied"
	default:
		return "failed"
	}
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }
