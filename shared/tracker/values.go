package tracker

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// Limits of values. Lengths in characters are Unicode code points.
const (
	MaxTitle          = 500       // characters, after trimming
	MaxDescription    = 64 << 10  // bytes
	MaxContent        = 32 << 10  // bytes
	MaxRef            = 320       // characters of a name or e-mail that refers to something
	MaxIdempotencyKey = 255       // characters
	MaxCursor         = 1024      // characters
	MaxPage           = 100       // items a page
	MaxDays           = 365       // days of a usage window
	MaxList           = 20        // values in a list argument
	MaxIssueNumber    = 999999999 //
	MinQuery          = 2         // characters
	MaxQuery          = 100       // characters
)

// Bounds that keep the largest change within one commit.
const (
	MaxSubIssues      = 50  // per issue
	MaxLabels         = 20  // per issue
	MaxActiveTasks    = 20  // per issue
	MaxThreadComments = 60  // live, per thread
	MaxMembers        = 200 // per workspace
	MaxAgents         = 100 // per workspace
	MaxAutopilots     = 100 // per workspace
	MaxLabelsDefined  = 100 // per workspace
	MaxMentions       = 10  // agents that one comment can call
)

// Invalid is the fault for a value that is not accepted. The text completes "<field>: …".
func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, fault.InvalidArguments, fmt.Sprintf(format, args...))
}

// ID is a UUID in lower case. Decoding accepts any case.
type ID string

