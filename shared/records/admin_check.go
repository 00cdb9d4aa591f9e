package records

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// What an operator may write into a directory. The bounds are those of snapshots; here they
// refuse with the name of one field.

const (
	maxEmail       = 320 // characters
	maxDescription = 255 // characters of an agent's description
	maxTitle       = 200 // characters of an autopilot's title
)

func refuseField(field, text string) *fault.Fault {
	return fault.New(fault.Invalid, fault.InvalidArguments, field+": "+text).With("field", field)
}

func checkWorkspace(w Workspace) error {
	switch {
	case !oneLine(w.Name, 1, maxName):
		return refuseField("name", fmt.Sprintf("must be one line of 1 to %d characters", maxName))
	case !validSlug(w.Slug):
		return refuseField("slug", fmt.Sprintf("must be of a-z, 0-9 and single hyphens between them, at most %d characters, and not be like an id", maxSlug))
	case !prefixForm().MatchString(w.IssuePrefix):
		return refuseField("prefix", "must be 1 to 10 of A-Z and 0-9, such as AAC")
	}
	return nil
}

func validSlug(s string) bool {
	return slugForm().MatchString(s) && len(s) <= maxSlug && !tracker.IsID(s)
}

// checkName holds names to what references can tell apart: they mean by id, by me, or by name.
func checkName(field, name string, limit int) error {
	if !oneLine(name, 1, limit) || strings.EqualFold(name, tracker.Me) || tracker.IsID(name) {
		return refuseField(field, fmt.Sprintf("must be one line of 1 to %d characters, and neither me nor like an id", limit))
	}
	return nil
}

// checkUnique refuses a name that another one in force has.
func checkUnique(field, name string, taken []string) error {
	if slices.ContainsFunc(taken, func(other string) bool { return sameName(name, other) }) {
		return refuseField(field, "another one here has it, in whatever case: choose another")
	}
	return nil
}

func checkEmail(email string) error {
	at := strings.IndexByte(email, '@')
	switch {
	case email == "":
		return nil
	case !oneLine(email, 3, maxEmail) || strings.ContainsFunc(email, unicode.IsSpace) || at < 1 || at == len(email)-1:
		return refuseField("email", "must be an address such as name@example.com, or be left out")
	}
	return nil
}

// oneLine tells whether s, which is trimmed, has low to high characters and none that break the
// line, control a terminal or turn the direction of writing.
func oneLine(s string, low, high int) bool {
	n := utf8.RuneCountInString(s)
	return n >= low && n <= high && utf8.ValidString(s) && strings.TrimSpace(s) == s && !strings.ContainsFunc(s, unprintable)
}

func unprintable(r rune) bool {
	return unicode.IsControl(r) || (r >= 0x2028 && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069)
}