// IsID tells whether s has the form of a UUID. It runs for every id of every row that is read,
// so it is no regular expression.
func IsID(s string) bool {
	if len(s) != len("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
		return false
	}
	for i := range len(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if c := s[i] | 0x20; (c < '0' || c > '9' || s[i] != c) && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func (id *ID) UnmarshalText(b []byte) error {
	s := strings.TrimSpace(string(b))
	if !IsID(s) {
		return invalid("must be an id of the form xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
	}
	*id = ID(strings.ToLower(s))
	return nil
}

// IssueRef refers to an issue by id or by identifier, such as AAC-42. Decoding brings either
// into canonical case.
type IssueRef string

var identifierForm = regexp.MustCompile(`^([A-Za-z0-9]{1,10})-([1-9][0-9]{0,8})$`)

func (r *IssueRef) UnmarshalText(b []byte) error {
	s := strings.TrimSpace(string(b))
	switch {
	case IsID(s):
		*r = IssueRef(strings.ToLower(s))
	case identifierForm.MatchString(s):
		*r = IssueRef(strings.ToUpper(s))
	default:
		return invalid("must be an issue id or an identifier such as AAC-42")
	}
	return nil
}

// ID returns the id, if the reference is one.
func (r IssueRef) ID() (ID, bool) { return ID(r), IsID(string(r)) }

// Identifier returns prefix and number, if the reference is an identifier.
func (r IssueRef) Identifier() (prefix string, number int, ok bool) {
	m := identifierForm.FindStringSubmatch(string(r))
	if m == nil {
		return "", 0, false
	}
	number, err := strconv.Atoi(m[2])
	return strings.ToUpper(m[1]), number, err == nil
}

// MemberRef refers to a member by user id, by me, or by exact e-mail or display name.
type MemberRef string

// AgentRef refers to an agent by id or exact name.
type AgentRef string

// AssigneeRef refers to a member or an agent, for filters.
type AssigneeRef string

// LabelRef refers to a label by id or exact name.
type LabelRef string

// AutopilotRef refers to an autopilot by id or exact title.
type AutopilotRef string

// Me is the member reference that means the caller.
const Me = "me"

func (r *MemberRef) UnmarshalText(b []byte) error    { return decodeRef(b, (*string)(r)) }
func (r *AgentRef) UnmarshalText(b []byte) error     { return decodeRef(b, (*string)(r)) }
func (r *AssigneeRef) UnmarshalText(b []byte) error  { return decodeRef(b, (*string)(r)) }
func (r *LabelRef) UnmarshalText(b []byte) error     { return decodeRef(b, (*string)(r)) }
func (r *AutopilotRef) UnmarshalText(b []byte) error { return decodeRef(b, (*string)(r)) }

func decodeRef(b []byte, to *string) error {
	s, err := line(b, 1, MaxRef)
	*to = s
	return err
}

// Title is one line of 1 to MaxTitle characters; decoding trims it.
type Title string

func (t *Title) UnmarshalText(b []byte) error {
	s, err := line(b, 1, MaxTitle)
	*t = Title(s)
	return err
}

// SearchText is what list_issues looks for in titles: MinQuery to MaxQuery characters, trimmed.
type SearchText string

func (q *SearchText) UnmarshalText(b []byte) error {
	s, err := line(b, MinQuery, MaxQuery)
	*q = SearchText(s)
	return err
}

// Description is Markdown of at most MaxDescription bytes. Empty means none.
type Description string

func (d *Description) UnmarshalText(b []byte) error {
	*d = Description(b)
	return text(string(b), MaxDescription)
}

// Content is the Markdown of a comment: 1 to MaxContent bytes, not blank.
type Content string

func (c *Content) UnmarshalText(b []byte) error {
	*c = Content(b)
	if strings.TrimSpace(string(b)) == "" {
		return invalid("must not be blank")
	}
	return text(string(b), MaxContent)
}

// IdempotencyKey is 1 to MaxIdempotencyKey printable ASCII characters without space.
type IdempotencyKey string

func (k *IdempotencyKey) UnmarshalText(b []byte) error {
	if len(b) < 1 || len(b) > MaxIdempotencyKey || !printable(b) {
		return invalid("must be 1 to %d printable ASCII characters without space", MaxIdempotencyKey)
	}
	*k = IdempotencyKey(b)
	return nil
}

// Cursor continues a list where a page ended: opaque, at most MaxCursor characters. It carries
// no authority.
type Cursor string

func (c *Cursor) UnmarshalText(b []byte) error {
	if len(b) < 1 || len(b) > MaxCursor || !printable(b) {
		return fault.New(fault.Invalid, fault.InvalidCursor,
			"this cursor is not one of ours: start again without a cursor")
	}
	*c = Cursor(b)
	return nil
}

// Limit is the size of a page, in items: 1 to MaxPage. 0 means not given.
type Limit int

func (l *Limit) UnmarshalJSON(b []byte) error { return decodeInt(b, 1, MaxPage, (*int)(l)) }

// Or returns the limit, or a default if none was given.
func (l Limit) Or(def int) int {
	if l == 0 {
		return def
	}
	return int(l)
}

// Days is the length of a usage window, in UTC days, today included: 1 to MaxDays. 0 means not
// given.
type Days int

func (d *Days) UnmarshalJSON(b []byte) error { return decodeInt(b, 1, MaxDays, (*int)(d)) }

// Or returns the days, or a default if none were given.
func (d Days) Or(def int) int { return Limit(d).Or(def) }

// Revision counts the visible changes of an issue, from 1. 0 means not given.
type Revision int

func (r *Revision) UnmarshalJSON(b []byte) error { return decodeInt(b, 1, 1<<53-1, (*int)(r)) }

func decodeInt(b []byte, low, high int, to *int) error {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || n < int64(low) || n > int64(high) {
		return invalid("must be a whole number from %d to %d", low, high)
	}
	*to = int(n)
	return nil
}

// Day is a calendar day of the form YYYY-MM-DD.
type Day string

func (d *Day) UnmarshalText(b []byte) error {
	if _, err := time.Parse(time.DateOnly, string(b)); err != nil {
		return invalid("must be a day of the form YYYY-MM-DD")
	}
	*d = Day(b)
	return nil
}

// Time is an instant. On the wire it is RFC 3339 in UTC with whole seconds; inside it is finer,
// for ordering. Decoding accepts any offset.
type Time struct{ time.Time }

// At returns t as a Time.
func At(t time.Time) Time { return Time{t} }

func (t Time) MarshalJSON() ([]byte, error) {
	return json.Marshal(t.UTC().Format("2006-01-02T15:04:05Z"))
}

func (t *Time) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return invalid("must be a time such as 2025-06-22T15:30:00Z (RFC 3339)")
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil || at.Year() < 1970 || at.Year() > 9999 {
		return invalid("must be a time such as 2025-06-22T15:30:00Z (RFC 3339)")
	}
	*t = At(at.UTC())
	return nil
}

// line decodes one line of text, trimmed, of low to high characters.
func line(b []byte, low, high int) (string, error) {
	s := strings.TrimSpace(string(b))
	if n := utf8.RuneCountInString(s); n < low || n > high {
		return s, invalid("must be %d to %d characters", low, high)
	}
	if strings.ContainsAny(s, "\t\n\r\u0085\u2028\u2029") {
		return s, invalid("must be one line")
	}
	return s, text(s, high*utf8.UTFMax)
}

// text refuses what no text may hold.
func text(s string, maxBytes int) error {
	if len(s) > maxBytes {
		return invalid("must be at most %d bytes", maxBytes)
	}
	if !utf8.ValidString(s) {
		return invalid("must be valid UTF-8")
	}
	for _, r := range s {
		if (r < 0x20 && r != '\t' && r != '\n' && r != '\r') || (r >= 0x7f && r < 0xa0) {
			return invalid("must not hold control characters other than tab and line breaks")
		}
	}
	return nil
}

func printable(b []byte) bool {
	for _, c := range b {
		if c <= 0x20 || c >= 0x7f {
			return false
		}
	}
	return true
}
